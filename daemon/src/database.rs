//! The one SQLite file: opening it, its schema, one writer and pooled readers.
//!
//! The file is in WAL mode, so readers never wait for the writer. What a caller was told is stored survives a crash of
//! the process in any case; with [`Durability::Full`] it survives a power cut too.

mod checkpoint;
pub mod span;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use memoryd_proto::Fault;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior};

use checkpoint::Checkpoints;

/// The steps from an empty file to the schema of this build. Each raises the file's `user_version` by one.
const MIGRATIONS: &[&str] = &[
    include_str!("database/0001.sql"),
    include_str!("database/0002.sql"),
    include_str!("database/0003.sql"),
    include_str!("database/0004.sql"),
    include_str!("database/0005.sql"),
    include_str!("database/0006.sql"),
    include_str!("database/0007.sql"),
];

/// Why the database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened or created.
    #[error("The database {} cannot be opened: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The system gives no thread for the checkpoints.
    #[error("The database {} cannot be kept: {source}", path.display())]
    Thread {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file was written by a newer version.
    #[error("The database {} was written by a newer version of memoryd (schema {found}, this one knows {known})", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u32,
        /// The newest schema that this build knows.
        known: u32,
    },
    /// A statement failed.
    #[error("The database refused a statement: {0}")]
    Statement(#[from] rusqlite::Error),
    /// A stored value cannot be read or written.
    #[error("A stored {what} cannot be read: {source}")]
    Value {
        /// What it is.
        what: &'static str,
        /// Why.
        source: serde_json::Error,
    },
}

impl Error {
    /// Whether the file is not what was written to it.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        let damage = |source: &rusqlite::Error| {
            matches!(source.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
        };
        match self {
            Self::Open { source, .. } | Self::Statement(source) => damage(source),
            Self::Value { .. } => true,
            Self::Thread { .. } | Self::Newer { .. } => false,
        }
    }
}

/// How much a transaction survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the process.
    Process,
    /// A power cut as well: the transaction is on disk before it is acknowledged.
    Full,
}

/// The only connection that writes.
#[derive(Debug)]
pub struct Writer(parking_lot::Mutex<Pen>);

#[derive(Debug)]
struct Pen {
    connection: Connection,
    checkpoints: Checkpoints,
}

/// Connections that read.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

/// Opens the database at `path`, and creates or migrates it as needed.
///
/// # Errors
/// When the file cannot be opened, is no database, or was written by a newer version.
pub fn open(path: &Path) -> Result<(Reader, Writer), Error> {
    let opened = |source| Error::Open { path: path.to_owned(), source };
    let mut connection = Connection::open(path).map_err(opened)?;
    configure(&connection).map_err(opened)?;
    connection.pragma_update(None, "journal_mode", "wal").map_err(opened)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(opened)?;
    migrate(path, &mut connection)?;
    let beside = Connection::open(path).map_err(opened)?;
    configure(&beside).map_err(opened)?;
    let checkpoints =
        Checkpoints::start(path, beside).map_err(|source| Error::Thread { path: path.to_owned(), source })?;
    let reader = Reader { path: path.to_owned(), idle: Mutex::default() };
    Ok((reader, Writer(parking_lot::Mutex::new(Pen { connection, checkpoints }))))
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    connection.set_prepared_statement_cache_capacity(64);
    // Without this a statement is planned anew whenever it is bound to another value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -8192)?;
    connection.pragma_update(None, "temp_store", "memory")
}

/// Brings a database to the schema of this build. Faults speak of `path`.
///
/// # Errors
/// When it was written by a newer version, or a step fails.
pub fn migrate(path: &Path, connection: &mut Connection) -> Result<(), Error> {
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
    if found > known {
        return Err(Error::Newer { path: path.to_owned(), found, known });
    }
    for (version, script) in (1..).zip(MIGRATIONS).skip(found as usize) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(script)?;
        transaction.pragma_update(None, "user_version", version)?;
        transaction.commit()?;
    }
    Ok(())
}

impl Writer {
    /// Takes the writer. Whoever holds it sees every committed change, and nobody else commits meanwhile.
    pub fn lock(&self) -> Writing<'_> {
        Writing(self.0.lock())
    }
}

/// The writer, taken.
#[derive(Debug)]
pub struct Writing<'a>(parking_lot::MutexGuard<'a, Pen>);

impl Writing<'_> {
    /// Gives the writer to whoever has waited longest for it. Who takes it again and again lets others in by this.
    pub fn hand_over(self) {
        parking_lot::MutexGuard::unlock_fair(self.0);
    }

    /// Runs `work` in a transaction: all of it is committed, or none.
    ///
    /// # Errors
    /// Those of `work` and of SQLite.
    pub fn transaction<T, E: From<Error>>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let level = match durability {
            Durability::Process => "normal",
            Durability::Full => "full",
        };
        let Pen { connection, checkpoints } = &mut *self.0;
        connection.pragma_update(None, "synchronous", level).map_err(Error::from)?;
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(Error::from)?;
        let value = work(&transaction)?;
        transaction.commit().map_err(Error::from)?;
        checkpoints.committed(connection);
        Ok(value)
    }
}

impl Reader {
    /// Runs `work` on a connection that cannot write. All its queries see one state of the database.
    ///
    /// # Errors
    /// Those of `work` and of SQLite.
    pub fn read<T, E: From<Error>>(&self, work: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, E> {
        let idle = lock(&self.idle).pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let value = {
            let snapshot = connection.transaction().map_err(Error::from)?;
            work(&snapshot)?
        };
        lock(&self.idle).push(connection);
        Ok(value)
    }

    fn connect(&self) -> Result<Connection, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = |source| Error::Open { path: self.path.clone(), source };
        let connection = Connection::open_with_flags(&self.path, flags).map_err(opened)?;
        configure(&connection).map_err(opened)?;
        Ok(connection)
    }

    /// The database's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A fact about the whole database, if it is set.
///
/// # Errors
/// Those of SQLite.
pub fn meta(connection: &Connection, key: &str) -> Result<Option<String>, Error> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
    Ok(statement.query_row([key], |row| row.get(0)).optional()?)
}

/// Sets a fact about the whole database.
///
/// # Errors
/// Those of SQLite.
pub fn set_meta(connection: &Connection, key: &str, value: &str) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?
        .execute([key, value])?;
    Ok(())
}

/// Encodes a value that a column holds as JSON.
///
/// # Errors
/// When it has no JSON form.
pub fn to_json<T: serde::Serialize>(what: &'static str, value: &T) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|source| Error::Value { what, source })
}

/// Decodes a value that a column holds as JSON.
///
/// # Errors
/// When it is of another form.
pub fn from_json<T: serde::de::DeserializeOwned>(what: &'static str, text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|source| Error::Value { what, source })
}

/// The name or id that a column holds.
///
/// # Errors
/// When it breaks a rule.
pub fn stored<T: FromStr<Err = Fault>>(text: &str) -> Result<T, Error> {
    text.parse().map_err(|fault| Error::Value { what: "name", source: serde::de::Error::custom(fault) })
}

/// The instant that a column holds, in microseconds since 1970.
#[must_use]
pub fn instant(micros: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(micros).unwrap_or_default()
}

/// A vector as a column holds it: f32, little endian.
#[must_use]
pub fn vector_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The vector that a column holds.
#[must_use]
pub fn vector(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
