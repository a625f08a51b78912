//! Replacing a file as a whole: whoever reads it finds the old content or the new one.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A file that is to replace another once it is complete. Until then it lies beside it, and dropping it removes it.
pub struct Replacement {
    file: File,
    draft: PathBuf,
    target: PathBuf,
}

impl Replacement {
    /// Begins to replace `target`. Only its owner may read the new file: memory is private.
    pub fn of(target: &Path) -> io::Result<Self> {
        let mut name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let draft = target.with_file_name(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        Ok(Self { file, draft, target: target.to_owned() })
    }

    /// Takes the new content.
    pub fn writer(&mut self) -> &mut File {
        &mut self.file
    }

    /// Puts the new file in its place.
    pub fn finish(self) -> io::Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.draft, &self.target)?;
        let dir = self.target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(dir)?.sync_all()
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // After `finish` there is no draft left to remove.
        let _ = std::fs::remove_file(&self.draft);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("export.jsonl");
        std::fs::write(&target, "old").unwrap();

        let mut abandoned = Replacement::of(&target).unwrap();
        abandoned.writer().write_all(b"half").unwrap();
        drop(abandoned);
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "old");

        let mut finished = Replacement::of(&target).unwrap();
        finished.writer().write_all(b"new").unwrap();
        finished.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(target.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
    }
}
