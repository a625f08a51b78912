//! Whether a file may have changed, by what the file system says of it.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};

/// How old the last change of a file must be to be told from a next one by its time: file systems keep it to two seconds
/// or better.
const COARSE: TimeDelta = TimeDelta::seconds(3);

/// What the file system says of a file. While it stays, and the last change was not just before, so did the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of a file; none when there is no file.
    ///
    /// # Errors
    /// When the file system does not say.
    pub fn of(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(Self {
                file: (metadata.dev(), metadata.ino()),
                size: metadata.size(),
                modified: (metadata.mtime(), metadata.mtime_nsec()),
                changed: (metadata.ctime(), metadata.ctime_nsec()),
            })),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a change from now on gives the file another stamp.
    #[must_use]
    pub fn is_settled(&self, now: DateTime<Utc>) -> bool {
        let newest = self.modified.max(self.changed).0;
        newest < (now - COARSE).timestamp()
    }
}
