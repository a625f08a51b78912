//! What became of each improvement in tasks (spec I6, Q5).

use memoryd_proto::{AgentName, ImprovementId};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::database::{Error, from_json, to_json};
use crate::domain::utility::Ledgered;

/// The columns that [`ledgered`] reads, of `usage`.
pub const COLUMNS: &str = "usage.usage_count, usage.success_count, usage.failure_count, usage.last_used, \
     usage.access_count, usage.last_accessed, usage.q, usage.q_day, usage.idle_days";

/// The usage in a row, whose columns [`COLUMNS`] start at `first`; none where the join found none.
///
/// # Errors
/// When a column has another type.
pub fn ledgered(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Ledgered>> {
    let Some(usage_count) = row.get::<_, Option<u64>>(first)? else { return Ok(None) };
    Ok(Some(Ledgered {
        usage_count,
        success_count: row.get(first + 1)?,
        failure_count: row.get(first + 2)?,
        last_used: row.get(first + 3)?,
        access_count: row.get(first + 4)?,
        last_accessed: row.get(first + 5)?,
        q: row.get(first + 6)?,
        q_day: row.get(first + 7)?,
        idle_days: row.get(first + 8)?,
    }))
}

/// The usage of an improvement, if there is any.
///
/// # Errors
/// Those of the database.
pub fn find(
    connection: &Connection,
    agent: &AgentName,
    id: &ImprovementId,
) -> Result<Option<Ledgered>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM usage WHERE agent = ?1 AND id = ?2");
    let found = connection
        .prepare_cached(&sql)?
        .query_row(params![agent.key(), id.as_str()], |row| ledgered(row, 0))
        .optional()?;
    Ok(found.flatten())
}

/// The usage of every improvement of an agent, by id.
///
/// # Errors
/// Those of the database.
pub fn of_agent(connection: &Connection, agent: &AgentName) -> Result<Vec<(String, Ledgered)>, Error> {
    let sql = format!("SELECT {COLUMNS}, id FROM usage WHERE agent = ?1 ORDER BY id");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([agent.key()])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        if let Some(known) = ledgered(row, 0)? {
            all.push((row.get(9)?, known));
        }
    }
    Ok(all)
}

/// Of how many improvements the Q-value fades on the day `today`, and how many have one.
///
/// # Errors
/// Those of the database.
pub fn idle(connection: &Connection, today: i64) -> Result<(u64, u64), Error> {
    let sql = "SELECT coalesce(sum(q_day < ?1 - 1), 0), count(*) FROM usage";
    Ok(connection.prepare_cached(sql)?.query_row([today], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Writes the usage of an improvement.
///
/// # Errors
/// Those of the database.
pub fn put(
    connection: &Connection,
    agent: &AgentName,
    id: &ImprovementId,
    usage: &Ledgered,
) -> Result<(), Error> {
    let sql = "INSERT OR REPLACE INTO usage (agent, id, usage_count, success_count, failure_count, last_used, \
               access_count, last_accessed, q, q_day, idle_days) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    connection.prepare_cached(sql)?.execute(params![
        agent.key(),
        id.as_str(),
        usage.usage_count,
        usage.success_count,
        usage.failure_count,
        usage.last_used,
        usage.access_count,
        usage.last_accessed,
        usage.q,
        usage.q_day,
        usage.idle_days,
    ])?;
    Ok(())
}

/// Removes the usage of an improvement.
///
/// # Errors
/// Those of the database.
pub fn remove(connection: &Connection, agent: &AgentName, id: &ImprovementId) -> Result<(), Error> {
    connection
        .prepare_cached("DELETE FROM usage WHERE agent = ?1 AND id = ?2")?
        .execute(params![agent.key(), id.as_str()])?;
    Ok(())
}

/// Usage that was imported for an improvement, or what outcomes came to that are in the archive. It replaces the
/// outcomes up to then.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// What it starts from.
    pub usage: Ledgered,
    /// The last outcome that it replaces.
    pub replaces: i64,
}

/// What the usage of an improvement starts from, unless from nothing.
///
/// # Errors
/// Those of the database.
pub fn baseline(
    connection: &Connection,
    agent: &AgentName,
    id: &ImprovementId,
) -> Result<Option<Baseline>, Error> {
    let text: Option<String> = connection
        .prepare_cached("SELECT body FROM baseline WHERE agent = ?1 AND id = ?2")?
        .query_row(params![agent.key(), id.as_str()], |row| row.get(0))
        .optional()?;
    text.map(|text| from_json("usage", &text)).transpose()
}

/// Writes the usage that was imported for an improvement, or that none was.
///
/// # Errors
/// Those of the database.
pub fn put_baseline(
    connection: &Connection,
    agent: &AgentName,
    id: &ImprovementId,
    usage: Option<&Ledgered>,
) -> Result<(), Error> {
    let baseline = usage.map(|usage| {
        let replaces = connection
            .prepare_cached("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'outcome'), 0)")?
            .query_row([], |row| row.get(0))?;
        Ok::<_, Error>(Baseline { usage: usage.clone(), replaces })
    });
    write_baseline(connection, agent, id, baseline.transpose()?.as_ref())
}

/// Writes what the usage of an improvement starts from.
///
/// # Errors
/// Those of the database.
pub fn write_baseline(
    connection: &Connection,
    agent: &AgentName,
    id: &ImprovementId,
    baseline: Option<&Baseline>,
) -> Result<(), Error> {
    match baseline {
        Some(baseline) => connection
            .prepare_cached("INSERT OR REPLACE INTO baseline (agent, id, body) VALUES (?1, ?2, ?3)")?
            .execute(params![agent.key(), id.as_str(), to_json("usage", baseline)?])?,
        None => connection
            .prepare_cached("DELETE FROM baseline WHERE agent = ?1 AND id = ?2")?
            .execute(params![agent.key(), id.as_str()])?,
    };
    Ok(())
}
