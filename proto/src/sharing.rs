//! Sharing memory through a Chroma server, and moving it there and back (spec D2, D3).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// How it goes with the Chroma server that memory is shared through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChromaState {
    /// Where it is.
    pub url: String,
    /// Why recalls do not ask it, and what to do, if so.
    pub trouble: Option<String>,
    /// When all its records were last read.
    pub read_at: Option<DateTime<Utc>>,
    /// When it was last looked at what others wrote.
    pub counted_at: Option<DateTime<Utc>>,
    /// Records that it has yet to be told of.
    pub waiting: u64,
    /// Records that it refuses.
    pub refused: u64,
    /// The first of them.
    pub aside: Vec<SetAside>,
}

/// A record that the Chroma server refuses. It is told again when it changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAside {
    /// The name of its collection.
    pub collection: String,
    /// Its id.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// Where records are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreKind {
    /// In the daemon's database alone.
    Embedded,
    /// In a Chroma server too.
    Chroma,
}

/// Move all records to the Chroma server of the configuration, or take all over from there, a step at a time. What is
/// there already is left as it is, so it can be stopped and begun again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Migrate {
    /// Whither.
    pub to: StoreKind,
    /// Where the step before ended, as it said; absent for the first.
    pub after: Option<String>,
}

/// What a migration does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MigrationStep {
    /// It reads what the server has.
    Reading,
    /// It tells the server what it does not have.
    Telling,
    /// It compares both sides.
    Comparing,
}

/// How far a migration is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Migrated {
    /// Where the server is.
    pub url: String,
    /// What it does.
    pub step: MigrationStep,
    /// Records of this step that are done.
    pub done: u64,
    /// Records of this step.
    pub of: u64,
    /// Where to go on; absent once everything was compared.
    pub next: Option<String>,
    /// The collections, compared; only at the end.
    pub collections: Vec<ComparedCollection>,
    /// The first records that the server refuses; only at the end.
    pub aside: Vec<SetAside>,
}

/// A collection on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedCollection {
    /// Its name.
    pub name: String,
    /// Records here.
    pub here: u64,
    /// Records there.
    pub there: u64,
    /// What the records here amount to, as a SHA-256.
    pub digest_here: String,
    /// What those there amount to.
    pub digest_there: String,
}

impl ComparedCollection {
    /// Whether both sides hold the same.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.here == self.there && self.digest_here == self.digest_there
    }
}
