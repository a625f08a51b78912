//! Creating the memory tree, and showing its files (spec M1, M13, M15).

use std::path::Path;

use memoryd_proto::{Fault, InitNotes, NoteFile, NoteFiles, Place, Serve, ShowNotes, Tier, Written};

use super::{App, Sheet};
use crate::error::Error;
use crate::journal::{Change, Draft};
use crate::vault;

/// Bytes of text that are shown at once.
const SHOWN: usize = 1 << 20;

impl Serve<InitNotes> for App {
    fn serve(&self, call: InitNotes) -> Result<Written, Fault> {
        Ok(self.init_notes(&call)?)
    }
}

impl Serve<ShowNotes> for App {
    fn serve(&self, call: ShowNotes) -> Result<NoteFiles, Fault> {
        Ok(self.show_notes(call.of.as_deref())?)
    }
}

impl App {
    fn init_notes(&self, call: &InitNotes) -> Result<Written, Error> {
        let site = call.project.as_deref().map(Self::site).transpose()?;
        self.journal.make_folders()?;
        let (operation, places) = self.journal.commit_files("init", |planning| {
            let vault = &planning.view.vault;
            let mut wanted: Vec<_> = vault.seeds().map(|(path, text)| (path, text.to_owned())).collect();
            wanted.extend(
                site.as_ref().map(|site| (vault::learnings(&site.root), vault::learnings_header(&site.name))),
            );
            let mut draft = Draft { reason: "create the memory tree".to_owned(), ..Draft::default() };
            let mut places = Vec::new();
            for (path, text) in wanted {
                if vault.read(&path)?.is_none() {
                    places.push(Place { file: path.display().to_string(), line: None });
                    draft.changes.push(Change::file(&path, None, Some(&text)));
                }
            }
            Ok((draft, places))
        })?;
        if let Some(site) = &site {
            self.register(site)?;
        }
        Ok(Written { places, redacted: Vec::new(), operation })
    }

    fn show_notes(&self, of: Option<&str>) -> Result<NoteFiles, Error> {
        let root = self.tree()?.root();
        let mut reading = self.reading()?;
        if let Some(of) = of {
            let tier = Tier::ALL.into_iter().find(|tier| tier.as_str() == of);
            let wanted = |sheet: &Sheet| match tier {
                Some(tier) => sheet.leaf.tier == tier,
                None => sheet.leaf.path == root.join(of) || sheet.leaf.path == root.join(format!("{of}.md")),
            };
            reading.sheets.retain(wanted);
            if reading.sheets.is_empty() && tier.is_none() {
                return Err(Fault::not_found(
                    format!("There is no file {of} in {}", root.display()),
                    "`memoryctl notes show` lists the files.",
                )
                .into());
            }
        }
        let (mut files, mut skipped, mut bytes) = (Vec::new(), reading.unread.clone(), 0);
        for sheet in &reading.sheets {
            bytes += sheet.text.len();
            if of.is_some() && bytes > SHOWN {
                skipped.push(format!("{}: left out, as it is too much at once", shown(&sheet.leaf.path)));
                continue;
            }
            files.push(NoteFile {
                file: shown(&sheet.leaf.path),
                tier: sheet.leaf.tier,
                lines: sheet.text.lines().count() as u64,
                entries: sheet.count(),
                text: of.map(|_| self.entry().text(&sheet.text)),
            });
        }
        files.sort_by(|one, other| (one.tier, &one.file).cmp(&(other.tier, &other.file)));
        Ok(NoteFiles { root: shown(root), files, skipped })
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
