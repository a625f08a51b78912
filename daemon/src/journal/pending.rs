//! Files are no part of a transaction. So an operation first keeps what it is about to write to files, then writes them,
//! and forgets it in the transaction in which it is recorded. What is still kept at the next start, or when the next
//! operation comes, was not recorded: it is taken back, the last file first. A file that somebody edited since stays as
//! it is, and so do those that were written before it in the same step: what a note goes to is written before what it
//! leaves, so a note may be in two places then, but never in none.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{Edit, FileText, Journal, files};
use crate::database::{self, Durability, Writing, from_json, to_json};
use crate::error::Error;
use crate::vault;

/// The files of a step.
pub(super) type Files = Vec<Edit<FileText>>;

impl Journal {
    /// Takes back what was written to files and not recorded, and brings to its end what a process that died left beside
    /// them. To be called at the start, before anything is answered.
    ///
    /// # Errors
    /// Those of the database. What cannot be done to a file is logged.
    pub fn recover(&self) -> Result<(), Error> {
        let mut writing = self.writer.lock();
        let pending = self.view.read(all)?;
        let learnings = self.view.project_roots()?.into_iter().map(|root| vault::learnings(&root));
        let written = pending.iter().flatten().filter_map(Edit::path).map(Path::to_owned);
        let others: Vec<PathBuf> = learnings.chain(written).collect();
        let ours = |path: &Path, text: &str| {
            let its = |edit: &&Edit<FileText>| edit.path().is_some_and(|its| self.pen.leads_to(its, path));
            pending.iter().flatten().filter(its).any(|edit| edit.knows(text))
        };
        self.pen.sweep(&others, &ours);
        self.take_back_pending(&mut writing)
    }

    /// Brings in what people wrote to files while they were replaced.
    pub fn look_back(&self) {
        let _writing = self.writer.lock();
        self.pen.look_back();
    }

    /// Keeps which files are about to be written.
    pub(super) fn intend(&self, writing: &mut Writing<'_>, steps: &[Files]) -> Result<(), Error> {
        if steps.iter().all(Vec::is_empty) {
            return Ok(());
        }
        self.take_back_pending(writing)?;
        writing.transaction(Durability::Full, |transaction| {
            steps.iter().filter(|files| !files.is_empty()).try_for_each(|files| Ok(put(transaction, files)?))
        })
    }

    /// Takes back what was written to files and cannot be recorded.
    pub(super) fn abandon(&self, writing: &mut Writing<'_>, written: &[Files]) {
        written.iter().rev().for_each(|files| files::take_back(&self.pen, files));
        let forgotten =
            writing.transaction(Durability::Full, |transaction| Ok::<_, Error>(forget(transaction)?));
        if let Err(error) = forgotten {
            tracing::warn!(%error, "the next operation takes back once more what was not recorded");
        }
    }

    fn take_back_pending(&self, writing: &mut Writing<'_>) -> Result<(), Error> {
        let pending = self.view.read(all)?;
        if pending.is_empty() {
            return Ok(());
        }
        pending.iter().rev().for_each(|files| files::take_back(&self.pen, files));
        writing.transaction(Durability::Full, |transaction| Ok(forget(transaction)?))
    }
}

fn put(connection: &Connection, files: &Files) -> Result<(), database::Error> {
    let files = to_json("list of files", files)?;
    connection.prepare_cached("INSERT INTO pending (files) VALUES (?1)")?.execute([files])?;
    Ok(())
}

fn all(connection: &Connection) -> Result<Vec<Files>, database::Error> {
    let mut statement = connection.prepare_cached("SELECT files FROM pending ORDER BY n")?;
    let rows: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    rows.iter().map(|row| from_json("list of files", row)).collect()
}

/// Forgets what was about to be written: it is recorded, or taken back.
pub(super) fn forget(connection: &Connection) -> Result<(), database::Error> {
    connection.prepare_cached("DELETE FROM pending")?.execute([])?;
    Ok(())
}
