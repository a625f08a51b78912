//! What was done in a span of time, added up by the database (spec P3).

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use crate::database::Error;
use crate::database::span::{Span, counted, micros};

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
    let sql = "SELECT q, q_day FROM improvement JOIN collection ON collection.id = collection \
               JOIN usage ON usage.agent = collection.agent AND usage.id = improvement.id WHERE deprecated = 0";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Of the improvements that were used at least `from` times and succeeded at a lower rate than `below`, those that are
/// deprecated, and how many there are.
///
/// # Errors
/// Those of the database.
pub fn failing(connection: &Connection, from: u64, below: f64) -> Result<(u64, u64), Error> {
    let sql = "SELECT coalesce(sum(deprecated), 0), count(*) FROM usage \
               JOIN improvement ON improvement.id = usage.id \
               JOIN collection ON collection.id = collection AND collection.agent = usage.agent \
               WHERE usage_count >= ?1 AND CAST(success_count AS REAL) / usage_count < ?2";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row(params![from, below], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// The rows of improvements that were used at least `from` times, succeeded at the rate `rate` or better, and are not
/// deprecated.
///
/// # Errors
/// Those of the database.
pub fn succeeding(connection: &Connection, from: u64, rate: f64) -> Result<Vec<i64>, Error> {
    let sql = "SELECT improvement.row FROM usage JOIN improvement ON improvement.id = usage.id \
               JOIN collection ON collection.id = collection AND collection.agent = usage.agent \
               WHERE usage_count >= ?1 AND CAST(success_count AS REAL) / usage_count >= ?2 AND deprecated = 0";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![from, rate], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
