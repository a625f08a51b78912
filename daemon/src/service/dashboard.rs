//! Figures about a memory (spec P2).

use chrono::TimeDelta;
use memoryd_proto::{
    AgentName, Dashboard, DashboardView, Evaluations, Fault, Improvement, Serve, Snapshot, SnapshotPage,
    Snapshots, Standing,
};
use rusqlite::Connection;

use super::{App, PAGE, page};
use crate::error::Error;
use crate::ledger::contexts;
use crate::store::listing::{self, Order, Wanted};
use crate::store::performance;

/// How many of the best are shown.
const TOP: u64 = 5;

impl Serve<Dashboard> for App {
    fn serve(&self, call: Dashboard) -> Result<DashboardView, Fault> {
        Ok(self.dashboard(call)?)
    }
}

impl Serve<Snapshots> for App {
    fn serve(&self, call: Snapshots) -> Result<SnapshotPage, Fault> {
        let limit = page(call.limit, PAGE);
        let listed =
            self.view().read(|connection| performance::list(connection, &call, (call.offset, limit)));
        let (snapshots, total) = listed?;
        Ok(SnapshotPage { snapshots, total })
    }
}

impl App {
    fn dashboard(&self, call: Dashboard) -> Result<DashboardView, Error> {
        let (now, showing) = (self.now(), self.showing());
        self.view().read(|connection| {
            let all = Wanted { agent: call.agent.clone(), ..Wanted::default() };
            let count = |standing| {
                listing::count(connection, &Wanted { standing: Some(standing), ..all.clone() }, &showing)
            };
            let top = |order| -> Result<Vec<Improvement>, Error> {
                let best = listing::improvements(connection, &all, order, (0, TOP), &showing)?;
                Ok(best.into_iter().map(|(_, one)| one).collect())
            };
            let week = Wanted { since: Some(now - TimeDelta::days(7)), ..all.clone() };
            let (success, quality) =
                listing::recent(connection, call.agent.as_ref(), now - TimeDelta::days(30))?;
            let asked = Evaluations { agent: call.agent.clone(), ..Evaluations::default() };
            Ok::<_, Error>(DashboardView {
                at: now,
                total_improvements: listing::count(connection, &all, &showing)?,
                active_improvements: count(Standing::Active)?,
                deprecated_improvements: count(Standing::Deprecated)?,
                candidates: count(Standing::Candidate)?,
                total_evaluations: listing::evaluations(connection, &asked, (0, 0))?.1,
                recent_success_rate: success,
                recent_quality: quality,
                improvements_last_7_days: listing::count(connection, &week, &showing)?,
                latest_snapshot: latest(connection, call.agent.as_ref())?,
                top_improvements: top(Order::SuccessRate)?,
                top_q: top(Order::Q)?,
                contexts: contexts::states(connection, &self.config.learning)?,
                agent: call.agent,
            })
        })
    }
}

/// The latest snapshot of an agent.
fn latest(connection: &Connection, agent: Option<&AgentName>) -> Result<Option<Snapshot>, Error> {
    let Some(agent) = agent else { return Ok(None) };
    let wanted = Snapshots { agent: Some(agent.clone()), ..Snapshots::default() };
    Ok(performance::list(connection, &wanted, (0, 1))?.0.pop())
}
