//! Snapshots of performance, one for an agent and a day (spec P1).

use chrono::NaiveDate;
use memoryd_proto::{AgentName, Snapshot, Snapshots};
use rusqlite::{Connection, OptionalExtension, params};

use crate::database::{Error, from_json, to_json};

/// The snapshot of an agent and a day, if there is one.
///
/// # Errors
/// Those of the database.
pub fn find(connection: &Connection, agent: &AgentName, day: NaiveDate) -> Result<Option<Snapshot>, Error> {
    let body: Option<String> = connection
        .prepare_cached("SELECT body FROM snapshot WHERE agent = ?1 AND day = ?2")?
        .query_row(params![agent.key(), day.to_string()], |row| row.get(0))
        .optional()?;
    body.map(|body| from_json("snapshot", &body)).transpose()
}

/// Snapshots, newest first, and how many there are in all.
///
/// # Errors
/// Those of the database.
pub fn list(
    connection: &Connection,
    wanted: &Snapshots,
    (offset, limit): (u64, u64),
) -> Result<(Vec<Snapshot>, u64), Error> {
    let filter = "(?1 IS NULL OR agent = ?1) AND (?2 IS NULL OR day >= ?2)";
    let agent = wanted.agent.as_ref().map(AgentName::key);
    let since = wanted.since.map(|day| day.to_string());
    let total = connection
        .prepare_cached(&format!("SELECT count(*) FROM snapshot WHERE {filter}"))?
        .query_row(params![agent, since], |row| row.get(0))?;
    let sql = format!("SELECT body FROM snapshot WHERE {filter} ORDER BY day DESC, agent LIMIT ?3 OFFSET ?4");
    let mut statement = connection.prepare_cached(&sql)?;
    let bodies: Vec<String> = statement
        .query_map(params![agent, since, limit, offset], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let snapshots = bodies.iter().map(|body| from_json("snapshot", body)).collect::<Result<_, _>>()?;
    Ok((snapshots, total))
}

/// Writes a snapshot.
///
/// # Errors
/// Those of the database.
pub fn put(connection: &Connection, snapshot: &Snapshot) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO snapshot (agent, day, body) VALUES (?1, ?2, ?3)")?
        .execute(params![snapshot.agent.key(), snapshot.day.to_string(), to_json("snapshot", snapshot)?])?;
    Ok(())
}

/// Removes a snapshot.
///
/// # Errors
/// Those of the database.
pub fn remove(connection: &Connection, snapshot: &Snapshot) -> Result<(), Error> {
    connection
        .prepare_cached("DELETE FROM snapshot WHERE agent = ?1 AND day = ?2")?
        .execute(params![snapshot.agent.key(), snapshot.day.to_string()])?;
    Ok(())
}
