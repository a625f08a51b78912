//! Monthly: old operations, and what of the ledger belongs to them, go to the archive (spec S1).

use chrono::TimeDelta;
use memoryd_proto::{Cadence, JobName};

use super::{Job, Tending};
use crate::error::Error;
use crate::journal::{self, Change, Edit, Plan, Step};

/// The job.
pub struct PruneJournal;

impl Job for PruneJournal {
    fn name(&self) -> JobName {
        JobName::PruneJournal
    }

    fn cadence(&self) -> Cadence {
        Cadence::Monthly
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let days = tending.config.maintenance.journal_days;
        let cutoff = tending.now - TimeDelta::days(days.into());
        let spans = tending.view.read(|connection| journal::spans_before(connection, cutoff))?;
        let steps = spans.into_iter().map(|span| Step {
            why: format!("archive {}: older than {days} days", span.told()),
            changes: vec![Change::Journal(Edit { before: Some(span), after: None })],
            ..Step::default()
        });
        Ok(Plan {
            reason: format!("operations older than {days} days leave"),
            steps: steps.collect(),
            ..Plan::default()
        })
    }
}
