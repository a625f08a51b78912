//! Spans of time, and what statements count in them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use rusqlite::Connection;

use super::Error;

/// A span of time: from the first instant up to, not including, the second.
pub type Span = [DateTime<Utc>; 2];

/// The ends of a span as columns hold them.
#[must_use]
pub fn micros(span: Span) -> [i64; 2] {
    span.map(|at| at.timestamp_micros())
}

/// What a statement counts for each key in a span.
///
/// # Errors
/// Those of the database.
pub fn counted(connection: &Connection, sql: &str, span: Span) -> Result<BTreeMap<String, u64>, Error> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(micros(span), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
