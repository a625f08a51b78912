//! A report that is still being filled in, from flags or from a file that leaves out what it does not need.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;

use chrono::Utc;
use memoryd_client::proto::{
    AgentName, CriterionScore, Fault, Feedback, Graded, ImprovementId, Insight, Project, Quality, RecallId,
    Report, ReportId, TaskError, frame,
};
use serde::Deserialize;

use crate::input;

/// The fields of a [`Report`]. Only the task and its success are required in a file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    #[serde(default)]
    pub id: Option<ReportId>,
    #[serde(default)]
    pub agent: Option<AgentName>,
    #[serde(default)]
    pub project: Option<Project>,
    pub task: String,
    #[serde(default = "general")]
    pub task_type: String,
    pub success: bool,
    #[serde(default)]
    pub quality: Grade,
    #[serde(default)]
    pub time_taken_ms: Option<u64>,
    #[serde(default)]
    pub expected_ms: Option<u64>,
    #[serde(default)]
    pub tokens_used: Option<u64>,
    #[serde(default)]
    pub validation_passed: Option<bool>,
    #[serde(default)]
    pub errors: Vec<TaskError>,
    #[serde(default)]
    pub retries: u32,
    #[serde(default)]
    pub feedback: Option<Feedback>,
    #[serde(default)]
    pub optimization: Option<String>,
    #[serde(default)]
    pub insights: Vec<Insight>,
    #[serde(default)]
    pub recall: Option<RecallId>,
    #[serde(default)]
    pub used: Vec<ImprovementId>,
    #[serde(default)]
    pub notes: Option<String>,
}

/// A quality as people write it: as reports hold it, as a number, or as a table of scores.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Grade {
    Exact(Graded),
    Overall(Quality),
    Scores(BTreeMap<String, Quality>),
}

impl Default for Grade {
    fn default() -> Self {
        Self::Exact(Graded::Unrated)
    }
}

impl From<Graded> for Grade {
    fn from(graded: Graded) -> Self {
        Self::Exact(graded)
    }
}

impl From<Grade> for Graded {
    fn from(grade: Grade) -> Self {
        match grade {
            Grade::Exact(graded) => graded,
            Grade::Overall(quality) => Self::Overall(quality),
            Grade::Scores(scores) => Self::Criteria(
                scores.into_iter().map(|(criterion, score)| CriterionScore { criterion, score }).collect(),
            ),
        }
    }
}

impl Draft {
    /// The draft in a JSON file.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        serde_json::from_str(&input::text(path)?).map_err(|error| {
            Fault::invalid(
                format!("{} holds no report: {error}", path.display()),
                "A report is a JSON object with at least \"task\" and \"success\".",
            )
        })
    }

    /// The report, once it is known whose it is.
    pub fn finish(self) -> Result<Report, Fault> {
        let agent = self.agent.ok_or_else(|| {
            Fault::invalid(
                "The report does not say whose it is",
                "Add \"agent\" to the file, or pass --agent.",
            )
        })?;
        let named = self.id.is_some();
        let mut report = Report {
            id: self.id.map_or_else(|| "unnamed".parse(), Ok)?,
            agent,
            project: self.project,
            task: self.task,
            task_type: self.task_type,
            success: self.success,
            quality: self.quality.into(),
            time_taken_ms: self.time_taken_ms,
            expected_ms: self.expected_ms,
            tokens_used: self.tokens_used,
            validation_passed: self.validation_passed,
            errors: self.errors,
            retries: self.retries,
            feedback: self.feedback,
            optimization: self.optimization,
            insights: self.insights,
            recall: self.recall,
            used: self.used,
            notes: self.notes,
        };
        if !named {
            report.id = id(&report)?;
        }
        Ok(report)
    }
}

/// An id for a report without one. A recall has one report, so there the id follows from the content: sent again, it
/// counts once. Without a recall two equal reports are two tasks.
fn id(report: &Report) -> Result<ReportId, Fault> {
    let mut hasher = DefaultHasher::new();
    hasher.write(&frame::encode(report)?);
    if report.recall.is_none() {
        hasher.write_i64(Utc::now().timestamp_nanos_opt().unwrap_or_default());
        hasher.write_u32(std::process::id());
    }
    format!("report_{:016x}", hasher.finish()).parse()
}

fn general() -> String {
    "general".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graded(quality: &str) -> Graded {
        let json = format!(r#"{{"agent": "ada", "task": "t", "success": true, "quality": {quality}}}"#);
        serde_json::from_str::<Draft>(&json).unwrap().finish().unwrap().quality
    }

    #[test]
    fn quality_is_written_in_three_ways() {
        let eighty = Quality::new(80.0).unwrap();
        assert_eq!(graded("80"), Graded::Overall(eighty));
        assert_eq!(graded(r#"{"overall": 80}"#), Graded::Overall(eighty));
        assert_eq!(graded(r#""unrated""#), Graded::Unrated);
        let scores = vec![CriterionScore { criterion: "speed".to_owned(), score: eighty }];
        assert_eq!(graded(r#"{"speed": 80}"#), Graded::Criteria(scores));
    }

    #[test]
    fn a_report_prints_as_it_reads() {
        let report = Report::new("report_1".parse().unwrap(), "ada".parse().unwrap(), "upload", false);
        let json = serde_json::to_string(&report).unwrap();
        let again = serde_json::from_str::<Draft>(&json).unwrap().finish().unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), json);
    }

    #[test]
    fn a_misspelt_field_is_not_ignored() {
        let json = r#"{"agent": "ada", "task": "t", "success": true, "recal": "rec_1"}"#;
        assert!(serde_json::from_str::<Draft>(json).is_err());
    }
}
