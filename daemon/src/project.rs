//! Which project a folder belongs to (spec I3).

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use memoryd_proto::{Project, ProjectHash};
use sha2::{Digest, Sha256};

use crate::domain::text;

/// Why a folder names no project.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder does not exist or cannot be looked at.
    #[error("The project folder {} cannot be found: {source}", path.display())]
    Missing {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The path is relative, and the daemon's own folder means nothing to the caller.
    #[error("The project folder {} is no absolute path", path.display())]
    Relative {
        /// The path.
        path: PathBuf,
    },
}

/// The hash of a project.
///
/// # Errors
/// When its folder cannot be found.
pub fn resolve(project: &Project) -> Result<ProjectHash, Error> {
    match project {
        Project::Hash(hash) => Ok(hash.clone()),
        Project::Folder(folder) => root(folder).map(|root| hash(&root)),
    }
}

/// The root of the project that a folder belongs to: the nearest ancestor with `.git`, a worktree counted to its main
/// repository; else the folder itself. Symbolic links are resolved.
///
/// # Errors
/// When the folder cannot be found.
pub fn root(folder: &Path) -> Result<PathBuf, Error> {
    if !folder.is_absolute() {
        return Err(Error::Relative { path: folder.to_owned() });
    }
    let missing = |source| Error::Missing { path: folder.to_owned(), source };
    let folder = folder.canonicalize().map_err(missing)?;
    let with_git = folder.ancestors().find(|ancestor| ancestor.join(".git").exists());
    Ok(with_git
        .map_or_else(|| folder.clone(), |root| main_repository(root).unwrap_or_else(|| root.to_owned())))
}

/// The root of the main repository, when `root` is a worktree of it: its `.git` is then a file that points to
/// `MAIN/.git/worktrees/NAME`.
fn main_repository(root: &Path) -> Option<PathBuf> {
    let pointer = std::fs::read_to_string(root.join(".git")).ok()?;
    let target = root.join(pointer.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let worktrees = target.parent()?;
    let git = worktrees.parent()?;
    let is_worktree = worktrees.file_name()? == "worktrees" && git.file_name()? == ".git";
    is_worktree.then(|| git.parent().map(Path::to_owned)).flatten()
}

/// The hash of a project by its root.
#[must_use]
pub fn hash(root: &Path) -> ProjectHash {
    let sum = Sha256::digest(root.as_os_str().as_bytes());
    text::hex(&sum[..6]).parse().unwrap_or_else(|_| unreachable!("six bytes have twelve hex digits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("memoryd-project-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path.canonicalize().unwrap())
        }

        fn make(&self, inner: &str) -> PathBuf {
            let path = self.0.join(inner);
            std::fs::create_dir_all(&path).unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn i3_the_nearest_repository_is_the_root() {
        let folder = Folder::new("nearest");
        folder.make("repo/.git");
        let deep = folder.make("repo/src/deep");
        assert_eq!(root(&deep).unwrap(), folder.0.join("repo"));
    }

    #[test]
    fn i3_links_are_resolved_and_worktrees_belong_to_their_main_repository() {
        let folder = Folder::new("worktree");
        folder.make("repo/.git/worktrees/side");
        let side = folder.make("side/src");
        std::fs::write(
            folder.0.join("side/.git"),
            format!("gitdir: {}/repo/.git/worktrees/side\n", folder.0.display()),
        )
        .unwrap();
        std::os::unix::fs::symlink(folder.0.join("repo"), folder.0.join("link")).unwrap();
        let main = hash(&root(&folder.0.join("repo")).unwrap());
        assert_eq!(hash(&root(&side).unwrap()), main);
        assert_eq!(hash(&root(&folder.0.join("link")).unwrap()), main);
    }

    #[test]
    fn i3_a_submodule_is_a_project_of_its_own() {
        let folder = Folder::new("submodule");
        folder.make("repo/.git/modules/sub");
        let sub = folder.make("repo/sub");
        std::fs::write(sub.join(".git"), "gitdir: ../.git/modules/sub\n").unwrap();
        assert_eq!(root(&sub).unwrap(), sub);
    }

    #[test]
    fn a_folder_that_does_not_exist_is_named() {
        let told = root(Path::new("/no/such/folder")).unwrap_err().to_string();
        assert!(told.contains("/no/such/folder"), "{told}");
    }
}
