//! What is put into a home by hand: the files of a memory tree, and vectors of what they say.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use chrono::Utc;
use memoryd::config::Config;
use memoryd::database::{self, Durability, Error};
use memoryd::ledger::note::{self, Digest};
use memoryd::notes::{Bare, Notes};
use memoryd::vault::Vault;

use crate::arguments::Tree;
use crate::daemon::Home;
use crate::random::Random;
use crate::texts::Texts;

/// Components of every vector.
const DIMENSION: usize = 384;

/// Vectors as they are kept, by the digests of their texts.
pub type Vectors = HashMap<Digest, Vec<f32>>;

/// Writes the tree, the same in every run.
pub fn files(root: &Path, wanted: &Tree) -> anyhow::Result<Vec<PathBuf>> {
    let each = wanted.entries.div_ceil(wanted.files);
    let mut files = Vec::new();
    for file in 0..wanted.files {
        let folder = root.join(if file % 2 == 0 { "projects" } else { "domains" });
        std::fs::create_dir_all(&folder)?;
        let mut text = format!("# Topic {file}\n\n## Rules\n\n");
        for entry in (file * each..(file + 1) * each).take_while(|entry| *entry < wanted.entries) {
            let words = Texts::Synthetic.memory(entry);
            let marker = marker(entry);
            writeln!(text, "- **{words} {marker}** (from: bench, first noted: 2026-01-05)")?;
        }
        let path = folder.join(format!("topic{file}.md"));
        std::fs::write(&path, text)?;
        files.push(path);
    }
    Ok(files)
}

/// A word that one entry alone has.
pub fn marker(entry: usize) -> String {
    format!("marker{entry}")
}

/// What is embedded of each entry.
pub fn texts(home: &Home) -> anyhow::Result<Vec<String>> {
    Ok(entries(home)?.into_iter().map(|entry| entry.text).collect())
}

fn entries(home: &Home) -> anyhow::Result<Vec<Bare>> {
    let notes = Notes::new(Config::default().index(DIMENSION));
    notes.scan(&Vault::new(home.tree()), &[], Utc::now())?;
    Ok(notes.bare(usize::MAX))
}

/// The vectors that a daemon kept which is gone.
pub fn kept(home: &Home) -> anyhow::Result<Vectors> {
    let entries = entries(home)?;
    let (reader, _) = database::open(&home.data_dir().join("memory.db"))?;
    Ok(reader.read(|connection| note::vectors(connection, entries.iter().map(|entry| entry.digest)))?)
}

/// Puts vectors that no model makes in the place of those that are kept and of all others but so many. Returns them.
pub fn mark(home: &Home, kept: &Vectors, late: usize) -> anyhow::Result<Vectors> {
    let entries = entries(home)?;
    let others: Vec<Digest> =
        entries.iter().map(|entry| entry.digest).filter(|digest| !kept.contains_key(digest)).collect();
    let left: HashSet<&Digest> = others.iter().rev().take(late).collect();
    let (_, writer) = database::open(&home.data_dir().join("memory.db"))?;
    writer.lock().transaction(Durability::Process, |transaction| {
        let marked = entries.iter().filter(|entry| !left.contains(&entry.digest));
        (0..).zip(marked).try_for_each(|(number, entry)| {
            note::put_vector(transaction, &entry.digest, &Random::new(number).direction(DIMENSION))
        })?;
        Ok::<_, Error>(())
    })?;
    self::kept(home)
}

/// How many vectors are others now.
pub fn changed(home: &Home, before: &Vectors) -> anyhow::Result<u64> {
    let now = kept(home)?;
    Ok(before.iter().filter(|(digest, vector)| now.get(*digest) != Some(*vector)).count() as u64)
}
