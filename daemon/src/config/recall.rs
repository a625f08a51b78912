//! What a recall returns.

use memoryd_proto::ContextName;
use serde::{Deserialize, Serialize};

/// What a recall returns (spec I10, Q2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recall {
    /// Items, when the caller does not say how many.
    pub items: u32,
    /// Candidates for each item wanted.
    pub overfetch: u32,
    /// Fewest candidates.
    pub candidates: u32,
    /// Relevance that an item must reach.
    pub gate: f64,
    /// Similarity whose relevance is the gate's.
    pub threshold: f64,
    /// How fast relevance rises with similarity.
    pub slope: f64,
    /// Success rate that a used item must have.
    pub success_rate: f64,
    /// What the score of a cross-validated item is multiplied by.
    pub cross_validated: f64,
    /// Weight of the cosine.
    pub dense: f32,
    /// Weight of the words.
    pub lexical: f32,
    /// What a cosine loses when it speaks alone.
    pub margin: f32,
    /// What the cosine of a task in which the memory helped loses.
    pub case_margin: f32,
    /// How far an item is pulled up towards the best of its neighbours in a sequence.
    pub neighbour: f32,
    /// BM25: how far repeated words count.
    pub k1: f32,
    /// BM25: how far long texts are marked down.
    pub b: f32,
    /// The context of a recall that names none.
    pub context: ContextName,
}

impl Default for Recall {
    fn default() -> Self {
        Self {
            items: 5,
            overfetch: 2,
            candidates: 10,
            gate: 0.6,
            threshold: 0.25,
            slope: 8.0,
            success_rate: 0.6,
            cross_validated: 1.2,
            dense: 0.4,
            lexical: 0.6,
            margin: 0.3,
            case_margin: 0.2,
            neighbour: 0.5,
            k1: 0.5,
            b: 0.25,
            context: ContextName::default(),
        }
    }
}
