//! Every document that shares words with a query.

use super::{Index, Slot};

/// A document that shares words with a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sharing {
    /// The document.
    pub slot: Slot,
    /// How rare the words are that it shares, in all; however often it has them.
    pub weight: f32,
    /// How many words it shares, each counted once.
    pub words: usize,
}

impl Index {
    /// The documents that share a word with `query` and pass `filter`, in the order of their slots.
    #[must_use]
    pub fn sharing(&self, query: &str, filter: impl Fn(Slot) -> bool) -> Vec<Sharing> {
        let mut found = vec![(0.0, 0_usize); self.lexical.slots()];
        self.lexical.each_posting(query, |slot, weight| {
            let (sum, words) = &mut found[slot as usize];
            *sum += weight;
            *words += 1;
        });
        let hits = (0..).map(Slot).zip(found).filter(|(_, (_, words))| *words > 0);
        hits.filter(|(slot, _)| filter(*slot))
            .map(|(slot, (weight, words))| Sharing { slot, weight, words })
            .collect()
    }
}
