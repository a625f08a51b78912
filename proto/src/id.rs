//! Identifiers. One generic type, a marker for each kind of thing, so that ids of two kinds cannot be mixed up.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;

const LONGEST: usize = 256;

/// An identifier of a `K`: 1–256 bytes without control characters or white space at the edges.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "String", into = "String", bound = "")]
pub struct Id<K>(String, PhantomData<fn() -> K>);

/// Marks the id of an improvement.
pub enum ImprovementKind {}
/// Marks the id of an evaluation.
pub enum EvaluationKind {}
/// Marks the id of a recall.
pub enum RecallKind {}
/// Marks the id that a caller gives a task report.
pub enum ReportKind {}

/// Identifies an improvement within its agent.
pub type ImprovementId = Id<ImprovementKind>;
/// Identifies an evaluation within its agent.
pub type EvaluationId = Id<EvaluationKind>;
/// Identifies one recall; its report refers to it (spec Q6).
pub type RecallId = Id<RecallKind>;
/// Identifies a task report; the same report sent twice counts once (spec E2).
pub type ReportId = Id<ReportKind>;

impl<K> Id<K> {
    /// The identifier's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<K> FromStr for Id<K> {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self, Fault> {
        let valid = !text.is_empty()
            && text.len() <= LONGEST
            && text.trim() == text
            && !text.chars().any(char::is_control);
        if valid {
            return Ok(Self(text.to_owned(), PhantomData));
        }
        let shown: String = text.chars().take(64).collect();
        Err(Fault::invalid(
            format!("{shown:?} is no id"),
            format!("An id has 1 to {LONGEST} bytes, no control characters, and no white space at its ends."),
        ))
    }
}

impl<K> TryFrom<String> for Id<K> {
    type Error = Fault;
    fn try_from(text: String) -> Result<Self, Fault> {
        text.parse()
    }
}

impl<K> From<Id<K>> for String {
    fn from(id: Id<K>) -> Self {
        id.0
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K> Eq for Id<K> {}

impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<K> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<K> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Numbers the operations of the journal: 1, 2, 3, … in the order in which they were committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OperationId(pub u64);

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for OperationId {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self, Fault> {
        text.parse().map(Self).map_err(|_| {
            Fault::invalid(
                format!("{text:?} is no operation number"),
                "Operations are numbered; `memoryctl journal` lists them.",
            )
        })
    }
}
