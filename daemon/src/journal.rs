//! The journal owns every writer. What changes memory is an operation: a list of reversible changes with an actor and
//! a reason, committed in one transaction with the events that belong to it (spec S3, S7).
//!
//! A plan reads and decides; it cannot write. It runs while the writer is held, so what it read still holds when its
//! changes are applied. Archives are written before what they keep is removed, and copies of the database are made
//! before they are recorded; so are files of the memory tree.

mod apply;
mod carry;
mod change;
mod files;
mod kept;
mod operations;
mod pending;
mod plan;
mod span;

pub use carry::Carried;
pub use change::{Change, DailyCopy, Edit, Span};
pub use files::{FileText, wrote};
pub use operations::{brought_back, made, moves, page, taken_back, work};
pub use plan::{Plan, Step};
pub use span::{archived_operation, archived_usage, before as spans_before};

use std::collections::HashMap;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use memoryd_proto::{
    AgentName, ArchiveKind, ContextName, Fault, Happening, Learned, Operation, OperationId, RecallId,
    ReportId,
};
use rusqlite::Connection;

use crate::database::{Durability, Writer, Writing};
use crate::domain::decay;
use crate::domain::seed::agree::Base;
use crate::domain::utility::{Learning, Ledgered};
use crate::error::Error;
use crate::events::Events;
use crate::ledger::outbox::Item;
use crate::ledger::recalls::{self, Receipt};
use crate::ledger::{outcomes, usage};
use crate::vault::{self, Pen};
use crate::view::View;

use apply::Touched;

/// What an operation is to do.
#[derive(Debug, Default)]
pub struct Draft {
    /// Why, in one line.
    pub reason: String,
    /// Whose memory it changes, if one agent's.
    pub agent: Option<AgentName>,
    /// The changes, in order.
    pub changes: Vec<Change>,
    /// What happened, beside the changes.
    pub events: Vec<Event>,
    /// Vectors of texts that are stored, where they are known.
    pub vectors: HashMap<String, Vec<f32>>,
}

/// Something that happened. Events are never changed; undoing their operation voids them.
#[derive(Debug)]
pub enum Event {
    /// A report said something of an improvement.
    Outcome(outcomes::Outcome),
    /// A recall was reported.
    Closed {
        /// Which.
        recall: RecallId,
        /// Its context, which counts one interaction more.
        context: ContextName,
        /// Whether the task succeeded.
        success: bool,
    },
    /// A report was taken.
    Reported {
        /// Whose.
        agent: AgentName,
        /// Which.
        id: ReportId,
        /// What was answered.
        reply: Box<Learned>,
    },
    /// A record is as both sides have it now (spec D2).
    Agreed {
        /// Which.
        item: Item,
        /// What they have.
        base: Box<Base>,
    },
}

/// What a plan is made from.
pub struct Planning<'a> {
    /// Everything that can be read.
    pub view: &'a View,
    /// The time of the operation.
    pub now: DateTime<Utc>,
    /// The number that the operation will have.
    pub operation: OperationId,
}

/// The only way to change memory.
pub struct Journal {
    view: View,
    writer: Writer,
    pen: Pen,
    learning: Learning,
    events: Events,
}

impl Journal {
    /// A journal that writes through `writer` what `view` reads. Files that it replaces are held in the folder `replaced`.
    #[must_use]
    pub fn new(view: View, writer: Writer, learning: Learning, replaced: PathBuf) -> Self {
        let events = Events::new(view.clock.now());
        let pen = Pen::new(view.vault.clone(), replaced);
        Self { view, writer, pen, learning, events }
    }

    /// Everything that can be read.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.view
    }

    /// What happens, for those who watch.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Plans an operation and commits it: all of it, or none. A draft without changes and events is no operation.
    ///
    /// # Errors
    /// Those of `plan`, of the database and of the archive. Nothing was changed then.
    pub fn commit<T>(
        &self,
        actor: &str,
        plan: impl FnOnce(&Planning<'_>) -> Result<(Draft, T), Error>,
    ) -> Result<(Option<OperationId>, T), Error> {
        let mut writing = self.writer.lock();
        let now = self.view.clock.now();
        let operation = self.view.read(operations::next)?;
        let (draft, answer) = plan(&Planning { view: &self.view, now, operation })?;
        if draft.changes.is_empty() && draft.events.is_empty() {
            return Ok((None, answer));
        }
        let committed = Happening::Committed {
            operation,
            actor: actor.to_owned(),
            reason: draft.reason.clone(),
            agent: draft.agent.clone(),
            changes: draft.changes.len() as u64,
        };
        self.write(&mut writing, (operation, now), actor, draft, None)?;
        self.events.publish(now, committed);
        Ok((Some(operation), answer))
    }

    /// Writes an operation: archives, then one transaction, then the collections in the process. With `undoes`, what
    /// happened in that operation is voided too.
    fn write(
        &self,
        writing: &mut Writing<'_>,
        (operation, now): (OperationId, DateTime<Utc>),
        actor: &str,
        draft: Draft,
        undoes: Option<OperationId>,
    ) -> Result<(), Error> {
        self.archive(&draft.changes, now)?;
        let mut touched = Touched::default();
        let files = files::edits(&draft.changes);
        self.intend(writing, std::slice::from_ref(&files))?;
        let mut written = Vec::new();
        let recorded = writing.transaction(Durability::Full, |transaction| {
            files::write(&self.pen, &files)?;
            written.push(files);
            pending::forget(transaction)?;
            let Draft { reason, agent, changes, events, vectors } = draft;
            let told = operations::Told { actor, reason: &reason, agent: agent.as_ref() };
            operations::insert(transaction, operation, now, &told, undoes)?;
            let writing = Place { operation, now, n: 0 };
            self.make(transaction, writing, (changes, events), &vectors, &mut touched)?;
            if let Some(undone) = undoes {
                apply::void(transaction, undone, now, &self.learning, &mut touched)?;
            }
            Ok::<_, Error>(())
        });
        if recorded.is_err() {
            self.abandon(writing, &written);
        }
        recorded?;
        self.view.read(|connection| touched.take_over(&self.view.memory, connection))
    }

    /// Makes changes and keeps events, as part of an operation that is there. Returns the place after them.
    fn make(
        &self,
        transaction: &Connection,
        place: Place,
        (changes, events): (Vec<Change>, Vec<Event>),
        vectors: &HashMap<String, Vec<f32>>,
        touched: &mut Touched,
    ) -> Result<Place, Error> {
        let Place { operation, now, mut n } = place;
        for mut change in changes {
            let embed =
                |text: &str| vectors.get(text).cloned().or_else(|| self.view.embed(text).ok().flatten());
            if let Change::Journal(edit) = &mut change {
                span::moved(transaction, &self.view.archive, edit, now, &self.learning)?;
            } else {
                apply::change(transaction, &mut change, embed, now, touched)?;
            }
            operations::insert_change(transaction, operation, n, &change)?;
            n += 1;
        }
        for event in events {
            apply::event(transaction, operation, event, &self.learning, touched)?;
        }
        Ok(Place { n, ..place })
    }

    /// Undoes an operation, and returns the operation that did it and what changed back.
    ///
    /// # Errors
    /// When there is no such operation, it was undone, or something newer touched the same items. Nothing was changed
    /// then.
    pub fn undo(&self, undone: OperationId) -> Result<(OperationId, Vec<String>), Error> {
        let changes: Vec<Change> = self.view.read(|connection| {
            undoable(connection, undone)?;
            let changes = operations::changes(connection, undone)?;
            Ok::<_, Error>(changes.into_iter().rev().map(Change::inverse).collect())
        })?;
        self.copy(&changes)?;
        let mut writing = self.writer.lock();
        let now = self.view.clock.now();
        let (stored, operation) = self.view.read(|connection| {
            Ok::<_, Error>((undoable(connection, undone)?, operations::next(connection)?))
        })?;
        let told: Vec<String> = changes.iter().map(Change::describe).collect();
        let draft = Draft {
            reason: format!("undo operation {undone}: {}", stored.reason),
            agent: stored.agent,
            changes,
            ..Draft::default()
        };
        let written = self.write(&mut writing, (operation, now), "undo", draft, Some(undone));
        if let Err(Error::Vault(vault::Error::Changed { path })) = &written {
            return Err(Error::from(Fault::conflict(
                format!("Operation {undone} cannot be undone: {} was edited since", path.display()),
                "Nothing was changed. Take it back by hand, with what was edited in mind.",
            )));
        }
        written?;
        self.events.publish(now, Happening::Undone { undone, operation });
        Ok((operation, told))
    }

    /// Makes the folders of the memory tree. They are no part of an operation: empty ones harm nobody.
    ///
    /// # Errors
    /// When one cannot be made.
    pub fn make_folders(&self) -> Result<(), Error> {
        Ok(self.pen.make_folders()?)
    }

    /// Keeps facts that are no part of an operation.
    ///
    /// # Errors
    /// Those of the database.
    pub fn note(
        &self,
        keep: impl FnOnce(&Connection) -> Result<(), crate::database::Error>,
    ) -> Result<(), Error> {
        self.writer.lock().transaction(Durability::Full, |transaction| Ok(keep(transaction)?))
    }

    /// Keeps facts that can be found out again, should a power cut take them.
    ///
    /// # Errors
    /// Those of the database.
    pub fn recollect(
        &self,
        keep: impl FnOnce(&Connection) -> Result<(), crate::database::Error>,
    ) -> Result<(), Error> {
        self.writer.lock().transaction(Durability::Process, |transaction| Ok(keep(transaction)?))
    }

    /// Keeps the receipt of a recall, and counts the recall for the items that it returned.
    ///
    /// # Errors
    /// Those of the database.
    pub fn record(&self, at: DateTime<Utc>, receipt: &Receipt) -> Result<RecallId, Error> {
        let mut writing = self.writer.lock();
        let (recall, counted) = writing.transaction(Durability::Process, |transaction| {
            let mut counted = Vec::new();
            for id in receipt.recalled() {
                let known = usage::find(transaction, &receipt.agent, id)?;
                let mut known = known.unwrap_or_else(|| Ledgered::new(decay::day(at)));
                known.recalled(at, self.learning.decay);
                usage::put(transaction, &receipt.agent, id, &known)?;
                counted.push((id, known));
            }
            Ok::<_, Error>((recalls::insert(transaction, at, receipt)?, counted))
        })?;
        self.view.read(|connection| {
            counted.iter().try_for_each(|(id, known)| {
                self.view.memory.set_usage(connection, &receipt.agent, id, Some(known))
            })
        })?;
        Ok(recall)
    }

    /// Makes and removes copies of the database, before that is recorded: a file is no part of a transaction, and
    /// copying holds nobody up while the writer is free. What a copy replaces goes once it is there.
    fn copy<'a>(&self, changes: impl IntoIterator<Item = &'a Change>) -> Result<(), Error> {
        let copies = &self.view.copies;
        for change in changes {
            let Change::Backup(Edit { before, after }) = change else { continue };
            if let Some(before) = before {
                copies.remove(&before.name)?;
            }
            if let Some(after) = after {
                self.view.read(|connection| copies.make_named(connection, &after.name))?;
                after.replaces.iter().try_for_each(|name| copies.remove(name))?;
            }
        }
        Ok(())
    }

    /// What is removed is archived first.
    fn archive<'a>(
        &self,
        changes: impl IntoIterator<Item = &'a Change>,
        now: DateTime<Utc>,
    ) -> Result<(), Error> {
        let (mut improvements, mut evaluations) = (Vec::new(), Vec::new());
        for change in changes {
            match change {
                Change::Improvement { edit: Edit { before: Some(before), after: None }, .. } => {
                    improvements.push(before);
                }
                Change::Evaluation { edit: Edit { before: Some(before), after: None }, .. } => {
                    evaluations.push(before);
                }
                Change::Improvement { .. }
                | Change::Evaluation { .. }
                | Change::Snapshot(_)
                | Change::Backup(_)
                | Change::File(_)
                | Change::Note { .. }
                | Change::Review(_)
                | Change::Profile(_)
                | Change::Usage { .. }
                | Change::Context { .. }
                | Change::Journal(_) => {}
            }
        }
        if !improvements.is_empty() {
            self.view.archive.append(ArchiveKind::Improvements, now, &improvements)?;
        }
        if !evaluations.is_empty() {
            self.view.archive.append(ArchiveKind::Evaluations, now, &evaluations)?;
        }
        Ok(())
    }
}

/// The operation, if it can be undone.
fn undoable(connection: &Connection, undone: OperationId) -> Result<Operation, Error> {
    let Some(stored) = operations::find(connection, undone)? else {
        return Err(span::missing(connection, undone)?.into());
    };
    if let Some(by) = stored.undone_by {
        return Err(Error::from(Fault::conflict(
            format!("Operation {undone} was undone by operation {by}"),
            format!("To do it again, undo operation {by}."),
        )));
    }
    if operations::is_open(connection, undone)? {
        return Err(Error::from(Fault::conflict(
            format!("Operation {undone} is being carried out"),
            "Undo it once it is complete; `memoryctl schedule` shows whether its job runs.",
        )));
    }
    if operations::undoes_events(connection, undone)? {
        return Err(Error::from(Fault::conflict(
            format!("Operation {undone} took back outcomes of tasks, which cannot be undone in turn"),
            "Send the report again, if it was one. What a job did, it leaves alone from now on.",
        )));
    }
    if let Some((item, newer)) = operations::touched_since(connection, undone)? {
        return Err(Error::from(Fault::conflict(
            format!("Operation {undone} cannot be undone: operation {newer} touched {item} since"),
            format!("Undo operation {newer} first."),
        )));
    }
    Ok(stored)
}

/// Where in an operation the next change goes.
#[derive(Clone, Copy)]
struct Place {
    operation: OperationId,
    now: DateTime<Utc>,
    n: usize,
}
