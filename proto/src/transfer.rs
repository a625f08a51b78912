//! Everything in and out: JSONL records, and the QAVR JSON (spec D4, Q5).

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{
    AgentName, Evaluation, Improvement, ImprovementId, Mode, OperationId, Profile, QValue, Review, Snapshot,
};

/// One line of an export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "records live in pages, and most are of the large kind")]
pub enum Record {
    /// An improvement.
    Improvement(Improvement),
    /// An evaluation.
    Evaluation(Evaluation),
    /// An agent's profile.
    Profile(Profile),
    /// An agent's performance on a day.
    Snapshot(Snapshot),
    /// The review of a week.
    Review(Review),
    /// A past use of an improvement in a task, which learned utility rests on.
    Outcome(Outcome),
    /// How many reported recalls a context has seen.
    Context(ContextCount),
}

/// A past use of an improvement in a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whose improvement.
    pub agent: AgentName,
    /// Which.
    pub improvement: ImprovementId,
    /// The task.
    pub task: String,
    /// Whether the task succeeded.
    pub success: bool,
    /// When.
    pub at: chrono::DateTime<chrono::Utc>,
}

/// How many reported recalls a context has seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextCount {
    /// The context.
    pub context: crate::ContextName,
    /// Its interactions.
    pub interactions: u64,
}

/// Take in records. Those that are stored already are left as they are, so importing twice changes nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Import {
    /// The records; at most 1,000 at once.
    pub records: Vec<Record>,
    /// Only say what would happen.
    pub dry_run: bool,
}

/// What became of the records of an import.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    /// New here.
    pub added: u64,
    /// Stored already.
    pub known: u64,
    /// Records that break a rule, with the reason; the others were taken.
    pub refused: Vec<Refused>,
    /// Secrets that were redacted, by kind (spec M14).
    pub redacted: Vec<String>,
    /// The operation, to be undone with `Undo`; absent when nothing changed.
    pub operation: Option<OperationId>,
}

/// A record that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Its place in the import, from 0.
    pub index: u64,
    /// Why.
    pub reason: String,
}

/// Take in the records of a Chroma directory on disk, or of a server, a page at a time. A directory needs no server; both are
/// only read. Those that are stored already are left as they are, so importing twice changes nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImportChroma {
    /// Where they are.
    pub source: ChromaSource,
    /// Where the page before ended, as it said; 0 for the first.
    pub after: u64,
    /// Only say what would happen.
    pub dry_run: bool,
}

/// Where Chroma's records are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChromaSource {
    /// In a directory on disk.
    Directory(PathBuf),
    /// In a server at this address, with the tenant, database and token of the configuration.
    Server(String),
}

/// What became of a page of records of Chroma.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ImportedChroma {
    /// New here.
    pub added: u64,
    /// Stored already.
    pub known: u64,
    /// Records that break a rule, with the reason; the others were taken.
    pub refused: Vec<RefusedRecord>,
    /// Secrets that were redacted, by kind (spec M14).
    pub redacted: Vec<String>,
    /// The operation, to be undone with `Undo`; absent when nothing changed.
    pub operation: Option<OperationId>,
    /// Where to go on; absent after the last page.
    pub next: Option<u64>,
    /// The collections there.
    pub collections: Vec<ChromaCollection>,
}

/// A record of Chroma that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedRecord {
    /// The name of its collection.
    pub collection: String,
    /// Its id.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// A collection of Chroma.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChromaCollection {
    /// Its name.
    pub name: String,
    /// How many records it has.
    pub records: u64,
    /// Whether its records are taken in: its name says that it is an agent's memory.
    pub taken: bool,
}

/// A page of everything, in an order that never changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Export {
    /// Only of this agent.
    pub agent: Option<AgentName>,
    /// Where the page before ended; absent for the first.
    pub after: Option<String>,
}

/// A page of an export.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExportPage {
    /// The records of this page.
    pub records: Vec<Record>,
    /// Where to go on; absent after the last page.
    pub next: Option<String>,
    /// How many records there are in all.
    pub total: u64,
}

/// Learned utilities, in the format of QAVR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QTable {
    /// The memories, by id.
    pub memories: BTreeMap<String, QMemory>,
    /// The contexts, by name.
    pub contexts: BTreeMap<String, QContext>,
    /// The numbers in force.
    pub config: QConfig,
}

/// The learned utility of a memory, as QAVR writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QMemory {
    /// Learned utility.
    pub q_value: QValue,
    /// Recalls that returned it.
    pub access_count: u64,
    /// The day of the last one, such as `2026-01-26`.
    pub last_accessed: Option<String>,
    /// Tasks it was used in that succeeded.
    pub success_count: u64,
    /// Tasks it was used in that failed.
    pub failure_count: u64,
}

/// A context, as QAVR writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QContext {
    /// Recalls in it whose outcome was reported.
    pub interactions: u64,
    /// Whether learned utility counts.
    pub mode: Mode,
}

/// The numbers of QAVR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QConfig {
    /// Share of the way to a reward that a Q-value moves.
    pub learning_rate: f64,
    /// What is left of a Q-value after a day without recall.
    pub decay_factor: f64,
    /// Interactions from which a context is warm.
    pub warm_threshold: u64,
}

/// Learned utilities of an agent, in the format of QAVR.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExportQ {
    /// Whose.
    pub agent: AgentName,
}

/// Take in learned utilities in the format of QAVR. They replace those of the same memories and contexts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImportQ {
    /// Whose memories.
    pub agent: AgentName,
    /// The utilities.
    pub table: QTable,
}

/// What became of imported utilities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedQ {
    /// Memories whose utility was set.
    pub memories: u64,
    /// Contexts that were set.
    pub contexts: u64,
    /// Ids in the table that the agent has no improvement for. Their utility is kept for when it comes.
    pub unknown: Vec<String>,
    /// The operation; absent when nothing changed.
    pub operation: Option<OperationId>,
}
