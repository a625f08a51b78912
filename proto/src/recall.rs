//! Recall before a task, and why it answered what it did (spec I10, Q1–Q9).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{AgentName, Confidence, ContextName, ImprovementId, NoteKind, Project, RecallId, Scope, Tier};

/// Learned patterns worth knowing before a task: improvements of the agent, and notes of the memory tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recall {
    /// Who asks.
    pub agent: AgentName,
    /// The task, in the agent's words.
    pub query: String,
    /// The project the agent works in; its patterns are searched beside the global ones.
    pub project: Option<Project>,
    /// The kind of work; absent for the configured default.
    pub context: Option<ContextName>,
    /// How many to return; 0 for the default of 5. Never more than 1,000.
    pub limit: u32,
    /// Only of this category. Notes have none.
    pub category: Option<String>,
    /// Only with all of these tags. Notes have none.
    pub tags: Vec<String>,
    /// Whether notes in the archive are searched too (spec M3).
    pub archive: bool,
}

impl Recall {
    /// A recall with nothing but the essentials; set the other fields as needed.
    #[must_use]
    pub fn new(agent: AgentName, query: &str) -> Self {
        Self {
            agent,
            query: query.to_owned(),
            project: None,
            context: None,
            limit: 0,
            category: None,
            tags: Vec::new(),
            archive: false,
        }
    }
}

/// What a recall found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recalled {
    /// Names this recall; the task's report refers to it (spec Q6).
    pub recall: RecallId,
    /// The rules of `memory.md`, whatever was asked (spec M3).
    pub hot: Vec<HotRule>,
    /// The patterns, best first.
    pub items: Vec<Item>,
    /// The context it was made in, and how warm that is.
    pub context: ContextState,
    /// The weight of learned utility in the scores: 0 in a cold context.
    pub alpha: f64,
    /// How many improvements and notes could have been returned.
    pub searched: u64,
    /// The files that notes were taken from (spec M15).
    pub loaded: Vec<Loaded>,
    /// What was relevant and is left out, and files that could not be read: what, and why (spec M15).
    pub skipped: Vec<String>,
    /// Why only one of the two signals was used, if so.
    pub degraded: Option<String>,
}

/// A pattern that a recall returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Identifies the improvement; of a note, `note:` and the note's own id.
    pub id: ImprovementId,
    /// Where it was taken from.
    pub source: Origin,
    /// Where it applies.
    pub scope: Scope,
    /// The pattern.
    pub document: String,
    /// What it is about: of a note, the heading that it stands under.
    pub category: String,
    /// How sure the agent is of it. A note is what somebody wrote down, and certain.
    pub confidence: Confidence,
    /// Items and rules that say the opposite, where neither is more specific or more recent: ask the user (spec M8).
    pub conflicts: Vec<ImprovementId>,
    /// Why it stands where it stands.
    pub why: Why,
}

/// Where a pattern was taken from (spec M15).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The agent's improvements.
    #[default]
    Improvement,
    /// A file of the memory tree, or a project's learnings.
    Note {
        /// The file.
        file: String,
        /// The note's first line there, from 1.
        line: u64,
        /// The file's tier.
        tier: Tier,
        /// What kind of entry it is.
        kind: NoteKind,
    },
}

/// A rule that is always loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotRule {
    /// Names it in reports: `note:` and the note's own id.
    pub id: ImprovementId,
    /// Where it was taken from.
    pub source: Origin,
    /// The rule.
    pub document: String,
    /// The heading that it stands under.
    pub section: Option<String>,
    /// Whether it bears on the query. Only then does the recall count as one of it.
    pub relevant: bool,
    /// Items and rules that say the opposite, where neither is more specific or more recent: ask the user (spec M8).
    pub conflicts: Vec<ImprovementId>,
}

/// A file that notes were taken from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// The file.
    pub file: String,
    /// Its tier.
    pub tier: Tier,
    /// How many of its notes are in the answer.
    pub notes: u64,
}

/// How an item came to its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// Cosine of the query and the text, -1 to 1.
    pub cosine: f64,
    /// The task in which it helped that is closest to the query, if it counts for more than the text (spec Q8).
    pub case: Option<String>,
    /// Cosine of the query and that task.
    pub case_cosine: Option<f64>,
    /// Share of the query's words that the text answers, weighted by rarity: BM25 as a share of the most that any
    /// text could reach, 0 to 1.
    pub lexical: f64,
    /// What it gains from its neighbours in a sequence.
    pub neighbours: f64,
    /// All signals together.
    pub similarity: f64,
    /// Similarity, calibrated to 0 to 1: the gate looks at it, and learned utility is blended with it.
    pub relevance: f64,
    /// Learned utility for this query (spec Q3, Q7).
    pub q: f64,
    /// The weight of `q` (spec Q1).
    pub alpha: f64,
    /// 1.2 when other agents confirmed it, else 1 (spec I10).
    pub multiplier: f64,
    /// `((1 − alpha) · relevance + alpha · q) · multiplier`.
    pub score: f64,
    /// Past outcomes near this query, weighted by nearness and age, that `q` rests on.
    pub evidence: f64,
}

/// Why a recall answered what it did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Explain {
    /// Which recall.
    pub recall: RecallId,
}

/// A recall, with every item that was considered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Explanation {
    /// Which recall.
    pub recall: RecallId,
    /// Who asked.
    pub agent: AgentName,
    /// What was asked.
    pub query: String,
    /// When.
    pub at: DateTime<Utc>,
    /// The context.
    pub context: ContextName,
    /// The weight of learned utility then.
    pub alpha: f64,
    /// The estimator of learned utility.
    pub estimator: Estimator,
    /// The relevance an item had to reach.
    pub gate: f64,
    /// What became of its report.
    pub outcome: RecallOutcome,
    /// Of the rules that were loaded whatever was asked, those that bear on the query or contradict something.
    pub hot: Vec<HotRule>,
    /// How many such rules were loaded.
    pub loaded: u64,
    /// Every item considered: first the returned ones, best first, then those that fell, nearest first.
    pub items: Vec<Considered>,
}

/// An item that a recall considered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Considered {
    /// Identifies the improvement; of a note, `note:` and the note's own id.
    pub id: ImprovementId,
    /// Where it was taken from.
    #[serde(default)]
    pub source: Origin,
    /// Where it applies.
    pub scope: Scope,
    /// Its text then.
    pub document: String,
    /// The words of the query that the text has too, in any form.
    #[serde(default)]
    pub words: Vec<String>,
    /// Items and rules that say the opposite: those that overrule it, or that it leaves open (spec M8).
    #[serde(default)]
    pub conflicts: Vec<ImprovementId>,
    /// How it came to its place.
    pub why: Why,
    /// Whether it was returned, or at which gate it fell.
    pub verdict: Verdict,
}

/// Whether an item was returned, or at which gate it fell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Returned.
    Returned,
    /// Relevant, but others ranked higher.
    Outranked,
    /// Says the same as an item of the project scope, or of a higher rank, or as a rule that is always loaded.
    Duplicate,
    /// Says the opposite of a note that is more specific, or more recent (spec M8).
    Overruled,
    /// Not relevant enough to the query.
    Irrelevant,
    /// Deprecated.
    Deprecated,
    /// A candidate that waits for corroboration.
    Candidate,
    /// Used, and too rarely with success.
    LowSuccess,
}

/// What became of a recall's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecallOutcome {
    /// Not reported yet.
    Open,
    /// The task succeeded.
    Succeeded,
    /// The task failed.
    Failed,
    /// Not reported within 24 hours.
    Expired,
}

/// How learned utility is estimated (spec Q7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// One number for each memory (QAVR).
    Global,
    /// Usefulness near the query, from past outcomes.
    #[default]
    Contextual,
}

/// A context, and how warm it is (spec Q1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextState {
    /// The context.
    pub name: ContextName,
    /// Recalls in it whose outcome was reported.
    pub interactions: u64,
    /// Interactions from which it is warm.
    pub warm_from: u64,
    /// Whether learned utility counts.
    pub mode: Mode,
}

/// Whether learned utility counts in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Not yet: fewer than 100 interactions.
    Cold,
    /// It does.
    Warm,
}

/// The contexts and how warm they are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contexts {}

/// The contexts, by name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ContextList {
    /// The contexts.
    pub contexts: Vec<ContextState>,
}
