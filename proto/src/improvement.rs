//! Improvements: the patterns that agents learned (spec I1).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{AgentName, Confidence, ImprovementId, OperationId, ProjectHash, QValue};

/// Where an improvement applies (spec I9).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// In every project.
    Global,
    /// In one project.
    Project(ProjectHash),
}

/// How an agent came to an improvement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// It learned it itself.
    #[default]
    #[serde(rename = "self")]
    Own,
    /// It is a principle that several agents established.
    SystemPrinciples,
    /// It came from another agent.
    Transferred,
}

/// A learned pattern: the text that is searched, and what is known about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Improvement {
    /// Identifies it within its agent.
    pub id: ImprovementId,
    /// Whose it is.
    pub agent: AgentName,
    /// Where it applies.
    pub scope: Scope,
    /// What it is about, such as `error_handling`.
    pub category: String,
    /// The pattern itself.
    pub document: String,
    /// The task, session or feedback it came from. Improvements of one source are read as a sequence, in the order
    /// in which they were stored, and help to find one another.
    pub learned_from: Option<String>,
    /// How sure the agent is of it. Below 0.7 it is a candidate and never recalled (spec I4).
    pub confidence: Confidence,
    /// When it was stored.
    pub created_at: DateTime<Utc>,
    /// Words to filter by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Domain and technology; consolidation transfers a principle between agents that share one.
    #[serde(default)]
    pub context_tags: Vec<String>,
    /// How the agent came to it.
    #[serde(default)]
    pub source: Source,
    /// The improvement that it was transferred from.
    pub original_id: Option<ImprovementId>,
    /// How many independent sources stated it again (spec I5).
    #[serde(default)]
    pub corroborations: u32,
    /// The independent sources that stated it.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// The other agents that confirmed it, if any did.
    pub cross_validation: Option<CrossValidation>,
    /// Whether consolidation may use it.
    #[serde(default = "yes")]
    pub consolidation_eligible: bool,
    /// Why it is no longer recalled, if so.
    pub deprecation: Option<Deprecation>,
    /// When its success raised its confidence, if so.
    pub promotion: Option<Promotion>,
    /// The caller's own fields. They are kept and returned, never searched.
    #[serde(default)]
    pub attributes: BTreeMap<String, String>,
    /// What became of it in tasks.
    #[serde(default)]
    pub usage: Usage,
}

fn yes() -> bool {
    true
}

/// Other agents confirmed an improvement (spec I12, S5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrossValidation {
    /// The agents that confirmed it.
    pub agents: Vec<AgentName>,
    /// When.
    pub at: DateTime<Utc>,
}

/// An improvement is no longer recalled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deprecation {
    /// Why.
    pub reason: String,
    /// Since when.
    pub at: DateTime<Utc>,
}

/// An improvement's success raised its confidence (spec I8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promotion {
    /// When it was last promoted.
    pub at: DateTime<Utc>,
    /// Its usage count then: it is promoted again only on newer evidence.
    pub uses: u64,
}

/// What became of an improvement in tasks (spec I6, Q5).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tasks it was used in.
    pub usage_count: u64,
    /// Tasks it was used in that succeeded.
    pub success_count: u64,
    /// Tasks it was used in that failed.
    pub failure_count: u64,
    /// `success_count / usage_count`; absent while untested.
    pub success_rate: Option<f64>,
    /// When it was last used.
    pub last_used: Option<DateTime<Utc>>,
    /// Recalls that returned it.
    pub access_count: u64,
    /// When a recall last returned it.
    pub last_accessed: Option<DateTime<Utc>>,
    /// Learned utility, decayed to now (spec Q3, Q4).
    pub q_value: QValue,
}

/// The states an improvement can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Recalled when relevant.
    Active,
    /// Kept, but not sure enough to be recalled until it is corroborated.
    Candidate,
    /// No longer recalled.
    Deprecated,
}

/// List improvements, newest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Improvements {
    /// Only of this agent.
    pub agent: Option<AgentName>,
    /// Only of this project; otherwise of every scope.
    pub project: Option<crate::Project>,
    /// Only with this standing.
    pub standing: Option<Standing>,
    /// Only of this category.
    pub category: Option<String>,
    /// Only with this tag.
    pub tag: Option<String>,
    /// Only stored at or after this instant.
    pub since: Option<DateTime<Utc>>,
    /// How many to skip.
    pub offset: u64,
    /// How many to return; 0 for the default of 50. More than 1,000 are never returned at once.
    pub limit: u64,
}

/// A page of improvements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImprovementPage {
    /// The improvements of this page.
    pub improvements: Vec<Improvement>,
    /// How many there are in all.
    pub total: u64,
}

/// Show one improvement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FindImprovement {
    /// Whose; needed only where two agents use the same id.
    pub agent: Option<AgentName>,
    /// Which.
    pub id: ImprovementId,
}

/// Change an improvement. What is absent stays as it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Edit {
    /// Whose; needed only where two agents use the same id.
    pub agent: Option<AgentName>,
    /// Which.
    pub id: ImprovementId,
    /// The new text.
    pub document: Option<String>,
    /// The new category.
    pub category: Option<String>,
    /// The new confidence.
    pub confidence: Option<Confidence>,
    /// The new tags.
    pub tags: Option<Vec<String>>,
    /// The new context tags.
    pub context_tags: Option<Vec<String>>,
}

/// An improvement after a change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Edited {
    /// The improvement as it is now.
    pub improvement: Improvement,
    /// The operation that changed it; absent when there was nothing to change.
    pub operation: Option<OperationId>,
    /// Kinds of secrets that were redacted from the new text (spec M14).
    pub redacted: Vec<String>,
}

/// Stop recalling an improvement, but keep it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Deprecate {
    /// Whose; needed only where two agents use the same id.
    pub agent: Option<AgentName>,
    /// Which.
    pub id: ImprovementId,
    /// Why.
    pub reason: String,
}

/// Bring back a deprecated or archived improvement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Restore {
    /// Whose; needed only where two agents use the same id.
    pub agent: Option<AgentName>,
    /// Which.
    pub id: ImprovementId,
}

/// Archive an improvement and remove it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DeleteImprovement {
    /// Whose; needed only where two agents use the same id.
    pub agent: Option<AgentName>,
    /// Which.
    pub id: ImprovementId,
}

/// An improvement was archived and removed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Deleted {
    /// The improvement as it was.
    pub improvement: Improvement,
    /// The operation, to be undone with `Undo`.
    pub operation: OperationId,
    /// The archive file that holds it.
    pub archive: String,
}

/// An agent's improvements that may be consolidated: not deprecated and eligible (spec I12).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Consolidatable {
    /// Whose.
    pub agent: AgentName,
}

/// Mark an improvement as confirmed by other agents (spec I12).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MarkCrossValidated {
    /// Whose.
    pub agent: AgentName,
    /// Which.
    pub id: ImprovementId,
    /// The agents that confirmed it.
    pub validating_agents: Vec<AgentName>,
}

/// An improvement was marked as confirmed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CrossValidated {
    /// The improvement as it is now.
    pub improvement: Improvement,
}
