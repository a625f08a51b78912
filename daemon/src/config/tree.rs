//! Where the markdown memory tree is.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The markdown memory tree (spec M1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tree {
    /// Its folder; `~` stands for the home directory.
    pub root: String,
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
        Self { root: "~/self-improving".to_owned() }
    }
}
