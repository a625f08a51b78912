//! Pages of everything, in the order in which it was stored.

use memoryd_proto::{AgentName, ContextCount, ExportPage, Fault, Outcome, Record};
use rusqlite::{Connection, Row, params};

use super::listing::Showing;
use super::rows;
use crate::database::{Error as Database, from_json, instant};
use crate::ledger::{contexts, usage};

/// Why a page cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was given as a place in the export is none, or a stored name breaks a rule.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] Database),
}

/// Records of a page.
const RECORDS: i64 = 500;

/// Bytes of text from which on a page ends early.
const BYTES: usize = 4 * 1024 * 1024;

/// The parts of an export, in order, and the rows of each that come after a number.
const PARTS: &[(&str, Part)] = &[
    ("profile", profiles),
    ("snapshot", snapshots),
    ("review", reviews),
    ("improvement", improvements),
    ("evaluation", evaluations),
    ("outcome", outcomes),
];

type Part = fn(&Connection, Option<&str>, i64, &Showing) -> Result<Vec<(i64, usize, Record)>, Error>;

/// The page after the place `after`, or the first.
///
/// # Errors
/// When `after` is no such place, and those of the database.
pub fn page(
    connection: &Connection,
    agent: Option<&AgentName>,
    after: Option<&str>,
    showing: &Showing,
) -> Result<ExportPage, Error> {
    let agent = agent.map(AgentName::key);
    let (mut part, mut row) = place(after)?;
    let (mut records, mut bytes) = (Vec::new(), 0);
    while let Some((_, read)) = PARTS.get(part) {
        let found = read(connection, agent.as_deref(), row, showing)?;
        let ended = found.len() < usize::try_from(RECORDS).unwrap_or(usize::MAX);
        for (number, size, record) in found {
            row = number;
            bytes += size;
            records.push(record);
            if bytes > BYTES {
                return finish(connection, agent.as_deref(), records, Some((part, row)));
            }
        }
        if !ended {
            return finish(connection, agent.as_deref(), records, Some((part, row)));
        }
        (part, row) = (part + 1, 0);
    }
    if agent.is_none() {
        let counted = contexts::all(connection)?.into_iter();
        records.extend(
            counted.map(|(context, interactions)| Record::Context(ContextCount { context, interactions })),
        );
    }
    finish(connection, agent.as_deref(), records, None)
}

fn place(after: Option<&str>) -> Result<(usize, i64), Error> {
    let Some(after) = after else { return Ok((0, 0)) };
    let parsed = after
        .split_once(':')
        .and_then(|(name, row)| Some((PARTS.iter().position(|(part, _)| *part == name)?, row.parse().ok()?)));
    let wrong = || {
        Fault::invalid(format!("{after:?} is no place in an export"), "Pass on what the page before gave.")
    };
    Ok(parsed.ok_or_else(wrong)?)
}

fn finish(
    connection: &Connection,
    agent: Option<&str>,
    records: Vec<Record>,
    next: Option<(usize, i64)>,
) -> Result<ExportPage, Error> {
    let sql = "SELECT \
        (SELECT count(*) FROM profile WHERE ?1 IS NULL OR agent = ?1) + \
        (SELECT count(*) FROM snapshot WHERE ?1 IS NULL OR agent = ?1) + \
        (SELECT count(*) FROM review WHERE ?1 IS NULL) + \
        (SELECT count(*) FROM improvement JOIN collection ON collection.id = collection WHERE ?1 IS NULL OR agent = ?1) + \
        (SELECT count(*) FROM evaluation WHERE ?1 IS NULL OR agent = ?1) + \
        (SELECT count(*) FROM outcome JOIN evidence ON evidence.outcome = n \
         WHERE void = 0 AND (?1 IS NULL OR agent = ?1)) + \
        (SELECT count(*) FROM context WHERE ?1 IS NULL)";
    let mut statement = connection.prepare_cached(sql).map_err(Database::from)?;
    let total = statement.query_row([agent], |row| row.get(0)).map_err(Database::from)?;
    Ok(ExportPage { records, next: next.map(|(part, row)| format!("{}:{row}", PARTS[part].0)), total })
}

/// Reads the records that a query with an agent and a row selects.
fn select(
    connection: &Connection,
    sql: &str,
    agent: Option<&str>,
    after: i64,
    mut record: impl FnMut(&Row<'_>) -> Result<(i64, usize, Record), Error>,
) -> Result<Vec<(i64, usize, Record)>, Error> {
    let mut statement = connection.prepare_cached(sql).map_err(Database::from)?;
    let mut rows = statement.query(params![agent, after, RECORDS]).map_err(Database::from)?;
    let mut records = Vec::new();
    while let Some(row) = rows.next().map_err(Database::from)? {
        records.push(record(row)?);
    }
    Ok(records)
}

fn text(row: &Row<'_>, column: usize) -> Result<String, Database> {
    Ok(row.get(column)?)
}

fn number(row: &Row<'_>, column: usize) -> Result<i64, Database> {
    Ok(row.get(column)?)
}

fn profiles(
    connection: &Connection,
    agent: Option<&str>,
    after: i64,
    _: &Showing,
) -> Result<Vec<(i64, usize, Record)>, Error> {
    let sql = "SELECT n, body FROM (SELECT row_number() OVER (ORDER BY agent) AS n, * FROM profile) \
               WHERE (?1 IS NULL OR agent = ?1) AND n > ?2 ORDER BY n LIMIT ?3";
    select(connection, sql, agent, after, |row| {
        let body = text(row, 1)?;
        Ok((number(row, 0)?, body.len(), Record::Profile(from_json("profile", &body)?)))
    })
}

fn snapshots(
    connection: &Connection,
    agent: Option<&str>,
    after: i64,
    _: &Showing,
) -> Result<Vec<(i64, usize, Record)>, Error> {
    let sql = "SELECT n, body FROM (SELECT row_number() OVER (ORDER BY agent, day) AS n, * FROM snapshot) \
               WHERE (?1 IS NULL OR agent = ?1) AND n > ?2 ORDER BY n LIMIT ?3";
    select(connection, sql, agent, after, |row| {
        let body = text(row, 1)?;
        Ok((number(row, 0)?, body.len(), Record::Snapshot(from_json("snapshot", &body)?)))
    })
}

fn reviews(
    connection: &Connection,
    agent: Option<&str>,
    after: i64,
    _: &Showing,
) -> Result<Vec<(i64, usize, Record)>, Error> {
    let sql = "SELECT n, body FROM (SELECT row_number() OVER (ORDER BY week) AS n, * FROM review) \
               WHERE ?1 IS NULL AND n > ?2 ORDER BY n LIMIT ?3";
    select(connection, sql, agent, after, |row| {
        let body = text(row, 1)?;
        Ok((number(row, 0)?, body.len(), Record::Review(from_json("review", &body)?)))
    })
}

fn improvements(
    connection: &Connection,
    agent: Option<&str>,
    after: i64,
    showing: &Showing,
) -> Result<Vec<(i64, usize, Record)>, Error> {
    let sql = format!(
        "SELECT {}, {} FROM {} LEFT JOIN usage ON usage.agent = collection.agent AND usage.id = improvement.id \
         WHERE (?1 IS NULL OR collection.agent = ?1) AND improvement.row > ?2 ORDER BY improvement.row LIMIT ?3",
        rows::COLUMNS,
        usage::COLUMNS,
        rows::TABLES,
    );
    select(connection, &sql, agent, after, |row| {
        let (number, mut improvement) = rows::improvement(row)?;
        if let Some(known) = usage::ledgered(row, 11).map_err(Database::from)? {
            improvement.usage = known.shown(showing.today, showing.decay);
        }
        Ok((number, improvement.document.len(), Record::Improvement(improvement)))
    })
}

fn evaluations(
    connection: &Connection,
    agent: Option<&str>,
    after: i64,
    _: &Showing,
) -> Result<Vec<(i64, usize, Record)>, Error> {
    let sql =
        "SELECT n, body FROM evaluation WHERE (?1 IS NULL OR agent = ?1) AND n > ?2 ORDER BY n LIMIT ?3";
    select(connection, sql, agent, after, |row| {
        let body = text(row, 1)?;
        Ok((number(row, 0)?, body.len(), Record::Evaluation(from_json("evaluation", &body)?)))
    })
}

fn outcomes(
    connection: &Connection,
    agent: Option<&str>,
    after: i64,
    _: &Showing,
) -> Result<Vec<(i64, usize, Record)>, Error> {
    let sql = "SELECT n, agent, id, at, success, task FROM outcome JOIN evidence ON evidence.outcome = n \
               WHERE void = 0 AND (?1 IS NULL OR agent = ?1) AND n > ?2 ORDER BY n LIMIT ?3";
    select(connection, sql, agent, after, |row| {
        let task = text(row, 5)?;
        let outcome = Outcome {
            agent: text(row, 1)?.parse()?,
            improvement: text(row, 2)?.parse()?,
            success: number(row, 4)? != 0,
            at: instant(number(row, 3)?),
            task,
        };
        Ok((number(row, 0)?, outcome.task.len(), Record::Outcome(outcome)))
    })
}
