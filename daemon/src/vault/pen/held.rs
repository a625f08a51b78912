//! Files that were replaced keep a name in a folder of the daemon's own: what is written to them late is found even if
//! the daemon is killed before it looks.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What a replaced file was: the file that it was, and its text.
const WAS: &str = "was";

/// The replaced file itself.
const NOW: &str = "now";

/// The name of a replaced file, which goes when this is dropped.
#[derive(Debug)]
pub struct Held {
    was: PathBuf,
}

impl Held {
    /// Gives a name to what lies in `swap`: `text`, which was in `path`.
    ///
    /// # Errors
    /// When it cannot be written, or the folder is on another file system.
    pub fn new(folder: &Path, n: u64, (path, text): (&Path, &str), swap: &Path) -> io::Result<Self> {
        let held = Self { was: folder.join(format!("{n}.{WAS}")) };
        held.set(path, text)?;
        fs::hard_link(swap, held.now())?;
        Ok(held)
    }

    /// Keeps what is known of it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set(&self, path: &Path, text: &str) -> io::Result<()> {
        let path = path.to_str().filter(|path| !path.contains('\n')).ok_or(ErrorKind::InvalidInput)?;
        fs::write(&self.was, format!("{path}\n{text}"))
    }

    /// What a daemon that died held in a folder.
    pub fn all(folder: &Path) -> Vec<Self> {
        let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_was = |path: &PathBuf| path.extension().is_some_and(|extension| extension == WAS);
        let mut all: Vec<Self> = paths.filter(is_was).map(|was| Self { was }).collect();
        all.sort_by_key(|held| fs::metadata(&held.was).and_then(|metadata| metadata.modified()).ok());
        all
    }

    /// The file that it was, what it said, and what was written to it since; none if that is not more.
    pub fn written(&self) -> Option<(PathBuf, String, String)> {
        let (was, now) = (fs::read_to_string(&self.was).ok()?, fs::read_to_string(self.now()).ok()?);
        let (path, text) = was.split_once('\n')?;
        (!text.starts_with(&now)).then(|| (path.into(), text.to_owned(), now))
    }

    fn now(&self) -> PathBuf {
        self.was.with_extension(NOW)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.now());
        let _ = fs::remove_file(&self.was);
    }
}
