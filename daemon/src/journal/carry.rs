//! Carrying out a job's plan: step by step, in short transactions, so that no request waits long (spec S3, S4).
//!
//! A plan is made without the writer, so a step is made only if what it was planned on still holds; otherwise it is
//! left out, and the next run looks again. Each batch of steps and its entries in the journal are one transaction. What
//! is interrupted stays open, and the next run of the job completes the same operation.

use std::ops::ControlFlow;

use chrono::{DateTime, Utc};
use memoryd_proto::{Happening, OperationId};
use rusqlite::Connection;

use super::apply::Touched;
use super::operations::{self, Told};
use super::{Change, Edit, Journal, Place, Plan, Step, span};
use crate::database::Durability;
use crate::error::Error;
use crate::ledger::usage;
use crate::store::{listing, performance, reviews, rows};

/// Changes that are made while the writer is held once.
const BATCH: usize = 64;

/// How a plan was carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// The operation; absent when nothing changed.
    pub operation: Option<OperationId>,
    /// Steps that were left out because something had touched their items.
    pub left_out: u64,
}

impl Journal {
    /// Carries out a plan as one operation. `progress` is told how many steps are done, of how many, and says whether to
    /// go on. `finish` is called in the last transaction, with the operation.
    ///
    /// # Errors
    /// Those of the database and of the archive, and that it was told not to go on. The steps that were made stand, and
    /// the next plan of the same actor goes on with the operation.
    pub fn carry_out(
        &self,
        actor: &str,
        plan: Plan,
        progress: &dyn Fn(u64, u64) -> ControlFlow<()>,
        finish: impl FnOnce(&Connection, Carried) -> Result<(), Error>,
    ) -> Result<Carried, Error> {
        let now = self.view.clock.now();
        self.copy(plan.steps.iter().flat_map(|step| &step.changes))?;
        let told = Told { actor, reason: &plan.reason, agent: None };
        let begun = self.view.read(|connection| operations::begun(connection, actor))?;
        let mut place = begun.map(|(operation, n)| Place { operation, now, n });
        let (mut done, mut left_out, all) = (0, 0, plan.steps.len() as u64);
        let mut steps = plan.steps.into_iter().peekable();
        while steps.peek().is_some() {
            if progress(done, all).is_break() {
                return Err(Error::Stopping);
            }
            let (mut batch, mut changes) = (Vec::new(), 0);
            let weight = |step: &Step| step.changes.iter().map(Change::weight).sum::<usize>();
            while let Some(step) = steps.next_if(|step| batch.is_empty() || changes + weight(step) <= BATCH) {
                changes += weight(&step);
                batch.push(step);
            }
            done += batch.len() as u64;
            self.archive(batch.iter().flat_map(|step| &step.changes), now)?;
            let mut writing = self.writer.lock();
            let mut touched = Touched::default();
            place = writing.transaction(Durability::Process, |transaction| {
                let mut place = match place {
                    Some(place) => place,
                    None => begin(transaction, now, &told)?,
                };
                for Step { changes, events, vectors, .. } in batch {
                    if hold(transaction, &changes)? {
                        place = self.make(transaction, place, (changes, events), &vectors, &mut touched)?;
                    } else {
                        left_out += 1;
                    }
                }
                Ok::<_, Error>(Some(place))
            })?;
            self.view.read(|connection| touched.take_over(&self.view.memory, connection))?;
            writing.hand_over();
        }
        // Nothing is left to be stopped.
        let _ = progress(all, all);
        let carried = self.writer.lock().transaction(Durability::Full, |transaction| {
            let operation = match place {
                Some(Place { operation, .. }) => {
                    operations::close(transaction, operation)?.then_some(operation)
                }
                None => None,
            };
            let carried = Carried { operation, left_out };
            finish(transaction, carried)?;
            Ok::<_, Error>(carried)
        })?;
        if let (Some(operation), Some(Place { n, .. })) = (carried.operation, place) {
            let (actor, reason, changes) = (actor.to_owned(), plan.reason, n as u64);
            self.events.publish(now, Happening::Committed { operation, actor, reason, agent: None, changes });
        }
        Ok(carried)
    }

    /// Whether an operation of this actor was interrupted and waits for its next run.
    ///
    /// # Errors
    /// Those of the database.
    pub fn interrupted(&self, actor: &str) -> Result<bool, Error> {
        Ok(self.view.read(|connection| operations::begun(connection, actor))?.is_some())
    }
}

/// Begins an operation that is carried out a step at a time.
fn begin(connection: &Connection, now: DateTime<Utc>, told: &Told<'_>) -> Result<Place, Error> {
    let operation = operations::next(connection)?;
    operations::insert(connection, operation, now, told, None)?;
    operations::open(connection, operation)?;
    Ok(Place { operation, now, n: 0 })
}

/// Whether everything is as it was when the changes were planned.
fn hold(connection: &Connection, changes: &[Change]) -> Result<bool, Error> {
    for change in changes {
        let holds = match change {
            Change::Improvement { row: Some(row), edit } => rows::at(connection, *row)? == edit.before,
            Change::Improvement { row: None, edit: Edit { before: None, after: Some(after) } } => {
                rows::find(connection, &after.agent, &after.scope, &after.id)?.is_none()
            }
            // No job plans files yet.
            Change::Improvement { .. } | Change::File(_) => false,
            Change::Evaluation { edit: Edit { before, after }, .. } => {
                let there = |one: &memoryd_proto::Evaluation| {
                    listing::has_evaluation(connection, &one.agent, one.id.as_str())
                };
                match (before, after) {
                    (Some(before), _) => there(before)?,
                    (None, Some(after)) => !there(after)?,
                    (None, None) => false,
                }
            }
            Change::Usage { agent, id, edit } => usage::find(connection, agent, id)? == edit.before,
            Change::Snapshot(edit) => match edit.either() {
                Some(one) => performance::find(connection, &one.agent, one.day)? == edit.before,
                None => false,
            },
            Change::Review(edit) => match edit.either() {
                Some(one) => reviews::find(connection, one.week)? == edit.before,
                None => false,
            },
            Change::Journal(Edit { before: Some(span), .. }) => span::holds(connection, span)?,
            Change::Backup(_)
            | Change::Note { .. }
            | Change::Profile(_)
            | Change::Context { .. }
            | Change::Journal(_) => true,
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}
