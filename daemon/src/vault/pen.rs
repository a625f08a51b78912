//! Writing files of the tree.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

use super::{Error, FOLDERS, Vault, file, read};

/// The only one that writes files of the tree.
#[derive(Debug)]
pub struct Pen(Vault);

impl Pen {
    /// Writes what `vault` reads.
    #[must_use]
    pub fn new(vault: Vault) -> Self {
        Self(vault)
    }

    /// What it writes.
    #[must_use]
    pub fn vault(&self) -> &Vault {
        &self.0
    }

    /// Makes the folders of the tree.
    ///
    /// # Errors
    /// When one cannot be made.
    pub fn make_folders(&self) -> Result<(), Error> {
        FOLDERS.iter().try_for_each(|(name, _)| folder(&self.0.root.join(name)))
    }

    /// Writes a file whose text is `before`, absent where there is none, so that it is `after`. Whoever reads meanwhile
    /// sees the one or the other, whole. Its mode stays, and its owner where that is allowed.
    ///
    /// # Errors
    /// When its text is not `before`, when it leads out of the tree, or when it cannot be written.
    pub fn write(&self, path: &Path, before: Option<&str>, after: Option<&str>) -> Result<(), Error> {
        let named = path;
        let path = &self.0.inside(path)?;
        let parent = path.parent().unwrap_or(path);
        let as_before = || {
            let is = read(path)?.as_deref() == before;
            is.then_some(()).ok_or_else(|| Error::Changed { path: path.clone() })
        };
        as_before()?;
        match after {
            Some(after) => {
                folder(parent)?;
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let draft = parent.join(format!(".{name}.{}.draft", std::process::id()));
                // One that a crash left behind goes; whatever a link of that name leads to stays as it is.
                let _ = fs::remove_file(&draft);
                let done = draw(&draft, path, after).and_then(|()| {
                    as_before()?;
                    fs::rename(&draft, path).map_err(file(path))
                });
                if done.is_err() {
                    let _ = fs::remove_file(&draft);
                }
                done?;
            }
            None if before.is_some() => fs::remove_file(path).map_err(file(path))?,
            None => return Ok(()),
        }
        self.0.written.lock().insert(named.to_owned());
        File::open(parent).and_then(|folder| folder.sync_all()).map_err(file(parent))
    }
}

fn folder(path: &Path) -> Result<(), Error> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(file(path))
}

/// Writes a draft of a file to disk, with its mode and owner.
fn draw(draft: &Path, path: &Path, text: &str) -> Result<(), Error> {
    let mut options = OpenOptions::new();
    let mut drawn = options.write(true).create_new(true).mode(0o600).open(draft).map_err(file(draft))?;
    drawn.write_all(text.as_bytes()).map_err(file(draft))?;
    if let Ok(there) = fs::metadata(path) {
        // Another's file may be written, but not always given back to them.
        let _ = fchown(&drawn, Some(there.uid()), Some(there.gid()));
        drawn.set_permissions(fs::Permissions::from_mode(there.mode() & 0o7777)).map_err(file(draft))?;
    }
    drawn.sync_all().map_err(file(draft))
}
