//! Monthly: old evaluations go to the archive (spec S1, S6).

use chrono::TimeDelta;
use memoryd_proto::{AgentName, Cadence, JobName};

use super::{Job, Tending};
use crate::error::Error;
use crate::journal::{self, Change, Plan, Step};
use crate::store::listing;

/// How many evaluations go together.
const TOGETHER: usize = 50;

/// The job.
pub struct ArchiveEvaluations;

impl Job for ArchiveEvaluations {
    fn name(&self) -> JobName {
        JobName::ArchiveEvaluations
    }

    fn cadence(&self) -> Cadence {
        Cadence::Monthly
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let days = tending.config.maintenance.evaluation_days;
        let cutoff = tending.now - TimeDelta::days(days.into());
        let (old, brought_back) = tending.view.read(|connection| {
            Ok::<_, Error>((
                listing::evaluations_before(connection, cutoff)?,
                journal::brought_back(connection)?,
            ))
        })?;
        let mut plan =
            Plan { reason: format!("evaluations older than {days} days leave"), ..Plan::default() };
        let leaving = old.into_iter().map(|(row, one)| (one.agent.clone(), Change::archived(row, one)));
        let leaving: Vec<(AgentName, Change)> =
            leaving.filter(|(_, change)| !brought_back.contains(&change.item())).collect();
        for of_one in leaving.chunk_by(|(a, _), (b, _)| a == b) {
            for together in of_one.chunks(TOGETHER) {
                plan.steps.extend(step(together, days));
            }
        }
        Ok(plan)
    }
}

fn step(together: &[(AgentName, Change)], days: u32) -> Option<Step> {
    let (agent, _) = together.first()?;
    let count = match together.len() {
        1 => "1 evaluation".to_owned(),
        many => format!("{many} evaluations"),
    };
    Some(Step {
        agent: Some(agent.clone()),
        why: format!("archive {count} of {agent}: older than {days} days"),
        changes: together.iter().map(|(_, change)| change.clone()).collect(),
        ..Step::default()
    })
}
