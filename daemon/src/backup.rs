//! Copies of the database: each is consistent, checked, and whole under its name or absent.
//!
//! A copy is made in one go from what one reader sees. Readers and the writer do not wait for each other, so recalls
//! and reports go on meanwhile; what they commit stays in the log until the copy is done.
//!
//! Of the scheduled copies those stay that [`retention`](crate::domain::retention) names. Of those made by hand, and of
//! what restores replaced, as many of the newest stay as there are daily copies.
//!
//! Files under other names than those of copies are never touched.

mod content;
mod draft;
mod name;
mod restore;

pub use content::Holdings;
pub use name::name;
pub use restore::{Restored, restore};

use std::cmp::Reverse;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use memoryd_proto::{Backup, BackupKind};
use rusqlite::Connection;

use crate::database;
use draft::Draft;

/// Why a copy cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{} cannot be used: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Pages cannot be copied.
    #[error("{} cannot be copied: {source}", path.display())]
    Copying {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file is not what it was when it was written.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite found.
        what: String,
    },
    /// The file is something else.
    #[error("{} is no database of memoryd", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// No copy has this name.
    #[error("There is no copy {named} in {}, and no such file", folder.display())]
    Unknown {
        /// What was asked for.
        named: String,
        /// Where copies are.
        folder: PathBuf,
        /// The newest copy that can be restored, if there is one.
        newest: Option<String>,
    },
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] database::Error),
}

fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::File { path, source }
}

/// The copies of a database.
#[derive(Debug)]
pub struct Copies {
    folder: PathBuf,
    /// Held while a copy is made: one at a time.
    turn: Mutex<()>,
}

impl Copies {
    /// The copies in `folder`, which is created with the first of them.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, turn: Mutex::default() }
    }

    /// Where they are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The copies, newest first. What they hold is not looked up.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> Result<Vec<Backup>, Error> {
        let mut copies = Vec::new();
        for entry in self.names()? {
            let Some((made_at, kind)) = name::read(&entry) else { continue };
            let path = self.folder.join(&entry);
            // One that retention took in the meantime is not there.
            let Ok(metadata) = path.metadata() else { continue };
            copies.push(Backup {
                name: entry,
                made_at,
                bytes: metadata.len(),
                kind,
                improvements: None,
                evaluations: None,
            });
        }
        copies.sort_by_key(|copy| Reverse((copy.made_at, copy.kind)));
        Ok(copies)
    }

    /// The copy with what it holds, where it can be read.
    #[must_use]
    pub fn opened(&self, copy: Backup) -> Backup {
        let path = self.folder.join(&copy.name);
        let holds = content::open(&path).and_then(|connection| content::holdings(&connection, &path)).ok();
        Backup {
            improvements: holds.map(|holds| holds.improvements),
            evaluations: holds.map(|holds| holds.evaluations),
            ..copy
        }
    }

    /// Copies what `source` sees, under a name that is free.
    ///
    /// # Errors
    /// When the copy cannot be written, or turns out to be damaged. Nothing is left of it then.
    pub fn make(&self, source: &Connection, kind: BackupKind, at: DateTime<Utc>) -> Result<Backup, Error> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.write(source, &self.free(kind, at)?)
    }

    /// Copies what `source` sees, under this name. A copy that has the name is replaced.
    ///
    /// # Errors
    /// As [`make`](Self::make); what had the name is still there then.
    pub fn make_named(&self, source: &Connection, name: &str) -> Result<Backup, Error> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.write(source, name)
    }

    fn write(&self, source: &Connection, name: &str) -> Result<Backup, Error> {
        self.create_folder()?;
        let path = self.folder.join(name);
        let draft = Draft::of(&path).map_err(file(&path))?;
        let holds = content::copy(source, draft.path())?;
        let bytes = draft.path().metadata().map_err(file(&path))?.len();
        draft.finish().map_err(file(&path))?;
        let (made_at, kind) = name::read(name).unwrap_or((DateTime::UNIX_EPOCH, BackupKind::ByHand));
        Ok(Backup {
            name: name.to_owned(),
            made_at,
            bytes,
            kind,
            improvements: Some(holds.improvements),
            evaluations: Some(holds.evaluations),
        })
    }

    /// Removes a copy, if it is there.
    ///
    /// # Errors
    /// When its file cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        if name::read(name).is_none() {
            return Ok(());
        }
        for path in [self.folder.join(name), self.folder.join(name::log(name))] {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(file(&path)(error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes all copies of a kind but the newest `most`, and returns their names.
    ///
    /// # Errors
    /// When the folder cannot be read, or a file cannot be removed.
    pub fn bound(&self, kind: BackupKind, most: usize) -> Result<Vec<String>, Error> {
        let of_kind = self.list()?.into_iter().filter(|copy| copy.kind == kind);
        let surplus: Vec<String> = of_kind.skip(most).map(|copy| copy.name).collect();
        surplus.iter().try_for_each(|name| self.remove(name))?;
        Ok(surplus)
    }

    /// Removes what a crash left of copies that were being made.
    ///
    /// # Errors
    /// When the folder cannot be read, or a file cannot be removed.
    pub fn sweep(&self) -> Result<(), Error> {
        for entry in self.names()? {
            if name::is_unfinished(&entry) {
                let path = self.folder.join(entry);
                std::fs::remove_file(&path).map_err(file(&path))?;
            }
        }
        Ok(())
    }

    /// The names of everything in the folder.
    fn names(&self) -> Result<Vec<String>, Error> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(file(&self.folder))?,
        };
        let mut names = Vec::new();
        for entry in entries {
            names.extend(entry.map_err(file(&self.folder))?.file_name().into_string());
        }
        Ok(names)
    }

    /// The name of a copy made at `at`. It comes after those of its kind, even within a second, so that the oldest by
    /// name is the oldest.
    fn free(&self, kind: BackupKind, at: DateTime<Utc>) -> Result<String, Error> {
        let newest = self.list()?.into_iter().find(|copy| copy.kind == kind);
        let at = newest.map_or(at, |newest| at.max(newest.made_at + TimeDelta::seconds(1)));
        Ok(name(kind, at))
    }

    fn create_folder(&self) -> Result<(), Error> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(file(&self.folder))
    }
}
