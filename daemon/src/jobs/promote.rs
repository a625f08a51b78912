//! Daily: the confidence of what succeeds rises (spec I8).

use memoryd_proto::{Cadence, Improvement, JobName, Promotion};

use super::{Job, Tending};
use crate::domain::judgement;
use crate::error::Error;
use crate::journal::{Plan, Step};
use crate::store::listing::Wanted;

/// The job.
pub struct Promote;

impl Job for Promote {
    fn name(&self) -> JobName {
        JobName::Promote
    }

    fn cadence(&self) -> Cadence {
        Cadence::Daily
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let rule = tending.config.promoting();
        let mut plan = Plan { reason: "the confidence of what succeeds rises".to_owned(), ..Plan::default() };
        let wanted = Wanted { used: Some(rule.usage), ..Wanted::default() };
        for (row, before) in tending.improvements(&wanted)? {
            let Some(confidence) = judgement::promoted(&before, &rule) else { continue };
            let usage = &before.usage;
            let why = format!(
                "promote {}: {} of {} uses succeeded, at least {:.0} %",
                before.id,
                usage.success_count,
                usage.usage_count,
                100.0 * rule.success_rate
            );
            let promotion = Some(Promotion { at: tending.now, uses: usage.usage_count });
            let after = Improvement { confidence, promotion, ..before.clone() };
            plan.steps.push(Step::of(why, row, before, Some(after)));
        }
        Ok(plan)
    }
}
