//! Agents, and how one starts with its memory.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{AgentName, Improvement, Project};

/// The agents that have memory here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Agents {}

/// The agents, by name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgentList {
    /// The agents.
    pub agents: Vec<AgentSummary>,
}

/// An agent, and how much it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSummary {
    /// Its name.
    pub name: AgentName,
    /// Its improvements, in every scope.
    pub improvements: u64,
    /// Its evaluations.
    pub evaluations: u64,
    /// How many projects it has improvements for.
    pub projects: u64,
}

/// An agent's static text and all it learned (spec I11).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Initialise {
    /// Who starts.
    pub agent: AgentName,
    /// The agent's `.md` file. The daemon reads it and never writes it.
    pub file: Option<PathBuf>,
    /// The project it starts in.
    pub project: Option<Project>,
}

/// What an agent starts with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Initialised {
    /// Who starts.
    pub agent: AgentName,
    /// The text of its file.
    pub static_text: Option<String>,
    /// All active improvements, of every project and this one, best first.
    pub learned_improvements: Vec<Improvement>,
    /// Whether memory is on. Always, as the daemon answers.
    pub memory_enabled: bool,
}
