//! What is in a copy: reading it, checking it, and copying it page by page.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};

use super::Error;

/// What a database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holdings {
    /// Improvements, in every scope.
    pub improvements: u64,
    /// Evaluations.
    pub evaluations: u64,
}

/// Opens a database for reading. Nothing is created beside it, unless it lies there with its log.
pub(super) fn open(path: &Path) -> Result<Connection, Error> {
    // Metadata says more of a missing file than SQLite does.
    path.metadata().map_err(super::file(path))?;
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let logged = Path::new(&log).metadata().is_ok_and(|log| log.len() > 0);
    let read = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = if logged {
        Connection::open_with_flags(path, read)
    } else {
        Connection::open_with_flags(immutable(path), read | OpenFlags::SQLITE_OPEN_URI)
    };
    opened.map_err(|source| told(path, source))
}

/// The file as a URI that says that nobody changes it.
fn immutable(path: &Path) -> OsString {
    let mut uri = b"file:".to_vec();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'?' | b'#' | b'%' => uri.extend(format!("%{byte:02x}").bytes()),
            byte => uri.push(*byte),
        }
    }
    uri.extend(b"?immutable=1");
    OsString::from_vec(uri)
}

/// Copies what `source` sees into the empty file `draft` and checks the copy: it is sound and holds as much. A copy
/// that is not says that its source is damaged, as every page is copied as it is.
pub(super) fn copy(source: &Connection, draft: &Path) -> Result<Holdings, Error> {
    let path = Path::new(source.path().unwrap_or_default());
    // The first look pins what a reader's transaction sees, and the pages follow from the same.
    let held = holdings(source, path)?;
    transfer(source, draft).map_err(|source| told(draft, source))?;
    let copy = open(draft)?;
    sound(&copy, "quick_check", path)?;
    let holds = holdings(&copy, path)?;
    if holds != held {
        return Err(Error::Damaged { path: path.to_owned(), what: format!("{held:?} became {holds:?}") });
    }
    Ok(holds)
}

/// Copies every page. Should this be interrupted, the file is of no use; so it needs no journal.
pub(super) fn transfer(source: &Connection, to: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(to, flags)?;
    target.pragma_update(None, "journal_mode", "off")?;
    target.pragma_update(None, "synchronous", "off")?;
    if Backup::new(source, &mut target)?.step(-1)? != StepResult::Done {
        return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None));
    }
    Ok(())
}

/// Checks the structure of a database: `quick_check`, or `integrity_check` for its indexes too.
pub(super) fn sound(connection: &Connection, check: &str, path: &Path) -> Result<(), Error> {
    let found = connection.query_row(&format!("PRAGMA {check}(1)"), [], |row| row.get::<_, String>(0));
    match found.map_err(|source| told(path, source))? {
        ok if ok == "ok" => Ok(()),
        what => Err(Error::Damaged { path: path.to_owned(), what: what.replace('\n', " ") }),
    }
}

/// What a database holds.
pub(super) fn holdings(connection: &Connection, path: &Path) -> Result<Holdings, Error> {
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' \
                  AND name IN ('meta', 'operation', 'improvement', 'evaluation')";
    let count = |sql: &str| {
        connection.query_row(sql, [], |row| row.get::<_, u64>(0)).map_err(|source| told(path, source))
    };
    if count(tables)? < 4 {
        return Err(Error::Foreign { path: path.to_owned() });
    }
    Ok(Holdings {
        improvements: count("SELECT count(*) FROM improvement")?,
        evaluations: count("SELECT count(*) FROM evaluation")?,
    })
}

/// What an error of SQLite means for a copy.
pub(super) fn told(path: &Path, source: rusqlite::Error) -> Error {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Error::Foreign { path },
        Some(ErrorCode::DatabaseCorrupt) => Error::Damaged { path, what: source.to_string() },
        _ => Error::Copying { path, source },
    }
}
