//! The lock of the data directory: one daemon for each. It says which process holds it, and where that one answers, so
//! that whoever comes second can be told.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Why the data directory cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another daemon has it.
    #[error("Another daemon{} uses the data directory {}. Stop it first (memoryctl stop), or set MEMORYD_DATA_DIR", named(*.pid), data_dir.display())]
    Held {
        /// The data directory.
        data_dir: PathBuf,
        /// Its process, if it wrote that.
        pid: Option<u32>,
    },
    /// Another daemon has it that nobody can reach.
    #[error("Another daemon (process {pid}) uses the data directory {}, but its socket {} is gone, so nobody can ask it. Stop it with `kill {pid}`, then start again", data_dir.display(), socket.display())]
    Unreachable {
        /// The data directory.
        data_dir: PathBuf,
        /// Its process.
        pid: u32,
        /// Where it answered.
        socket: PathBuf,
    },
    /// The file cannot be used.
    #[error("The lock {} cannot be taken: {source}. Check the permissions of the data directory, or set MEMORYD_DATA_DIR", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn named(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

/// A data directory that this process has, for as long as this exists.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes a data directory, which must exist.
    ///
    /// # Errors
    /// When another process has it, or the lock's file cannot be used.
    pub fn take(data_dir: &Path) -> Result<Self, Error> {
        let path = data_dir.join("lock");
        let failed = |source| Error::File { path: path.clone(), source };
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                let lock = Self { file };
                lock.note(None);
                Ok(lock)
            }
            Err(TryLockError::WouldBlock) => Err(held(data_dir, &path)),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Notes where this process answers, or that it does so no more. The lock holds whatever is noted.
    pub fn note(&self, socket: Option<&Path>) {
        let mut text = std::process::id().to_string().into_bytes();
        if let Some(socket) = socket {
            text.push(b'\n');
            text.extend_from_slice(socket.as_os_str().as_encoded_bytes());
        }
        text.push(b'\n');
        let mut file = &self.file;
        let noted =
            io::Seek::rewind(&mut file).and_then(|()| file.set_len(0)).and_then(|()| file.write_all(&text));
        if let Err(error) = noted {
            tracing::warn!(%error, "the lock does not say who holds it");
        }
    }
}

fn held(data_dir: &Path, lock: &Path) -> Error {
    let noted = std::fs::read_to_string(lock).unwrap_or_default();
    let (pid, socket) = noted.split_once('\n').unwrap_or_default();
    let (data_dir, pid) = (data_dir.to_owned(), pid.parse().ok());
    let socket = PathBuf::from(socket.trim_end_matches('\n'));
    match pid {
        Some(pid) if socket.is_absolute() && !socket.exists() => Error::Unreachable { data_dir, pid, socket },
        _ => Error::Held { data_dir, pid },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_second_is_told_who_is_first() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::take(folder.path()).unwrap();
        let told = || Lock::take(folder.path()).unwrap_err().to_string();
        let pid = std::process::id();
        assert!(told().starts_with(&format!("Another daemon (process {pid}) uses")), "{}", told());
        let socket = folder.path().join("socket");
        std::fs::write(&socket, "").unwrap();
        lock.note(Some(&socket));
        assert!(told().contains("memoryctl stop"), "{}", told());
        std::fs::remove_file(&socket).unwrap();
        assert!(told().contains(&format!("kill {pid}")), "{}", told());
        lock.note(None);
        assert!(told().contains("memoryctl stop"), "{}", told());
        drop(lock);
        Lock::take(folder.path()).unwrap();
    }
}
