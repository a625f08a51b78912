//! A Chroma directory on disk, read straight from its SQLite file, without a server (spec D4).
//!
//! The file is opened for reading only and nothing is written beside it; a server may run on it meanwhile. Vectors are
//! left out: they were made by whichever model the collection had, and texts are embedded again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chrono::{DateTime, NaiveDateTime, Utc};
use rusqlite::{Connection, OpenFlags, params};

use crate::domain::seed::{DOCUMENT, Value, Written};

/// The file that Chroma keeps its records in.
const FILE: &str = "chroma.sqlite3";

/// Why a Chroma directory cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such file.
    #[error("{} holds no {FILE}", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// The file is no Chroma's, or one that is not understood.
    #[error("{} cannot be read as a Chroma database: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
}

/// A Chroma directory.
pub struct Directory {
    file: PathBuf,
    connection: Connection,
}

/// A collection of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collection {
    /// Its name.
    pub name: String,
    /// How many records it has.
    pub records: u64,
}

/// A record, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its number in the directory; later ones are higher.
    pub number: i64,
    /// The name of its collection.
    pub collection: String,
    /// The record.
    pub written: Written,
}

impl Directory {
    /// Opens a directory, or the file in it.
    ///
    /// # Errors
    /// When there is no such file, or it is no database.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        if !file.is_file() {
            return Err(Error::Missing { path: path.to_owned() });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&file, flags)
            .map_err(|source| Error::Unreadable { path: file.clone(), source })?;
        Ok(Self { file, connection })
    }

    /// Its collections, by name.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn collections(&self) -> Result<Vec<Collection>, Error> {
        let sql = "SELECT collections.name, count(embeddings.id) FROM collections \
                   LEFT JOIN segments ON segments.collection = collections.id AND segments.scope = 'METADATA' \
                   LEFT JOIN embeddings ON embeddings.segment_id = segments.id \
                   GROUP BY collections.id ORDER BY collections.name";
        self.read(|connection| {
            let mut statement = connection.prepare(sql)?;
            let rows =
                statement.query_map([], |row| Ok(Collection { name: row.get(0)?, records: row.get(1)? }))?;
            rows.collect()
        })
    }

    /// At most `limit` records with a number above `after`, in their order.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn page(&self, after: i64, limit: usize) -> Result<Vec<Row>, Error> {
        let sql = "SELECT embeddings.id, collections.name, embedding_id, embeddings.created_at FROM embeddings \
                   JOIN segments ON segments.id = embeddings.segment_id AND segments.scope = 'METADATA' \
                   JOIN collections ON collections.id = segments.collection \
                   WHERE embeddings.id > ?1 ORDER BY embeddings.id LIMIT ?2";
        self.read(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = statement.query_map(params![after, limit], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, String>(3)?))
            })?;
            let rows: Vec<(i64, String, String, String)> = rows.collect::<Result<_, _>>()?;
            rows.into_iter()
                .map(|(number, collection, id, at)| {
                    let mut metadata = metadata(connection, number)?;
                    let document = match metadata.remove(DOCUMENT) {
                        Some(Value::Text(text)) => Some(text),
                        Some(Value::Whole(_) | Value::Number(_) | Value::Flag(_) | Value::Texts(_))
                        | None => None,
                    };
                    let written = Written { id, document, at: instant(&at), metadata };
                    Ok(Row { number, collection, written })
                })
                .collect()
        })
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        work(&self.connection).map_err(|source| Error::Unreadable { path: self.file.clone(), source })
    }
}

/// What is known of a record.
fn metadata(connection: &Connection, number: i64) -> rusqlite::Result<BTreeMap<String, Value>> {
    let value = |row: &rusqlite::Row<'_>| -> rusqlite::Result<(String, Option<Value>)> {
        let text = row.get::<_, Option<String>>(1)?.map(Value::Text);
        let whole = row.get::<_, Option<i64>>(2)?.map(Value::Whole);
        let number = row.get::<_, Option<f64>>(3)?.map(Value::Number);
        let flag = row.get::<_, Option<bool>>(4)?.map(Value::Flag);
        Ok((row.get(0)?, text.or(flag).or(whole).or(number)))
    };
    let sql =
        "SELECT key, string_value, int_value, float_value, bool_value FROM embedding_metadata WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([number], value)?.collect::<Result<Vec<_>, _>>()?;
    let mut known: BTreeMap<String, Value> =
        rows.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
    if has_lists(connection)? {
        let sql = "SELECT key, string_value, int_value, float_value, bool_value FROM embedding_metadata_array \
                   WHERE id = ?1 ORDER BY rowid";
        let mut statement = connection.prepare_cached(sql)?;
        for row in statement.query_map([number], value)? {
            let (key, Some(value)) = row? else { continue };
            if let Value::Texts(texts) = known.entry(key).or_insert_with(|| Value::Texts(Vec::new())) {
                texts.push(value.told());
            }
        }
    }
    Ok(known)
}

/// Older releases know no lists in metadata.
fn has_lists(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'embedding_metadata_array')";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// Chroma writes instants in UTC, without saying so.
fn instant(text: &str) -> DateTime<Utc> {
    NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").map_or(DateTime::UNIX_EPOCH, |at| at.and_utc())
}
