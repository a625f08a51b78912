//! The markdown memory tree: files that people and agents edit at any time (spec M1, M3).
//!
//! The files are the truth, and are read whenever they are asked for. [`Vault`] reads; only [`Pen`] writes, each file as
//! a whole, and only if it is as it was when it was read: a person's edit always wins. No link is followed out of the
//! tree.

mod pen;
mod rename;

pub use pen::Pen;

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memoryd_proto::Tier;
use parking_lot::Mutex;

/// Why a file of the tree cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{} cannot be used: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no text.
    #[error("{} is no UTF-8 text", path.display())]
    NoText {
        /// The file.
        path: PathBuf,
    },
    /// The file leads out of the folder that it must be in.
    #[error("{} leads out of the folder that it must be in", path.display())]
    Outside {
        /// The file.
        path: PathBuf,
    },
    /// The file is not as it was when it was read.
    #[error("{} was changed meanwhile", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

impl Error {
    /// Whether it lies in this one file, so that others can be read and written nevertheless.
    #[must_use]
    pub fn lies_in_the_file(&self) -> bool {
        let in_the_file = |kind| {
            matches!(
                kind,
                ErrorKind::PermissionDenied
                    | ErrorKind::ReadOnlyFilesystem
                    | ErrorKind::IsADirectory
                    | ErrorKind::NotADirectory
            )
        };
        match self {
            Self::File { source, .. } => in_the_file(source.kind()),
            Self::NoText { .. } | Self::Outside { .. } | Self::Changed { .. } => true,
        }
    }
}

fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::File { path, source }
}

/// The folders of the tree, with their tiers.
const FOLDERS: [(&str, Tier); 4] = [
    ("projects", Tier::Project),
    ("domains", Tier::Domain),
    ("shared", Tier::Shared),
    ("archive", Tier::Cold),
];

/// The files of the tree, with their tiers and what is in them at first.
const FILES: [(&str, Tier, &str); 3] = [
    ("memory.md", Tier::Hot, "# Global Memory\n\n## Rules\n\n## Preferences\n\n## Patterns\n\n---\n"),
    (
        "corrections.md",
        Tier::Corrections,
        "# Corrections Log\n\nLast 50 corrections. Oldest auto-pruned.\n\n---\n",
    ),
    ("index.md", Tier::Index, "# Index\n\nTopic → file mapping for quick lookup.\n\n---\n"),
];

/// Where a project's learnings are, in its root.
const LEARNINGS: &str = ".learnings/LEARNINGS.md";

/// What is in a project's learnings at first.
#[must_use]
pub fn learnings_header(project: &str) -> String {
    format!("# Learnings — {project}\n\nCaptured corrections, patterns, and errors.\n\n---\n")
}

/// Whether a text is part of what a file has at first.
#[must_use]
pub fn is_header(text: &str) -> bool {
    FILES.iter().any(|(_, _, header)| header.contains(text)) || learnings_header("").contains(text)
}

/// A project's learnings.
#[must_use]
pub fn learnings(root: &Path) -> PathBuf {
    root.join(LEARNINGS)
}

/// A file, and its tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The file.
    pub path: PathBuf,
    /// Its tier.
    pub tier: Tier,
}

impl Leaf {
    /// The learnings of the project of this root.
    #[must_use]
    pub fn learnings(root: &Path) -> Self {
        Self { path: learnings(root), tier: Tier::Local }
    }
}

/// The tree, to be read.
#[derive(Clone, Debug)]
pub struct Vault {
    root: PathBuf,
    /// Files that were written since somebody asked.
    written: Arc<Mutex<BTreeSet<PathBuf>>>,
    /// Files that had a text when they were last read or written.
    had_text: Arc<Mutex<HashSet<PathBuf>>>,
    /// A folder whose files are no part of the tree and may be read all the same.
    named: Option<PathBuf>,
}

impl Vault {
    /// The tree in the folder `root`, which need not exist.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self { root, written: Arc::default(), had_text: Arc::default(), named: None }
    }

    /// The tree, and the files below a folder that somebody named. No link is followed out of that either.
    #[must_use]
    pub fn with(&self, folder: &Path) -> Self {
        Self { named: Some(folder.to_owned()), ..self.clone() }
    }

    /// Its folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it was created.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.root.is_dir()
    }

    /// The files that the daemon itself wrote since this was last asked.
    #[must_use]
    pub fn take_written(&self) -> Vec<PathBuf> {
        std::mem::take(&mut *self.written.lock()).into_iter().collect()
    }

    /// The folders that files of the tree can be in, as far as they are there. Links are not followed.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        if self.exists() {
            folders.push(self.root.clone());
            for (name, _) in FOLDERS {
                descend(self.root.join(name), &mut folders);
            }
        }
        folders
    }

    /// The file of the tree that a path can be, whether it is there or not.
    #[must_use]
    pub fn leaf(&self, path: &Path) -> Option<Leaf> {
        let inner = path.strip_prefix(&self.root).ok()?;
        let mut parts = inner.iter();
        let first = parts.next()?.to_str()?;
        let of_folder = FOLDERS.iter().find(|(name, _)| *name == first && parts.next().is_some());
        let tier = match of_folder {
            Some((_, tier)) => {
                let hidden = inner.iter().any(|part| part.as_encoded_bytes().starts_with(b"."));
                (!hidden && is_markdown(path)).then_some(*tier)?
            }
            None => FILES.iter().find(|(name, ..)| Path::new(name) == inner)?.1,
        };
        Some(Leaf { path: path.to_owned(), tier })
    }

    /// The file of the tree for a project of this name.
    #[must_use]
    pub fn project(&self, name: &str) -> PathBuf {
        self.root.join("projects").join(format!("{name}.md"))
    }

    /// The files that a new tree has, with what is in them.
    pub fn seeds(&self) -> impl Iterator<Item = (PathBuf, &'static str)> {
        FILES.iter().map(|(name, _, text)| (self.root.join(name), *text))
    }

    /// What is in a file of a new tree; nothing in one that it does not have.
    #[must_use]
    pub fn seed(&self, path: &Path) -> &'static str {
        self.seeds().find(|(seeded, _)| seeded == path).map_or("", |(_, text)| text)
    }

    /// The files that are there, in the order of their tiers and names. Hidden ones, and those that a link leads out to,
    /// are none.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn files(&self) -> Result<Vec<Leaf>, Error> {
        let mut leaves = Vec::new();
        for (name, tier, _) in FILES {
            leaves.push(Leaf { path: self.root.join(name), tier });
        }
        for (name, tier) in FOLDERS {
            collect(&self.root.join(name), tier, &mut leaves)?;
        }
        leaves.retain(|leaf| self.inside(&leaf.path).is_ok_and(|path| path.is_file()));
        leaves.sort_by(|one, other| (one.tier, &one.path).cmp(&(other.tier, &other.path)));
        Ok(leaves)
    }

    /// What is written in a file; nothing when there is none.
    ///
    /// # Errors
    /// When it leads out of the tree, cannot be read or is no text.
    pub fn read(&self, path: &Path) -> Result<Option<String>, Error> {
        let path = self.inside(path)?;
        let text = read(&path)?;
        if text.as_ref().is_some_and(|text| !text.is_empty()) {
            self.keep_text(&path, true);
        }
        Ok(text)
    }

    /// Keeps whether a file has a text, and returns whether it had one.
    fn keep_text(&self, path: &Path, has: bool) -> bool {
        let mut had_text = self.had_text.lock();
        if has { !had_text.insert(path.to_owned()) } else { had_text.remove(path) }
    }

    /// The file that a path of the tree, of a project's learnings, or of the folder that was named leads to.
    fn inside(&self, path: &Path) -> Result<PathBuf, Error> {
        let outside = || Error::Outside { path: path.to_owned() };
        let base = if path.starts_with(&self.root) {
            self.root.clone()
        } else if path.ends_with(LEARNINGS) {
            path.ancestors().nth(2).ok_or_else(outside)?.to_owned()
        } else {
            self.named.clone().filter(|named| path.starts_with(named)).ok_or_else(outside)?
        };
        if path.components().any(|part| matches!(part, std::path::Component::ParentDir)) {
            return Err(outside());
        }
        // What is not there yet leads nowhere: the nearest folder that is there decides.
        let there =
            path.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok()).ok_or_else(outside)?;
        let real = there.canonicalize().map_err(|_| outside())?;
        if base.starts_with(there) {
            return Ok(path.to_owned());
        }
        if !real.starts_with(base.canonicalize().map_err(file(&base))?) {
            return Err(outside());
        }
        let rest = path.strip_prefix(there).map_err(|_| outside())?;
        Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    }
}

/// Adds the files below a folder.
fn collect(folder: &Path, tier: Tier, leaves: &mut Vec<Leaf>) -> Result<(), Error> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(());
        }
        Err(error) => return Err(file(folder)(error)),
    };
    for entry in entries {
        let entry = entry.map_err(file(folder))?;
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if entry.file_type().map_err(file(&path))?.is_dir() {
            collect(&path, tier, leaves)?;
        } else if is_markdown(&path) {
            leaves.push(Leaf { path, tier });
        }
    }
    Ok(())
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// Adds a folder and those below it. One that cannot be read has none.
fn descend(folder: PathBuf, folders: &mut Vec<PathBuf>) {
    let is_folder = folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    let hidden = folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    if !is_folder || hidden {
        return;
    }
    let inner = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let inner: Vec<PathBuf> = inner.collect();
    folders.push(folder);
    for inner in inner {
        descend(inner, folders);
    }
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| Error::NoText { path: path.to_owned() }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(file(path)(error)),
    }
}

#[cfg(test)]
mod tests;
