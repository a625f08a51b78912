//! The weekly review: how a week went, in figures that a person can judge (spec P3).

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use crate::{AgentName, ContextState, Improvement, JobName, OperationId, Place, SkillEvidence, Week};

/// The review of a week.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReviewOf {
    /// Which; absent for the week that runs, up to now. A week whose review was kept is answered from it.
    pub week: Option<Week>,
}

/// The reviews that are kept, newest first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reviews {}

/// The reviews that are kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewList {
    /// Newest first.
    pub reviews: Vec<ReviewSummary>,
}

/// A review in a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewSummary {
    /// The week.
    pub week: Week,
    /// When the review was made.
    pub made_at: DateTime<Utc>,
    /// What all agents did.
    pub all: Figures,
    /// Criteria that are met.
    pub met: u64,
    /// Criteria that are met or not met; the others have nothing to be judged by yet.
    pub judged: u64,
}

/// How a week went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// The week, in local time.
    pub week: Week,
    /// Its first instant.
    pub from: DateTime<Utc>,
    /// The first instant after it.
    pub to: DateTime<Utc>,
    /// When the review was made. Before `to` the week was still running, and the figures go up to here.
    pub made_at: DateTime<Utc>,
    /// What all agents did.
    pub all: Figures,
    /// What all agents did in the week before.
    pub before: Figures,
    /// What all agents did on each day, Monday first.
    pub days: Vec<Day>,
    /// Each agent that has memory: most tasks in the week first, then by name.
    pub agents: Vec<AgentReview>,
    /// The improvements there are, by what can become of them.
    pub standing: StandingCount,
    /// How many improvements have which Q-value, in 20 equal bins from 0 to 1. Those that were neither recalled nor
    /// used stand at the start and are not counted; nor are deprecated ones.
    pub q_values: Vec<u64>,
    /// The contexts, by name.
    pub contexts: Vec<ContextReview>,
    /// Improvements that were used in the week and have the best record, best first; at most five.
    pub best: Vec<Lesson>,
    /// Improvements that were used in the week, failed in it, and have the worst record, worst first; at most five.
    pub worst: Vec<Lesson>,
    /// Improvements that were used in the week and succeeded too seldom to be recalled any longer (spec I10).
    pub fallen: u64,
    /// Insights that sessions shared with one another in the week and that are not consumed, newest first; at most ten.
    #[serde(default)]
    pub shared: Vec<SharedInsight>,
    /// Learnings that are worth being a skill when the review is made, those that meet the most criteria first; at most
    /// five.
    #[serde(default)]
    pub skills: Vec<SkillIdea>,
    /// What maintenance did, in order.
    pub maintenance: Vec<JobWork>,
    /// The criteria of a memory that works, in their order.
    pub criteria: Vec<SuccessCriterion>,
}

impl Review {
    /// Whether the week was over when the review was made.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.made_at >= self.to
    }

    /// The review in a line.
    #[must_use]
    pub fn summary(&self) -> ReviewSummary {
        let count = |judgements: &[Judgement]| {
            self.criteria.iter().filter(|one| judgements.contains(&one.judgement)).count() as u64
        };
        ReviewSummary {
            week: self.week,
            made_at: self.made_at,
            all: self.all.clone(),
            met: count(&[Judgement::Met]),
            judged: count(&[Judgement::Met, Judgement::NotMet]),
        }
    }
}

/// What was done in a span of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Tasks that were reported.
    pub tasks: u64,
    /// Of them, those that succeeded.
    pub succeeded: u64,
    /// Their mean quality, 0 to 100; absent without any.
    pub quality: Option<f64>,
    /// Insights in their reports.
    pub insights: u64,
    /// Improvements that were stored and are there still.
    pub stored: u64,
    /// Recalls that were made.
    pub recalls: u64,
    /// Of them, those that were reported.
    pub reported: u64,
}

impl Figures {
    /// The share of the tasks that succeeded; absent without any.
    #[must_use]
    pub fn success_rate(&self) -> Option<f64> {
        share(self.succeeded, self.tasks)
    }
}

/// What was done on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Day {
    /// The day, in local time.
    pub day: NaiveDate,
    /// Tasks that were reported.
    pub tasks: u64,
    /// Of them, those that succeeded.
    pub succeeded: u64,
}

/// How an agent's week went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentReview {
    /// Whose.
    pub agent: AgentName,
    /// What it did.
    pub week: Figures,
    /// What it did in the week before.
    pub before: Figures,
    /// How its quality moved over 30 days, by the rule of its snapshots (spec P1); absent below two tasks.
    pub trend: Option<f64>,
    /// The last twelve weeks, oldest first; the last is this one.
    pub weeks: Vec<Point>,
}

/// How an agent did in a week.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The week.
    pub week: Week,
    /// Tasks that were reported.
    pub tasks: u64,
    /// Of them, those that succeeded.
    pub succeeded: u64,
    /// Their mean quality, 0 to 100; absent without any.
    pub quality: Option<f64>,
}

impl Point {
    /// The share of the tasks that succeeded; absent without any.
    #[must_use]
    pub fn success_rate(&self) -> Option<f64> {
        share(self.succeeded, self.tasks)
    }
}

/// The improvements there are when a review is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingCount {
    /// Those that are recalled when relevant.
    pub active: u64,
    /// Those that are not sure enough to be recalled.
    pub candidates: u64,
    /// Those that are no longer recalled.
    pub deprecated: u64,
}

/// A context, and how it grew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextReview {
    /// The context when the review is made.
    pub state: ContextState,
    /// Its recalls of the week whose outcome was reported.
    pub grown: u64,
}

/// An improvement that was used in the week, and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lesson {
    /// The improvement when the review is made, with its usage in all.
    pub improvement: Improvement,
    /// Tasks of the week in which it was used.
    pub uses: u64,
    /// Of them, those that succeeded.
    pub successes: u64,
    /// Whether it can still be recalled.
    pub recalled: bool,
    /// The last tasks in which it was used, newest first; at most three.
    pub tasks: Vec<TaskUse>,
}

/// A task in which an improvement was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskUse {
    /// The task.
    pub task: String,
    /// Whether it succeeded.
    pub success: bool,
    /// When it was reported.
    pub at: DateTime<Utc>,
}

/// An insight that a session shared with others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedInsight {
    /// What it is about.
    pub title: String,
    /// What another session can do with it.
    pub rule: Option<String>,
    /// The name of its file in `shared/`.
    pub name: String,
    /// When it was shared.
    pub day: NaiveDate,
}

/// A learning that is worth being a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillIdea {
    /// The id of its note.
    pub note: String,
    /// What it is about, in a line.
    pub title: String,
    /// The takeaway, if it has one apart from its title.
    pub rule: Option<String>,
    /// Where it is noted.
    pub place: Place,
    /// The criteria that it meets, in their order.
    pub met: Vec<SkillEvidence>,
}

/// What a run of a job changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobWork {
    /// Which job.
    pub job: JobName,
    /// When.
    pub at: DateTime<Utc>,
    /// Its operation.
    pub operation: OperationId,
    /// How many changes it made.
    pub changes: u64,
    /// Whether it was undone.
    pub undone: bool,
}

/// A criterion of a memory that works, and whether it is met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuccessCriterion {
    /// Which.
    pub name: CriterionName,
    /// Whether it is met.
    pub judgement: Judgement,
    /// When it is met, in a sentence.
    pub rule: String,
    /// What it is judged by, in a few words.
    pub figure: String,
}

/// The criteria of a memory that works, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionName {
    /// Agents learn from their tasks.
    Stored,
    /// What is recalled is used.
    Relevant,
    /// What was used is counted.
    Tracked,
    /// Quality rises.
    Improving,
    /// Every task is evaluated.
    Evaluated,
    /// What fails is no longer recalled.
    Deprecation,
    /// What succeeds is promoted.
    Promotion,
    /// No agent's file is changed.
    FilesUntouched,
}

/// Whether a criterion is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// It is.
    Met,
    /// It is not.
    NotMet,
    /// There is nothing to judge it by yet.
    Open,
}

#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
