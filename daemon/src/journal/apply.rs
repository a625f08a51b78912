//! Applying a change to the rows.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use memoryd_proto::{AgentName, ImprovementId, OperationId, Scope};
use rusqlite::Connection;

use super::{Change, Event};
use crate::database::Error;
use crate::domain::decay;
use crate::domain::utility::{Learning, Ledgered};
use crate::ledger::{contexts, mirror, outcomes, recalls, reports, usage};
use crate::store::{Memory, performance, reviews, rows};

/// What a commit touched, for the collections in the process to take over.
#[derive(Debug, Default)]
pub struct Touched {
    /// Rows whose text or place in a sequence was written.
    rows: Vec<i64>,
    /// Rows of which nothing was written but what gates look at.
    facts: Vec<i64>,
    /// Rows that were removed.
    dropped: Vec<(AgentName, Scope, i64)>,
    /// Improvements whose usage changed.
    usage: BTreeSet<Item>,
    /// Improvements whose past outcomes changed.
    past: BTreeSet<Item>,
    /// Outcomes that came to the past ones of their improvement.
    used: Vec<outcomes::Used>,
}

/// Names an improvement.
type Item = (AgentName, ImprovementId);

impl Touched {
    /// Lets the collections in the process take over what was committed.
    ///
    /// # Errors
    /// Those of the database.
    pub fn take_over(self, memory: &Memory, connection: &Connection) -> Result<(), Error> {
        for (agent, scope, row) in &self.dropped {
            memory.drop_row(agent, scope, *row);
        }
        memory.refresh(connection, &self.rows)?;
        memory.refresh_facts(connection, &self.facts)?;
        for (agent, id) in &self.usage {
            memory.refresh_usage(connection, agent, id)?;
        }
        for (agent, id) in &self.past {
            memory.refresh_past(connection, agent, id)?;
        }
        for used in self.used {
            if !self.past.contains(&(used.agent.clone(), used.id.clone())) {
                memory.add_past(connection, used)?;
            }
        }
        Ok(())
    }
}

/// Applies a change. `embed` gives the vector of a text.
///
/// # Errors
/// Those of the database.
pub fn change(
    connection: &Connection,
    change: &mut Change,
    embed: impl FnOnce(&str) -> Option<Vec<f32>>,
    now: DateTime<Utc>,
    touched: &mut Touched,
) -> Result<(), Error> {
    match change {
        Change::Improvement { row, edit } => match (&edit.before, &edit.after) {
            (before, Some(after)) => {
                let reads_the_same = before.as_ref().is_some_and(|before| before.document == after.document);
                let place = rows::put_improvement(connection, *row, after, now)?;
                if !reads_the_same {
                    match embed(&after.document) {
                        Some(vector) => rows::put_vector(connection, place, &vector)?,
                        None => rows::remove_vector(connection, place)?,
                    }
                }
                if before.is_none() {
                    let key = (after.agent.clone(), after.id.clone());
                    touched.usage.insert(key.clone());
                    touched.past.insert(key);
                }
                *row = Some(place);
                let found_the_same = before.as_ref().is_some_and(|before| {
                    reads_the_same
                        && before.learned_from == after.learned_from
                        && before.created_at == after.created_at
                });
                if found_the_same { &mut touched.facts } else { &mut touched.rows }.push(place);
            }
            (Some(before), None) => {
                if let Some(place) = *row {
                    rows::remove_improvement(connection, place)?;
                    touched.dropped.push((before.agent.clone(), before.scope.clone(), place));
                }
            }
            (None, None) => {}
        },
        Change::Evaluation { row, edit } => match (&edit.before, &edit.after) {
            (_, Some(after)) => *row = Some(rows::put_evaluation(connection, *row, after)?),
            (Some(before), None) => *row = rows::remove_evaluation(connection, before)?.or(*row),
            (None, None) => {}
        },
        Change::Snapshot(edit) => match (&edit.before, &edit.after) {
            (_, Some(after)) => performance::put(connection, after)?,
            (Some(before), None) => performance::remove(connection, before)?,
            (None, None) => {}
        },
        Change::Review(edit) => match (&edit.before, &edit.after) {
            (_, Some(after)) => reviews::put(connection, after)?,
            (Some(before), None) => reviews::remove(connection, before.week)?,
            (None, None) => {}
        },
        Change::Profile(edit) => match (&edit.before, &edit.after) {
            (_, Some(after)) => rows::put_profile(connection, after)?,
            (Some(before), None) => rows::remove_profile(connection, before)?,
            (None, None) => {}
        },
        Change::Usage { agent, id, edit } => {
            // Its Q-value is decayed already: idle days before do not count again when outcomes are replayed on it.
            let after = edit.after.clone().map(|after| Ledgered { idle_days: 0, ..after });
            usage::put_baseline(connection, agent, id, after.as_ref())?;
            match &after {
                Some(after) => usage::put(connection, agent, id, after)?,
                None => usage::remove(connection, agent, id)?,
            }
            touched.usage.insert((agent.clone(), id.clone()));
        }
        Change::Context { name, edit } => contexts::set(connection, name, edit.after.unwrap_or(0))?,
        // Files are written by now: the copy is there, or gone. What leaves the journal needs the archive: see `Journal::make`.
        Change::Backup(_) | Change::File(_) | Change::Note { .. } | Change::Journal(_) => {}
    }
    Ok(())
}

/// Applies an event.
///
/// # Errors
/// Those of the database.
pub fn event(
    connection: &Connection,
    operation: OperationId,
    event: Event,
    learning: &Learning,
    touched: &mut Touched,
) -> Result<(), Error> {
    match event {
        Event::Outcome(mut outcome) => {
            let (agent, id) = (&outcome.agent, &outcome.id);
            if outcome.counted {
                let today = decay::day(outcome.at);
                let mut known = usage::find(connection, agent, id)?.unwrap_or_else(|| Ledgered::new(today));
                outcome.idle_days = known.reported(outcome.verdict, outcome.at, learning);
                usage::put(connection, agent, id, &known)?;
                touched.usage.insert((agent.clone(), id.clone()));
            }
            touched.used.extend(outcomes::append(connection, operation, outcome)?);
        }
        Event::Closed { recall, context, success } => {
            recalls::close(connection, &recall, operation, success)?;
            contexts::count(connection, &context, 1)?;
        }
        Event::Agreed { item, base } => mirror::put(connection, &item, &base)?,
        Event::Reported { agent, id, reply } => reports::insert(connection, &agent, &id, operation, &reply)?,
    }
    Ok(())
}

/// Voids what happened in an operation that is undone.
///
/// # Errors
/// Those of the database.
pub fn void(
    connection: &Connection,
    undone: OperationId,
    now: DateTime<Utc>,
    learning: &Learning,
    touched: &mut Touched,
) -> Result<(), Error> {
    for item in outcomes::void(connection, undone, decay::day(now), learning)? {
        touched.usage.insert(item.clone());
        touched.past.insert(item);
    }
    for context in recalls::reopen(connection, undone)? {
        contexts::count(connection, &context, -1)?;
    }
    reports::forget(connection, undone)
}
