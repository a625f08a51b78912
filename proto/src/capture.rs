//! Deciding whether what was said, or what a tool put out, is worth keeping (spec M9).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{AgentName, Confidence, Project, Remembered, Written};

/// What a sentence tells an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// What the agent said or did was wrong.
    Correction,
    /// How the user wants things done, from now on.
    Preference,
    /// Something failed.
    Error,
    /// The agent cannot do something that it is wanted to.
    FeatureGap,
    /// The agent did not know something.
    KnowledgeGap,
    /// There is a better way.
    BetterApproach,
}

impl Signal {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Correction,
        Self::Preference,
        Self::Error,
        Self::FeatureGap,
        Self::KnowledgeGap,
        Self::BetterApproach,
    ];

    /// Its name, as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Correction => "correction",
            Self::Preference => "preference",
            Self::Error => "error",
            Self::FeatureGap => "feature_gap",
            Self::KnowledgeGap => "knowledge_gap",
            Self::BetterApproach => "better_approach",
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Decide whether a sentence is worth keeping.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Capture {
    /// What a user said; or what a tool put out as its error, when there is a tool.
    pub text: String,
    /// The tool whose outcome it is.
    pub tool: Option<ToolOutcome>,
    /// Also keep what is captured.
    pub keep: Option<KeepCaptured>,
}

/// How a tool ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutcome {
    /// Its name.
    pub name: String,
    /// Its exit code, if it has one.
    pub exit_code: Option<i32>,
    /// Whether it is known to have failed.
    pub failed: bool,
}

/// Where what is captured is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeepCaptured {
    /// Whose it is.
    pub agent: AgentName,
    /// The project the agent works in.
    pub project: Option<Project>,
}

/// What was decided, and why.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Captured {
    /// What is worth keeping; absent when nothing is.
    pub finding: Option<Finding>,
    /// The patterns that matched and do not count.
    pub vetoed: Vec<Vetoed>,
    /// What became of it, if it was to be kept and there is no memory tree.
    pub kept: Option<Remembered>,
    /// Where in the memory tree it is, if it was to be kept and there is one.
    pub noted: Option<Written>,
    /// Kinds of secrets that were redacted (spec M14).
    pub redacted: Vec<String>,
}

/// What is worth keeping of a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is.
    pub signal: Signal,
    /// How sure that is.
    pub confidence: Confidence,
    /// The pattern that matched.
    pub pattern: String,
    /// The words that it matched.
    pub words: String,
    /// The sentence they are in.
    pub sentence: String,
    /// The rule that follows, where it is plain.
    pub rule: Option<String>,
}

/// A pattern that matched, and why that does not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vetoed {
    /// The pattern.
    pub pattern: String,
    /// The words that it matched.
    pub words: String,
    /// The veto.
    pub veto: String,
    /// What the sentence is instead.
    pub because: String,
}
