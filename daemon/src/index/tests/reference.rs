//! The reference: the same data without any index, scored in `f64` as defined.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::domain::ranking::Blend;
use crate::index::tokens::{Terms, Word, words};
use crate::index::{CaseId, Document, Hits, Index, Query, Settings, Slot, WrongDimension};

pub(super) const DIMENSION: usize = 8;
pub(super) const SETTINGS: Settings = Settings { dimension: DIMENSION, k1: 0.9, b: 0.2 };
const CLOSE: f64 = 2e-4;

pub(super) type Vector = [f32; DIMENSION];

/// The same data, without any index.
#[derive(Default)]
pub(super) struct Reference {
    pub(super) documents: BTreeMap<u32, (String, Option<Vector>)>,
    /// By document and id: the vector, and whether it finds.
    pub(super) cases: BTreeMap<(u32, i64), (Vector, bool)>,
    /// Pairs of neighbours: the first stands before the second.
    pub(super) links: BTreeSet<(u32, u32)>,
}

/// A change of an index.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Insert(u32, String, Option<Vector>),
    Extend(Vec<(u32, String, Option<Vector>)>),
    Remove(u32),
    SetVector(u32, Option<Vector>),
    AddCase(u32, i64, Vector, bool),
    RemoveCase(u32, i64),
    Link(u32, Option<u32>, Option<u32>),
}

/// A query and the slots that pass its filter.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) text: String,
    pub(super) vector: Option<Vector>,
    pub(super) limit: usize,
    pub(super) blend: Blend,
    pub(super) filter: u16,
}

impl Question {
    fn query(&self) -> Query<'_> {
        Query {
            text: &self.text,
            vector: self.vector.as_ref().map(|vector| &vector[..]),
            limit: self.limit,
            blend: self.blend,
        }
    }

    fn passes(&self, slot: u32) -> bool {
        self.filter >> (slot % 16) & 1 == 1
    }

    pub(super) fn ask(&self, index: &Index) -> Result<Hits, WrongDimension> {
        index.search(&self.query(), |slot| self.passes(slot.0))
    }
}

/// What the reference knows of a document that passes.
#[derive(Default)]
struct Expected {
    cosine: f64,
    case: Option<f64>,
    bm25: f64,
    own: f64,
    score: f64,
}

impl Reference {
    pub(super) fn apply(&mut self, change: &Change) {
        match change.clone() {
            Change::Insert(slot, text, vector) => {
                self.documents.insert(slot, (text, vector));
            }
            Change::Extend(documents) => {
                self.documents
                    .extend(documents.into_iter().map(|(slot, text, vector)| (slot, (text, vector))));
            }
            Change::Remove(slot) => {
                self.documents.remove(&slot);
                self.cases.retain(|&(owner, _), _| owner != slot);
                self.links.retain(|&(a, b)| a != slot && b != slot);
            }
            Change::SetVector(slot, vector) => {
                if let Some(document) = self.documents.get_mut(&slot) {
                    document.1 = vector;
                }
            }
            Change::AddCase(slot, id, vector, finds) => {
                self.cases.insert((slot, id), (vector, finds));
            }
            Change::RemoveCase(slot, id) => {
                self.cases.remove(&(slot, id));
            }
            Change::Link(slot, before, after) => {
                self.links.retain(|&(a, b)| a != slot && b != slot && Some(a) != before && Some(b) != after);
                self.links.extend(before.map(|before| (before, slot)));
                self.links.extend(after.map(|after| (slot, after)));
            }
        }
    }

    /// An index of the same data, built at once.
    pub(super) fn index(&self) -> Result<Index, WrongDimension> {
        let mut index = Index::new(SETTINGS);
        let documents: Vec<_> = self
            .documents
            .iter()
            .map(|(&slot, (text, vector))| document(slot, text, vector.as_ref()))
            .collect();
        index.extend(&documents)?;
        for (&(slot, id), (vector, finds)) in &self.cases {
            index.add_case(Slot(slot), CaseId(id), vector, *finds)?;
        }
        for slot in self.links.iter().flat_map(|&(a, b)| [a, b]) {
            let before = self.links.iter().find(|&&(_, b)| b == slot).map(|link| Slot(link.0));
            let after = self.links.iter().find(|&&(a, _)| a == slot).map(|link| Slot(link.1));
            index.set_links(Slot(slot), before, after);
        }
        Ok(index)
    }

    /// The ceiling, and every document that passes.
    fn expect(&self, question: &Question) -> (f64, BTreeMap<u32, Expected>) {
        let texts: BTreeMap<u32, Vec<String>> =
            self.documents.iter().map(|(&slot, (text, _))| (slot, terms(text).0)).collect();
        let count = as_f64(texts.len());
        let average = as_f64(texts.values().map(Vec::len).sum()) / count.max(1.0);
        let (mut asked, mut compounds) = terms(&question.text);
        let mut seen = BTreeSet::new();
        asked.retain(|term| seen.insert(term.clone()));
        compounds.retain(|term| !texts.values().any(|text| text.contains(term)));
        let (k1, b) = (f64::from(SETTINGS.k1), f64::from(SETTINGS.b));
        let mut ceiling = 0.0;
        let mut expected: BTreeMap<u32, Expected> = BTreeMap::new();
        for &slot in texts.keys().filter(|&&slot| question.passes(slot)) {
            let one = expected.entry(slot).or_default();
            (one.cosine, one.case) = self.cosines(slot, question);
        }
        for term in asked {
            let frequency = as_f64(texts.values().filter(|text| text.contains(&term)).count());
            let weight = (k1 + 1.0) * (1.0 + (count + 100.0 - frequency + 0.5) / (frequency + 0.5)).ln();
            if !compounds.contains(&term) {
                ceiling += weight;
            }
            for (slot, expected) in &mut expected {
                let text = &texts[slot];
                let n = as_f64(text.iter().filter(|other| **other == term).count().min(255));
                let length = as_f64(text.len()) / average;
                expected.bm25 += if n > 0.0 { weight * n / (n + k1 * (1.0 - b + b * length)) } else { 0.0 };
            }
        }
        let blend = question.blend;
        let (dense, lexical) = (f64::from(blend.dense), f64::from(blend.lexical));
        for one in expected.values_mut() {
            let share = if ceiling > 0.0 { one.bm25 / ceiling } else { 0.0 };
            let text = (dense * one.cosine + lexical * share).max(one.cosine - f64::from(blend.margin));
            let case = one.case.zip(blend.case_margin).map(|(case, margin)| case - f64::from(margin));
            one.own = case.map_or(text, |case| case.max(text));
        }
        let own: BTreeMap<u32, f64> = expected.iter().map(|(&slot, one)| (slot, one.own)).collect();
        let next = |slot: u32| self.links.iter().find(|link| link.0 == slot).map(|link| link.1);
        let last = |slot: u32| self.links.iter().find(|link| link.1 == slot).map(|link| link.0);
        for (&slot, one) in &mut expected {
            let around = [last(slot), last(slot).and_then(last), next(slot), next(slot).and_then(next)];
            let best = around.into_iter().flatten().filter_map(|slot| own.get(&slot));
            let best = best.fold(f64::NEG_INFINITY, |a, &b| a.max(b));
            one.score = one.own + f64::from(blend.neighbour) * (best - one.own).max(0.0);
        }
        (ceiling, expected)
    }

    /// The cosine of a document's text, and that of the nearest case that finds it.
    fn cosines(&self, slot: u32, question: &Question) -> (f64, Option<f64>) {
        let Some(query) = &question.vector.filter(|query| query.iter().any(|value| *value != 0.0)) else {
            return (0.0, None);
        };
        let own = self.documents[&slot].1.as_ref().map_or(0.0, |vector| cosine(vector, query));
        let cases = self.cases.range((slot, i64::MIN)..=(slot, i64::MAX));
        let finding = cases.filter(|(_, (_, finds))| *finds);
        (own, finding.map(|(_, (vector, _))| cosine(vector, query)).reduce(f64::max))
    }

    /// Compares the answer of `index` with what is expected.
    pub(super) fn check(&self, index: &Index, question: &Question) -> Result<(), TestCaseError> {
        let Ok(hits) = question.ask(index) else {
            return Err(TestCaseError::fail("dimension"));
        };
        let (ceiling, expected) = self.expect(question);
        prop_assert_eq!(hits.scanned, self.documents.len());
        prop_assert_eq!(index.len(), self.documents.len());
        prop_assert_eq!(hits.passed, expected.len());
        prop_assert_eq!(hits.list.len(), question.limit.min(expected.len()));
        for pair in hits.list.windows(2) {
            let [first, second] = [pair[0].signals.similarity, pair[1].signals.similarity];
            let sorted = first > second || (first >= second && pair[0].slot < pair[1].slot);
            prop_assert!(sorted, "{pair:?}");
        }
        let mut rest: BTreeMap<u32, &Expected> = expected.iter().map(|(&slot, one)| (slot, one)).collect();
        for hit in &hits.list {
            let Some(one) = rest.remove(&hit.slot.0) else {
                return Err(TestCaseError::fail("not passed or twice"));
            };
            let signals = hit.signals;
            prop_assert!(close(signals.cosine, one.cosine), "{hit:?} {}", one.cosine);
            let share = if ceiling > 0.0 { one.bm25 / ceiling } else { 0.0 };
            prop_assert!(close(signals.lexical, share), "{hit:?} {share}");
            prop_assert!(close(signals.similarity, one.score), "{hit:?} {}", one.score);
            prop_assert!(close(signals.neighbours, one.score - one.own), "{hit:?} {}", one.own);
            if let (Some(case), Some(query)) = (hit.case, &question.vector) {
                let (vector, finds) = &self.cases[&(hit.slot.0, case.0)];
                prop_assert!(*finds && close(signals.case.unwrap_or(-9.0), cosine(vector, query)), "{hit:?}");
            }
        }
        if let Some(last) = hits.list.last() {
            let missed = rest.values().map(|one| one.score).fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(missed <= f64::from(last.signals.similarity) + CLOSE, "{last:?} {missed}");
        }
        Ok(())
    }
}

pub(super) fn apply(index: &mut Index, change: &Change) -> Result<(), WrongDimension> {
    match change {
        Change::Insert(slot, text, vector) => index.insert(&document(*slot, text, vector.as_ref())),
        Change::Extend(documents) => {
            let documents: Vec<_> =
                documents.iter().map(|(slot, text, vector)| document(*slot, text, vector.as_ref())).collect();
            index.extend(&documents)
        }
        Change::Remove(slot) => {
            let present = index.contains(Slot(*slot));
            assert_eq!(index.remove(Slot(*slot)), present);
            Ok(())
        }
        Change::SetVector(slot, vector) if index.contains(Slot(*slot)) => {
            index.set_vector(Slot(*slot), vector.as_ref().map(|vector| &vector[..]))
        }
        Change::SetVector(..) => Ok(()),
        Change::AddCase(slot, id, vector, finds) => index.add_case(Slot(*slot), CaseId(*id), vector, *finds),
        Change::RemoveCase(slot, id) => {
            index.remove_case(Slot(*slot), CaseId(*id));
            Ok(())
        }
        Change::Link(slot, before, after) => {
            index.set_links(Slot(*slot), before.map(Slot), after.map(Slot));
            Ok(())
        }
    }
}

pub(super) fn document<'a>(slot: u32, text: &'a str, vector: Option<&'a Vector>) -> Document<'a> {
    Document { slot: Slot(slot), text, vector: vector.map(|vector| &vector[..]) }
}

/// All terms of a text, and those of its compounds.
fn terms(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut all, mut compounds) = (Vec::new(), Vec::new());
    words(text, |word| {
        let (Word::Part(folded) | Word::Compound(folded)) = word;
        if let Some(term) = Terms::new().term(folded) {
            all.push(term.clone().into_owned());
            match word {
                Word::Part(_) => {}
                Word::Compound(_) => compounds.push(term.into_owned()),
            }
        }
    });
    (all, compounds)
}

/// The cosine of a row as it is stored, and a query.
fn cosine(row: &Vector, query: &Vector) -> f64 {
    let largest = row.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
    let row = row.map(|value| f64::from((value * (127.0 / largest)).round_ties_even()));
    let query = query.map(f64::from);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let cosine = dot(&row, &query) / (dot(&row, &row) * dot(&query, &query)).sqrt();
    if cosine.is_nan() { 0.0 } else { cosine }
}

fn close(found: f32, expected: f64) -> bool {
    (f64::from(found) - expected).abs() < CLOSE
}

fn as_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
