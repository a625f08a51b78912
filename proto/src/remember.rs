//! Keeping a learned pattern (spec I4, I5, I9, M14).

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{AgentName, Confidence, ImprovementId, OperationId, ProjectHash, Scope};

/// Names a project (spec I3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Project {
    /// A folder in it. The daemon finds its root: the nearest ancestor with `.git`, or else the folder itself.
    Folder(PathBuf),
    /// Its hash.
    Hash(ProjectHash),
}

/// Which scopes an improvement is stored in (spec I9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeChoice {
    /// In every project.
    Global,
    /// In the project given.
    Project,
    /// In both.
    Both,
}

/// Keep a learned pattern.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Remember {
    /// Whose it is.
    pub agent: AgentName,
    /// The pattern itself.
    pub document: String,
    /// What it is about, such as `error_handling`. Decides the scope, unless one is chosen.
    pub category: String,
    /// How sure the agent is of it: from 0.7 it is stored, from 0.5 kept as a candidate, below refused (spec I4).
    pub confidence: Confidence,
    /// The project the agent works in.
    pub project: Option<Project>,
    /// Where to store it, if not where the category says (spec I9).
    pub scope: Option<ScopeChoice>,
    /// The task, session or feedback it came from. The same text from the same source is no new evidence.
    pub learned_from: Option<String>,
    /// Words to filter by.
    pub tags: Vec<String>,
    /// Domain and technology.
    pub context_tags: Vec<String>,
    /// The caller's own fields: kept and returned, never searched.
    pub attributes: BTreeMap<String, String>,
    /// Its id, if the caller has one.
    pub id: Option<ImprovementId>,
    /// When it was learned, if not now.
    pub created_at: Option<DateTime<Utc>>,
}

impl Remember {
    /// A pattern with nothing but the essentials; set the other fields as needed.
    #[must_use]
    pub fn new(agent: AgentName, category: &str, confidence: Confidence, document: &str) -> Self {
        Self {
            agent,
            document: document.to_owned(),
            category: category.to_owned(),
            confidence,
            project: None,
            scope: None,
            learned_from: None,
            tags: Vec::new(),
            context_tags: Vec::new(),
            attributes: BTreeMap::new(),
            id: None,
            created_at: None,
        }
    }
}

/// What became of a pattern that was to be remembered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Remembered {
    /// What happened in each scope.
    pub kept: Vec<Kept>,
    /// The operation that changed the memory; absent when nothing changed.
    pub operation: Option<OperationId>,
    /// Kinds of secrets that were redacted (spec M14).
    pub redacted: Vec<String>,
    /// Whether the text is longer than the embedding model's window. It is searched whole by its words all the same.
    pub truncated: bool,
    /// Whether the category is missing from the agent's profile (spec E3).
    pub unknown_category: bool,
}

/// What became of a pattern in one scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The improvement that now stands for it.
    pub id: ImprovementId,
    /// Its scope.
    pub scope: Scope,
    /// How it was kept.
    pub how: Keeping,
    /// The improvement's confidence now.
    pub confidence: Confidence,
}

/// How a pattern was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keeping {
    /// Stored, and recalled from now on.
    Stored,
    /// Kept as a candidate, until it is corroborated.
    Candidate,
    /// It was known; another source stated it, so its confidence rose.
    Corroborated,
    /// It was known, and a candidate; another source stated it, so it is recalled from now on.
    Confirmed,
    /// It was known, from this very source or from a recall, so it is no new evidence and nothing changed.
    Known,
}

/// Receive a principle that other agents established (spec I12).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReceivePrinciple {
    /// Who receives it.
    pub agent: AgentName,
    /// The principle.
    pub document: String,
    /// What it is about.
    pub category: String,
    /// The confidence it had where it comes from; it is discounted by 0.9.
    pub confidence: Confidence,
    /// The improvement it comes from.
    pub original_id: ImprovementId,
}
