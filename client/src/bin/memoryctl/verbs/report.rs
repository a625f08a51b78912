//! `memoryctl report`

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use memoryd_client::proto::{
    AgentName, CriterionScore, Fault, Feedback, Graded, ImprovementId, Insight, Quality, RecallId, Report,
    ReportId, Serve, TaskError,
};

use crate::arguments::{Workplace, confidence, pair, quality, weight};
use crate::exit::Outcome;
use crate::output::Output;

mod draft;
mod learned;

use draft::Draft;

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("feedback").args(["feedback_positive", "feedback_negative"]))]
pub struct Arguments {
    /// The agent
    #[arg(long, env = "MEMORYD_AGENT", value_name = "NAME", required_unless_present = "file")]
    agent: Option<AgentName>,
    #[command(flatten)]
    workplace: Workplace,
    /// Read the report from a JSON file, - for standard input; what is absent there has its default
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ending", "task", "recall", "quality", "scores"])]
    file: Option<PathBuf>,
    /// What the task was
    #[arg(long, value_name = "TEXT", required_unless_present = "file")]
    task: Option<String>,
    #[command(flatten)]
    ending: Ending,
    /// The recall that came before the task
    #[arg(long, value_name = "ID")]
    recall: Option<RecallId>,
    /// A recalled improvement, note or always loaded rule that was used; may be repeated
    #[arg(long, value_name = "ID", requires = "recall")]
    used: Vec<ImprovementId>,
    /// How good the result was [default: 100 for a success, 0 for a failure]
    #[arg(long, value_name = "0..100", value_parser = quality)]
    quality: Option<Quality>,
    /// How good it was by a criterion of the agent's profile; may be repeated
    #[arg(long = "score", value_name = "CRITERION=0..100", value_parser = weight, conflicts_with = "quality")]
    scores: Vec<(String, f64)>,
    /// The type of the task, such as debug or research
    #[arg(long = "type", value_name = "TYPE", default_value = "general")]
    task_type: String,
    /// Milliseconds it took
    #[arg(long, value_name = "MS")]
    time_ms: Option<u64>,
    /// Milliseconds it was expected to take
    #[arg(long, value_name = "MS")]
    expected_ms: Option<u64>,
    /// Tokens it took
    #[arg(long, value_name = "COUNT")]
    tokens: Option<u64>,
    #[command(flatten)]
    validation: Validation,
    /// An error met on the way; may be repeated
    #[arg(long = "error", value_name = "KIND=MESSAGE", value_parser = pair)]
    errors: Vec<(String, String)>,
    /// How often something was tried again
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    retries: u32,
    /// What the user praised
    #[arg(long, value_name = "TEXT")]
    feedback_positive: Option<String>,
    /// What the user criticised
    #[arg(long, value_name = "TEXT")]
    feedback_negative: Option<String>,
    /// A better way that was found
    #[arg(long, value_name = "TEXT")]
    optimization: Option<String>,
    /// Something learned; may be repeated
    #[arg(long = "insight", value_name = "CATEGORY:CONFIDENCE:TEXT", value_parser = insight)]
    insights: Vec<Insight>,
    /// Anything else worth noting
    #[arg(long, value_name = "TEXT")]
    notes: Option<String>,
    /// Names the report, so that sending it again changes nothing [default: made up]
    #[arg(long)]
    id: Option<ReportId>,
}

/// How the task ended.
#[derive(Args, Debug)]
#[group(id = "ending", multiple = false)]
struct Ending {
    /// It succeeded
    #[arg(long, required_unless_present_any = ["file", "failure"])]
    success: bool,
    /// It failed
    #[arg(long)]
    failure: bool,
}

/// What validation said, if there was any.
#[derive(Args, Debug)]
#[group(id = "validation", multiple = false)]
struct Validation {
    /// All validations passed
    #[arg(long)]
    validated: bool,
    /// Some validation failed
    #[arg(long)]
    not_validated: bool,
}

pub fn run(arguments: Arguments, service: &impl Serve<Report>, out: &mut Output) -> Outcome {
    out.reply(&service.serve(arguments.report()?)?, learned::render)
}

impl Arguments {
    fn report(self) -> Result<Report, Fault> {
        let project = self.workplace.project()?;
        let (id, agent) = (self.id.clone(), self.agent.clone());
        let draft = match &self.file {
            Some(path) => Draft::read(path)?,
            None => self.draft()?,
        };
        Draft {
            id: id.or(draft.id),
            agent: draft.agent.or(agent),
            project: draft.project.or(project),
            ..draft
        }
        .finish()
    }

    fn draft(self) -> Result<Draft, Fault> {
        let score = |(criterion, score)| Ok(CriterionScore { criterion, score: Quality::new(score)? });
        let scores = self.scores.into_iter().map(score).collect::<Result<Vec<_>, Fault>>()?;
        let feedback = |positive| move |comment| Feedback { positive, comment };
        Ok(Draft {
            task: self.task.unwrap_or_default(),
            task_type: self.task_type,
            success: self.ending.success,
            quality: match self.quality {
                Some(quality) => Graded::Overall(quality).into(),
                None if scores.is_empty() => Graded::Unrated.into(),
                None => Graded::Criteria(scores).into(),
            },
            time_taken_ms: self.time_ms,
            expected_ms: self.expected_ms,
            tokens_used: self.tokens,
            validation_passed: (self.validation.validated || self.validation.not_validated)
                .then_some(self.validation.validated),
            errors: self.errors.into_iter().map(|(kind, message)| TaskError { kind, message }).collect(),
            retries: self.retries,
            feedback: self
                .feedback_positive
                .map(feedback(true))
                .or_else(|| self.feedback_negative.map(feedback(false))),
            optimization: self.optimization,
            insights: self.insights,
            recall: self.recall,
            used: self.used,
            notes: self.notes,
            ..Draft::default()
        })
    }
}

fn insight(text: &str) -> Result<Insight, Fault> {
    let mut parts = text.splitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(category), Some(sure), Some(lesson)) if !lesson.trim().is_empty() => Ok(Insight {
            text: lesson.trim().to_owned(),
            category: category.trim().to_owned(),
            confidence: confidence(sure)?,
        }),
        _ => Err(Fault::invalid(
            format!("{text:?} is no insight"),
            "Write it as category:confidence:text, such as error_handling:0.8:Retry with backoff.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn report(line: &str) -> Report {
        let words = line.split_whitespace();
        Line::try_parse_from(["report"].into_iter().chain(words)).unwrap().arguments.report().unwrap()
    }

    #[test]
    fn a_report_is_read_from_flags() {
        let report = report(
            "--agent ada --task upload --success --recall rec_1 --used imp_1 --used imp_2 --score speed=80 \
             --not-validated --error Timeout=slow --insight code_quality:0.8:Measure:first --no-project",
        );
        assert_eq!(report.used.len(), 2);
        assert_eq!(report.validation_passed, Some(false));
        assert_eq!(report.insights[0].text, "Measure:first");
        assert_eq!(report.errors[0].kind, "Timeout");
        assert!(matches!(report.quality, Graded::Criteria(scores) if scores[0].criterion == "speed"));
        assert_eq!(report.project, None);
    }

    #[test]
    fn the_same_report_of_a_recall_has_the_same_id() {
        let line = "--agent ada --task upload --success --recall rec_1";
        assert_eq!(report(line).id, report(line).id);
        assert_ne!(report(line).id, report("--agent ada --task upload --failure --recall rec_1").id);
        let line = "--agent ada --task upload --success";
        assert_ne!(report(line).id, report(line).id);
    }

    #[test]
    fn an_outcome_is_needed_and_only_one() {
        let parse = |line: &str| Line::try_parse_from(line.split_whitespace()).is_ok();
        assert!(parse("report --agent ada --task upload --failure"));
        assert!(!parse("report --agent ada --task upload"));
        assert!(!parse("report --agent ada --task upload --success --failure"));
        assert!(!parse("report --agent ada --task upload --success --used imp_1"));
    }
}
