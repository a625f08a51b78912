//! Where improvements and evaluations are kept beside the database.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where records are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Store {
    /// In the database alone.
    #[default]
    Embedded,
    /// In a Chroma server too, which others may write to.
    Chroma,
}

/// The Chroma server (spec D2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Chroma {
    /// Where it is.
    pub url: String,
    /// The tenant; empty for the one that the token belongs to.
    pub tenant: String,
    /// The database.
    pub database: String,
    /// A file with the token, if it wants one.
    pub token_file: Option<PathBuf>,
    /// Milliseconds that a recall waits for it.
    pub deadline_ms: u64,
    /// Records that a recall asks it for.
    pub nearest: usize,
    /// Seconds after which its collections are counted again, to find what others wrote.
    pub count_seconds: u64,
    /// Seconds after which its records are read again, to find what others changed.
    pub read_seconds: u64,
}

impl Default for Chroma {
    fn default() -> Self {
        Self {
            url: "http://127.0.0.1:8000".to_owned(),
            tenant: String::new(),
            database: "default_database".to_owned(),
            token_file: None,
            deadline_ms: 500,
            nearest: 20,
            count_seconds: 30,
            read_seconds: 600,
        }
    }
}
