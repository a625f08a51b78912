//! The log of a daemon that no service manager started.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A log that is longer is put aside at the next start; the one before it goes.
const LONG: u64 = 1024 * 1024;

/// Lines of a failed daemon's last words that are worth repeating.
const LINES: usize = 8;

/// `memoryd/memoryd.log` below `XDG_STATE_HOME`, and where its newest part begins.
pub struct Log {
    pub file: File,
    begin: u64,
}

impl Log {
    /// Opens the log to append to it.
    pub fn open() -> io::Result<Self> {
        Self::below(&state_dir().ok_or(io::ErrorKind::NotFound)?)
    }

    fn below(state: &Path) -> io::Result<Self> {
        let dir = state.join("memoryd");
        DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        let path = dir.join("memoryd.log");
        if path.metadata().is_ok_and(|metadata| metadata.len() > LONG) {
            std::fs::rename(&path, dir.join("memoryd.log.old"))?;
        }
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        let begin = file.metadata()?.len();
        Ok(Self { file, begin })
    }

    /// What was added at the end; `None` if nothing was.
    pub fn last_words(mut self) -> Option<String> {
        let mut said = Vec::new();
        self.file.seek(SeekFrom::Start(self.begin)).ok()?;
        self.file.read_to_end(&mut said).ok()?;
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        (!lines.is_empty()).then(|| lines[lines.len().saturating_sub(LINES)..].join("\n"))
    }
}

fn state_dir() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn only_the_newest_part_is_repeated() {
        let dir = tempfile::tempdir().unwrap();
        Log::below(dir.path()).unwrap().file.write_all(b"old\n").unwrap();
        let mut log = Log::below(dir.path()).unwrap();
        log.file.write_all("1\n\n2\n3\n4\n5\n6\n7\n8\n9\n".as_bytes()).unwrap();
        assert_eq!(log.last_words().unwrap(), "2\n3\n4\n5\n6\n7\n8\n9");
        assert_eq!(Log::below(dir.path()).unwrap().last_words(), None);
    }

    #[test]
    fn a_long_log_is_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        Log::below(dir.path()).unwrap().file.set_len(LONG + 1).unwrap();
        assert_eq!(Log::below(dir.path()).unwrap().begin, 0);
        assert!(dir.path().join("memoryd/memoryd.log.old").exists());
    }
}
