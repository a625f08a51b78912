//! Monthly: what has long been deprecated goes to the archive (spec S1). A candidate that waits for corroboration is
//! not deprecated, and stays.

use chrono::TimeDelta;
use memoryd_proto::{Cadence, JobName, Standing};

use super::{Job, Tending};
use crate::error::Error;
use crate::journal::{Plan, Step};
use crate::store::listing::Wanted;

/// The job.
pub struct RemoveDeprecated;

impl Job for RemoveDeprecated {
    fn name(&self) -> JobName {
        JobName::RemoveDeprecated
    }

    fn cadence(&self) -> Cadence {
        Cadence::Monthly
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let days = tending.config.maintenance.deprecated_days;
        let cutoff = tending.now - TimeDelta::days(days.into());
        let mut plan =
            Plan { reason: format!("improvements deprecated for {days} days leave"), ..Plan::default() };
        let wanted = Wanted { standing: Some(Standing::Deprecated), ..Wanted::default() };
        for (row, before) in tending.improvements(&wanted)? {
            let Some(deprecation) = before.deprecation.as_ref().filter(|known| known.at < cutoff) else {
                continue;
            };
            let since = tending.zone.day(deprecation.at);
            let why = format!("remove {}: deprecated since {since}, {}", before.id, deprecation.reason);
            plan.steps.push(Step::of(why, row, before, None));
        }
        Ok(plan)
    }
}
