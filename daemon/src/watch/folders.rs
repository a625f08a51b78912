//! The folders that are watched: each by itself, so that it is known which are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::{ErrorKind, RecursiveMode, Watcher};
use parking_lot::RwLock;

use crate::vault::{self, Vault};

/// Device and number of a folder: another one can take its name.
type Identity = (u64, u64);

/// The folders that are watched.
pub struct Folders {
    watcher: Option<Box<dyn Watcher + Send>>,
    /// What is followed, there or not.
    targets: Arc<RwLock<Vec<PathBuf>>>,
    watched: BTreeMap<PathBuf, Identity>,
    /// Why the system tells nothing at all, if so.
    deaf: Option<String>,
    /// Why some folders are not watched, if so.
    trouble: Option<String>,
}

impl Folders {
    /// No folder yet. `targets` are kept as what is followed.
    pub fn new(watcher: notify::Result<Box<dyn Watcher + Send>>, targets: Arc<RwLock<Vec<PathBuf>>>) -> Self {
        let (watcher, deaf) = match watcher {
            Ok(watcher) => (Some(watcher), None),
            Err(error) => (None, Some(polling(&reason(&error)))),
        };
        Self { watcher, targets, watched: BTreeMap::new(), deaf, trouble: None }
    }

    /// Why the system does not tell of every change, and what is done instead, if so.
    pub fn trouble(&self) -> Option<&str> {
        self.deaf.as_deref().or(self.trouble.as_deref())
    }

    /// Whether something that is going on with these paths can change which folders are to be watched.
    pub fn concern(&self, paths: &BTreeSet<PathBuf>) -> bool {
        let targets = self.targets.read();
        paths.iter().any(|path| {
            path.is_dir()
                || self.watched.contains_key(path)
                || targets.iter().any(|target| target.starts_with(path))
        })
    }

    /// Watches what is to be watched now: the folders of the tree and of the projects' learnings, and where one is
    /// missing, the folder that it would appear in. A folder that is `doubtful` is watched anew: one that was made in the
    /// place of another can look the same. Returns whether any is watched that was not.
    pub fn renew(
        &mut self,
        vault: &Vault,
        projects: &[PathBuf],
        doubtful: impl Fn(&PathBuf) -> bool,
    ) -> bool {
        let learnings =
            projects.iter().filter_map(|root| vault::learnings(root).parent().map(Path::to_owned));
        let targets: Vec<PathBuf> = std::iter::once(vault.root().to_owned()).chain(learnings).collect();
        let mut wanted: BTreeMap<PathBuf, Identity> = BTreeMap::new();
        let there = targets.iter().filter_map(|target| target.ancestors().find(|path| path.is_dir()));
        let there: Vec<PathBuf> = there.map(Path::to_owned).chain(vault.folders()).collect();
        self.trouble = there.iter().find(|path| is_remote(path)).map(|path| {
            polling(&format!("{} is on a file system that does not tell of changes", path.display()))
        });
        wanted.extend(there.into_iter().filter_map(|path| {
            let metadata = fs::metadata(&path).ok()?;
            Some((path, (metadata.dev(), metadata.ino())))
        }));
        *self.targets.write() = targets;
        let Some(watcher) = &mut self.watcher else { return false };
        self.watched.retain(|path, identity| {
            let stays = wanted.get(path) == Some(identity) && !doubtful(path);
            if !stays {
                // It may be gone already, and then so is the watch.
                let _ = watcher.unwatch(path);
            }
            stays
        });
        let mut more = false;
        for (path, identity) in wanted {
            if self.watched.contains_key(&path) {
                continue;
            }
            match watcher.watch(&path, RecursiveMode::NonRecursive) {
                Ok(()) => more |= self.watched.insert(path, identity).is_none(),
                // It went meanwhile, and the folder around it tells of that.
                Err(error) if matches!(error.kind, ErrorKind::PathNotFound) => {}
                Err(error) => self.trouble = Some(polling(&reason(&error))),
            }
        }
        more
    }
}

fn reason(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::MaxFilesWatch => {
            "no more folders can be watched (fs.inotify.max_user_watches raises the limit)".to_owned()
        }
        ErrorKind::Generic(_)
        | ErrorKind::Io(_)
        | ErrorKind::PathNotFound
        | ErrorKind::WatchNotFound
        | ErrorKind::InvalidConfig(_) => error.to_string(),
    }
}

fn polling(reason: &str) -> String {
    format!("The memory tree is looked at every {} seconds: {reason}", super::POLL.as_secs())
}

/// Whether a folder is on a file system that others write to, which does not tell of that.
#[cfg(target_os = "linux")]
fn is_remote(path: &Path) -> bool {
    /// The numbers of NFS, SMB, CIFS, SMB 2, FUSE, 9P and Ceph.
    const REMOTE: [u32; 7] =
        [0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x6573_5546, 0x0102_1997, 0x00c3_6400];
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the numbers have 32 bits")]
    rustix::fs::statfs(path).is_ok_and(|system| REMOTE.contains(&(system.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_: &Path) -> bool {
    false
}
