//! BM25 over the words of the texts.

use hashbrown::HashMap;
use rayon::prelude::*;

use super::postings::{Postings, TermId};
use super::tokens::{Terms, Word, words};

/// The length that marks a slot without a document.
const ABSENT: u32 = u32::MAX;

/// Documents that one task of a bulk insert splits into words, at least and at most: the
/// task keeps a table of their words.
const BULK: (usize, usize) = (1 << 12, 1 << 14);

/// The lexical half of the index.
pub(super) struct Lexical {
    k1: f32,
    b: f32,
    terms: Terms,
    postings: Postings,
    /// By slot: the distinct terms of the document.
    documents: Vec<Box<[TermId]>>,
    /// By slot: the number of indexed words, or `ABSENT`.
    lengths: Vec<u32>,
    count: usize,
    total: u64,
}

/// The terms of a query with the statistics of the moment.
pub(super) struct Plan {
    terms: Vec<Weighted>,
    /// `k1 (1 - b)` and `k1 b / average length`: the length normalisation.
    base: f32,
    slope: f32,
    /// More than any document can score: `(k1 + 1) Σ idf`.
    pub(super) ceiling: f32,
}

struct Weighted {
    id: TermId,
    /// `(k1 + 1) idf`.
    weight: f32,
}

/// Words already seen in a bulk insert; a stop word has no term.
type Seen = HashMap<Box<str>, Option<TermId>>;

impl Lexical {
    pub(super) fn new(k1: f32, b: f32) -> Self {
        Self {
            k1,
            b,
            terms: Terms::new(),
            postings: Postings::default(),
            documents: Vec::new(),
            lengths: Vec::new(),
            count: 0,
            total: 0,
        }
    }

    /// The number of documents.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// One more than the highest slot ever used.
    pub(super) fn slots(&self) -> usize {
        self.lengths.len()
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        self.lengths.get(slot as usize).is_some_and(|&length| length != ABSENT)
    }

    /// Adds the document at `slot`, in place of one that is there.
    pub(super) fn insert(&mut self, slot: u32, text: &str) {
        self.remove(slot);
        let mut ids = Vec::new();
        words(text, |word| {
            let (Word::Part(word) | Word::Compound(word)) = word;
            ids.extend(self.terms.term(word).map(|term| self.postings.intern(&term)));
        });
        let (terms, length) = post(&mut self.postings, slot, &mut ids);
        self.place(slot, terms, length);
    }

    /// Adds many documents, given in ascending order of slots that hold none.
    pub(super) fn extend(&mut self, documents: &[(u32, &str)]) {
        let terms = self.terms;
        let share = documents.len().div_ceil(2 * rayon::current_num_threads());
        let parts: Vec<_> = documents
            .par_chunks(share.clamp(BULK.0, BULK.1))
            .map(|documents| {
                let mut postings = Postings::default();
                let mut seen = Seen::new();
                let mut ids = Vec::new();
                let documents: Vec<_> = documents
                    .iter()
                    .map(|&(slot, text)| {
                        ids.clear();
                        words(text, |word| {
                            let (Word::Part(word) | Word::Compound(word)) = word;
                            let id = seen.get(word).copied().unwrap_or_else(|| {
                                let id = terms.term(word).map(|term| postings.intern(&term));
                                seen.insert(word.into(), id);
                                id
                            });
                            ids.extend(id);
                        });
                        let (terms, length) = post(&mut postings, slot, &mut ids);
                        (slot, terms, length)
                    })
                    .collect();
                (postings, documents)
            })
            .collect();
        for (postings, documents) in parts {
            let ids = self.postings.absorb(postings);
            for (slot, mut terms, length) in documents {
                for id in &mut terms {
                    *id = ids[*id as usize];
                }
                self.place(slot, terms, length);
            }
        }
    }

    /// Removes the document at `slot`; whether there was one.
    pub(super) fn remove(&mut self, slot: u32) -> bool {
        if !self.contains(slot) {
            return false;
        }
        let length = &mut self.lengths[slot as usize];
        self.total -= u64::from(*length);
        self.count -= 1;
        *length = ABSENT;
        for id in std::mem::take(&mut self.documents[slot as usize]) {
            self.postings.unpost(id, slot);
        }
        true
    }

    /// Looks up the distinct terms of a query.
    ///
    /// A term that no document has counts in the ceiling: it is a part of the question
    /// that nothing answers. An unknown compound does not, as its parts were counted.
    pub(super) fn plan(&self, text: &str) -> Plan {
        let mut plan = Plan {
            terms: Vec::new(),
            base: self.k1 * (1.0 - self.b),
            // No words at all make this infinite, but then no document is scored.
            slope: self.k1 * self.b / self.average(),
            ceiling: 0.0,
        };
        let mut seen: Vec<String> = Vec::new();
        words(text, |word| {
            let (folded, compound) = match word {
                Word::Part(word) => (word, false),
                Word::Compound(word) => (word, true),
            };
            let Some(term) = self.terms.term(folded) else {
                return;
            };
            if seen.iter().any(|seen| *seen == *term) {
                return;
            }
            let id = self.postings.id(&term);
            let frequency = id.map_or(0, |id| self.postings.term(id).slots.len());
            let weight = (self.k1 + 1.0) * idf(self.count, frequency);
            if id.is_some() || !compound {
                plan.ceiling += weight;
            }
            plan.terms.extend(id.map(|id| Weighted { id, weight }));
            seen.push(term.into_owned());
        });
        plan
    }

    /// Adds the scores of the documents at `base`, `base + 1`, … to `scores`.
    pub(super) fn accumulate(&self, plan: &Plan, base: u32, scores: &mut [f32]) {
        for Weighted { id, weight } in &plan.terms {
            let term = self.postings.term(*id);
            let lengths = &self.lengths[base as usize..][..scores.len()];
            let start = term.slots.partition_point(|&slot| slot < base);
            for (slot, &count) in term.slots[start..].iter().zip(&term.counts[start..]) {
                let at = (slot - base) as usize;
                let Some(score) = scores.get_mut(at) else {
                    break;
                };
                *score += weight * plan.saturation(count, lengths[at]);
            }
        }
    }

    /// Calls `each` with every document that has a term of the query, once for each term, and the term's weight.
    pub(super) fn each_posting(&self, query: &str, mut each: impl FnMut(u32, f32)) {
        for Weighted { id, weight } in &self.plan(query).terms {
            self.postings.term(*id).slots.iter().for_each(|&slot| each(slot, *weight));
        }
    }

    fn place(&mut self, slot: u32, terms: Box<[TermId]>, length: u32) {
        let needed = slot as usize + 1;
        if self.lengths.len() < needed {
            self.lengths.resize(needed, ABSENT);
            self.documents.resize(needed, Box::default());
        }
        self.lengths[slot as usize] = length;
        self.documents[slot as usize] = terms;
        self.total += u64::from(length);
        self.count += 1;
    }

    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "an average of f64 precision, used as f32"
    )]
    fn average(&self) -> f32 {
        (self.total as f64 / self.count.max(1) as f64) as f32
    }
}

impl Plan {
    fn saturation(&self, count: u8, length: u32) -> f32 {
        #[allow(clippy::cast_precision_loss, reason = "24 bits are enough for a length")]
        let length = length as f32;
        let count = f32::from(count);
        count / (count + self.base + self.slope * length)
    }
}

/// Posts the words of a document; its distinct terms and its length.
fn post(postings: &mut Postings, slot: u32, ids: &mut [TermId]) -> (Box<[TermId]>, u32) {
    ids.sort_unstable();
    let terms = ids
        .chunk_by(PartialEq::eq)
        .map(|same| {
            postings.post(same[0], slot, u8::try_from(same.len()).unwrap_or(u8::MAX));
            same[0]
        })
        .collect();
    (terms, u32::try_from(ids.len()).unwrap_or(ABSENT - 1))
}

/// Documents that every collection is imagined to have beside its own, without any of the query's terms. They keep
/// weights sane in a collection of a few texts, where every word is rare or common by chance.
const IMAGINED: f64 = 100.0;

/// The weight of a term in `frequency` of `count` documents; always positive.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "computed as f64, used as f32"
)]
fn idf(count: usize, frequency: usize) -> f32 {
    let (count, frequency) = (count as f64 + IMAGINED, frequency as f64);
    ((count - frequency + 0.5) / (frequency + 0.5)).ln_1p() as f32
}
