//! How many reported recalls each context has seen (spec Q1).

use std::collections::BTreeMap;

use memoryd_proto::{ContextName, ContextState, Mode};
use rusqlite::{Connection, OptionalExtension, params};

use crate::config::Utility;
use crate::database::Error;

/// The interactions of a context.
///
/// # Errors
/// Those of the database.
pub fn interactions(connection: &Connection, context: &ContextName) -> Result<u64, Error> {
    let found = connection
        .prepare_cached("SELECT interactions FROM context WHERE name = ?1")?
        .query_row([context.as_str()], |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or(0))
}

/// Counts `step` more interactions of a context, or fewer, and returns how many there are.
///
/// # Errors
/// Those of the database.
pub fn count(connection: &Connection, context: &ContextName, step: i64) -> Result<u64, Error> {
    let now = interactions(connection, context)?.saturating_add_signed(step);
    set(connection, context, now)?;
    Ok(now)
}

/// Sets the interactions of a context. Without any it is not kept: undoing its first report leaves nothing of it.
///
/// # Errors
/// Those of the database.
pub fn set(connection: &Connection, context: &ContextName, interactions: u64) -> Result<(), Error> {
    if interactions == 0 {
        connection.prepare_cached("DELETE FROM context WHERE name = ?1")?.execute([context.as_str()])?;
    } else {
        connection
            .prepare_cached("INSERT OR REPLACE INTO context (name, interactions) VALUES (?1, ?2)")?
            .execute(params![context.as_str(), interactions])?;
    }
    Ok(())
}

/// Every context that has been used, by name.
///
/// # Errors
/// Those of the database.
pub fn all(connection: &Connection) -> Result<Vec<(ContextName, u64)>, Error> {
    let mut statement = connection.prepare_cached("SELECT name, interactions FROM context ORDER BY name")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
    let mut contexts = Vec::new();
    for row in rows {
        let (name, interactions) = row?;
        contexts.extend(name.parse().ok().map(|name| (name, interactions)));
    }
    Ok(contexts)
}

/// The configured contexts and those in use, by name, and how warm each is.
///
/// # Errors
/// Those of the database.
pub fn states(connection: &Connection, learning: &Utility) -> Result<Vec<ContextState>, Error> {
    let configured = learning.contexts.iter().cloned().map(|name| (name, 0));
    let all: BTreeMap<ContextName, u64> = configured.chain(all(connection)?).collect();
    Ok(all.into_iter().map(|(name, interactions)| state(name, interactions, learning)).collect())
}

/// A context with so many interactions.
#[must_use]
pub fn state(name: ContextName, interactions: u64, learning: &Utility) -> ContextState {
    let warm_from = learning.warm_threshold;
    let mode = if interactions < warm_from { Mode::Cold } else { Mode::Warm };
    ContextState { name, interactions, warm_from, mode }
}
