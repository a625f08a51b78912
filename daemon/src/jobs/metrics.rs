//! Daily: a snapshot of each agent's performance (spec P1).

use chrono::TimeDelta;
use memoryd_proto::{AgentName, Cadence, Evaluation, Evaluations, JobName, Snapshot, Source};

use super::{Job, Tending};
use crate::domain::performance;
use crate::error::Error;
use crate::journal::{Change, Edit, Plan, Step};
use crate::store::listing::{self, Wanted};
use crate::store::performance as snapshots;

/// The job.
pub struct Metrics;

impl Job for Metrics {
    fn name(&self) -> JobName {
        JobName::Metrics
    }

    fn cadence(&self) -> Cadence {
        Cadence::Daily
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let mut plan = Plan { reason: "how each agent does".to_owned(), ..Plan::default() };
        let agents = tending.view.read(listing::agents)?;
        for (n, (agent, ..)) in (1..).zip(&agents) {
            plan.steps.extend(step(tending, agent)?);
            (tending.progress)(n, agents.len() as u64);
        }
        Ok(plan)
    }
}

/// The snapshot of an agent, if it did anything since the one of today.
fn step(tending: &Tending<'_>, agent: &AgentName) -> Result<Option<Step>, Error> {
    let (config, day) = (&tending.config.metrics, tending.zone.day(tending.now));
    let since = tending.now - TimeDelta::days(config.days.into());
    let wanted = Evaluations { agent: Some(agent.clone()), since: Some(since), ..Evaluations::default() };
    let learned = Wanted {
        agent: Some(agent.clone()),
        since: Some(since),
        source: Some(Source::Own),
        ..Wanted::default()
    };
    let (evaluations, before, stored) = tending.view.read(|connection| {
        let evaluations = listing::newest(connection, &wanted, (0, config.evaluations.into()))?;
        let stored = listing::count(connection, &learned, &tending.showing())?;
        Ok::<_, Error>((evaluations, snapshots::find(connection, agent, day)?, stored))
    })?;
    let Some(after) = snapshot(tending, agent, &evaluations, stored) else { return Ok(None) };
    if before.as_ref().is_some_and(|before| says_the_same(before, &after)) {
        return Ok(None);
    }
    let why = format!(
        "{agent}: {:.0} % of {} tasks succeeded, quality {:.0} of 100, trend {:+.1}",
        100.0 * after.success_rate,
        after.total_tasks,
        after.avg_quality.get(),
        after.quality_trend
    );
    let changes = vec![Change::Snapshot(Edit { before, after: Some(after) })];
    Ok(Some(Step { agent: Some(agent.clone()), why, changes, ..Step::default() }))
}

fn snapshot(
    tending: &Tending<'_>,
    agent: &AgentName,
    newest_first: &[Evaluation],
    improvements_stored: u64,
) -> Option<Snapshot> {
    let figures = performance::figures(newest_first)?;
    Some(Snapshot {
        agent: agent.clone(),
        day: tending.zone.day(tending.now),
        at: tending.now,
        total_tasks: figures.total,
        successful_tasks: figures.successful,
        success_rate: figures.success_rate,
        avg_quality: figures.quality,
        quality_trend: figures.trend,
        avg_time_ms: figures.time_ms,
        avg_tokens: figures.tokens,
        total_insights: figures.insights,
        improvements_stored,
        improving: figures.trend > 0.0 && figures.success_rate > tending.config.metrics.success_rate,
    })
}

/// Whether two snapshots differ in nothing but when they were made, and what other jobs did to improvements since.
fn says_the_same(before: &Snapshot, after: &Snapshot) -> bool {
    let bare = |one: &Snapshot| Snapshot { at: after.at, improvements_stored: 0, ..one.clone() };
    bare(before) == bare(after)
}
