//! Terms and, for each, the documents that contain it.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// A term's number, valid while a document contains the term.
pub(super) type TermId = u32;

/// The dictionary of terms with their postings.
#[derive(Default)]
pub(super) struct Postings {
    hasher: DefaultHashBuilder,
    ids: HashTable<TermId>,
    terms: Vec<Term>,
    /// Numbers of terms that no document contains any more.
    free: Vec<TermId>,
}

/// A term and its documents, in ascending order of their slots.
#[derive(Default)]
pub(super) struct Term {
    pub(super) text: Box<str>,
    pub(super) slots: Vec<u32>,
    /// Occurrences in the document at the same place of `slots`, at most 255: BM25 is
    /// flat long before.
    pub(super) counts: Vec<u8>,
}

impl Postings {
    /// The number of `text`, if a document contains it.
    pub(super) fn id(&self, text: &str) -> Option<TermId> {
        let hash = self.hasher.hash_one(text);
        self.ids.find(hash, |&id| *self.term(id).text == *text).copied()
    }

    /// The number of `text`, new if need be. The caller then posts a document to it.
    pub(super) fn intern(&mut self, text: &str) -> TermId {
        self.id(text).unwrap_or_else(|| {
            let id = self.free.pop().unwrap_or_else(|| {
                self.terms.push(Term::default());
                to_u32(self.terms.len() - 1)
            });
            self.terms[id as usize].text = text.into();
            let Self { hasher, ids, terms, .. } = self;
            ids.insert_unique(hasher.hash_one(text), id, |&id| hasher.hash_one(&*terms[id as usize].text));
            id
        })
    }

    /// The term numbered `id`.
    pub(super) fn term(&self, id: TermId) -> &Term {
        &self.terms[id as usize]
    }

    /// Notes that `slot`, not posted to the term yet, contains it `count` times.
    pub(super) fn post(&mut self, id: TermId, slot: u32, count: u8) {
        let term = &mut self.terms[id as usize];
        let at = if term.slots.last().is_none_or(|&last| last < slot) {
            term.slots.len()
        } else {
            term.slots.partition_point(|&other| other < slot)
        };
        term.slots.insert(at, slot);
        term.counts.insert(at, count);
    }

    /// Forgets that `slot` contains the term; the last document takes the term with it.
    pub(super) fn unpost(&mut self, id: TermId, slot: u32) {
        let term = &mut self.terms[id as usize];
        if let Ok(at) = term.slots.binary_search(&slot) {
            term.slots.remove(at);
            term.counts.remove(at);
        }
        if term.slots.is_empty() {
            let gone = std::mem::take(term);
            if let Ok(entry) = self.ids.find_entry(self.hasher.hash_one(&*gone.text), |&other| other == id) {
                entry.remove();
            }
            self.free.push(id);
        }
    }

    /// Takes over the postings of `other`, of other documents. Returns, by the numbers
    /// `other` gave, the numbers its terms have here.
    pub(super) fn absorb(&mut self, other: Self) -> Vec<TermId> {
        other
            .terms
            .into_iter()
            .map(|term| {
                let id = self.intern(&term.text);
                self.terms[id as usize].absorb(term);
                id
            })
            .collect()
    }
}

impl Term {
    fn absorb(&mut self, other: Self) {
        if self.slots.is_empty() {
            self.slots = other.slots;
            self.counts = other.counts;
        } else if self.slots.last() < other.slots.first() {
            self.slots.extend_from_slice(&other.slots);
            self.counts.extend_from_slice(&other.counts);
        } else {
            let ours = self.slots.iter().copied().zip(self.counts.iter().copied());
            let theirs = other.slots.into_iter().zip(other.counts);
            let mut both: Vec<(u32, u8)> = ours.chain(theirs).collect();
            both.sort_unstable();
            (self.slots, self.counts) = both.into_iter().unzip();
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "more terms would not fit in memory")]
fn to_u32(number: usize) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use super::Postings;

    #[test]
    fn a_term_goes_with_its_last_document() {
        let mut postings = Postings::default();
        let fox = postings.intern("fox");
        postings.post(fox, 7, 1);
        postings.post(fox, 3, 2);
        let hen = postings.intern("hen");
        postings.post(hen, 3, 1);
        assert_eq!(postings.term(fox).slots, [3, 7]);
        assert_eq!(postings.term(fox).counts, [2, 1]);

        postings.unpost(fox, 3);
        assert_eq!(postings.id("fox"), Some(fox));
        postings.unpost(fox, 7);
        assert_eq!(postings.id("fox"), None);
        assert_eq!(postings.ids.len(), 1);

        let ox = postings.intern("ox");
        assert_eq!(ox, fox, "the number is used again");
        assert_eq!(postings.id("hen"), Some(hen));
    }
}
