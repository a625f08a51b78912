//! How learned utility is estimated.

use memoryd_proto::{ContextName, Estimator};
use serde::{Deserialize, Serialize};

/// How learned utility is estimated (spec Q1, Q3, Q4, Q7, Q8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Utility {
    /// `contextual` or `global`.
    pub estimator: Estimator,
    /// Contexts that are there from the start.
    pub contexts: Vec<ContextName>,
    /// Interactions from which a context is warm.
    pub warm_threshold: u64,
    /// Weight of learned utility in a warm context.
    pub alpha: f64,
    /// Share of the way to a reward that a Q-value moves.
    pub learning_rate: f64,
    /// What is left of a Q-value after a day without recall.
    pub decay_factor: f64,
    /// Reward of an item used in a task that succeeded.
    pub reward_success: f64,
    /// Reward of an item used in a task that failed.
    pub reward_failure: f64,
    /// Reward of an item that was recalled and not used.
    pub reward_unused: f64,
    /// Outcomes kept for each improvement.
    pub outcomes: usize,
    /// Cosine up to which an outcome says nothing about a query.
    pub kernel_floor: f64,
    /// Power of an outcome's weight above the floor.
    pub kernel_power: i32,
    /// Observations that the prior of 0.5 is worth.
    pub prior: f64,
}

impl Default for Utility {
    fn default() -> Self {
        let contexts = ["debugging", "coding", "research"];
        Self {
            estimator: Estimator::Contextual,
            contexts: contexts.iter().filter_map(|name| name.parse().ok()).collect(),
            warm_threshold: 100,
            alpha: 0.3,
            learning_rate: 0.1,
            decay_factor: 0.99,
            reward_success: 1.0,
            reward_failure: -0.2,
            reward_unused: 0.1,
            outcomes: 256,
            kernel_floor: 0.4,
            kernel_power: 3,
            prior: 0.5,
        }
    }
}
