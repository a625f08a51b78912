//! The journal: who changed what, when and why, and undoing it (spec S3, S7).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{AgentName, OperationId};

/// List operations, newest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Journal {
    /// Only of this agent's memory.
    pub agent: Option<AgentName>,
    /// Only older than this operation.
    pub before: Option<OperationId>,
    /// How many to return; 0 for the default of 50. More than 1,000 are never returned at once.
    pub limit: u64,
}

/// A page of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JournalPage {
    /// The operations, newest first.
    pub operations: Vec<Operation>,
    /// Whether there are older ones.
    pub more: bool,
    /// The newest operation that is only in the archive: it, and all before it.
    pub archived: Option<OperationId>,
}

/// A group of changes that were made together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Its number.
    pub id: OperationId,
    /// When.
    pub at: DateTime<Utc>,
    /// Which call or job made it.
    pub actor: String,
    /// Why, in one line.
    pub reason: String,
    /// Whose memory it changed, if one agent's.
    pub agent: Option<AgentName>,
    /// The operation that undid it.
    pub undone_by: Option<OperationId>,
    /// What it changed, a line each; of more than ten, the first ten and how many more there are.
    pub changes: Vec<String>,
}

/// Undo an operation, if nothing newer touched the same items.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Undo {
    /// Which.
    pub operation: OperationId,
}

/// An operation was undone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Undone {
    /// The operation that was undone.
    pub undone: OperationId,
    /// The operation that did it; it can be undone too.
    pub operation: OperationId,
    /// What changed back, a line each.
    pub changes: Vec<String>,
}
