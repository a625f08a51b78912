//! Everything that can be read: the bundle of readers that plans and services get. Nothing in it can write.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Connection;

use crate::archive::Archive;
use crate::backup::Copies;
use crate::clock::Clock;
use crate::database::{self, Reader};
use crate::embed::{Embed, Embedding};
use crate::error::Error;
use crate::ledger::projects;
use crate::notes::{Notes, Reading};
use crate::store::Memory;
use crate::vault::Vault;

/// The readers.
#[derive(Clone)]
pub struct View {
    /// The database.
    pub reader: Arc<Reader>,
    /// The collections in the process.
    pub memory: Arc<Memory>,
    /// The archives.
    pub archive: Arc<Archive>,
    /// The copies of the database.
    pub copies: Arc<Copies>,
    /// The markdown memory tree.
    pub vault: Vault,
    /// The entries of its files, in the process.
    pub notes: Arc<Notes>,
    /// The embedder.
    pub embedder: Arc<dyn Embed>,
    /// Why vectors are not used, and what to do, if so.
    pub degraded: Option<String>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl View {
    /// Runs `work` on a connection that cannot write. All its queries see one state of the database.
    ///
    /// # Errors
    /// Those of `work` and of the database.
    pub fn read<T, E>(&self, work: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, Error>
    where
        E: From<database::Error>,
        Error: From<E>,
    {
        Ok(self.reader.read(work)?)
    }

    /// The roots of the projects that are known.
    ///
    /// # Errors
    /// Those of the database.
    pub fn project_roots(&self) -> Result<Vec<PathBuf>, Error> {
        Ok(self.read(projects::all)?.into_iter().map(|known| known.root).collect())
    }

    /// Every file of the memory tree, and the learnings of every project that is known.
    ///
    /// # Errors
    /// When a folder of the tree cannot be read, and those of the database.
    pub fn reading(&self) -> Result<Reading, Error> {
        Ok(Reading::of(&self.vault, self.project_roots()?)?)
    }

    /// The vector of a text; none while vectors are not used.
    ///
    /// # Errors
    /// When the model fails on the text.
    pub fn embed(&self, text: &str) -> Result<Option<Vec<f32>>, Error> {
        Ok(self.embed_all(&[text])?.pop().map(|embedding| embedding.vector))
    }

    /// The vectors of texts, in order; none at all while vectors are not used.
    ///
    /// # Errors
    /// When the model fails on a text.
    pub fn embed_all(&self, texts: &[&str]) -> Result<Vec<Embedding>, Error> {
        if self.degraded.is_some() { Ok(Vec::new()) } else { Ok(self.embedder.embed(texts)?) }
    }
}
