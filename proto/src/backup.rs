//! Copies of the database.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Keep a copy of the database now.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackUp {}

/// A copy was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackedUp {
    /// The copy.
    pub backup: Backup,
    /// The folder that it is in.
    pub folder: String,
    /// Older copies made by hand that went, as only so many are kept.
    pub removed: Vec<String>,
}

/// List the copies of the database.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Backups {}

/// The copies of the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupList {
    /// The folder that they are in.
    pub folder: String,
    /// The copies, newest first.
    pub backups: Vec<Backup>,
}

/// A copy of the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// The name of its file.
    pub name: String,
    /// When it was made, as its name says.
    pub made_at: DateTime<Utc>,
    /// Its size, in bytes.
    pub bytes: u64,
    /// What it was made for.
    pub kind: BackupKind,
    /// Improvements in it; absent when it cannot be read.
    pub improvements: Option<u64>,
    /// Evaluations in it; absent when it cannot be read.
    pub evaluations: Option<u64>,
}

/// What a copy was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackupKind {
    /// The copy of a day, made by the job.
    Scheduled,
    /// Made when a person asked.
    ByHand,
    /// What a restore replaced.
    BeforeRestore,
    /// What a restore replaced and could not read, byte for byte.
    Damaged,
}

impl BackupKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Scheduled, Self::ByHand, Self::BeforeRestore, Self::Damaged];
}
