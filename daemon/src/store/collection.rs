//! One collection in the process: an agent's improvements of one scope.

use std::collections::HashMap;

use crate::domain::utility::Ledgered;
use crate::index::{CaseId, Index, Settings, Slot};

/// What gates and ranking need to know of an improvement, beside its text.
#[derive(Clone, Debug)]
pub struct Facts {
    /// How sure the agent is of it.
    pub confidence: f64,
    /// Whether it is no longer recalled.
    pub deprecated: bool,
    /// Whether other agents confirmed it.
    pub cross_validated: bool,
    /// What became of it in tasks; none while nothing did.
    pub usage: Option<Box<Ledgered>>,
}

/// A past outcome of an improvement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Past {
    /// The outcome's number; its task is a case of that name in the index, when it has a vector.
    pub n: i64,
    /// The day, since 1970.
    pub day: i64,
    /// Whether the task succeeded.
    pub success: bool,
}

/// A past outcome, with the vector of its task if there is one.
pub type Recorded = (Past, Option<Vec<f32>>);

/// A row that is to be indexed.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The row in the database.
    pub row: i64,
    /// The text.
    pub document: String,
    /// Its vector, if there is one.
    pub vector: Option<Vec<f32>>,
    /// When it was stored, in microseconds.
    pub created_at: i64,
    /// The sequence it belongs to, if any.
    pub learned_from: Option<String>,
    /// What gates look at.
    pub facts: Facts,
}

/// An agent's improvements of one scope.
pub struct Collection {
    index: Index,
    slots: HashMap<i64, Slot>,
    /// By slot: the row, or 0 where there is none.
    rows: Vec<i64>,
    facts: Vec<Option<Facts>>,
    free: Vec<Slot>,
    /// By source: its rows, in the order in which they were stored.
    sequences: HashMap<Box<str>, Vec<(i64, i64)>>,
    sources: HashMap<i64, Box<str>>,
    past: HashMap<i64, Vec<Past>>,
}

impl Collection {
    /// An empty collection.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            index: Index::new(settings),
            slots: HashMap::new(),
            rows: Vec::new(),
            facts: Vec::new(),
            free: Vec::new(),
            sequences: HashMap::new(),
            sources: HashMap::new(),
            past: HashMap::new(),
        }
    }

    /// The index over the texts.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The row at a slot.
    #[must_use]
    pub fn row(&self, slot: Slot) -> i64 {
        self.rows[slot.0 as usize]
    }

    /// The facts of the improvement at a slot, if there is one.
    #[must_use]
    pub fn facts(&self, slot: Slot) -> Option<&Facts> {
        self.facts.get(slot.0 as usize)?.as_ref()
    }

    /// The past outcomes of a row, oldest first.
    #[must_use]
    pub fn past(&self, row: i64) -> &[Past] {
        self.past.get(&row).map_or(&[], Vec::as_slice)
    }

    /// Adds entries, or replaces those of the same rows.
    pub fn put(&mut self, entries: &[Entry]) {
        let texts: Vec<String> = entries.iter().map(searched).collect();
        let mut documents = Vec::with_capacity(entries.len());
        for (entry, text) in entries.iter().zip(&texts) {
            let slot = self.place(entry.row);
            self.facts[slot.0 as usize] = Some(entry.facts.clone());
            documents.push(crate::index::Document { slot, text, vector: entry.vector.as_deref() });
        }
        if self.index.extend(&documents).is_err() {
            debug_assert!(false, "vectors of another dimension are not loaded");
        }
        for entry in entries {
            self.unlink(entry.row);
            if let Some(source) = &entry.learned_from {
                self.link(entry.row, entry.created_at, source);
            }
        }
    }

    /// Updates the facts of a row.
    pub fn update(&mut self, row: i64, change: impl FnOnce(&mut Facts)) {
        let slot = self.slots.get(&row).copied();
        if let Some(facts) = slot.and_then(|slot| self.facts[slot.0 as usize].as_mut()) {
            change(facts);
        }
    }

    /// Removes a row.
    pub fn remove(&mut self, row: i64) {
        let Some(slot) = self.slots.remove(&row) else { return };
        self.unlink(row);
        self.past.remove(&row);
        self.index.remove(slot);
        self.rows[slot.0 as usize] = 0;
        self.facts[slot.0 as usize] = None;
        self.free.push(slot);
    }

    /// Replaces the past outcomes of a row, newest first, and the vectors of their tasks.
    pub fn set_past(&mut self, row: i64, outcomes: Vec<Recorded>) {
        let Some(&slot) = self.slots.get(&row) else { return };
        for old in self.past.remove(&row).unwrap_or_default() {
            self.index.remove_case(slot, CaseId(old.n));
        }
        let keep = outcomes.len();
        for outcome in outcomes.into_iter().rev() {
            self.add_past(row, outcome, keep);
        }
    }

    /// Adds an outcome to the past ones of a row, and drops the oldest if there are more than `keep` then.
    pub fn add_past(&mut self, row: i64, (outcome, vector): Recorded, keep: usize) {
        let Some(&slot) = self.slots.get(&row) else { return };
        if let Some(vector) = vector {
            let added = self.index.add_case(slot, CaseId(outcome.n), &vector, outcome.success);
            debug_assert!(added.is_ok(), "vectors of another dimension are not loaded");
        }
        let past = self.past.entry(row).or_default();
        past.push(outcome);
        if past.len() > keep {
            self.index.remove_case(slot, CaseId(past.remove(0).n));
        }
    }

    fn place(&mut self, row: i64) -> Slot {
        if let Some(&slot) = self.slots.get(&row) {
            return slot;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.rows.push(0);
            self.facts.push(None);
            Slot(u32::try_from(self.rows.len() - 1).unwrap_or(u32::MAX))
        });
        self.rows[slot.0 as usize] = row;
        self.slots.insert(row, slot);
        slot
    }

    fn link(&mut self, row: i64, created_at: i64, source: &str) {
        let sequence = self.sequences.entry(source.into()).or_default();
        let at = sequence.partition_point(|&place| place < (created_at, row));
        sequence.insert(at, (created_at, row));
        let neighbour =
            |at: Option<usize>| at.and_then(|at| sequence.get(at)).map(|&(_, row)| self.slots[&row]);
        let (before, after) = (neighbour(at.checked_sub(1)), neighbour(Some(at + 1)));
        self.index.set_links(self.slots[&row], before, after);
        self.sources.insert(row, source.into());
    }

    fn unlink(&mut self, row: i64) {
        let Some(source) = self.sources.remove(&row) else { return };
        let Some(sequence) = self.sequences.get_mut(&source) else { return };
        let Some(at) = sequence.iter().position(|&(_, other)| other == row) else { return };
        sequence.remove(at);
        if let Some(&slot) = self.slots.get(&row) {
            self.index.set_links(slot, None, None);
        }
        let slot = |at: usize| sequence.get(at).map(|&(_, row)| self.slots[&row]);
        if let (Some(before), Some(after)) = (at.checked_sub(1).and_then(slot), slot(at)) {
            let earlier = at.checked_sub(2).and_then(slot);
            self.index.set_links(before, earlier, Some(after));
        }
        if sequence.is_empty() {
            self.sequences.remove(&source);
        }
    }
}

/// The text whose words are searched: the document, and the day it was stored on, so that "what did we decide in
/// May?" finds it.
fn searched(entry: &Entry) -> String {
    let day = crate::database::instant(entry.created_at);
    format!("{}\n{}", entry.document, day.format("%-d %B %Y"))
}
