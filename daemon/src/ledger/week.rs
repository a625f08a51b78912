//! What recalls and their reports came to in a span of time, added up by the database (spec P3).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use memoryd_proto::{AgentName, ImprovementId, TaskUse};
use rusqlite::{Connection, params};

use crate::database::span::{Span, counted as count_each, micros};
use crate::database::{Error, instant, stored};

/// The recalls of each agent, and how many of them were reported.
///
/// # Errors
/// Those of the database.
pub fn recalls(connection: &Connection, span: Span) -> Result<BTreeMap<String, (u64, u64)>, Error> {
    let sql =
        "SELECT agent, count(*), count(operation) FROM recall WHERE at >= ?1 AND at < ?2 GROUP BY agent";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(micros(span), |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The reported recalls of each context.
///
/// # Errors
/// Those of the database.
pub fn interactions(connection: &Connection, span: Span) -> Result<BTreeMap<String, u64>, Error> {
    let sql = "SELECT context, count(*) FROM recall WHERE at >= ?1 AND at < ?2 \
               AND operation IS NOT NULL AND context IS NOT NULL GROUP BY context";
    count_each(connection, sql, span)
}

/// Of the reported recalls that returned something, those of which something was used, and how many there were.
///
/// # Errors
/// Those of the database.
pub fn helped(connection: &Connection, span: Span) -> Result<(u64, u64), Error> {
    // A report says something of each item that its recall returned, so without outcomes nothing was returned.
    let sql = "SELECT coalesce(sum(used), 0), count(*) FROM \
               (SELECT max(outcome.used) AS used FROM recall \
                JOIN outcome ON outcome.operation = recall.operation AND outcome.void = 0 \
                WHERE recall.at >= ?1 AND recall.at < ?2 GROUP BY recall.n)";
    pair(connection, sql, span)
}

/// Of the reported uses, those that the usage of their improvement counts, and how many there were.
///
/// # Errors
/// Those of the database.
pub fn counted(connection: &Connection, span: Span) -> Result<(u64, u64), Error> {
    let sql = "SELECT count(CASE WHEN usage.last_used >= outcome.at THEN 1 END), count(*) FROM outcome \
               LEFT JOIN usage ON usage.agent = outcome.agent AND usage.id = outcome.id \
               WHERE outcome.at >= ?1 AND outcome.at < ?2 AND used = 1 AND counted = 1 AND void = 0";
    pair(connection, sql, span)
}

fn pair(connection: &Connection, sql: &str, span: Span) -> Result<(u64, u64), Error> {
    Ok(connection.prepare_cached(sql)?.query_row(micros(span), |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// An improvement that was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// Whose.
    pub agent: AgentName,
    /// Which.
    pub id: ImprovementId,
    /// Tasks of the span in which it was used.
    pub uses: u64,
    /// Of them, those that succeeded.
    pub successes: u64,
    /// Tasks in which it was ever used.
    pub all_uses: u64,
    /// Of them, those that succeeded.
    pub all_successes: u64,
}

/// The improvements that were used, by agent and id.
///
/// # Errors
/// Those of the database.
pub fn used(connection: &Connection, span: Span) -> Result<Vec<Used>, Error> {
    let sql = "SELECT outcome.agent, outcome.id, count(*), sum(outcome.success), usage_count, success_count \
               FROM outcome JOIN usage ON usage.agent = outcome.agent AND usage.id = outcome.id \
               WHERE outcome.at >= ?1 AND outcome.at < ?2 AND used = 1 AND counted = 1 AND void = 0 \
               GROUP BY outcome.agent, outcome.id ORDER BY outcome.agent, outcome.id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(micros(span))?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(Used {
            agent: stored(&row.get::<_, String>(0)?)?,
            id: stored(&row.get::<_, String>(1)?)?,
            uses: row.get(2)?,
            successes: row.get(3)?,
            all_uses: row.get(4)?,
            all_successes: row.get(5)?,
        });
    }
    Ok(all)
}

/// The last tasks before an instant in which an improvement was used, newest first.
///
/// # Errors
/// Those of the database.
pub fn last_tasks(
    connection: &Connection,
    agent: &AgentName,
    id: &ImprovementId,
    before: DateTime<Utc>,
    most: u64,
) -> Result<Vec<TaskUse>, Error> {
    let sql = "SELECT task, success, at FROM outcome JOIN evidence ON evidence.outcome = n \
               WHERE agent = ?1 AND id = ?2 AND at < ?3 AND used = 1 AND void = 0 ORDER BY n DESC LIMIT ?4";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement
        .query_map(params![agent.key(), id.as_str(), before.timestamp_micros(), most], |row| {
            Ok(TaskUse { task: row.get(0)?, success: row.get(1)?, at: instant(row.get(2)?) })
        })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
