//! Forgetting: what is said of something goes to the archive, once a person confirmed it (spec M13).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use memoryd_proto::{Fault, ForgetNotes, Forgotten, Note, Serve, Tier};

use super::{App, searchable};
use crate::domain::markdown::edit;
use crate::domain::tiers::draft::archived;
use crate::error::Error;
use crate::index;
use crate::journal::{Change, Draft};
use crate::notes::{Sheet, note, searched};
use crate::vault::Leaf;

impl Serve<ForgetNotes> for App {
    fn serve(&self, call: ForgetNotes) -> Result<Forgotten, Fault> {
        Ok(self.forget_notes(&call)?)
    }
}

impl App {
    fn forget_notes(&self, call: &ForgetNotes) -> Result<Forgotten, Error> {
        let month = self.tender.zone.day(self.now()).format("%Y-%m").to_string();
        let root = self.tree()?.root();
        let archive = root.join(format!("archive/forgotten-{month}.md"));
        let wanted = index::shared(&call.words, &call.words).len();
        searchable(&call.words)?;
        let shown =
            self.fresh_notes()?.sharing(&call.words, usize::MAX, |note| note.tier != Tier::Cold).notes;
        let rank: HashMap<&str, usize> =
            shown.iter().enumerate().rev().map(|(at, note)| (note.id.as_str(), at)).collect();
        let leaves: BTreeMap<&Path, Tier> = shown
            .iter()
            .filter(|note| note.words.len() == wanted)
            .map(|note| (Path::new(&note.file), note.tier))
            .collect();
        let (operation, mut notes) = self.journal.commit_files("forget", |planning| {
            // What goes is what the files say by now.
            let mut sheets = Vec::new();
            for (path, tier) in &leaves {
                let leaf = Leaf { path: (*path).to_owned(), tier: *tier };
                sheets.extend(planning.view.vault.read(path)?.map(|text| Sheet { leaf, text }));
            }
            let mut notes: Vec<Note> = sheets.iter().flat_map(Sheet::notes).collect();
            for note in &mut notes {
                note.words = index::shared(&call.words, &searched(note));
            }
            notes.retain(|note| note.words.len() == wanted);
            notes.sort_by_key(|note| rank.get(note.id.as_str()).copied());
            let mut draft = Draft::default();
            if call.confirmed.is_empty() {
                return Ok((draft, notes));
            }
            notes.retain(|note| call.confirmed.contains(&note.id));
            if notes.is_empty() {
                return Ok((draft, notes));
            }
            draft.reason = format!("forget {:?}", self.entry().text(&call.words));
            let going: HashSet<(&str, u64)> =
                notes.iter().map(|note| (note.file.as_str(), note.line)).collect();
            let before = planning.view.vault.read(&archive)?;
            let mut kept = before.clone().unwrap_or_else(|| format!("# Forgotten in {month}\n\n---\n"));
            for sheet in &sheets {
                let goes = |note: &Note| going.contains(&(note.file.as_str(), note.line));
                let entries = sheet.entries();
                let gone: Vec<_> = entries.iter().filter(|entry| goes(&note(&sheet.leaf, entry))).collect();
                if gone.is_empty() {
                    continue;
                }
                for entry in &gone {
                    let file = sheet.leaf.path.strip_prefix(root).unwrap_or(&sheet.leaf.path);
                    let entry = archived(&file.display().to_string(), entry.section, entry.text);
                    kept = edit::append(&kept, None, &entry).0;
                }
                let spans: Vec<_> = gone.iter().map(|entry| entry.span.clone()).collect();
                let left = Some(edit::remove(&sheet.text, &spans)).filter(|left| !left.trim().is_empty());
                draft.changes.push(Change::file(&sheet.leaf.path, Some(&sheet.text), left.as_deref()));
            }
            // What goes is in the archive before it is gone.
            draft.changes.insert(0, Change::file(&archive, before.as_deref(), Some(&kept)));
            Ok((draft, notes))
        })?;
        self.redact(&mut notes);
        Ok(Forgotten { notes, archive: archive.display().to_string(), operation })
    }
}
