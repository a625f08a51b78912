//! What is known of the notes of the memory tree beside their files: what each file says, as far as that must be
//! recognised, which notes were reworded, and vectors. None of their words is kept.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};

use crate::database::{Error, from_json, instant, to_json};
use crate::domain::rewording::{Said, Sketch};

/// The SHA-256 of a text.
pub type Digest = [u8; 32];

/// The largest magnitude of a stored component.
const LARGEST: f32 = 127.0;

/// What a file says, or said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// What.
    pub said: Said,
    /// Since when it no longer does.
    pub gone: Option<DateTime<Utc>>,
}

/// What a file said when it was last looked at, and before.
///
/// # Errors
/// Those of the database.
pub fn said(connection: &Connection, file: &str) -> Result<Vec<Kept>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT id, kind, sketch, gone FROM note WHERE file = ?1 ORDER BY id")?;
    let rows = statement.query_map([file], |row| {
        Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, Vec<u8>>(2)?, row.get::<_, Option<i64>>(3)?))
    })?;
    rows.map(|row| {
        let (id, kind, sketch, gone) = row?;
        let said = Said { id, kind: from_json("kind", &kind)?, sketch: Sketch::from_bytes(&sketch) };
        Ok(Kept { said, gone: gone.map(instant) })
    })
    .collect()
}

/// Keeps that a file says something, and since when.
///
/// # Errors
/// Those of the database.
pub fn put(connection: &Connection, file: &str, said: &Said, at: DateTime<Utc>) -> Result<(), Error> {
    let kind = to_json("kind", &said.kind)?;
    let sql = "INSERT INTO note (file, id, kind, sketch, seen) VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT DO UPDATE SET kind = excluded.kind, sketch = excluded.sketch, gone = NULL";
    let row = params![file, said.id, kind, said.sketch.bytes(), at.timestamp_micros()];
    connection.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

/// When every note was first seen, in whichever file, by its id.
///
/// # Errors
/// Those of the database.
pub fn first_seen(connection: &Connection) -> Result<Vec<(String, DateTime<Utc>)>, Error> {
    let mut statement = connection.prepare_cached("SELECT id, min(seen) FROM note GROUP BY id")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, instant(row.get(1)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Keeps that a file no longer says something.
///
/// # Errors
/// Those of the database.
pub fn gone(connection: &Connection, file: &str, id: &str, at: DateTime<Utc>) -> Result<(), Error> {
    connection.prepare_cached("UPDATE note SET gone = ?3 WHERE file = ?1 AND id = ?2")?.execute(params![
        file,
        id,
        at.timestamp_micros()
    ])?;
    Ok(())
}

/// Whether another file says it.
///
/// # Errors
/// Those of the database.
pub fn is_elsewhere(connection: &Connection, file: &str, id: &str) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM note WHERE id = ?1 AND file <> ?2 AND gone IS NULL)";
    Ok(connection.prepare_cached(sql)?.query_row([id, file], |row| row.get(0))?)
}

/// Keeps that a note was another one, `old`, before a light edit. What it is known to have been already stays.
///
/// # Errors
/// Those of the database.
pub fn reworded(connection: &Connection, new: &str, old: &str) -> Result<(), Error> {
    let first = identity(connection, old)?;
    if first != new {
        connection
            .prepare_cached("INSERT OR IGNORE INTO note_alias (id, identity) VALUES (?1, ?2)")?
            .execute([new, &first])?;
    }
    Ok(())
}

/// The name under which the use of a note is counted: the id that it had before all light edits (spec M6).
///
/// # Errors
/// Those of the database.
pub fn identity(connection: &Connection, id: &str) -> Result<String, Error> {
    let mut statement = connection.prepare_cached("SELECT identity FROM note_alias WHERE id = ?1")?;
    let known = statement.query_row([id], |row| row.get(0)).optional()?;
    Ok(known.unwrap_or_else(|| id.to_owned()))
}

/// The ids that light edits gave a note.
///
/// # Errors
/// Those of the database.
pub fn rewordings(connection: &Connection, identity: &str) -> Result<Vec<String>, Error> {
    let mut statement = connection.prepare_cached("SELECT id FROM note_alias WHERE identity = ?1")?;
    let ids = statement.query_map([identity], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// The vectors that are known of texts.
///
/// # Errors
/// Those of the database.
pub fn vectors(
    connection: &Connection,
    digests: impl Iterator<Item = Digest>,
) -> Result<HashMap<Digest, Vec<f32>>, Error> {
    let mut statement = connection.prepare_cached("SELECT vector FROM note_vector WHERE digest = ?1")?;
    let mut known = HashMap::new();
    for digest in digests {
        let found: Option<Vec<u8>> = statement.query_row([&digest[..]], |row| row.get(0)).optional()?;
        let vector = |bytes: Vec<u8>| bytes.into_iter().map(|byte| f32::from(byte.cast_signed())).collect();
        known.extend(found.map(|bytes| (digest, vector(bytes))));
    }
    Ok(known)
}

/// Keeps the vector of a text, to the precision that it is searched with.
///
/// # Errors
/// Those of the database.
pub fn put_vector(connection: &Connection, digest: &Digest, vector: &[f32]) -> Result<(), Error> {
    let most = vector.iter().fold(f32::MIN_POSITIVE, |most, value| most.max(value.abs()));
    #[allow(clippy::cast_possible_truncation, reason = "from -127 to 127")]
    let code = |value: &f32| ((value / most * LARGEST).round_ties_even() as i8).cast_unsigned();
    let codes: Vec<u8> = vector.iter().map(code).collect();
    connection
        .prepare_cached("INSERT OR REPLACE INTO note_vector (digest, vector) VALUES (?1, ?2)")?
        .execute(params![&digest[..], codes])?;
    Ok(())
}

/// Forgets vectors of texts, and what files said, that were last there before `before`. `there` tells
/// which texts are there now.
///
/// # Errors
/// Those of the database.
pub fn prune(
    connection: &Connection,
    there: impl Fn(&Digest) -> bool,
    now: DateTime<Utc>,
    before: DateTime<Utc>,
) -> Result<(), Error> {
    let mut statement = connection.prepare_cached("SELECT digest, gone IS NOT NULL FROM note_vector")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, Digest>(0)?, row.get::<_, bool>(1)?)))?;
    let kept: Vec<(Digest, bool)> = rows.collect::<rusqlite::Result<_>>()?;
    let mut mark = connection.prepare_cached("UPDATE note_vector SET gone = ?2 WHERE digest = ?1")?;
    for (digest, was_gone) in kept {
        let is_gone = !there(&digest);
        if is_gone != was_gone {
            mark.execute(params![&digest[..], is_gone.then(|| now.timestamp_micros())])?;
        }
    }
    for table in ["note_vector", "note"] {
        let sql = format!("DELETE FROM {table} WHERE gone < ?1");
        connection.prepare_cached(&sql)?.execute([before.timestamp_micros()])?;
    }
    Ok(())
}
