//! The hybrid search index of one collection of short texts, in memory.
//!
//! A search gives the exact best documents by a weighted sum of a dense score (cosine of
//! embeddings, all compared) and a lexical one (BM25), over all documents that pass a
//! filter. There are no candidate lists: a document cannot be missed.

mod cases;
mod join;
mod kernel;
mod lexical;
mod links;
mod parallel;
mod postings;
mod search;
mod sharing;
mod stopwords;
mod tokens;
mod top;
mod vectors;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use crate::domain::ranking::{Blend, Signals};

pub use join::{Join, Near, exact};
pub use sharing::Sharing;

use cases::Cases;
use lexical::Lexical;
use links::Links;
use search::Scratch;
use vectors::Vectors;

pub use tokens::shared;

/// The place of a document in an index.
///
/// Slots are small and dense: memory grows with the highest one. `u32::MAX` is no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// The caller's name for a case, unique within its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseId(pub i64);

/// What an index is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Components of every vector.
    pub dimension: usize,
    /// BM25: how far repeated words count, from 0 (not at all); usually 0.5 to 2.
    pub k1: f32,
    /// BM25: how far long texts are marked down, from 0 (not at all) to 1.
    pub b: f32,
}

/// A document to be indexed.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Where it goes; a document that is there is replaced.
    pub slot: Slot,
    /// Its text, in any language; may be empty.
    pub text: &'a str,
    /// Its embedding, of any length but zero, finite. Without one its cosine is 0.
    pub vector: Option<&'a [f32]>,
}

/// A search.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The words to search for. Stop words are not searched.
    pub text: &'a str,
    /// The embedding of the query; without one every cosine is 0.
    pub vector: Option<&'a [f32]>,
    /// How many documents are wanted. Documents that match in nothing fill the rest.
    pub limit: usize,
    /// How the signals make one similarity.
    pub blend: Blend,
}

/// A document that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The document.
    pub slot: Slot,
    /// How well it matches. Documents are ranked by its similarity.
    pub signals: Signals,
    /// The case that counts for more than the text; `None` if the text does.
    pub case: Option<CaseId>,
}

/// The answer to a [`Query`].
#[derive(Clone, Debug)]
pub struct Hits {
    /// The documents found, best first.
    pub list: Vec<Hit>,
    /// Documents in the index.
    pub scanned: usize,
    /// Documents that pass the filter.
    pub passed: usize,
    /// Where the time went.
    pub timings: Timings,
}

/// The duration of the steps of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timings {
    /// Words, BM25 and filter.
    pub lexical: Duration,
    /// Cosines and weighted sum.
    pub vector: Duration,
    /// Neighbours and the choice of the best.
    pub rank: Duration,
}

/// A vector has another dimension than the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongDimension {
    /// The dimension of the index.
    pub expected: usize,
    /// The dimension of the vector.
    pub found: usize,
}

impl fmt::Display for WrongDimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a vector has {} components, the index takes {}", self.found, self.expected)
    }
}

impl std::error::Error for WrongDimension {}

/// The index of one collection. Writers need it for themselves, searches share it.
pub struct Index {
    lexical: Lexical,
    vectors: Vectors,
    cases: Cases,
    links: Links,
    /// Arrays of past searches: as many as ran at the same time.
    scratch: Mutex<Vec<Scratch>>,
}

impl Index {
    /// An empty index.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            lexical: Lexical::new(settings.k1, settings.b),
            vectors: Vectors::new(settings.dimension),
            cases: Cases::new(settings.dimension),
            links: Links::default(),
            scratch: Mutex::default(),
        }
    }

    /// The number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lexical.count()
    }

    /// Whether there is no document.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is a document at `slot`.
    #[must_use]
    pub fn contains(&self, slot: Slot) -> bool {
        self.lexical.contains(slot.0)
    }

    /// Adds a document, or replaces the text and vector of the one at its slot; cases and
    /// links stay.
    ///
    /// # Errors
    /// If the vector has not the dimension of the index; nothing is changed then.
    pub fn insert(&mut self, document: &Document<'_>) -> Result<(), WrongDimension> {
        self.set_vector(document.slot, document.vector)?;
        self.lexical.insert(document.slot.0, document.text);
        Ok(())
    }

    /// Inserts many documents at once, on the threads of the current rayon pool. Of those
    /// with the same slot the last one counts.
    ///
    /// # Errors
    /// If a vector has not the dimension of the index; nothing is changed then.
    pub fn extend(&mut self, documents: &[Document<'_>]) -> Result<(), WrongDimension> {
        for vector in documents.iter().filter_map(|document| document.vector) {
            self.checked(vector)?;
        }
        let mut sorted: Vec<&Document<'_>> = documents.iter().rev().collect();
        sorted.sort_by_key(|document| document.slot);
        sorted.dedup_by_key(|document| document.slot);
        for document in &sorted {
            self.lexical.remove(document.slot.0);
            self.vectors.clear(document.slot.0 as usize);
        }
        let texts: Vec<_> = sorted.iter().map(|document| (document.slot.0, document.text)).collect();
        self.lexical.extend(&texts);
        let vectors: Vec<_> =
            sorted.iter().filter_map(|document| Some((document.slot.0 as usize, document.vector?))).collect();
        self.vectors.fill(&vectors);
        Ok(())
    }

    /// Gives the document at `slot` another vector, or none.
    ///
    /// # Errors
    /// If the vector has not the dimension of the index; nothing is changed then.
    pub fn set_vector(&mut self, slot: Slot, vector: Option<&[f32]>) -> Result<(), WrongDimension> {
        match vector {
            Some(vector) => {
                self.checked(vector)?;
                self.vectors.set(slot.0 as usize, vector);
            }
            None => self.vectors.clear(slot.0 as usize),
        }
        Ok(())
    }

    /// Removes the document at `slot` with its cases and links; whether there was one.
    pub fn remove(&mut self, slot: Slot) -> bool {
        self.vectors.clear(slot.0 as usize);
        self.cases.clear(slot.0);
        self.links.set(slot.0, None, None);
        self.lexical.remove(slot.0)
    }

    /// Adds a case, the embedding of a task in which the document at `slot` was used, or
    /// gives the case another vector. A query finds the document by it if `finds`.
    ///
    /// # Errors
    /// If the vector has not the dimension of the index; nothing is changed then.
    pub fn add_case(
        &mut self,
        slot: Slot,
        id: CaseId,
        vector: &[f32],
        finds: bool,
    ) -> Result<(), WrongDimension> {
        self.checked(vector)?;
        self.cases.add(slot.0, id, vector, finds);
        Ok(())
    }

    /// The cosine of `vector` and every case of the document at `slot`, whether it finds or not.
    #[must_use]
    pub fn case_cosines(&self, slot: Slot, vector: &[f32]) -> Vec<(CaseId, f32)> {
        let probe = self.checked(vector).ok().and_then(|vector| self.vectors.probe(vector));
        probe.map_or_else(Vec::new, |probe| self.cases.cosines(&probe, slot.0))
    }

    /// Removes a case of the document at `slot`; whether it was there.
    pub fn remove_case(&mut self, slot: Slot, id: CaseId) -> bool {
        self.cases.remove(slot.0, id)
    }

    /// Says which documents stand before and after that at `slot`.
    ///
    /// Links hold in both directions: the former neighbours of all three places are
    /// unlinked, and `before` and `after` need not be told of `slot`.
    pub fn set_links(&mut self, slot: Slot, before: Option<Slot>, after: Option<Slot>) {
        self.links.set(slot.0, before.map(|slot| slot.0), after.map(|slot| slot.0));
    }

    fn checked<'a>(&self, vector: &'a [f32]) -> Result<&'a [f32], WrongDimension> {
        let expected = self.vectors.dimension();
        if vector.len() == expected {
            Ok(vector)
        } else {
            Err(WrongDimension { expected, found: vector.len() })
        }
    }
}

/// The cosine of two vectors of length 1.
#[must_use]
pub fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}
