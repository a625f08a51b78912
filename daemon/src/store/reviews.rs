//! Reviews that are kept, one for a week (spec P3).

use memoryd_proto::{Review, Week};
use rusqlite::{Connection, OptionalExtension, params};

use crate::database::{Error, from_json, to_json};

/// The review of a week, if it is kept.
///
/// # Errors
/// Those of the database.
pub fn find(connection: &Connection, week: Week) -> Result<Option<Review>, Error> {
    let body: Option<String> = connection
        .prepare_cached("SELECT body FROM review WHERE week = ?1")?
        .query_row([week.to_string()], |row| row.get(0))
        .optional()?;
    body.map(|body| from_json("review", &body)).transpose()
}

/// Every review that is kept, newest first.
///
/// # Errors
/// Those of the database.
pub fn all(connection: &Connection) -> Result<Vec<Review>, Error> {
    let mut statement = connection.prepare_cached("SELECT body FROM review ORDER BY week DESC")?;
    let bodies: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    bodies.iter().map(|body| from_json("review", body)).collect()
}

/// Writes a review.
///
/// # Errors
/// Those of the database.
pub fn put(connection: &Connection, review: &Review) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO review (week, body) VALUES (?1, ?2)")?
        .execute(params![review.week.to_string(), to_json("review", review)?])?;
    Ok(())
}

/// Removes the review of a week.
///
/// # Errors
/// Those of the database.
pub fn remove(connection: &Connection, week: Week) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM review WHERE week = ?1")?.execute([week.to_string()])?;
    Ok(())
}
