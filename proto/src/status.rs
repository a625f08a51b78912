//! How the daemon is, and what it holds (spec P2, C3).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{AgentName, ChromaState, ContextState, Estimator, Improvement, JobState, Snapshot};

/// Ask whether the daemon answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ping {}

/// The daemon answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pong {}

/// Let the daemon finish what it does and exit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shutdown {}

/// The daemon is about to exit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShuttingDown {
    /// Its process id.
    pub pid: u32,
}

/// How the daemon is and what it holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Status {}

/// How the daemon is and what it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusReport {
    /// Its version.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// Since when it runs.
    pub started_at: DateTime<Utc>,
    /// The time by its clock.
    pub now: DateTime<Utc>,
    /// Where its data lies.
    pub data_dir: String,
    /// Its configuration file, if there is one.
    pub config_file: Option<String>,
    /// Its socket.
    pub socket: String,
    /// What keeps the memory: `embedded` or `chroma`.
    pub store: String,
    /// How it goes with the Chroma server, if memory is shared through one.
    pub chroma: Option<ChromaState>,
    /// Bytes of the database.
    pub database_bytes: u64,
    /// The embedding model.
    pub model: String,
    /// The dimension of its vectors.
    pub dimension: u64,
    /// Why vector search is off, and what to do, if so.
    pub degraded: Option<String>,
    /// How learned utility is estimated.
    pub estimator: Estimator,
    /// Agents that have memory.
    pub agents: u64,
    /// Improvements, in every scope.
    pub improvements: u64,
    /// Evaluations.
    pub evaluations: u64,
    /// Recalls that wait for their report.
    pub open_recalls: u64,
    /// The newest operation of the journal.
    pub last_operation: Option<u64>,
    /// The memory tree.
    pub tree: TreeState,
    /// Jobs whose last run failed.
    pub failing: Vec<JobState>,
    /// The job that runs next; absent when all are switched off.
    pub next_job: Option<JobState>,
    /// Requests answered since it started.
    pub requests: u64,
    /// Connections open now.
    pub connections: u64,
    /// Bytes of memory that its process holds, where the system tells.
    pub resident_bytes: Option<u64>,
}

/// How the memory tree is searched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeState {
    /// Files that were read.
    pub files: u64,
    /// Their entries.
    pub entries: u64,
    /// Of them, those that are found by their meaning too.
    pub embedded: u64,
    /// About how many seconds it takes until all are; absent when they are, or nobody knows.
    pub left_seconds: Option<u64>,
    /// Whether the system tells of every change.
    pub watched: bool,
    /// Why it does not, and what is done instead, if so.
    pub polled: Option<String>,
}

/// Figures about an agent's memory, or all of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dashboard {
    /// Whose; absent for all.
    pub agent: Option<AgentName>,
}

/// Figures about a memory (spec P2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DashboardView {
    /// Whose; absent for all.
    pub agent: Option<AgentName>,
    /// When.
    pub at: DateTime<Utc>,
    /// Improvements.
    pub total_improvements: u64,
    /// Of them, those that are recalled.
    pub active_improvements: u64,
    /// Of them, those that are no longer recalled.
    pub deprecated_improvements: u64,
    /// Of them, those that wait for corroboration.
    pub candidates: u64,
    /// Evaluations.
    pub total_evaluations: u64,
    /// Share of the tasks of the last 30 days that succeeded; absent without any.
    pub recent_success_rate: Option<f64>,
    /// Mean quality of the tasks of the last 30 days; absent without any.
    pub recent_quality: Option<f64>,
    /// Improvements stored in the last 7 days.
    pub improvements_last_7_days: u64,
    /// The latest snapshot of its performance; absent for all agents together, and before the first.
    pub latest_snapshot: Option<Snapshot>,
    /// The five best by success rate.
    pub top_improvements: Vec<Improvement>,
    /// The five most useful by Q-value.
    pub top_q: Vec<Improvement>,
    /// The contexts.
    pub contexts: Vec<ContextState>,
}
