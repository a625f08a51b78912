//! Daily: what fails is no longer recalled (spec I7).

use memoryd_proto::{Cadence, Deprecation, Improvement, JobName};

use super::{Job, Tending};
use crate::domain::judgement;
use crate::error::Error;
use crate::journal::{Plan, Step};
use crate::store::listing::Wanted;

/// The job.
pub struct Deprecate;

impl Job for Deprecate {
    fn name(&self) -> JobName {
        JobName::Deprecate
    }

    fn cadence(&self) -> Cadence {
        Cadence::Daily
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let rule = &tending.config.deprecation;
        let mut plan = Plan { reason: "what fails is no longer recalled".to_owned(), ..Plan::default() };
        if !rule.enabled {
            plan.notes.push("Deprecation is switched off: deprecation.enabled is false.".to_owned());
            return Ok(plan);
        }
        let wanted = Wanted { used: Some(rule.usage), ..Wanted::default() };
        for (row, before) in tending.improvements(&wanted)? {
            let usage = &before.usage;
            if before.deprecation.is_some() || !judgement::fails(usage, rule.usage, rule.success_rate) {
                continue;
            }
            let why = format!(
                "deprecate {}: {} of {} uses succeeded, less than {:.0} %",
                before.id,
                usage.success_count,
                usage.usage_count,
                100.0 * rule.success_rate
            );
            let deprecation = Some(Deprecation { reason: judgement::FAILING.to_owned(), at: tending.now });
            let after = Improvement { deprecation, ..before.clone() };
            plan.steps.push(Step::of(why, row, before, Some(after)));
        }
        Ok(plan)
    }
}
