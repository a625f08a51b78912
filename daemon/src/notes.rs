//! The entries of the memory tree in the process, so that they are found without reading the files (spec §5).
//!
//! Files are the truth and this is a cache of them: it is told to look at a path again, or at all, and takes over what is
//! there. Whoever asks it of files that nobody watches has it look first.

mod reading;

pub use reading::Reading;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use memoryd_proto::{Note, NoteKind, Tier};
use parking_lot::RwLock;
use sha2::{Digest, Sha256};

use crate::domain::markdown::{self, Entry};
use crate::domain::ranking::{Blend, Signals};
use crate::index::{Document, Index, Query, Settings, Slot};
use crate::vault::{self, Leaf, Vault};

/// The entries of all files.
pub struct Notes {
    state: RwLock<State>,
}

struct State {
    index: Index,
    sheets: BTreeMap<PathBuf, Known>,
    /// By slot.
    notes: Vec<Option<Note>>,
    free: Vec<Slot>,
    /// Files that could not be read, and why.
    unread: BTreeMap<PathBuf, String>,
}

/// A file whose entries are known.
struct Known {
    digest: [u8; 32],
    slots: Vec<Slot>,
}

/// A search of the notes.
pub struct Search<'a> {
    /// The words.
    pub text: &'a str,
    /// Their vector, if there is one.
    pub vector: Option<&'a [f32]>,
    /// How both signals make one.
    pub blend: Blend,
    /// How many notes are wanted.
    pub limit: usize,
}

impl Notes {
    /// No notes yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let (index, sheets, unread) = (Index::new(settings), BTreeMap::new(), BTreeMap::new());
        Self { state: RwLock::new(State { index, sheets, notes: Vec::new(), free: Vec::new(), unread }) }
    }

    /// Looks at every file of the tree and at these projects' learnings, and takes over what changed.
    ///
    /// # Errors
    /// When a folder of the tree cannot be read. Nothing was changed then.
    pub fn scan(&self, vault: &Vault, projects: &[PathBuf]) -> Result<(), vault::Error> {
        let learnings = projects.iter().map(|root| Leaf { path: vault::learnings(root), tier: Tier::Local });
        let leaves: Vec<Leaf> = learnings.chain(vault.files()?).collect();
        let mut state = self.state.write();
        let gone: Vec<PathBuf> = state
            .sheets
            .keys()
            .filter(|path| !leaves.iter().any(|leaf| leaf.path == **path))
            .cloned()
            .collect();
        gone.iter().for_each(|path| state.forget(path));
        leaves.iter().for_each(|leaf| state.look(vault, leaf));
        Ok(())
    }

    /// The best notes among those that `wanted` accepts, best first, with how well they match.
    #[must_use]
    pub fn search(&self, search: &Search<'_>, wanted: impl Fn(&Note) -> bool + Sync) -> Vec<(Note, Signals)> {
        let state = self.state.read();
        let query =
            Query { text: search.text, vector: search.vector, limit: search.limit, blend: search.blend };
        let Ok(hits) = state.index.search(&query, |slot| state.note(slot).is_some_and(&wanted)) else {
            return Vec::new();
        };
        hits.list.iter().filter_map(|hit| Some((state.note(hit.slot)?.clone(), hit.signals))).collect()
    }

    /// The notes of a tier, in the order of their files and lines.
    #[must_use]
    pub fn of(&self, tier: Tier) -> Vec<Note> {
        let state = self.state.read();
        let slots = state.sheets.values().flat_map(|sheet| &sheet.slots);
        slots.filter_map(|slot| state.note(*slot)).filter(|note| note.tier == tier).cloned().collect()
    }
}

impl State {
    fn note(&self, slot: Slot) -> Option<&Note> {
        self.notes.get(slot.0 as usize)?.as_ref()
    }

    /// Takes over what a file says now.
    fn look(&mut self, vault: &Vault, leaf: &Leaf) {
        match vault.read(&leaf.path) {
            Ok(Some(text)) => self.take(leaf, &text),
            Ok(None) => self.forget(&leaf.path),
            Err(error) => {
                self.forget(&leaf.path);
                self.unread.insert(leaf.path.clone(), error.to_string());
            }
        }
    }

    fn take(&mut self, leaf: &Leaf, text: &str) {
        let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        if self.sheets.get(&leaf.path).is_some_and(|sheet| sheet.digest == digest) {
            return;
        }
        // Entries that only moved keep their slots, and with them what was computed for them.
        let mut old: HashMap<String, Vec<Slot>> = HashMap::new();
        for slot in self.sheets.remove(&leaf.path).map_or_else(Vec::new, |sheet| sheet.slots) {
            if let Some(note) = &self.notes[slot.0 as usize] {
                old.entry(searched(note)).or_default().push(slot);
            }
        }
        self.unread.remove(&leaf.path);
        let mut slots = Vec::new();
        for note in entries(text).iter().map(|entry| note(leaf, entry)) {
            let words = searched(&note);
            let slot = old.get_mut(&words).and_then(Vec::pop).unwrap_or_else(|| {
                let slot = self.free.pop().unwrap_or_else(|| {
                    self.notes.push(None);
                    Slot(u32::try_from(self.notes.len() - 1).unwrap_or(u32::MAX))
                });
                let document = Document { slot, text: &words, vector: None };
                let inserted = self.index.insert(&document);
                debug_assert!(inserted.is_ok(), "it has no vector");
                slot
            });
            self.notes[slot.0 as usize] = Some(note);
            slots.push(slot);
        }
        old.into_values().flatten().for_each(|slot| self.drop(slot));
        self.sheets.insert(leaf.path.clone(), Known { digest, slots });
    }

    fn forget(&mut self, path: &Path) {
        self.unread.remove(path);
        let slots = self.sheets.remove(path).map_or_else(Vec::new, |sheet| sheet.slots);
        slots.into_iter().for_each(|slot| self.drop(slot));
    }

    fn drop(&mut self, slot: Slot) {
        self.index.remove(slot);
        self.notes[slot.0 as usize] = None;
        self.free.push(slot);
    }
}

/// A file with what is written in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// The file.
    pub leaf: Leaf,
    /// What is written in it.
    pub text: String,
}

impl Sheet {
    /// Its entries, without what a file has at first.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry<'_>> {
        entries(&self.text)
    }

    /// Its entries, as they are told.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        self.entries().iter().map(|entry| note(&self.leaf, entry)).collect()
    }

    /// How many entries it has, prose not counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.entries().iter().filter(|entry| entry.kind != NoteKind::Prose).count() as u64
    }
}

fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut entries = markdown::entries(text, &markdown::parse(text));
    entries.retain(|entry| !(entry.kind == NoteKind::Prose && vault::is_header(entry.text)));
    entries
}

/// An entry of a file, as it is told.
#[must_use]
pub fn note(leaf: &Leaf, entry: &Entry<'_>) -> Note {
    Note {
        id: entry.id(),
        file: leaf.path.display().to_string(),
        line: entry.line as u64,
        tier: leaf.tier,
        kind: entry.kind,
        section: entry.section.map(str::to_owned),
        title: entry.title.clone(),
        date: entry.date(),
        rule: entry.rule().map(str::to_owned),
        text: entry.text.to_owned(),
        words: Vec::new(),
    }
}

/// What is searched of a note: a file's name and a section's heading say what an entry is about, too.
fn searched(note: &Note) -> String {
    let name = Path::new(&note.file).file_stem().unwrap_or_default().to_string_lossy();
    format!("{name}\n{}\n{}", note.section.as_deref().unwrap_or_default(), note.text)
}
