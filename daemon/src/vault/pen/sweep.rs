//! Bringing to an end what a process left that died: beside files that it wrote, and of files that it replaced.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::held::Held;
use super::{Pen, discard, plain, sync};
use crate::domain::merge::union;
use crate::vault::{Error, FOLDERS, file, read};

impl Pen {
    /// Looks for what processes that are gone left beside files of the tree and these others. Drafts go. What was taken
    /// out of a file goes too if it is `ours`: a text that was to be replaced, or to be written. Anything else was saved
    /// by somebody, and goes back. So does what somebody wrote to a file that was replaced.
    pub fn sweep(&self, others: &[PathBuf], ours: &dyn Fn(&Path, &str) -> bool) {
        let root = self.vault.root();
        let mut left = Vec::new();
        collect(root, false, &mut left);
        for (name, _) in FOLDERS {
            collect(&root.join(name), true, &mut left);
        }
        for other in others.iter().filter_map(|path| self.vault.inside(path).ok()) {
            collect(other.parent().unwrap_or(&other), false, &mut left);
        }
        left.sort();
        left.dedup();
        for (path, beside) in left {
            if beside.extension() == Some(OsStr::new("draft")) {
                discard(&beside);
            } else if let Err(error) = self.restore(&path, &beside, &|text| ours(&path, text)) {
                tracing::warn!(%error, "{} holds what was to be in {}", beside.display(), path.display());
            }
        }
        for held in Held::all(&self.held) {
            if let Some((path, was, now)) = held.written()
                && let Err(error) = self.bring_in(&path, &was, &now)
            {
                tracing::warn!(%error, "what somebody wrote to {} is lost", path.display());
            }
        }
    }

    fn restore(&self, path: &Path, swap: &Path, ours: &dyn Fn(&str) -> bool) -> Result<(), Error> {
        let text = plain(swap).map_err(file(swap))?;
        if !ours(&text) {
            match read(path)? {
                Some(is) if !ours(&is) => {
                    let both = union(&is, &text);
                    if both != is {
                        self.replace(path, &is, &both)?;
                    }
                }
                _ => {
                    fs::rename(swap, path).map_err(file(path))?;
                    return sync(path);
                }
            }
        }
        fs::remove_file(swap).map_err(file(swap))
    }
}

/// Finds what dead processes left in a folder, with the files that it lies beside.
fn collect(folder: &Path, deep: bool, left: &mut Vec<(PathBuf, PathBuf)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if deep && kind.is_dir() {
            collect(&path, deep, left);
        } else if let Some(of) = entry.file_name().to_str().and_then(of_the_dead) {
            left.push((path.with_file_name(of), path));
        }
    }
}

/// The name of the file that something lies beside, if the process that put it there is gone.
fn of_the_dead(name: &str) -> Option<&str> {
    let (rest, what) = name.strip_prefix('.')?.rsplit_once('.')?;
    let (rest, n) = rest.rsplit_once('.')?;
    let (of, pid) = rest.rsplit_once('.')?;
    n.parse::<u64>().ok()?;
    let pid: i32 = pid.parse().ok()?;
    let ours = u32::try_from(pid) == Ok(std::process::id());
    let gone = || Pid::from_raw(pid).is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH));
    (matches!(what, "draft" | "swap") && !of.is_empty() && (ours || gone())).then_some(of)
}
