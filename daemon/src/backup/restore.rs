//! Putting a copy in the place of the database, whether the database can still be read or not.
//!
//! The copy is fetched, checked and brought to this version's schema before anything is touched. What is there is kept
//! as a copy of its own, and only then replaced, in one step.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use memoryd_proto::{Backup, BackupKind};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::content::{self, Holdings};
use super::draft::Draft;
use super::{Copies, Error, file, name};
use crate::database;

/// What a restore did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The copy that was restored.
    pub from: PathBuf,
    /// What it holds.
    pub holds: Holdings,
    /// What was there before, as it is kept now; absent when there was nothing.
    pub before: Option<Backup>,
    /// Older copies of what restores replaced that went, as only so many are kept.
    pub removed: Vec<String>,
}

/// Puts the copy `named`, a name of the list or a path, in the place of `database`, which nobody may use. Of what
/// restores replaced, the newest `most` are kept.
///
/// # Errors
/// When the copy is missing, damaged, of a newer version or no database of memoryd, or a file cannot be written. The
/// database is as it was then.
pub fn restore(
    copies: &Copies,
    database: &Path,
    named: &Path,
    now: DateTime<Utc>,
    most: usize,
) -> Result<Restored, Error> {
    let from = copies.find(named)?;
    let draft = Draft::of(database).map_err(file(database))?;
    let holds = fetch(&from, draft.path())?;
    let before = copies.keep(database, now)?;
    // Its log would be taken for that of the new one.
    for suffix in ["-wal", "-shm"] {
        let path = beside(database, suffix);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(file(&path)(error)),
            _ => {}
        }
    }
    draft.finish().map_err(file(database))?;
    // One copy too many does not make the restore a failure.
    let removed = before.as_ref().map(|before| copies.bound(before.kind, most).unwrap_or_default());
    let removed = removed.unwrap_or_default();
    Ok(Restored { from, holds, before, removed })
}

/// Copies a database into the empty file `draft`, checks it, and brings it to the schema of this build.
fn fetch(from: &Path, draft: &Path) -> Result<Holdings, Error> {
    let told = |source| content::told(from, source);
    content::transfer(&content::open(from)?, draft).map_err(told)?;
    let mut copy = Connection::open_with_flags(draft, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(told)?;
    let holds = content::holdings(&copy, from)?;
    content::sound(&copy, "integrity_check", from)?;
    database::migrate(from, &mut copy)?;
    // The last to close it also empties and removes its log.
    copy.close().map_err(|(_, source)| told(source))?;
    Ok(holds)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(suffix);
    PathBuf::from(beside)
}

impl Copies {
    /// The file of a copy: of that name, or at that path.
    fn find(&self, named: &Path) -> Result<PathBuf, Error> {
        let listed = named.to_str().is_some_and(|name| name::read(name).is_some());
        let here = self.folder.join(named);
        if listed && here.exists() {
            return Ok(here);
        }
        if named.exists() {
            return Ok(named.to_owned());
        }
        Err(Error::Unknown {
            named: named.display().to_string(),
            folder: self.folder.clone(),
            newest: self.newest(),
        })
    }

    /// The newest copy that can be read, if there is one.
    #[must_use]
    pub fn newest(&self) -> Option<String> {
        let copies = self.list().unwrap_or_default().into_iter();
        copies.map(|copy| self.opened(copy)).find(|copy| copy.improvements.is_some()).map(|copy| copy.name)
    }

    /// Keeps what is there as a copy: as one file, or byte for byte where it cannot be read.
    fn keep(&self, database: &Path, now: DateTime<Utc>) -> Result<Option<Backup>, Error> {
        if !database.exists() {
            return Ok(None);
        }
        let readable = self.keep_readable(database, now);
        readable.or_else(|_| self.keep_damaged(database, now)).map(Some)
    }

    /// Copies the database, and moves its log into it, so that it is whole without.
    fn keep_readable(&self, database: &Path, now: DateTime<Utc>) -> Result<Backup, Error> {
        let told = |source| content::told(database, source);
        let connection =
            Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(told)?;
        // Should it be damaged after all, it is kept as it was found.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(told)?;
        let kept = self.make(&connection, BackupKind::BeforeRestore, now)?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(told)?;
        Ok(kept)
    }

    /// Copies the database's file and its log as they are.
    fn keep_damaged(&self, database: &Path, now: DateTime<Utc>) -> Result<Backup, Error> {
        self.create_folder()?;
        let name = self.free(BackupKind::Damaged, now)?;
        let log = (beside(database, "-wal"), self.folder.join(name::log(&name)));
        let itself = (database.to_owned(), self.folder.join(&name));
        let mut bytes = 0;
        for (from, to) in [log, itself] {
            if from.exists() {
                let draft = Draft::of(&to).map_err(file(&to))?;
                bytes = std::fs::copy(&from, draft.path()).map_err(file(&to))?;
                draft.finish().map_err(file(&to))?;
            }
        }
        let kind = BackupKind::Damaged;
        let made_at = name::read(&name).map_or(now, |(at, _)| at);
        Ok(Backup { name, made_at, bytes, kind, improvements: None, evaluations: None })
    }
}

impl fmt::Display for Restored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Holdings { improvements, evaluations } = self.holds;
        write!(
            f,
            "Restored {}: improvements {improvements}, evaluations {evaluations}.",
            self.from.display()
        )?;
        match &self.before {
            None => write!(f, "\nThere was no database before.")?,
            Some(Backup { name, improvements: Some(improvements), evaluations, .. }) => write!(
                f,
                "\nWhat was there is kept as {name}: improvements {improvements}, evaluations {}.\n\
                 To go back: memoryctl restore {name}",
                evaluations.unwrap_or_default()
            )?,
            Some(Backup { name, .. }) => write!(
                f,
                "\nWhat was there is damaged. It is kept as it was, as {name}; it cannot be restored."
            )?,
        }
        for name in &self.removed {
            write!(f, "\n{name} is removed: only the newest are kept.")?;
        }
        Ok(())
    }
}
