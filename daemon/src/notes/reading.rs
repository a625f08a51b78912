//! All files at once, as they are.

use std::path::PathBuf;

use memoryd_proto::Note;

use super::Sheet;
use crate::vault::{self, Leaf, Vault};

/// Files that were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// What is written in them.
    pub sheets: Vec<Sheet>,
    /// Those that could not be read, and why.
    pub unread: Vec<String>,
}

impl Reading {
    /// Reads every file of the tree, and these projects' learnings.
    ///
    /// # Errors
    /// When a folder of the tree cannot be read.
    pub fn of(vault: &Vault, projects: impl IntoIterator<Item = PathBuf>) -> Result<Self, vault::Error> {
        let mut reading = Self::default();
        for leaf in projects.into_iter().map(|root| Leaf::learnings(&root)).chain(vault.files()?) {
            match vault.read(&leaf.path) {
                Ok(Some(text)) => reading.sheets.push(Sheet { leaf, text }),
                Ok(None) => {}
                Err(error) => reading.unread.push(error.to_string()),
            }
        }
        Ok(reading)
    }

    /// Only some of the files.
    #[must_use]
    pub fn only(mut self, wanted: impl Fn(&Leaf) -> bool) -> Self {
        self.sheets.retain(|sheet| wanted(&sheet.leaf));
        self
    }

    /// The entries of all files, without what a file has at first.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        self.sheets.iter().flat_map(Sheet::notes).collect()
    }
}
