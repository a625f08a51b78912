//! A file that takes its name once it is complete and on disk.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A file that is to have a name. Until then it lies beside it, and dropping it removes it.
pub(super) struct Draft {
    path: PathBuf,
    target: PathBuf,
}

impl Draft {
    /// Begins an empty file that only its owner may read. What a crash left of an earlier one is replaced.
    pub(super) fn of(target: &Path) -> io::Result<Self> {
        let mut path = target.as_os_str().to_owned();
        path.push(".part");
        let draft = Self { path: PathBuf::from(path), target: target.to_owned() };
        match std::fs::remove_file(&draft.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft.path)?;
        Ok(draft)
    }

    /// Where the file is until it is complete.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name. Whatever has the name is replaced.
    pub(super) fn finish(self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()?;
        std::fs::rename(&self.path, &self.target)?;
        self.target.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After `finish` there is nothing left to remove.
        let _ = std::fs::remove_file(&self.path);
    }
}
