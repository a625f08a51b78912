//! What was done in a span of time, added up by the database (spec P3).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use memoryd_proto::AgentName;
use rusqlite::Connection;

use crate::database::Error;

/// A span of time: from the first instant up to, not including, the second.
pub type Span = [DateTime<Utc>; 2];

/// Tasks of a span.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tasks {
    /// How many were reported.
    pub tasks: u64,
    /// Of them, those that succeeded.
    pub succeeded: u64,
    /// Their mean quality.
    pub quality: Option<f64>,
}

/// The names of the agents that have memory, by key.
///
/// # Errors
/// Those of the database.
pub fn names(connection: &Connection) -> Result<BTreeMap<String, AgentName>, Error> {
    let mut statement = connection.prepare_cached("SELECT key, name FROM agent")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    let mut names = BTreeMap::new();
    for row in rows {
        let (key, name) = row?;
        names.extend(name.parse().ok().map(|name| (key, name)));
    }
    Ok(names)
}

/// The tasks of each agent in a span. Only the index is read.
///
/// # Errors
/// Those of the database.
pub fn tasks(connection: &Connection, span: Span) -> Result<BTreeMap<String, Tasks>, Error> {
    let sql = "SELECT agent, count(*), sum(success), avg(quality) FROM evaluation \
               WHERE at >= ?1 AND at < ?2 GROUP BY agent";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(micros(span), |row| {
        let tasks = Tasks { tasks: row.get(1)?, succeeded: row.get(2)?, quality: row.get(3)? };
        Ok((row.get(0)?, tasks))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The insights of each agent's tasks in a span.
///
/// # Errors
/// Those of the database.
pub fn insights(connection: &Connection, span: Span) -> Result<BTreeMap<String, u64>, Error> {
    let sql = "SELECT agent, sum(json_array_length(body, '$.insights')) FROM evaluation \
               WHERE at >= ?1 AND at < ?2 GROUP BY agent";
    counted(connection, sql, span)
}

/// The improvements that each agent learned itself in a span and still has. One that is kept in two scopes counts once.
///
/// # Errors
/// Those of the database.
pub fn stored(connection: &Connection, span: Span) -> Result<BTreeMap<String, u64>, Error> {
    let sql = "SELECT agent, count(DISTINCT improvement.id) FROM improvement \
               JOIN collection ON collection.id = collection \
               WHERE improvement.created_at >= ?1 AND improvement.created_at < ?2 \
               AND json_extract(body, '$.source') = 'self' GROUP BY agent";
    counted(connection, sql, span)
}

/// The qualities of the tasks of a span, newest first, and whose they are.
///
/// # Errors
/// Those of the database.
pub fn qualities(connection: &Connection, span: Span) -> Result<Vec<(String, f64)>, Error> {
    let sql = "SELECT agent, quality FROM evaluation WHERE at >= ?1 AND at < ?2 ORDER BY at DESC, id DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(micros(span), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The Q-values of improvements that are not deprecated, each with the day up to which it is decayed. What has no usage
/// has none.
///
/// # Errors
/// Those of the database.
pub fn q_values(connection: &Connection) -> Result<Vec<(f64, i64)>, Error> {
    let sql = "SELECT q, q_day FROM usage WHERE EXISTS (SELECT 1 FROM improvement \
               JOIN collection ON collection.id = collection \
               WHERE improvement.id = usage.id AND collection.agent = usage.agent AND deprecated = 0)";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn counted(connection: &Connection, sql: &str, span: Span) -> Result<BTreeMap<String, u64>, Error> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(micros(span), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn micros(span: Span) -> [i64; 2] {
    span.map(|at| at.timestamp_micros())
}
