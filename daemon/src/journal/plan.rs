//! What a job plans: steps, each of which is made as a whole or not at all (spec S3).

use std::collections::HashMap;

use memoryd_proto::{AgentName, Improvement, PlannedChange};

use super::{Change, Event};

/// How many changes of a step are told.
const SHOWN: usize = 10;

/// What a job is to do. Making it changes nothing.
#[derive(Debug, Default)]
pub struct Plan {
    /// What the operation is about, in one line.
    pub reason: String,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// What else there is to say.
    pub notes: Vec<String>,
}

/// Changes that are made together, or not at all.
#[derive(Debug, Default)]
pub struct Step {
    /// Whose memory they change, if one agent's.
    pub agent: Option<AgentName>,
    /// What is done, and why, in one line.
    pub why: String,
    /// The changes, in order.
    pub changes: Vec<Change>,
    /// What happened, beside the changes.
    pub events: Vec<Event>,
    /// Vectors of texts that are stored, where they are known.
    pub vectors: HashMap<String, Vec<f32>>,
}

impl Step {
    /// A step that changes one improvement, or removes it, and nothing else.
    #[must_use]
    pub fn of(why: String, row: Option<i64>, before: Improvement, after: Option<Improvement>) -> Self {
        let agent = Some(before.agent.clone());
        Self { agent, why, changes: vec![Change::improvement(row, Some(before), after)], ..Self::default() }
    }

    /// As it is told to a person.
    #[must_use]
    pub fn told(&self) -> PlannedChange {
        let mut changes: Vec<String> = self.changes.iter().take(SHOWN).map(Change::describe).collect();
        if self.changes.len() > SHOWN {
            changes.push(format!("and {} more", self.changes.len() - SHOWN));
        }
        PlannedChange { agent: self.agent.clone(), why: self.why.clone(), changes }
    }
}
