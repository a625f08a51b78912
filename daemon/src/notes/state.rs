//! What is known of the files, and the index of their entries.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use memoryd_proto::{Note, Tier};

use super::Counts;
use super::look::{Entry, Known, Seen};
use super::sheet::searched;
use crate::index::{Document, Index, Settings, Slot};
use crate::ledger::note::Digest;
use crate::vault::{self, Leaf};

/// The entries of all files.
pub(super) struct State {
    pub index: Index,
    sheets: BTreeMap<PathBuf, Page>,
    /// By slot.
    kept: Vec<Option<Kept>>,
    free: Vec<Slot>,
    /// The slots of entries without a vector.
    bare: BTreeSet<Slot>,
    /// Files that could not be read, and why.
    pub unread: BTreeMap<PathBuf, String>,
    /// Files whose entries changed.
    pub changed: BTreeSet<PathBuf>,
    /// Roots of the tree and of projects that are away.
    absent: BTreeSet<PathBuf>,
}

/// A file whose entries are known.
struct Page {
    leaf: Leaf,
    known: Known,
    /// Whether a link leads to it.
    is_link: bool,
    is_absent: bool,
    slots: Vec<Slot>,
}

struct Kept {
    note: Note,
    digest: Digest,
    is_absent: bool,
}

/// An entry that has no vector.
#[derive(Clone, Debug)]
pub struct Bare {
    slot: Slot,
    /// The digest of what is searched of it.
    pub digest: Digest,
    /// What is searched of it.
    pub text: String,
}

impl State {
    pub fn new(settings: Settings) -> Self {
        Self {
            index: Index::new(settings),
            sheets: BTreeMap::new(),
            kept: Vec::new(),
            free: Vec::new(),
            bare: BTreeSet::new(),
            unread: BTreeMap::new(),
            changed: BTreeSet::new(),
            absent: BTreeSet::new(),
        }
    }

    /// The note at a slot, if its file is there.
    pub fn note(&self, slot: Slot) -> Option<&Note> {
        self.at(slot).filter(|kept| !kept.is_absent).map(|kept| &kept.note)
    }

    fn at(&self, slot: Slot) -> Option<&Kept> {
        self.kept.get(slot.0 as usize)?.as_ref()
    }

    pub fn all(&self) -> impl Iterator<Item = &Note> {
        self.sheets.values().flat_map(|page| &page.slots).filter_map(|slot| self.note(*slot))
    }

    pub fn of_tier(&self, tier: Tier) -> impl Iterator<Item = &Note> {
        let pages = self.sheets.values().filter(move |page| page.leaf.tier == tier);
        pages.flat_map(|page| &page.slots).filter_map(|slot| self.note(*slot))
    }

    pub fn of_file(&self, path: &Path) -> impl Iterator<Item = &Note> {
        let slots = self.sheets.get(path).map_or(&[][..], |page| &page.slots);
        slots.iter().filter_map(|slot| self.at(*slot)).map(|kept| &kept.note)
    }

    pub fn files(&self, wanted: impl Fn(Tier) -> bool) -> usize {
        self.sheets.values().filter(|page| !page.is_absent && wanted(page.leaf.tier)).count()
    }

    pub fn counts(&self) -> Counts {
        let entries = self.index.len();
        Counts { files: self.sheets.len(), entries, vectors: entries - self.bare.len() }
    }

    pub fn digests(&self) -> HashSet<Digest> {
        self.kept.iter().flatten().map(|kept| kept.digest).collect()
    }

    /// Whether these roots are known to be away, and no others.
    pub fn is_absent(&self, roots: &BTreeSet<PathBuf>) -> bool {
        self.absent == *roots
    }

    /// Keeps which roots are away.
    pub fn set_absent(&mut self, roots: &BTreeSet<PathBuf>) {
        if self.is_absent(roots) {
            return;
        }
        self.absent.clone_from(roots);
        for page in self.sheets.values_mut() {
            page.is_absent = is_below(&page.leaf, roots);
            for slot in &page.slots {
                if let Some(kept) = &mut self.kept[slot.0 as usize] {
                    kept.is_absent = page.is_absent;
                }
            }
        }
    }

    /// The files that are known, not away, and not among those that are there.
    pub fn paths_without(&self, there: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        let known = self.sheets.values().filter(|page| !page.is_absent).map(|page| &page.leaf.path);
        let unread = self.unread.keys().filter(|path| !self.sheets.contains_key(*path));
        known.chain(unread).filter(|path| !there(path)).cloned().collect()
    }

    /// The links that are known, and the files that are known in folders that some paths were.
    pub fn concerned(&self, paths: &[PathBuf]) -> (Vec<Leaf>, Vec<Leaf>) {
        let pages = || self.sheets.values().filter(|page| !page.is_absent);
        let links = pages().filter(|page| page.is_link).map(|page| page.leaf.clone()).collect();
        let inside = |leaf: &Leaf| paths.iter().any(|path| leaf.path != *path && leaf.path.starts_with(path));
        (links, pages().map(|page| &page.leaf).filter(|leaf| inside(leaf)).cloned().collect())
    }

    pub fn stamps(&self, leaves: &[Leaf]) -> HashMap<PathBuf, Known> {
        let known = |leaf: &Leaf| Some((leaf.path.clone(), self.sheets.get(&leaf.path)?.known));
        leaves.iter().filter_map(known).collect()
    }

    /// Takes over what was seen of files. Returns how many changed.
    pub fn take<'a>(&mut self, seen: impl Iterator<Item = (&'a Leaf, Seen)>) -> usize {
        let (mut changed, mut fresh) = (0, Vec::new());
        for (leaf, seen) in seen {
            match seen {
                Seen::Same => {}
                Seen::Touched(stamp) => {
                    if let Some(page) = self.sheets.get_mut(&leaf.path) {
                        page.known.stamp = stamp;
                    }
                }
                Seen::Read(known, entries) => {
                    changed += 1;
                    self.read(leaf, known, entries, &mut fresh);
                }
                Seen::Gone if is_below(leaf, &self.absent) => {}
                Seen::Gone => changed += usize::from(self.forget(&leaf.path)),
                Seen::Unread(why) => {
                    changed += usize::from(self.unread.get(&leaf.path) != Some(&why));
                    self.forget(&leaf.path);
                    self.unread.insert(leaf.path.clone(), why);
                }
            }
        }
        let documents: Vec<Document<'_>> =
            fresh.iter().map(|(slot, text)| Document { slot: *slot, text, vector: None }).collect();
        let extended = self.index.extend(&documents);
        debug_assert!(extended.is_ok(), "they have no vectors");
        changed
    }

    /// Takes over what a file says. Entries that only moved keep their slots, and with them their vectors.
    fn read(&mut self, leaf: &Leaf, known: Known, entries: Vec<Entry>, fresh: &mut Vec<(Slot, String)>) {
        let mut old: HashMap<Digest, Vec<Slot>> = HashMap::new();
        for slot in self.sheets.remove(&leaf.path).map_or_else(Vec::new, |page| page.slots) {
            if let Some(kept) = self.at(slot) {
                old.entry(kept.digest).or_default().push(slot);
            }
        }
        self.unread.remove(&leaf.path);
        let mut slots = Vec::with_capacity(entries.len());
        for Entry { note, text, digest } in entries {
            let slot = old.get_mut(&digest).and_then(Vec::pop).unwrap_or_else(|| {
                let slot = self.free.pop().unwrap_or_else(|| {
                    self.kept.push(None);
                    Slot(u32::try_from(self.kept.len() - 1).unwrap_or(u32::MAX))
                });
                self.bare.insert(slot);
                fresh.push((slot, text));
                slot
            });
            self.kept[slot.0 as usize] = Some(Kept { note, digest, is_absent: false });
            slots.push(slot);
        }
        old.into_values().flatten().for_each(|slot| self.drop(slot));
        let is_link = leaf.path.is_symlink();
        let page = Page { leaf: leaf.clone(), known, is_link, is_absent: false, slots };
        self.sheets.insert(leaf.path.clone(), page);
        self.changed.insert(leaf.path.clone());
    }

    /// Forgets a file. Returns whether anything was known of it.
    pub fn forget(&mut self, path: &Path) -> bool {
        let unread = self.unread.remove(path).is_some();
        let Some(page) = self.sheets.remove(path) else { return unread };
        page.slots.into_iter().for_each(|slot| self.drop(slot));
        self.changed.insert(path.to_owned());
        true
    }

    fn drop(&mut self, slot: Slot) {
        self.index.remove(slot);
        self.bare.remove(&slot);
        self.kept[slot.0 as usize] = None;
        self.free.push(slot);
    }

    pub fn bare(&self, limit: usize) -> Vec<Bare> {
        let bare = |slot: &Slot| {
            let kept = self.at(*slot)?;
            Some(Bare { slot: *slot, digest: kept.digest, text: searched(&kept.note) })
        };
        self.bare.iter().filter_map(bare).take(limit).collect()
    }

    pub fn clothe(&mut self, vectors: &[(&Bare, Option<&[f32]>)]) {
        for (Bare { slot, digest, .. }, vector) in vectors {
            if self.at(*slot).is_some_and(|kept| kept.digest == *digest) {
                let set = self.index.set_vector(*slot, *vector);
                debug_assert!(set.is_ok(), "the model that made it is the index's");
                self.bare.remove(slot);
            }
        }
    }
}

/// Whether a file is in one of these roots: that of the tree, or its project's.
fn is_below(leaf: &Leaf, roots: &BTreeSet<PathBuf>) -> bool {
    match leaf.tier {
        Tier::Local => roots.iter().any(|root| vault::learnings(root) == leaf.path),
        Tier::Project
        | Tier::Domain
        | Tier::Shared
        | Tier::Hot
        | Tier::Corrections
        | Tier::Index
        | Tier::Cold => roots.iter().any(|root| leaf.path.starts_with(root)),
    }
}
