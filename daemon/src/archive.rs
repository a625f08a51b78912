//! Archives: what left the hot store, as compressed JSON lines by month (spec S6).
//!
//! Each write appends a frame of its own and is on disk before it returns. Frames in a row are one valid file, so
//! `zstdcat` reads an archive too.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Balances size and time; archives are small.
const LEVEL: i32 = 3;

/// Why an archive cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Reading or writing failed.
    #[error("The archive {} cannot be used: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line is of another form.
    #[error("The archive {} has a line that cannot be read: {source}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
}

/// The folder of the archives.
#[derive(Debug)]
pub struct Archive {
    folder: PathBuf,
}

impl Archive {
    /// The archives in `folder`.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The file that takes what leaves at `at`.
    #[must_use]
    pub fn file(&self, kind: &str, at: DateTime<Utc>) -> PathBuf {
        self.folder.join(format!("{kind}-{}.jsonl.zst", at.format("%Y-%m")))
    }

    /// Appends records, and returns once they are on disk.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn append<T: Serialize>(&self, kind: &str, at: DateTime<Utc>, records: &[T]) -> Result<(), Error> {
        let path = self.file(kind, at);
        let failed = |source| Error::File { path: path.clone(), source };
        let mut lines = Vec::new();
        for record in records {
            serde_json::to_writer(&mut lines, record)
                .map_err(|source| Error::Line { path: path.clone(), source })?;
            lines.push(b'\n');
        }
        let frame = zstd::encode_all(lines.as_slice(), LEVEL).map_err(failed)?;
        let fresh = !path.exists();
        let mut file =
            OpenOptions::new().append(true).create(true).mode(0o600).open(&path).map_err(failed)?;
        file.write_all(&frame).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        if fresh {
            File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        }
        Ok(())
    }

    /// The newest archived record of a kind that `wanted` accepts, and those right before it that it accepts too, the
    /// newest first. What one operation removes lies together.
    ///
    /// # Errors
    /// When an archive cannot be read.
    pub fn find<T: DeserializeOwned>(
        &self,
        kind: &str,
        wanted: impl Fn(&T) -> bool,
    ) -> Result<Vec<T>, Error> {
        let mut files = self.files(kind)?;
        files.reverse();
        for path in files {
            let newest_first = read::<T>(&path)?.into_iter().rev();
            let found: Vec<T> = newest_first.skip_while(|one| !wanted(one)).take_while(&wanted).collect();
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// Every archived record of a kind, oldest first.
    ///
    /// # Errors
    /// When an archive cannot be read.
    pub fn all<T: DeserializeOwned>(&self, kind: &str) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        for path in self.files(kind)? {
            all.extend(read(&path)?);
        }
        Ok(all)
    }

    /// The archives of a kind, oldest first.
    fn files(&self, kind: &str) -> Result<Vec<PathBuf>, Error> {
        let failed = |source| Error::File { path: self.folder.clone(), source };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name
                .strip_prefix(kind)
                .is_some_and(|rest| rest.starts_with('-') && rest.ends_with(".jsonl.zst"))
            {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Error> {
    let failed = |source| Error::File { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let lines = BufReader::new(zstd::Decoder::new(file).map_err(failed)?).lines();
    lines
        .map(|line| {
            let line = line.map_err(failed)?;
            serde_json::from_str(&line).map_err(|source| Error::Line { path: path.to_owned(), source })
        })
        .collect()
}
