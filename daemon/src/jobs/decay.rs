//! Daily: the utility of what is not recalled fades (spec Q4). It is computed from dates whenever it is read, so that a
//! day counts once, however long the daemon slept and however often this runs. The job says how much fades.

use memoryd_proto::{Cadence, JobName};

use super::{Job, Tending};
use crate::domain::decay;
use crate::error::Error;
use crate::journal::Plan;
use crate::ledger::usage;

/// The job.
pub struct Decay;

impl Job for Decay {
    fn name(&self) -> JobName {
        JobName::Decay
    }

    fn cadence(&self) -> Cadence {
        Cadence::Daily
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let today = decay::day(tending.now);
        let (idle, all) = tending.view.read(|connection| usage::idle(connection, today))?;
        let note = format!(
            "{idle} of {all} Q-values fade to {} of what they were: no recall returned their memory yesterday",
            tending.config.learning.decay_factor
        );
        Ok(Plan {
            reason: "the utility of what is not recalled fades".to_owned(),
            notes: if idle > 0 { vec![note] } else { Vec::new() },
            ..Plan::default()
        })
    }
}
