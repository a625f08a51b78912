//! The jobs that tend memory (spec S1, S3). A job plans, and cannot write: what it planned is carried out by the
//! journal, the same way for all. One file for each.

mod ahead;
mod archive_evaluations;
mod back_up;
mod compact_notes;
mod consolidate;
mod decay;
mod demote_notes;
mod deprecate;
mod expire_notes;
mod index_notes;
mod metrics;
mod promote;
mod promote_notes;
mod prune_journal;
mod remove_deprecated;
pub mod review;
mod summary;
mod tree;

pub use ahead::Ahead;

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use memoryd_proto::{Cadence, Improvement, JobName};

use crate::clock::Zone;
use crate::config::Config;
use crate::domain::secrets::Redactor;
use crate::error::Error;
use crate::journal::Plan;
use crate::notes::Reading;
use crate::store::listing;
use crate::store::listing::{Order, Showing, Wanted};
use crate::view::View;

/// A job of maintenance. It takes no input but what is stored, and planning it again after it was carried out plans
/// nothing.
pub trait Job: Sync {
    /// Its name.
    fn name(&self) -> JobName;
    /// How often it runs, unless configured otherwise.
    fn cadence(&self) -> Cadence;
    /// What is to be done.
    ///
    /// # Errors
    /// When something that it needs cannot be read.
    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error>;
}

/// Every job, in the order in which those run that are due together.
pub const ALL: &[&dyn Job] = &[
    &metrics::Metrics,
    &consolidate::Consolidate,
    &deprecate::Deprecate,
    &promote::Promote,
    &decay::Decay,
    &promote_notes::PromoteNotes,
    &demote_notes::DemoteNotes,
    &expire_notes::ExpireNotes,
    &compact_notes::CompactNotes,
    &index_notes::IndexNotes,
    &review::Review,
    &archive_evaluations::ArchiveEvaluations,
    &remove_deprecated::RemoveDeprecated,
    &prune_journal::PruneJournal,
    &back_up::BackUp,
];

/// What a plan is made from.
pub struct Tending<'a> {
    /// Everything that can be read.
    pub view: &'a View,
    /// The numbers of the rules.
    pub config: &'a Config,
    /// The time.
    pub now: DateTime<Utc>,
    /// The zone whose days count.
    pub zone: Zone,
    /// What the jobs before this one are about to do, when they were only planned.
    pub ahead: &'a Ahead,
    /// Items that a person took back from this job. Steps that touch them are left out of its plan.
    pub taken_back: &'a HashSet<String>,
    /// Takes secrets out of texts that are told.
    pub redactor: &'a Redactor,
    /// Is told how much of the planning is done, of how much.
    pub progress: &'a dyn Fn(u64, u64),
}

impl Tending<'_> {
    /// How usage is shown now.
    #[must_use]
    pub fn showing(&self) -> Showing {
        Showing::at(self.now, self.config)
    }

    /// The files of the memory tree, and the learnings of every project that is known, as the jobs before this one leave
    /// them; none while there is no tree. A plan that needs them notes those that could not be read.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn sheets(&self) -> Result<Reading, Error> {
        let vault = &self.view.vault;
        if !vault.exists() {
            return Ok(Reading::default());
        }
        Ok(self.ahead.written(self.view.reading()?, vault))
    }

    /// Improvements with their rows and usage, as the jobs before this one leave them: those that `wanted` selects now,
    /// and all that those jobs touch. Whoever asks applies its own rule to each.
    ///
    /// # Errors
    /// Those of the database.
    pub fn improvements(&self, wanted: &Wanted) -> Result<Vec<(Option<i64>, Improvement)>, Error> {
        let showing = self.showing();
        let found = self.view.read(|connection| {
            listing::improvements(connection, wanted, Order::Export, (0, u64::MAX >> 1), &showing)
        })?;
        Ok(self.ahead.applied(found, &showing))
    }
}

/// What the names begin with under which operations of jobs stand in the journal.
const ACTOR: &str = "job ";

/// The name under which a job's operations stand in the journal.
#[must_use]
pub fn actor(job: JobName) -> String {
    format!("{ACTOR}{job}")
}
