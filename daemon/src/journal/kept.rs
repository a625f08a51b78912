//! Operations as lines of an archive, with everything in the database that is theirs alone.

use chrono::{DateTime, Utc};
use memoryd_proto::{Operation, OperationId};
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{change, operations};
use crate::database::{Error, instant};

/// An operation.
#[derive(Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the columns of that name")]
pub struct Kept {
    pub id: u64,
    pub at: DateTime<Utc>,
    pub actor: String,
    pub reason: String,
    pub agent: Option<String>,
    pub undoes: Option<u64>,
    pub undone_by: Option<u64>,
    /// Its changes, in order.
    pub changes: Vec<Touch>,
    /// The reports that were taken in it.
    pub reports: Vec<Report>,
}

/// A change of an operation, as it was written.
#[derive(Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the columns of that name")]
pub struct Touch {
    pub item: String,
    pub body: Box<RawValue>,
}

/// A report, with what was answered.
#[derive(Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the columns of that name")]
pub struct Report {
    pub agent: String,
    pub id: String,
    pub reply: Box<RawValue>,
}

/// The operations `first` to `last`.
///
/// # Errors
/// Those of the database.
pub fn all(connection: &Connection, (first, last): (u64, u64)) -> Result<Vec<Kept>, Error> {
    let sql = "SELECT id, at, actor, reason, agent, undoes, undone_by FROM operation \
               WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([first, last], |row| {
        Ok(Kept {
            id: row.get(0)?,
            at: instant(row.get(1)?),
            actor: row.get(2)?,
            reason: row.get(3)?,
            agent: row.get(4)?,
            undoes: row.get(5)?,
            undone_by: row.get(6)?,
            changes: Vec::new(),
            reports: Vec::new(),
        })
    })?;
    let mut all: Vec<Kept> = rows.collect::<Result<_, _>>()?;
    for kept in &mut all {
        kept.changes = changes(connection, kept.id)?;
        kept.reports = reports(connection, kept.id)?;
    }
    Ok(all)
}

fn changes(connection: &Connection, id: u64) -> Result<Vec<Touch>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT item, body FROM change WHERE operation = ?1 ORDER BY n")?;
    let mut rows = statement.query([id])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(Touch { item: row.get(0)?, body: raw(row.get(1)?)? });
    }
    Ok(all)
}

fn reports(connection: &Connection, id: u64) -> Result<Vec<Report>, Error> {
    let mut statement = connection
        .prepare_cached("SELECT agent, id, reply FROM report WHERE operation = ?1 ORDER BY agent, id")?;
    let mut rows = statement.query([id])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(Report { agent: row.get(0)?, id: row.get(1)?, reply: raw(row.get(2)?)? });
    }
    Ok(all)
}

fn raw(json: String) -> Result<Box<RawValue>, Error> {
    RawValue::from_string(json).map_err(|source| Error::Value { what: "operation", source })
}

impl Kept {
    /// Removes it. What a person took back of a job's stays known.
    ///
    /// # Errors
    /// Those of the database.
    pub fn remove(&self, connection: &Connection) -> Result<(), Error> {
        if self.undone_by.is_some() && self.actor.starts_with("job ") {
            let sql = "INSERT OR IGNORE INTO taken_back (actor, item, operation) VALUES (?1, ?2, ?3)";
            // Of a file it is the notes that were taken back.
            let taken_back = |item: &str| item != change::JOURNAL && !item.starts_with(change::FILE);
            for change in self.changes.iter().filter(|change| taken_back(&change.item)) {
                connection.prepare_cached(sql)?.execute(params![self.actor, change.item, self.id])?;
            }
        }
        connection.prepare_cached("DELETE FROM report WHERE operation = ?1")?.execute([self.id])?;
        // Its changes go with it.
        connection.prepare_cached("DELETE FROM operation WHERE id = ?1")?.execute([self.id])?;
        Ok(())
    }

    /// Puts it back where it was.
    ///
    /// # Errors
    /// Those of the database.
    pub fn put_back(&self, connection: &Connection) -> Result<(), Error> {
        let sql = "INSERT INTO operation (id, at, actor, reason, agent, undoes, undone_by) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        connection.prepare_cached(sql)?.execute(params![
            self.id,
            self.at.timestamp_micros(),
            self.actor,
            self.reason,
            self.agent,
            self.undoes,
            self.undone_by,
        ])?;
        let sql = "INSERT INTO change (operation, n, item, body) VALUES (?1, ?2, ?3, ?4)";
        for (n, change) in (0_i64..).zip(&self.changes) {
            connection.prepare_cached(sql)?.execute(params![self.id, n, change.item, change.body.get()])?;
        }
        // A report of the same name may have been taken since.
        let sql = "INSERT OR IGNORE INTO report (agent, id, operation, reply) VALUES (?1, ?2, ?3, ?4)";
        for report in &self.reports {
            connection.prepare_cached(sql)?.execute(params![
                report.agent,
                report.id,
                self.id,
                report.reply.get()
            ])?;
        }
        connection.prepare_cached("DELETE FROM taken_back WHERE operation = ?1")?.execute([self.id])?;
        Ok(())
    }

    /// As it is told to a person.
    ///
    /// # Errors
    /// When a change cannot be read.
    pub fn told(&self) -> Result<Operation, Error> {
        let bodies = self.changes.iter().map(|change| change.body.get());
        Ok(Operation {
            id: OperationId(self.id),
            at: self.at,
            actor: self.actor.clone(),
            reason: self.reason.clone(),
            agent: self.agent.as_ref().and_then(|name| name.parse().ok()),
            undone_by: self.undone_by.map(OperationId),
            changes: operations::told(bodies, self.changes.len() as u64)?,
        })
    }
}

/// Lets those of the operations `first` to `last` stand again whose undo was undone while they were away.
///
/// # Errors
/// Those of the database.
pub fn stand_again(connection: &Connection, bounds: (u64, u64)) -> Result<(), Error> {
    let sql = "UPDATE operation SET undone_by = NULL WHERE id BETWEEN ?1 AND ?2 \
               AND EXISTS \
               (SELECT 1 FROM operation AS undo WHERE undo.id = operation.undone_by AND undo.undone_by IS NOT NULL)";
    connection.prepare_cached(sql)?.execute(bounds)?;
    Ok(())
}
