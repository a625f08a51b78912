//! Where the markdown memory tree is, and how much may stand where in it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The markdown memory tree (spec M1, M3–M7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tree {
    /// Its folder; `~` stands for the home directory.
    pub root: String,
    /// Lines of `memory.md`.
    pub hot_lines: u32,
    /// Lines of each file in `projects/` and `domains/`.
    pub warm_lines: u32,
    /// Corrections in `corrections.md`, the newest.
    pub corrections: u32,
    /// Files in `shared/`, the newest.
    pub shared_files: u32,
    /// Days after which a shared insight goes to the archive.
    pub shared_days: u32,
    /// Days after which it goes from there.
    pub archived_shared_days: u32,
    /// Successful tasks with a note that make it a rule of `memory.md`.
    pub promote_uses: u64,
    /// Days in which these count.
    pub promote_days: u32,
    /// Projects in which a project's note is useful that make it one of a field of work.
    pub promote_projects: u64,
    /// Days without use after which a rule leaves `memory.md`.
    pub demote_days: u32,
    /// Days without use after which a note goes to the archive.
    pub archive_days: u32,
    /// A program and its arguments that says a long note, which it reads, in a sentence; empty for none.
    pub summariser: Vec<String>,
}

impl Tree {
    /// The folder.
    ///
    /// # Errors
    /// When it is in the home directory, and that is unknown.
    pub fn folder(&self) -> Result<PathBuf, etcetera::HomeDirError> {
        match self.root.strip_prefix("~/") {
            Some(inner) => Ok(etcetera::home_dir()?.join(inner)),
            None => Ok(PathBuf::from(&self.root)),
        }
    }
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            root: "~/self-improving".to_owned(),
            hot_lines: 100,
            warm_lines: 200,
            corrections: 50,
            shared_files: 20,
            shared_days: 7,
            archived_shared_days: 30,
            promote_uses: 3,
            promote_days: 7,
            promote_projects: 2,
            demote_days: 30,
            archive_days: 90,
            summariser: Vec::new(),
        }
    }
}
