//! Looking at files: which of them changed, and what they say now.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use memoryd_proto::Note;
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use super::sheet::{Sheet, searched};
use super::stamp::Stamp;
use crate::ledger::note::Digest;
use crate::vault::{Leaf, Vault};

/// What is known of a file.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its stamp when it was last read, if that tells it from a later content.
    pub stamp: Option<Stamp>,
    /// The digest of its content.
    pub digest: Digest,
}

/// What was seen of a file.
pub enum Seen {
    /// It is as it was.
    Same,
    /// It was touched, and its content is as it was.
    Touched(Option<Stamp>),
    /// It says this now.
    Read(Known, Vec<Entry>),
    /// It is not there.
    Gone,
    /// It cannot be read, for this reason.
    Unread(String),
}

/// An entry of a file.
pub struct Entry {
    /// As it is told.
    pub note: Note,
    /// What is searched of it.
    pub text: String,
    /// The digest of that.
    pub digest: Digest,
}

/// The roots that are away: that of the tree, and those of projects.
pub fn absent(vault: &Vault, projects: &[PathBuf]) -> BTreeSet<PathBuf> {
    let tree = (!vault.exists()).then(|| vault.root().to_owned());
    projects.iter().filter(|root| !root.is_dir()).cloned().chain(tree).collect()
}

/// Looks at files, on the threads of the current pool.
pub fn at(vault: &Vault, leaves: &[Leaf], known: &HashMap<PathBuf, Known>, now: DateTime<Utc>) -> Vec<Seen> {
    leaves.par_iter().with_min_len(16).map(|leaf| look(vault, leaf, known.get(&leaf.path), now)).collect()
}

fn look(vault: &Vault, leaf: &Leaf, known: Option<&Known>, now: DateTime<Utc>) -> Seen {
    // Taken before the content: what is written between them is seen the next time.
    let stamp = match Stamp::of(&leaf.path) {
        Ok(Some(stamp)) => stamp,
        Ok(None) => return Seen::Gone,
        Err(error) => return Seen::Unread(format!("{} cannot be used: {error}", leaf.path.display())),
    };
    if known.is_some_and(|known| known.stamp == Some(stamp)) {
        return Seen::Same;
    }
    let text = match vault.read(&leaf.path) {
        Ok(Some(text)) => text,
        Ok(None) => return Seen::Gone,
        Err(error) => return Seen::Unread(error.to_string()),
    };
    let (stamp, digest) = (stamp.is_settled(now).then_some(stamp), Sha256::digest(text.as_bytes()).into());
    if known.is_some_and(|known| known.digest == digest) {
        return Seen::Touched(stamp);
    }
    let notes = Sheet { leaf: leaf.clone(), text }.notes();
    let entry = |note: Note| {
        let text = searched(&note);
        let digest = Sha256::digest(text.as_bytes()).into();
        Entry { note, text, digest }
    };
    Seen::Read(Known { stamp, digest }, notes.into_iter().map(entry).collect())
}
