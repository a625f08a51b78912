//! Carrying out a job's plan: step by step, in short transactions, so that no request waits long (spec S3, S4).
//!
//! A plan is made without the writer, so a step is made only if what it was planned on still holds; otherwise it is
//! left out. Each batch of steps and its entries in the journal are one transaction; the files of a step are written in
//! it, and taken back if it fails. What is interrupted stays open, and the next plan of the job goes on with the same
//! operation.

use std::ops::ControlFlow;

use chrono::{DateTime, Utc};
use memoryd_proto::{Happening, OperationId};
use rusqlite::Connection;

use super::apply::Touched;
use super::operations::{self, Told};
use super::pending::{self, Files};
use super::{Change, Edit, Journal, Place, Plan, Step, files, span};
use crate::database::Durability;
use crate::error::Error;
use crate::ledger::usage;
use crate::store::{listing, performance, reviews, rows};
use crate::vault;

/// Changes that are made while the writer is held once.
const BATCH: usize = 64;

/// How a plan was carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Steps that were left out because something had touched their items, by their places in the plan.
    pub left_out: Vec<usize>,
    /// Whether files were among that: planned again at once, those steps go by what the files say now.
    pub edited: bool,
    /// Files that cannot be written, and why. Their steps were left out, too.
    pub unwritten: Vec<String>,
}

impl Journal {
    /// Carries out a plan as part of one operation, which stays open until it is [completed](Journal::complete).
    /// `progress` is told how many steps are done, of how many, and says whether to go on.
    ///
    /// # Errors
    /// Those of the database, of the archive and of the vault, and that it was told not to go on. The steps that were made
    /// stand, and the next plan of the same actor goes on with the operation.
    pub fn carry_out(
        &self,
        actor: &str,
        plan: Plan,
        progress: &dyn Fn(u64, u64) -> ControlFlow<()>,
    ) -> Result<Carried, Error> {
        let now = self.view.clock.now();
        self.copy(plan.steps.iter().flat_map(|step| &step.changes))?;
        let told = Told { actor, reason: &plan.reason, agent: None };
        let begun = self.view.read(|connection| operations::begun(connection, actor))?;
        let mut place = begun.map(|(operation, n)| Place { operation, now, n });
        let (mut done, mut carried, all) = (0, Carried::default(), plan.steps.len() as u64);
        let mut steps = plan.steps.into_iter().enumerate().peekable();
        while steps.peek().is_some() {
            if progress(done, all).is_break() {
                return Err(Error::Stopping);
            }
            let (mut batch, mut changes) = (Vec::new(), 0);
            let weight = |step: &Step| step.changes.iter().map(Change::weight).sum::<usize>();
            while let Some((at, step)) =
                steps.next_if(|(_, step)| batch.is_empty() || changes + weight(step) <= BATCH)
            {
                changes += weight(&step);
                batch.push((at, step));
            }
            done += batch.len() as u64;
            self.archive(batch.iter().flat_map(|(_, step)| &step.changes), now)?;
            let mut writing = self.writer.lock();
            let files: Vec<Files> = batch.iter().map(|(_, step)| files::edits(&step.changes)).collect();
            self.intend(&mut writing, &files)?;
            let mut touched = Touched::default();
            let mut written = Vec::new();
            let recorded = writing.transaction(Durability::Process, |transaction| {
                let mut place = match place {
                    Some(place) => place,
                    None => begin(transaction, now, &told)?,
                };
                for ((at, Step { changes, events, vectors, .. }), files) in batch.into_iter().zip(files) {
                    if hold(transaction, &changes)? && self.write_files(&files, &mut carried)? {
                        written.push(files);
                        place = self.make(transaction, place, (changes, events), &vectors, &mut touched)?;
                    } else {
                        carried.left_out.push(at);
                    }
                }
                pending::forget(transaction)?;
                Ok::<_, Error>(Some(place))
            });
            if recorded.is_err() {
                self.abandon(&mut writing, &written);
            }
            place = recorded?;
            self.view.read(|connection| touched.take_over(&self.view.memory, connection))?;
            writing.hand_over();
        }
        // Nothing is left to be stopped.
        let _ = progress(all, all);
        Ok(carried)
    }

    /// Writes the files of a step. Returns whether they were as it was planned on, and can be written.
    fn write_files(&self, files: &Files, carried: &mut Carried) -> Result<bool, Error> {
        match files::write(&self.pen, files) {
            Ok(()) => return Ok(true),
            Err(vault::Error::Changed { .. }) => carried.edited = true,
            Err(error) if error.lies_in_the_file() => carried.unwritten.push(error.to_string()),
            Err(error) => return Err(error.into()),
        }
        Ok(false)
    }

    /// Completes the operation that an actor's plans were carried out as, and returns it; nothing when they changed
    /// nothing. `finish` is called in the transaction, with the operation.
    ///
    /// # Errors
    /// Those of the database and of `finish`. The operation stays open then.
    pub fn complete(
        &self,
        actor: &str,
        finish: impl FnOnce(&Connection, Option<OperationId>) -> Result<(), Error>,
    ) -> Result<Option<OperationId>, Error> {
        let completed = self.writer.lock().transaction(Durability::Full, |transaction| {
            let mut completed = None;
            if let Some((operation, n)) = operations::begun(transaction, actor)?
                && operations::close(transaction, operation)?
            {
                completed = operations::find(transaction, operation)?.map(|stored| (stored, n as u64));
            }
            finish(transaction, completed.as_ref().map(|(stored, _)| stored.id))?;
            Ok::<_, Error>(completed)
        })?;
        let Some((stored, changes)) = completed else { return Ok(None) };
        let (operation, actor, reason) = (stored.id, stored.actor, stored.reason);
        let committed = Happening::Committed { operation, actor, reason, agent: None, changes };
        self.events.publish(self.view.clock.now(), committed);
        Ok(Some(operation))
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

/// Whether everything in the database is as it was when the changes were planned. Files are looked at as they are
/// written.
fn hold(connection: &Connection, changes: &[Change]) -> Result<bool, Error> {
    for change in changes {
        let holds = match change {
            Change::Improvement { row: Some(row), edit } => rows::at(connection, *row)? == edit.before,
            Change::Improvement { row: None, edit: Edit { before: None, after: Some(after) } } => {
                rows::find(connection, &after.agent, &after.scope, &after.id)?.is_none()
            }
            Change::Improvement { .. } => false,
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
            | Change::File(_)
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
