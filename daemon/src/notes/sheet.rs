//! A file of the tree, with what is written in it.

use std::path::Path;

use memoryd_proto::{Note, NoteKind};

use crate::domain::markdown::{self, Entry};
use crate::vault::{self, Leaf};

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
        let mut entries = markdown::entries(&self.text, &markdown::parse(&self.text));
        entries.retain(|entry| !(entry.kind == NoteKind::Prose && vault::is_header(entry.text)));
        entries
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
#[must_use]
pub fn searched(note: &Note) -> String {
    let name = Path::new(&note.file).file_stem().unwrap_or_default().to_string_lossy();
    format!("{name}\n{}\n{}", note.section.as_deref().unwrap_or_default(), note.text)
}
