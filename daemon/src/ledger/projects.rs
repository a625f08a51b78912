//! The projects that something was logged in, or whose learnings a recall met (spec M1).

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use memoryd_proto::ProjectHash;
use rusqlite::{Connection, params};

use crate::database::{Error, instant, stored};

/// A project that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its hash.
    pub hash: ProjectHash,
    /// The name of its folder.
    pub name: String,
    /// Its folder.
    pub root: PathBuf,
    /// Since when it is known.
    pub since: DateTime<Utc>,
}

/// Every project, by name.
///
/// # Errors
/// Those of the database.
pub fn all(connection: &Connection) -> Result<Vec<Known>, Error> {
    let sql = "SELECT hash, name, root, since FROM project ORDER BY name, root";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get(1)?, row.get::<_, String>(2)?, row.get(3)?))
    })?;
    rows.map(|row| {
        let (hash, name, root, since) = row?;
        Ok(Known { hash: stored(&hash)?, name, root: root.into(), since: instant(since) })
    })
    .collect()
}

/// Keeps a project, unless it is known.
///
/// # Errors
/// Those of the database.
pub fn put(
    connection: &Connection,
    hash: &ProjectHash,
    (name, root): (&str, &Path),
    since: DateTime<Utc>,
) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT OR IGNORE INTO project (hash, name, root, since) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![hash.as_str(), name, root.to_string_lossy(), since.timestamp_micros()])?;
    Ok(())
}

/// Whether a project is known.
///
/// # Errors
/// Those of the database.
pub fn is_known(connection: &Connection, hash: &ProjectHash) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM project WHERE hash = ?1)";
    Ok(connection.prepare_cached(sql)?.query_row([hash.as_str()], |row| row.get(0))?)
}
