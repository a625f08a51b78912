//! Agents, and how one starts with its memory (spec I11).

use std::cmp::Reverse;
use std::collections::HashSet;

use memoryd_proto::{
    AgentList, AgentSummary, Agents, Fault, Improvement, Initialise, Initialised, Scope, Serve, Standing,
};

use super::{App, MOST};
use crate::error::Error;
use crate::store::listing::{self, Order, Wanted};

impl Serve<Agents> for App {
    fn serve(&self, _: Agents) -> Result<AgentList, Fault> {
        let agents = self.view().read(listing::agents)?;
        let summary = |(name, improvements, evaluations, projects)| AgentSummary {
            name,
            improvements,
            evaluations,
            projects,
        };
        Ok(AgentList { agents: agents.into_iter().map(summary).collect() })
    }
}

impl Serve<Initialise> for App {
    fn serve(&self, call: Initialise) -> Result<Initialised, Fault> {
        let static_text = call.file.as_ref().map(|path| {
            std::fs::read_to_string(path)
                .map_err(|source| Error::AgentFile { path: path.display().to_string(), source })
        });
        let project = super::project(call.project.as_ref())?;
        let wanted =
            Wanted { agent: Some(call.agent.clone()), standing: Some(Standing::Active), ..Wanted::default() };
        let showing = self.showing();
        let found = self.view().read(|connection| {
            listing::improvements(connection, &wanted, Order::Newest, (0, MOST), &showing)
        })?;
        let here = |one: &Improvement| match &one.scope {
            Scope::Global => true,
            Scope::Project(hash) => project.as_ref() == Some(hash),
        };
        let mut learned: Vec<Improvement> = found.into_iter().map(|(_, one)| one).filter(here).collect();
        learned.sort_by_key(|one| {
            Reverse((millionths(one.usage.success_rate.unwrap_or(0.5)), millionths(one.confidence.get())))
        });
        let mut seen = HashSet::new();
        learned.retain(|one| seen.insert(one.id.clone()));
        Ok(Initialised {
            agent: call.agent,
            static_text: static_text.transpose()?,
            learned_improvements: learned,
            memory_enabled: true,
        })
    }
}

/// A share as a number that can be ordered.
#[allow(clippy::cast_possible_truncation, reason = "shares are between 0 and 1")]
fn millionths(share: f64) -> i64 {
    (share * 1e6) as i64
}
