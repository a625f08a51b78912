//! What happened in a task, and what was learned from it (spec E1–E3).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{
    AgentName, Confidence, ContextState, EvaluationId, ImprovementId, OperationId, Project, ProjectHash,
    QValue, Quality, RecallId, Remembered, ReportId,
};

/// The report of a task: one call after every task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Names the report. Sending it again under the same id changes nothing (spec E2).
    pub id: ReportId,
    /// Who did the task.
    pub agent: AgentName,
    /// The project it was done in.
    pub project: Option<Project>,
    /// The task.
    pub task: String,
    /// Its type, such as `research` or `debug`.
    pub task_type: String,
    /// Whether it succeeded.
    pub success: bool,
    /// How good the result was.
    pub quality: Graded,
    /// Milliseconds it took.
    pub time_taken_ms: Option<u64>,
    /// Milliseconds it was expected to take.
    pub expected_ms: Option<u64>,
    /// Tokens it took.
    pub tokens_used: Option<u64>,
    /// Whether all validations passed.
    pub validation_passed: Option<bool>,
    /// The errors met on the way.
    pub errors: Vec<TaskError>,
    /// How often something was tried again.
    pub retries: u32,
    /// What the user said.
    pub feedback: Option<Feedback>,
    /// A better way that was found.
    pub optimization: Option<String>,
    /// What the agent learned.
    pub insights: Vec<Insight>,
    /// The recall that came before the task.
    pub recall: Option<RecallId>,
    /// Which of the recalled items were used. Only they get the credit or the blame (spec Q3).
    pub used: Vec<ImprovementId>,
    /// Anything else worth noting about the task.
    pub notes: Option<String>,
}

impl Report {
    /// A report with nothing but the essentials; set the other fields as needed.
    #[must_use]
    pub fn new(id: ReportId, agent: AgentName, task: &str, success: bool) -> Self {
        Self {
            id,
            agent,
            project: None,
            task: task.to_owned(),
            task_type: "general".to_owned(),
            success,
            quality: Graded::Unrated,
            time_taken_ms: None,
            expected_ms: None,
            tokens_used: None,
            validation_passed: None,
            errors: Vec::new(),
            retries: 0,
            feedback: None,
            optimization: None,
            insights: Vec::new(),
            recall: None,
            used: Vec::new(),
            notes: None,
        }
    }
}

/// How the quality of a result is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Graded {
    /// Not at all: it counts as 100 for a success and 0 for a failure.
    Unrated,
    /// As one number.
    Overall(Quality),
    /// As a score for every criterion of the agent's profile (spec E3).
    Criteria(Vec<CriterionScore>),
}

/// How well a result did by one criterion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CriterionScore {
    /// The criterion's name.
    pub criterion: String,
    /// How well it did.
    pub score: Quality,
}

/// An error met in a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskError {
    /// Its type, such as `ConnectionTimeout`.
    pub kind: String,
    /// Its message.
    pub message: String,
}

/// What the user said about a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// Whether it was praise.
    pub positive: bool,
    /// In the user's words.
    pub comment: String,
}

/// Something learned in a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Insight {
    /// The lesson.
    pub text: String,
    /// What it is about.
    pub category: String,
    /// How sure the agent is of it.
    pub confidence: Confidence,
}

/// What was learned from a report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Learned {
    /// The evaluation that was stored.
    pub evaluation: Evaluation,
    /// What became of each insight, the agent's own first, then those derived by rule.
    pub insights: Vec<InsightOutcome>,
    /// What became of each item of the recall.
    pub items: Vec<ItemOutcome>,
    /// The context's interactions and mode after this report; absent without a recall.
    pub context: Option<ContextState>,
    /// The operation, to be undone with `Undo`.
    pub operation: OperationId,
    /// Whether this report had been taken before; nothing was changed then.
    pub repeated: bool,
    /// Kinds of secrets that were redacted (spec M14).
    pub redacted: Vec<String>,
}

/// What became of an insight.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InsightOutcome {
    /// The insight.
    pub insight: Insight,
    /// Whether the daemon derived it by rule.
    pub derived: bool,
    /// How it was kept; absent when it was not.
    pub kept: Option<Remembered>,
    /// Why it was not kept.
    pub refused: Option<String>,
}

/// What a report did to an item of its recall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemOutcome {
    /// Which.
    pub id: ImprovementId,
    /// Whether it was used.
    pub used: bool,
    /// Its Q-value before.
    pub q_before: QValue,
    /// Its Q-value after.
    pub q_after: QValue,
    /// Its usage count after.
    pub usage_count: u64,
    /// Its success rate after.
    pub success_rate: Option<f64>,
    /// Whether this report deprecated it (spec I6).
    pub deprecated: bool,
}

/// The assessment of a task, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Identifies it within its agent.
    pub id: EvaluationId,
    /// Whose.
    pub agent: AgentName,
    /// The project the task was done in.
    pub project: Option<ProjectHash>,
    /// The task.
    pub task: String,
    /// Its type.
    pub task_type: String,
    /// Whether it succeeded.
    pub success: bool,
    /// How good the result was.
    pub quality: Quality,
    /// The scores it was computed from.
    pub criteria: Vec<CriterionScore>,
    /// Milliseconds it took.
    pub time_taken_ms: Option<u64>,
    /// Tokens it took.
    pub tokens_used: Option<u64>,
    /// What went well.
    pub strengths: Vec<String>,
    /// What went poorly.
    pub weaknesses: Vec<String>,
    /// What was learned.
    pub insights: Vec<Insight>,
    /// The recall that came before.
    pub recall: Option<RecallId>,
    /// The items of it that were used, and rules that were loaded with it. A note is named `note:` and its own id.
    pub used: Vec<ImprovementId>,
    /// Anything else worth noting.
    pub notes: Option<String>,
    /// When it was reported.
    pub at: DateTime<Utc>,
}

/// List evaluations, newest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Evaluations {
    /// Only of this agent.
    pub agent: Option<AgentName>,
    /// Only successes, or only failures.
    pub success: Option<bool>,
    /// Only at or after this instant.
    pub since: Option<DateTime<Utc>>,
    /// How many to skip.
    pub offset: u64,
    /// How many to return; 0 for the default of 50. More than 1,000 are never returned at once.
    pub limit: u64,
}

/// A page of evaluations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EvaluationPage {
    /// The evaluations of this page.
    pub evaluations: Vec<Evaluation>,
    /// How many there are in all.
    pub total: u64,
}
