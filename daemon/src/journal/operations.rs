//! Operations and their changes as rows.

use std::collections::HashSet;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use memoryd_proto::{AgentName, JobWork, Journal, JournalPage, Operation, OperationId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Change, Edit, change};
use crate::database::{Error, from_json, instant, meta, to_json};

/// How many changes of an operation a page of the journal shows.
const SHOWN: u64 = 10;

/// The fact that says up to which operation the journal is in the archive.
pub(super) const PRUNED: &str = "pruned";

const COLUMNS: &str = "id, at, actor, reason, agent, undone_by";

/// The number that the next operation gets.
///
/// # Errors
/// Those of the database.
pub fn next(connection: &Connection) -> Result<OperationId, Error> {
    let sql = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'operation'), 0) + 1";
    Ok(OperationId(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?))
}

/// What an operation says of itself.
#[derive(Clone, Copy)]
pub struct Told<'a> {
    /// Which call or job makes it.
    pub actor: &'a str,
    /// Why, in one line.
    pub reason: &'a str,
    /// Whose memory it changes, if one agent's.
    pub agent: Option<&'a AgentName>,
}

/// Writes an operation, and marks the one that it undoes.
///
/// # Errors
/// Those of the database.
pub fn insert(
    connection: &Connection,
    id: OperationId,
    at: DateTime<Utc>,
    told: &Told<'_>,
    undoes: Option<OperationId>,
) -> Result<(), Error> {
    let sql = "INSERT INTO operation (id, at, actor, reason, agent, undoes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    connection.prepare_cached(sql)?.execute(params![
        id.0,
        at.timestamp_micros(),
        told.actor,
        told.reason,
        told.agent.map(AgentName::key),
        undoes.map(|undone| undone.0),
    ])?;
    // Undoing an undo does the first operation again: it stands once more, and what that one undid falls again.
    let (mut by, mut undone, mut falls) = (id.0, undoes.map(|undone| undone.0), true);
    while let Some(this) = undone {
        connection
            .prepare_cached("UPDATE operation SET undone_by = ?2 WHERE id = ?1")?
            .execute(params![this, falls.then_some(by)])?;
        let sql = "SELECT undoes FROM operation WHERE id = ?1";
        undone = connection.prepare_cached(sql)?.query_row([this], |row| row.get(0)).optional()?.flatten();
        (by, falls) = (this, !falls);
    }
    Ok(())
}

/// Marks an operation as one that is carried out a step at a time.
///
/// # Errors
/// Those of the database.
pub fn open(connection: &Connection, id: OperationId) -> Result<(), Error> {
    connection.prepare_cached("UPDATE operation SET open = 1 WHERE id = ?1")?.execute([id.0])?;
    Ok(())
}

/// Marks an operation as complete; one without changes and events is no operation. Returns whether it is one.
///
/// # Errors
/// Those of the database.
pub fn close(connection: &Connection, id: OperationId) -> Result<bool, Error> {
    connection.prepare_cached("UPDATE operation SET open = 0 WHERE id = ?1")?.execute([id.0])?;
    let sql = "DELETE FROM operation WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM change WHERE operation = ?1) \
               AND NOT EXISTS (SELECT 1 FROM outcome WHERE operation = ?1)";
    Ok(connection.prepare_cached(sql)?.execute([id.0])? == 0)
}

/// The operation of an actor that was begun and is not complete, and how many changes it has.
///
/// # Errors
/// Those of the database.
pub fn begun(connection: &Connection, actor: &str) -> Result<Option<(OperationId, usize)>, Error> {
    let sql = "SELECT id, (SELECT count(*) FROM change WHERE operation = id) FROM operation \
               WHERE actor = ?1 AND open = 1 ORDER BY id DESC LIMIT 1";
    Ok(connection
        .prepare_cached(sql)?
        .query_row([actor], |row| Ok((OperationId(row.get(0)?), row.get::<_, usize>(1)?)))
        .optional()?)
}

/// Whether an operation is being carried out.
///
/// # Errors
/// Those of the database.
pub fn is_open(connection: &Connection, id: OperationId) -> Result<bool, Error> {
    let sql = "SELECT open FROM operation WHERE id = ?1";
    Ok(connection.prepare_cached(sql)?.query_row([id.0], |row| row.get(0)).optional()?.unwrap_or(false))
}

/// The items of an actor's operations that were undone. What a person took back, a job does not do again; only the
/// journal is pruned again, lest it grow for ever.
///
/// # Errors
/// Those of the database.
pub fn taken_back(connection: &Connection, actor: &str) -> Result<HashSet<String>, Error> {
    let sql = "SELECT DISTINCT item FROM operation JOIN change ON change.operation = id \
               WHERE actor = ?1 AND undone_by IS NOT NULL AND item <> ?2 AND item NOT LIKE ?3 || '%' \
               UNION SELECT item FROM taken_back WHERE actor = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement
        .query_map([actor, change::JOURNAL, change::FILE], |row| row.get(0))?
        .collect::<Result<_, _>>()?)
}

/// The items that were restored by hand. They stay as long as the journal knows of it.
///
/// # Errors
/// Those of the database.
pub fn brought_back(connection: &Connection) -> Result<HashSet<String>, Error> {
    let sql = "SELECT DISTINCT item FROM operation JOIN change ON change.operation = id \
               WHERE actor = 'restore' AND undone_by IS NULL";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// What jobs changed from one instant up to another, in order. The names of their actors begin with `prefix`.
///
/// # Errors
/// Those of the database.
pub fn work(
    connection: &Connection,
    prefix: &str,
    [from, to]: [DateTime<Utc>; 2],
) -> Result<Vec<JobWork>, Error> {
    // Of text that begins with the prefix, none sorts after the prefix and the last character there is.
    let sql = "SELECT actor, id, at, (SELECT count(*) FROM change WHERE operation = id), undone_by IS NOT NULL \
               FROM operation WHERE actor >= ?1 AND actor < ?1 || char(0x10ffff) AND at >= ?2 AND at < ?3 \
               ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![prefix, from.timestamp_micros(), to.timestamp_micros()])?;
    let mut work = Vec::new();
    while let Some(row) = rows.next()? {
        let actor: String = row.get(0)?;
        let Some(Ok(job)) = actor.strip_prefix(prefix).map(str::parse) else { continue };
        let (operation, at) = (OperationId(row.get(1)?), instant(row.get(2)?));
        work.push(JobWork { job, at, operation, changes: row.get(3)?, undone: row.get(4)? });
    }
    Ok(work)
}

/// How many operations an actor made since an instant; those that were undone do not count.
///
/// # Errors
/// Those of the database.
pub fn made(connection: &Connection, actor: &str, since: DateTime<Utc>) -> Result<u64, Error> {
    let sql = "SELECT count(*) FROM operation WHERE actor = ?1 AND at >= ?2 AND undone_by IS NULL";
    Ok(connection
        .prepare_cached(sql)?
        .query_row(params![actor, since.timestamp_micros()], |row| row.get(0))?)
}

/// The notes that went from one file to another since an instant: from which, and to which. What was undone does not
/// count, nor does undoing it.
///
/// # Errors
/// Those of the database.
pub fn moves(connection: &Connection, since: DateTime<Utc>) -> Result<Vec<(PathBuf, PathBuf)>, Error> {
    // Of text that begins with "note:", none sorts after "note;".
    let sql = "SELECT body FROM operation JOIN change ON change.operation = id \
               WHERE at >= ?1 AND undone_by IS NULL AND undoes IS NULL AND item >= 'note:' AND item < 'note;'";
    let mut statement = connection.prepare_cached(sql)?;
    let bodies = statement.query_map([since.timestamp_micros()], |row| row.get::<_, String>(0))?;
    let mut moves = Vec::new();
    for body in bodies {
        if let Change::Note { edit: Edit { before: Some(from), after: Some(to) }, .. } =
            from_json("change", &body?)?
        {
            moves.push((from, to));
        }
    }
    Ok(moves)
}

/// Writes a change of an operation.
///
/// # Errors
/// Those of the database.
pub fn insert_change(
    connection: &Connection,
    id: OperationId,
    n: usize,
    change: &Change,
) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT INTO change (operation, n, item, body) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![
            id.0,
            i64::try_from(n).unwrap_or(i64::MAX),
            change.item(),
            to_json("change", change)?
        ])?;
    Ok(())
}

/// The changes of an operation, in order.
///
/// # Errors
/// Those of the database.
pub fn changes(connection: &Connection, id: OperationId) -> Result<Vec<Change>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT body FROM change WHERE operation = ?1 ORDER BY n")?;
    let bodies: Vec<String> = statement.query_map([id.0], |row| row.get(0))?.collect::<Result<_, _>>()?;
    bodies.iter().map(|body| from_json("change", body)).collect()
}

/// An operation, without its changes.
///
/// # Errors
/// Those of the database.
pub fn find(connection: &Connection, id: OperationId) -> Result<Option<Operation>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM operation WHERE id = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row([id.0], operation).optional()?)
}

/// Whether an operation undid one that outcomes belong to.
///
/// # Errors
/// Those of the database.
pub fn undoes_events(connection: &Connection, id: OperationId) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM operation JOIN outcome ON outcome.operation = undoes \
               WHERE operation.id = ?1)";
    Ok(connection.prepare_cached(sql)?.query_row([id.0], |row| row.get(0))?)
}

/// An item of an operation that a newer operation touched, and that operation. One that was undone, and the undo of
/// it, left nothing behind and do not count.
///
/// # Errors
/// Those of the database.
pub fn touched_since(
    connection: &Connection,
    id: OperationId,
) -> Result<Option<(String, OperationId)>, Error> {
    let sql = "SELECT newer.item, newer.operation FROM change AS newer \
               JOIN change AS older ON older.item = newer.item AND older.operation = ?1 \
               JOIN operation ON operation.id = newer.operation \
               WHERE newer.operation > ?1 AND operation.undone_by IS NULL \
               AND (operation.undoes IS NULL OR operation.undoes <= ?1) \
               ORDER BY newer.operation DESC LIMIT 1";
    let touched = |sql: &str| {
        let item = |row: &Row<'_>| Ok((row.get(0)?, OperationId(row.get(1)?)));
        Ok::<_, Error>(connection.prepare_cached(sql)?.query_row([id.0], item).optional()?)
    };
    // Outcomes that were counted on top of usage that the operation imported.
    let counted = "SELECT older.item, outcome.operation FROM outcome \
                   JOIN change AS older ON older.item = 'usage:' || outcome.agent || ':' || outcome.id \
                   AND older.operation = ?1 \
                   WHERE outcome.operation > ?1 AND outcome.void = 0 AND outcome.counted = 1 \
                   ORDER BY outcome.operation DESC LIMIT 1";
    // Usage that was imported or merged on top of outcomes of the operation.
    let replaced = "SELECT newer.item, newer.operation FROM outcome \
                    JOIN change AS newer ON newer.item = 'usage:' || outcome.agent || ':' || outcome.id \
                    JOIN operation ON operation.id = newer.operation \
                    WHERE outcome.operation = ?1 AND outcome.counted = 1 AND newer.operation > ?1 \
                    AND operation.undone_by IS NULL AND (operation.undoes IS NULL OR operation.undoes <= ?1) \
                    ORDER BY newer.operation DESC LIMIT 1";
    for sql in [sql, counted, replaced] {
        if let Some(found) = touched(sql)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The last operation that is only in the archive, or 0.
///
/// # Errors
/// Those of the database.
pub fn pruned(connection: &Connection) -> Result<u64, Error> {
    Ok(meta(connection, PRUNED)?.and_then(|last| last.parse().ok()).unwrap_or(0))
}

/// A page of the journal, newest first.
///
/// # Errors
/// Those of the database.
pub fn page(connection: &Connection, asked: &Journal, limit: u64) -> Result<JournalPage, Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM operation WHERE (?1 IS NULL OR agent = ?1) AND (?2 IS NULL OR id < ?2) \
         ORDER BY id DESC LIMIT ?3"
    );
    let agent = asked.agent.as_ref().map(AgentName::key);
    let before = asked.before.map(|id| id.0);
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![agent, before, limit + 1], operation)?;
    let mut operations: Vec<Operation> = rows.collect::<Result<_, _>>()?;
    let more = operations.len() as u64 > limit;
    operations.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    for operation in &mut operations {
        operation.changes = described(connection, operation.id)?;
    }
    Ok(JournalPage {
        operations,
        more,
        archived: Some(pruned(connection)?).filter(|last| *last > 0).map(OperationId),
    })
}

/// The changes of an operation in words; of many, the first few and how many more there are.
fn described(connection: &Connection, id: OperationId) -> Result<Vec<String>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT body FROM change WHERE operation = ?1 ORDER BY n LIMIT ?2")?;
    let bodies: Vec<String> =
        statement.query_map([id.0, SHOWN], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let all: u64 = connection
        .prepare_cached("SELECT count(*) FROM change WHERE operation = ?1")?
        .query_row([id.0], |row| row.get(0))?;
    told(bodies.iter().map(String::as_str), all)
}

/// The first of `all` changes in words, and how many more there are.
///
/// # Errors
/// When a change cannot be read.
pub fn told<'a>(bodies: impl Iterator<Item = &'a str>, all: u64) -> Result<Vec<String>, Error> {
    let mut lines = bodies
        .take(usize::try_from(SHOWN).unwrap_or(usize::MAX))
        .map(|body| Ok(from_json::<Change>("change", body)?.describe()))
        .collect::<Result<Vec<_>, Error>>()?;
    if all > SHOWN {
        lines.push(format!("and {} more", all - SHOWN));
    }
    Ok(lines)
}

fn operation(row: &Row<'_>) -> rusqlite::Result<Operation> {
    Ok(Operation {
        id: OperationId(row.get(0)?),
        at: instant(row.get(1)?),
        actor: row.get(2)?,
        reason: row.get(3)?,
        agent: row.get::<_, Option<String>>(4)?.and_then(|name| name.parse().ok()),
        undone_by: row.get::<_, Option<u64>>(5)?.map(OperationId),
        changes: Vec::new(),
    })
}
