//! What is known of the records of the Chroma server: what each was when both sides last agreed (spec D2).

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params};

use super::outbox::{Item, columns};
use crate::database::{Error, from_json, to_json};
use crate::domain::seed::Collection;
use crate::domain::seed::agree::Base;

/// What a record was when both sides last agreed; nothing if the server does not have it, as far as is known.
///
/// # Errors
/// Those of the database.
pub fn find(connection: &Connection, item: &Item) -> Result<Option<Base>, Error> {
    let sql = "SELECT body FROM mirror WHERE kind = ?1 AND agent = ?2 AND project = ?3 AND id = ?4";
    let body: Option<String> =
        connection.prepare_cached(sql)?.query_row(item.columns(), |row| row.get(0)).optional()?;
    body.map(|body| from_json("base", &body)).transpose()
}

/// Keeps what a record is, now that both sides agree.
///
/// # Errors
/// Those of the database.
pub fn put(connection: &Connection, item: &Item, base: &Base) -> Result<(), Error> {
    let [kind, agent, project, id] = item.columns();
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO mirror (kind, agent, project, id, body) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![kind, agent, project, id, to_json("base", base)?])?;
    Ok(())
}

/// Forgets a record: the server does not have it any more.
///
/// # Errors
/// Those of the database.
pub fn forget(connection: &Connection, item: &Item) -> Result<(), Error> {
    let sql = "DELETE FROM mirror WHERE kind = ?1 AND agent = ?2 AND project = ?3 AND id = ?4";
    connection.prepare_cached(sql)?.execute(item.columns())?;
    Ok(())
}

/// The ids of a collection's records that the server has, as far as is known.
///
/// # Errors
/// Those of the database.
pub fn ids(connection: &Connection, collection: &Collection) -> Result<BTreeSet<String>, Error> {
    let sql = "SELECT id FROM mirror WHERE kind = ?1 AND agent = ?2 AND project = ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let ids = statement.query_map(columns(collection), |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// How many records of a collection the server has, as far as is known.
///
/// # Errors
/// Those of the database.
pub fn count(connection: &Connection, collection: &Collection) -> Result<u64, Error> {
    let sql = "SELECT count(*) FROM mirror WHERE kind = ?1 AND agent = ?2 AND project = ?3";
    Ok(connection.prepare_cached(sql)?.query_row(columns(collection), |row| row.get(0))?)
}

/// Forgets all records of a collection: the server has another of that name, or none.
///
/// # Errors
/// Those of the database.
pub fn forget_all(connection: &Connection, collection: &Collection) -> Result<(), Error> {
    for table in ["mirror", "remote"] {
        let sql = format!("DELETE FROM {table} WHERE kind = ?1 AND agent = ?2 AND project = ?3");
        connection.prepare_cached(&sql)?.execute(columns(collection))?;
    }
    Ok(())
}

/// The collections that the server has, as far as is known.
///
/// # Errors
/// Those of the database.
pub fn collections(connection: &Connection) -> Result<Vec<Collection>, Error> {
    let mut statement = connection
        .prepare_cached("SELECT kind, agent, project, '' FROM remote ORDER BY kind, agent, project")?;
    let mut rows = statement.query([])?;
    let mut collections = Vec::new();
    while let Some(row) = rows.next()? {
        collections.push(Item::read(row, 0)?.collection);
    }
    Ok(collections)
}

/// The id that a collection had at the server; none if it was never seen.
///
/// # Errors
/// Those of the database.
pub fn remote(connection: &Connection, collection: &Collection) -> Result<Option<String>, Error> {
    let sql = "SELECT remote FROM remote WHERE kind = ?1 AND agent = ?2 AND project = ?3";
    Ok(connection.prepare_cached(sql)?.query_row(columns(collection), |row| row.get(0)).optional()?)
}

/// Keeps the id that a collection has at the server.
///
/// # Errors
/// Those of the database.
pub fn put_remote(connection: &Connection, collection: &Collection, id: &str) -> Result<(), Error> {
    let [kind, agent, project] = columns(collection);
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO remote (kind, agent, project, remote) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![kind, agent, project, id])?;
    Ok(())
}

/// Forgets everything: another server is shared.
///
/// # Errors
/// Those of the database.
pub fn clear(connection: &Connection) -> Result<(), Error> {
    Ok(connection.execute_batch("DELETE FROM mirror; DELETE FROM remote; DELETE FROM outbox")?)
}
