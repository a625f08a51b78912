//! How an agent does over time (spec P1).

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use crate::{AgentName, Quality};

/// An agent's performance on one day, over its newest 100 evaluations of the 30 days before (spec P1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Whose.
    pub agent: AgentName,
    /// The day, in local time. An agent has at most one snapshot for each.
    pub day: NaiveDate,
    /// When it was computed.
    pub at: DateTime<Utc>,
    /// Evaluations it rests on, 1 to 100.
    pub total_tasks: u64,
    /// Those that succeeded.
    pub successful_tasks: u64,
    /// `successful_tasks / total_tasks`.
    pub success_rate: f64,
    /// Mean quality.
    pub avg_quality: Quality,
    /// Mean quality of the newer half minus that of the older half, −100 to 100; 0 below two tasks.
    pub quality_trend: f64,
    /// Mean milliseconds of the tasks that told.
    pub avg_time_ms: Option<f64>,
    /// Mean tokens of the tasks that told.
    pub avg_tokens: Option<f64>,
    /// Insights in those evaluations.
    pub total_insights: u64,
    /// Improvements of the 30 days that the agent learned itself.
    pub improvements_stored: u64,
    /// Whether quality rises, and more than 70 % of the tasks succeed.
    pub improving: bool,
}

/// List snapshots, newest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Snapshots {
    /// Only of this agent.
    pub agent: Option<AgentName>,
    /// Only of this day or later.
    pub since: Option<NaiveDate>,
    /// How many to skip.
    pub offset: u64,
    /// How many to return; 0 for the default of 50. More than 1,000 are never returned at once.
    pub limit: u64,
}

/// A page of snapshots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SnapshotPage {
    /// The snapshots of this page.
    pub snapshots: Vec<Snapshot>,
    /// How many there are in all.
    pub total: u64,
}
