//! The settings of maintenance: what each job goes by, and when it runs.

use memoryd_proto::JobName;
use serde::{Deserialize, Serialize};

/// What jobs go by (spec S1, P1, I8, S5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Maintenance {
    /// The zone whose local time counts: an IANA name, or empty for that of the system.
    pub zone: String,
    /// Days after which an evaluation goes to the archive.
    pub evaluation_days: u32,
    /// Days after its deprecation after which an improvement goes to the archive.
    pub deprecated_days: u32,
    /// Days after which an operation goes to the archive. It can be undone once that was undone.
    pub journal_days: u32,
    /// Copies of the database that are kept, one for each of the last days. As many stay of those made by hand, and as
    /// many of what restores replaced.
    pub daily_copies: u32,
    /// Copies of the database that are kept, one for each of the last weeks.
    pub weekly_copies: u32,
    /// The cron expression of each job; an empty one switches it off.
    pub schedule: Schedule,
}

/// The cron expression of each job: second, minute, hour, day of month, month, day of week.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each is the job of that name")]
pub struct Schedule {
    pub metrics: String,
    pub consolidate: String,
    pub deprecate: String,
    pub promote: String,
    pub decay: String,
    pub promote_notes: String,
    pub demote_notes: String,
    pub expire_notes: String,
    pub compact_notes: String,
    pub index_notes: String,
    pub review: String,
    pub archive_evaluations: String,
    pub remove_deprecated: String,
    pub prune_journal: String,
    pub back_up: String,
}

impl Schedule {
    /// The cron expression of a job; empty when it is switched off.
    #[must_use]
    pub fn cron(&self, job: JobName) -> &str {
        match job {
            JobName::Metrics => &self.metrics,
            JobName::Consolidate => &self.consolidate,
            JobName::Deprecate => &self.deprecate,
            JobName::Promote => &self.promote,
            JobName::Decay => &self.decay,
            JobName::PromoteNotes => &self.promote_notes,
            JobName::DemoteNotes => &self.demote_notes,
            JobName::ExpireNotes => &self.expire_notes,
            JobName::CompactNotes => &self.compact_notes,
            JobName::IndexNotes => &self.index_notes,
            JobName::Review => &self.review,
            JobName::ArchiveEvaluations => &self.archive_evaluations,
            JobName::RemoveDeprecated => &self.remove_deprecated,
            JobName::PruneJournal => &self.prune_journal,
            JobName::BackUp => &self.back_up,
        }
    }
}

/// What performance is measured over (spec P1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Metrics {
    /// The newest evaluations that a snapshot rests on, at most.
    pub evaluations: u32,
    /// Days back from which they are taken.
    pub days: u32,
    /// Success rate above which an agent whose quality rises is improving.
    pub success_rate: f64,
}

/// When success raises confidence (spec I8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Promotion {
    /// Uses from which an improvement is judged.
    pub usage: u64,
    /// Success rate from which it is promoted.
    pub success_rate: f64,
    /// What its confidence gains.
    pub boost: f64,
    /// Highest confidence that promotion leads to.
    pub cap: f64,
}

/// What agents confirm of one another (spec S5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Consolidation {
    /// Cosine from which improvements of two agents say the same.
    pub agree_from: f64,
    /// Success rate that each of them must have.
    pub success_rate: f64,
    /// What is left of a confidence that is transferred to another agent.
    pub discount: f64,
}

impl Default for Maintenance {
    fn default() -> Self {
        Self {
            zone: String::new(),
            evaluation_days: 90,
            deprecated_days: 30,
            journal_days: 90,
            daily_copies: 7,
            weekly_copies: 4,
            schedule: Schedule::default(),
        }
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            metrics: "0 0 3 * * *".to_owned(),
            consolidate: "0 10 3 * * SUN".to_owned(),
            deprecate: "0 20 3 * * *".to_owned(),
            promote: "0 25 3 * * *".to_owned(),
            decay: "0 30 3 * * *".to_owned(),
            promote_notes: "0 32 3 * * *".to_owned(),
            demote_notes: "0 33 3 * * *".to_owned(),
            expire_notes: "0 34 3 * * *".to_owned(),
            compact_notes: "0 35 3 * * *".to_owned(),
            index_notes: "0 36 3 * * *".to_owned(),
            review: "0 40 3 * * MON".to_owned(),
            archive_evaluations: "0 0 4 1 * *".to_owned(),
            remove_deprecated: "0 10 4 1 * *".to_owned(),
            prune_journal: "0 20 4 1 * *".to_owned(),
            back_up: "0 30 4 * * *".to_owned(),
        }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self { evaluations: 100, days: 30, success_rate: 0.7 }
    }
}

impl Default for Promotion {
    fn default() -> Self {
        Self { usage: 20, success_rate: 0.85, boost: 0.05, cap: 0.95 }
    }
}

impl Default for Consolidation {
    fn default() -> Self {
        Self { agree_from: 0.85, success_rate: 0.6, discount: 0.9 }
    }
}
