//! Learned utilities in and out, in the format of QAVR (spec Q5).

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use memoryd_proto::{AgentName, ExportQ, Fault, ImportQ, ImportedQ, QConfig, QContext, QTable, Serve, Usage};

use super::App;
use crate::domain::decay;
use crate::domain::utility::Ledgered;
use crate::error::Error;
use crate::journal::{Change, Draft, Edit};
use crate::ledger::{contexts, usage};
use crate::store::listing::{self, Showing};

impl Serve<ExportQ> for App {
    fn serve(&self, call: ExportQ) -> Result<QTable, Fault> {
        Ok(self.export_q(&call.agent)?)
    }
}

impl Serve<ImportQ> for App {
    fn serve(&self, call: ImportQ) -> Result<ImportedQ, Fault> {
        Ok(self.import_q(&call)?)
    }
}

impl App {
    fn export_q(&self, agent: &AgentName) -> Result<QTable, Error> {
        let showing = self.showing();
        let (tracked, known) = self.view().read(|connection| {
            Ok::<_, Error>((usage::of_agent(connection, agent)?, contexts::all(connection)?))
        })?;
        let memories = tracked
            .into_iter()
            .map(|(id, ledgered)| {
                let shown = ledgered.shown(showing.today, showing.decay);
                let memory = memoryd_proto::QMemory {
                    q_value: shown.q_value,
                    access_count: shown.access_count,
                    last_accessed: shown.last_accessed.map(|at| at.format("%Y-%m-%d").to_string()),
                    success_count: shown.success_count,
                    failure_count: shown.failure_count,
                };
                (id, memory)
            })
            .collect();
        let contexts = known
            .into_iter()
            .map(|(name, interactions)| {
                let mode = contexts::state(name.clone(), interactions, &self.config.learning).mode;
                (name.as_str().to_owned(), QContext { interactions, mode })
            })
            .collect();
        let config = QConfig {
            learning_rate: self.config.learning.learning_rate,
            decay_factor: self.config.learning.decay_factor,
            warm_threshold: self.config.learning.warm_threshold,
        };
        Ok(QTable { memories, contexts, config })
    }

    fn import_q(&self, call: &ImportQ) -> Result<ImportedQ, Error> {
        let today = decay::day(self.now());
        let mut wanted = BTreeMap::new();
        for (id, memory) in &call.table.memories {
            let usage_count = memory.success_count + memory.failure_count;
            let usage = Usage {
                usage_count,
                success_count: memory.success_count,
                failure_count: memory.failure_count,
                access_count: memory.access_count,
                last_accessed: memory.last_accessed.as_deref().map(|day| midnight(id, day)).transpose()?,
                q_value: memory.q_value,
                ..Usage::default()
            };
            let id = id.parse::<memoryd_proto::ImprovementId>()?;
            self.entry().id(&id)?;
            wanted.insert(id, Ledgered::adopted(&usage, today));
        }
        let counts = call.table.contexts.iter();
        let counts = counts.map(|(name, context)| Ok((name.parse()?, context.interactions)));
        let counts: BTreeMap<memoryd_proto::ContextName, u64> = counts.collect::<Result<_, Fault>>()?;
        let (operation, (memories, contexts, unknown)) = self.journal.commit("import", |planning| {
            let mut draft = Draft {
                reason: "an import of learned utilities".to_owned(),
                agent: Some(call.agent.clone()),
                ..Draft::default()
            };
            let (mut memories, mut unknown, mut changed) = (0, Vec::new(), 0);
            let showing = Showing::at(planning.now, &self.config);
            planning.view.read(|connection| {
                for (id, after) in &wanted {
                    let one = listing::Wanted::one(&call.agent, id);
                    if listing::count(connection, &one, &showing)? == 0 {
                        unknown.push(id.as_str().to_owned());
                    }
                    let before = usage::find(connection, &call.agent, id)?;
                    let shown = |known: &Ledgered| known.shown(showing.today, showing.decay);
                    if before.as_ref().map(shown) == Some(shown(after)) {
                        continue;
                    }
                    memories += 1;
                    let edit = Edit { before, after: Some(after.clone()) };
                    draft.changes.push(Change::Usage { agent: call.agent.clone(), id: id.clone(), edit });
                }
                for (name, after) in &counts {
                    let before = contexts::interactions(connection, name)?;
                    if before != *after {
                        changed += 1;
                        let edit = Edit { before: Some(before), after: Some(*after) };
                        draft.changes.push(Change::Context { name: name.clone(), edit });
                    }
                }
                Ok::<_, Error>(())
            })?;
            Ok((draft, (memories, changed, unknown)))
        })?;
        Ok(ImportedQ { memories, contexts, unknown, operation })
    }
}

/// The first instant of a day such as `2026-01-26`.
fn midnight(id: &str, day: &str) -> Result<DateTime<Utc>, Fault> {
    let date = NaiveDate::parse_from_str(day, "%Y-%m-%d").map_err(|_| {
        Fault::invalid(
            format!("Memory {id} was last accessed on {day:?}, which is no day"),
            "Write days as 2026-01-26.",
        )
    })?;
    Ok(date.and_time(NaiveTime::MIN).and_utc())
}
