//! The entries of the memory tree in the process, so that they are found without reading the files (spec §5).
//!
//! Files are the truth and this is a cache of them: it is told to look at some paths again, or at all, and takes over
//! what is there. A look costs a `stat` for each file, and files are read only when that differs. A tree or project
//! that is away is no deletion: what it says is kept, and not told until it is back.

mod look;
mod reading;
mod sheet;
mod stamp;
mod state;

#[cfg(test)]
mod tests;

pub use reading::Reading;
pub use sheet::{Sheet, note, searched};
pub use state::Bare;

use std::cmp::Ordering;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use memoryd_proto::{Note, Tier};
use parking_lot::{Mutex, RwLock};

use crate::domain::ranking::{Blend, Signals};
use crate::index::{self, Query, Settings};
use crate::ledger::note::Digest;
use crate::vault::{self, Leaf, Vault};

use state::State;

/// The entries of all files.
pub struct Notes {
    state: RwLock<State>,
    /// Held while files are looked at, so that what was read later is taken over later.
    turn: Mutex<()>,
}

/// A search of the notes.
pub struct Search<'a> {
    /// The words.
    pub text: &'a str,
    /// Their vector, if there is one.
    pub vector: Option<&'a [f32]>,
    /// How both signals make one.
    pub blend: Blend,
    /// How many notes are wanted.
    pub limit: usize,
}

/// Notes that share words with a query.
#[derive(Clone, Debug, Default)]
pub struct Sharing {
    /// The best of them, best first, with the words that they share.
    pub notes: Vec<Note>,
    /// How many there are in all.
    pub total: usize,
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files.
    pub files: usize,
    /// Entries, those of absent files too.
    pub entries: usize,
    /// Entries that are searched by their vectors too.
    pub vectors: usize,
}

impl Counts {
    /// Entries that are searched by their words only.
    #[must_use]
    pub fn bare(&self) -> usize {
        self.entries - self.vectors
    }
}

impl Notes {
    /// No notes yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { state: RwLock::new(State::new(settings)), turn: Mutex::default() }
    }

    /// Looks at every file of the tree and at these projects' learnings, and takes over what changed. Returns how many
    /// files did.
    ///
    /// # Errors
    /// When a folder of the tree cannot be read. Nothing was changed then.
    pub fn scan(
        &self,
        vault: &Vault,
        projects: &[PathBuf],
        now: DateTime<Utc>,
    ) -> Result<usize, vault::Error> {
        let _turn = self.turn.lock();
        let mut leaves = local(projects.iter().filter(|root| root.is_dir()));
        leaves.extend(vault.files()?);
        self.state.write().set_absent(&look::absent(vault, projects));
        let there: HashSet<&Path> = leaves.iter().map(|leaf| leaf.path.as_path()).collect();
        let gone = self.state.read().paths_without(|path| there.contains(path));
        let gone: Vec<Leaf> = gone.into_iter().map(|path| Leaf { path, tier: Tier::Cold }).collect();
        Ok(self.take_over(vault, &leaves, &gone, now))
    }

    /// Looks at some paths of the tree and of these projects' learnings: files, or folders with all that is in them.
    /// Returns how many files changed.
    ///
    /// # Errors
    /// When a folder of the tree cannot be read. Nothing was changed then.
    pub fn look(
        &self,
        vault: &Vault,
        projects: &[PathBuf],
        paths: &[PathBuf],
        now: DateTime<Utc>,
    ) -> Result<usize, vault::Error> {
        if paths.iter().any(|path| vault.root().starts_with(path) || path.is_dir()) {
            return self.scan(vault, projects, now);
        }
        let _turn = self.turn.lock();
        self.state.write().set_absent(&look::absent(vault, projects));
        // What was a folder has no files now, and a link says what the file says that it leads to.
        let (mut leaves, gone) = self.state.read().concerned(paths);
        leaves.extend(paths.iter().filter_map(|path| vault.leaf(path)));
        leaves.extend(local(projects.iter()).into_iter().filter(|leaf| paths.contains(&leaf.path)));
        leaves.sort_by(|one, other| one.path.cmp(&other.path));
        leaves.dedup_by(|one, other| one.path == other.path);
        Ok(self.take_over(vault, &leaves, &gone, now))
    }

    /// Whether the tree and these projects are there, or away, as they were when they were last looked at.
    #[must_use]
    pub fn are_in_place(&self, vault: &Vault, projects: &[PathBuf]) -> bool {
        self.state.read().is_absent(&look::absent(vault, projects))
    }

    /// Reads what may have changed, then takes it over.
    fn take_over(&self, vault: &Vault, leaves: &[Leaf], gone: &[Leaf], now: DateTime<Utc>) -> usize {
        let stamps = self.state.read().stamps(leaves);
        let seen = look::at(vault, leaves, &stamps, now);
        let is_news = |seen: &look::Seen| !matches!(seen, look::Seen::Same);
        if gone.is_empty() && !seen.iter().any(is_news) {
            return 0;
        }
        let mut state = self.state.write();
        let mut changed = gone.iter().filter(|leaf| state.forget(&leaf.path)).count();
        changed += state.take(leaves.iter().zip(seen));
        changed
    }

    /// The best notes among those that `wanted` accepts, best first, with how well they match; and how many it accepts.
    #[must_use]
    pub fn search(
        &self,
        search: &Search<'_>,
        wanted: impl Fn(&Note) -> bool + Sync,
    ) -> (Vec<(Note, Signals)>, u64) {
        let state = self.state.read();
        let query =
            Query { text: search.text, vector: search.vector, limit: search.limit, blend: search.blend };
        let Ok(hits) = state.index.search(&query, |slot| state.note(slot).is_some_and(&wanted)) else {
            return (Vec::new(), 0);
        };
        let notes = hits.list.iter().filter_map(|hit| Some((state.note(hit.slot)?.clone(), hit.signals)));
        (notes.collect(), hits.passed as u64)
    }

    /// Whether a note of this id is in any file.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.state.read().all().any(|note| note.id == id)
    }

    /// The notes that share words with a query, at most `limit`, best first: by how rare the words are that they share,
    /// then the most specific, then the most recent (spec M8).
    #[must_use]
    pub fn sharing(&self, query: &str, limit: usize, wanted: impl Fn(&Note) -> bool) -> Sharing {
        let state = self.state.read();
        let found = state.index.sharing(query, |slot| state.note(slot).is_some_and(&wanted));
        let mut notes: Vec<(f32, &Note)> =
            found.iter().filter_map(|found| Some((found.weight, state.note(found.slot)?))).collect();
        let order = |(one, a): &(f32, &Note), (other, b): &(f32, &Note)| -> Ordering {
            other
                .total_cmp(one)
                .then(a.tier.cmp(&b.tier))
                .then(b.date.cmp(&a.date))
                .then((&a.file, a.line).cmp(&(&b.file, b.line)))
        };
        notes.sort_by(order);
        let total = notes.len();
        let with_words = |(_, note): &(f32, &Note)| Note {
            words: index::shared(query, &searched(note)),
            ..(*note).clone()
        };
        Sharing { notes: notes.iter().take(limit).map(with_words).collect(), total }
    }

    /// The notes of a tier, in the order of their files and lines.
    #[must_use]
    pub fn of(&self, tier: Tier) -> Vec<Note> {
        self.state.read().of_tier(tier).cloned().collect()
    }

    /// The notes of a file, in the order of their lines; none when there is no such file.
    #[must_use]
    pub fn of_file(&self, path: &Path) -> Vec<Note> {
        self.state.read().of_file(path).cloned().collect()
    }

    /// How many files there are of the tiers that are wanted.
    #[must_use]
    pub fn files(&self, wanted: impl Fn(Tier) -> bool) -> usize {
        self.state.read().files(wanted)
    }

    /// Files that could not be read, and why.
    #[must_use]
    pub fn unread(&self) -> Vec<String> {
        self.state.read().unread.values().cloned().collect()
    }

    /// How much there is.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.state.read().counts()
    }

    /// Files whose entries changed since this was last asked.
    #[must_use]
    pub fn take_changed(&self) -> Vec<PathBuf> {
        if self.state.read().changed.is_empty() {
            return Vec::new();
        }
        std::mem::take(&mut self.state.write().changed).into_iter().collect()
    }

    /// Entries that have no vector yet, at most `limit`.
    #[must_use]
    pub fn bare(&self, limit: usize) -> Vec<Bare> {
        self.state.read().bare(limit)
    }

    /// Gives entries their vectors; none to those that cannot have one. Those that changed meanwhile go without.
    pub fn clothe(&self, vectors: &[(&Bare, Option<&[f32]>)]) {
        self.state.write().clothe(vectors);
    }

    /// What is searched of all entries, by its digest.
    #[must_use]
    pub fn digests(&self) -> HashSet<Digest> {
        self.state.read().digests()
    }
}

/// The learnings of projects.
fn local<'a>(projects: impl Iterator<Item = &'a PathBuf>) -> Vec<Leaf> {
    projects.map(|root| Leaf::learnings(root)).collect()
}
