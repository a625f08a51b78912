//! Maintenance: the jobs that tend memory, what they plan and did, and when they run (spec S1–S4).

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::{AgentName, OperationId};

/// A job, in the order in which jobs run that are due together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobName {
    /// Keep a snapshot of each agent's performance (spec P1).
    Metrics,
    /// Merge near-duplicates, confirm across agents, and spread what was confirmed (spec S5).
    Consolidate,
    /// Stop recalling what fails (spec I7).
    Deprecate,
    /// Raise the confidence of what succeeds (spec I8).
    Promote,
    /// Let the utility of what is not recalled fade (spec Q4).
    Decay,
    /// Make rules of notes that help again and again (spec M5).
    PromoteNotes,
    /// Move notes that are not used where they are loaded less often (spec M6).
    DemoteNotes,
    /// Move old corrections and shared insights to the archive (spec M4).
    ExpireNotes,
    /// Bring files of the memory tree back within their caps (spec M7).
    CompactNotes,
    /// Keep the index of topics of the memory tree (spec M1).
    IndexNotes,
    /// Keep a review of the week (spec P3).
    Review,
    /// Move old evaluations to the archive.
    ArchiveEvaluations,
    /// Move what has long been deprecated to the archive.
    RemoveDeprecated,
    /// Move old operations to the archive.
    PruneJournal,
    /// Keep a copy of the database.
    BackUp,
}

impl JobName {
    /// Every job, in order.
    pub const ALL: [Self; 15] = [
        Self::Metrics,
        Self::Consolidate,
        Self::Deprecate,
        Self::Promote,
        Self::Decay,
        Self::PromoteNotes,
        Self::DemoteNotes,
        Self::ExpireNotes,
        Self::CompactNotes,
        Self::IndexNotes,
        Self::Review,
        Self::ArchiveEvaluations,
        Self::RemoveDeprecated,
        Self::PruneJournal,
        Self::BackUp,
    ];

    /// The job's name, as it is configured and typed.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Metrics => "metrics",
            Self::Consolidate => "consolidate",
            Self::Deprecate => "deprecate",
            Self::Promote => "promote",
            Self::Decay => "decay",
            Self::PromoteNotes => "promote-notes",
            Self::DemoteNotes => "demote-notes",
            Self::ExpireNotes => "expire-notes",
            Self::CompactNotes => "compact-notes",
            Self::IndexNotes => "index-notes",
            Self::Review => "review",
            Self::ArchiveEvaluations => "archive-evaluations",
            Self::RemoveDeprecated => "remove-deprecated",
            Self::PruneJournal => "prune-journal",
            Self::BackUp => "back-up",
        }
    }

    /// What the job is for, in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Metrics => "keep a snapshot of each agent's performance",
            Self::Consolidate => "merge near-duplicates, confirm across agents, spread what was confirmed",
            Self::Deprecate => "stop recalling what fails",
            Self::Promote => "raise the confidence of what succeeds",
            Self::Decay => "let the utility of what is not recalled fade",
            Self::PromoteNotes => "make rules of notes that help again and again",
            Self::DemoteNotes => "move notes that are not used where they are loaded less often",
            Self::ExpireNotes => "move old corrections and shared insights to the archive",
            Self::CompactNotes => "bring files of the memory tree back within their caps",
            Self::IndexNotes => "keep the index of topics of the memory tree",
            Self::Review => "keep a review of the week",
            Self::ArchiveEvaluations => "move old evaluations to the archive",
            Self::RemoveDeprecated => "move what has long been deprecated to the archive",
            Self::PruneJournal => "move old operations to the archive",
            Self::BackUp => "keep a copy of the database",
        }
    }
}

impl fmt::Display for JobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for JobName {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self, Fault> {
        Self::ALL.into_iter().find(|job| job.as_str() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            Fault::invalid(format!("{text:?} is no job"), format!("The jobs are {names}."))
        })
    }
}

/// How often a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cadence {
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
}

/// Tend memory now, or only say what would be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Maintain {
    /// Only this job; absent for all of them, in their order.
    pub job: Option<JobName>,
    /// Only say what would change, and why.
    pub dry_run: bool,
}

/// What maintenance did, or would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Maintained {
    /// Whether nothing was changed because only the plan was wanted.
    pub dry_run: bool,
    /// Each job, in the order in which they ran.
    pub jobs: Vec<JobReport>,
}

/// What a job did, or would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobReport {
    /// Which.
    pub job: JobName,
    /// The operation, to be undone with `Undo`; absent when nothing changed.
    pub operation: Option<OperationId>,
    /// What was planned, in order; of more than 200, the first 200.
    pub planned: Vec<PlannedChange>,
    /// How much was planned in all.
    pub total: u64,
    /// What was left out because it was touched while the job ran. The next run looks at it again.
    pub left_out: u64,
    /// What else there is to say.
    pub notes: Vec<String>,
    /// Milliseconds it took.
    pub took_ms: u64,
}

/// Changes that a job plans to make together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedChange {
    /// Whose memory, if one agent's.
    pub agent: Option<AgentName>,
    /// What is done, and why, in one line.
    pub why: String,
    /// The changes, a line each; of more than ten, the first ten and how many more there are.
    pub changes: Vec<String>,
}

/// When jobs run next, and how they last went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Schedule {}

/// When jobs run next, and how they last went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleView {
    /// The time by the daemon's clock.
    pub now: DateTime<Utc>,
    /// The zone whose local time counts: an IANA name, or `local` for that of the system.
    pub zone: String,
    /// The jobs, in order.
    pub jobs: Vec<JobState>,
}

/// When a job runs next, and how it last went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobState {
    /// Which.
    pub job: JobName,
    /// How often.
    pub cadence: Cadence,
    /// Its cron expression: second, minute, hour, day of month, month, day of week.
    pub cron: String,
    /// When it runs next, in UTC; absent when it is switched off.
    pub next: Option<DateTime<Utc>>,
    /// The offset of local time from UTC at that instant, in seconds.
    pub next_offset: i32,
    /// Whether it runs now.
    pub running: bool,
    /// Its last run, if it ever ran.
    pub last: Option<JobRun>,
    /// Failures in a row; 0 when the last run went well.
    pub failures: u32,
}

/// A run of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRun {
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// Milliseconds it took.
    pub took_ms: u64,
    /// Its operation; absent when nothing changed.
    pub operation: Option<OperationId>,
    /// How many changes were planned.
    pub total: u64,
    /// Why it failed, if it did.
    pub failed: Option<String>,
}
