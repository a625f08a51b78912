//! What a task report says about strengths, weaknesses and insights (AMS; spec E1).

use memoryd_proto::{Confidence, Insight, Report};
use serde::{Deserialize, Serialize};

/// A rule that derives an insight from a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InsightRule {
    /// When the rule applies.
    pub when: Trigger,
    /// The lesson. `{error}` and `{optimization}` stand for what the report says.
    pub text: String,
    /// What it is about.
    pub category: String,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
}

/// What a report must hold for a rule to apply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The task succeeded although it met an error of this type.
    Recovered(String),
    /// A better way was found.
    Optimization,
}

/// What went well.
#[must_use]
pub fn strengths(report: &Report) -> Vec<String> {
    let faster =
        matches!((report.time_taken_ms, report.expected_ms), (Some(took), Some(expected)) if took < expected);
    let praise = report.feedback.as_ref().filter(|feedback| feedback.positive);
    [
        faster.then(|| "Completed faster than expected".to_owned()),
        (report.validation_passed == Some(true)).then(|| "All validations passed".to_owned()),
        praise.map(|feedback| feedback.comment.clone()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What went poorly.
#[must_use]
pub fn weaknesses(report: &Report) -> Vec<String> {
    let blame = report.feedback.as_ref().filter(|feedback| !feedback.positive);
    let errors = report.errors.len();
    [
        (errors > 0).then(|| format!("Encountered {errors} errors")),
        (report.retries > 0).then(|| format!("Required {} retries", report.retries)),
        blame.map(|feedback| feedback.comment.clone()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The insights that the rules derive from a report.
#[must_use]
pub fn insights(report: &Report, rules: &[InsightRule]) -> Vec<Insight> {
    rules.iter().filter_map(|rule| derive(report, rule)).collect()
}

fn derive(report: &Report, rule: &InsightRule) -> Option<Insight> {
    let text = match &rule.when {
        Trigger::Recovered(kind) => {
            let met = report.errors.iter().find(|error| error.kind == *kind);
            met.filter(|_| report.success).map(|error| rule.text.replace("{error}", &error.kind))
        }
        Trigger::Optimization => {
            report.optimization.as_ref().map(|found| rule.text.replace("{optimization}", found))
        }
    }?;
    Some(Insight { text, category: rule.category.clone(), confidence: Confidence::clamped(rule.confidence) })
}

/// The rules of the seed.
#[must_use]
pub fn seed_rules() -> Vec<InsightRule> {
    vec![
        InsightRule {
            when: Trigger::Recovered("ConnectionTimeout".to_owned()),
            text: "When encountering ConnectionTimeout, retry with exponential backoff (3 attempts)"
                .to_owned(),
            category: "error_handling".to_owned(),
            confidence: 0.8,
        },
        InsightRule {
            when: Trigger::Optimization,
            text: "{optimization}".to_owned(),
            category: "optimization".to_owned(),
            confidence: 0.9,
        },
    ]
}

#[cfg(test)]
mod tests {
    use memoryd_proto::{Feedback, TaskError};

    use super::*;

    fn report(success: bool) -> Report {
        Report::new("r1".parse().unwrap(), "finder".parse().unwrap(), "find it", success)
    }

    #[test]
    fn e1_strengths_and_weaknesses_by_the_seed() {
        let mut told = report(true);
        told.time_taken_ms = Some(5);
        told.expected_ms = Some(9);
        told.validation_passed = Some(true);
        told.retries = 2;
        told.errors = vec![TaskError { kind: "Io".to_owned(), message: "no".to_owned() }];
        told.feedback = Some(Feedback { positive: true, comment: "Nice".to_owned() });
        assert_eq!(strengths(&told), ["Completed faster than expected", "All validations passed", "Nice"]);
        assert_eq!(weaknesses(&told), ["Encountered 1 errors", "Required 2 retries"]);
    }

    #[test]
    fn e1_a_recovered_error_is_an_insight_and_a_fatal_one_is_not() {
        let error = TaskError { kind: "ConnectionTimeout".to_owned(), message: String::new() };
        let (mut recovered, mut failed) = (report(true), report(false));
        recovered.errors.push(error.clone());
        failed.errors.push(error);
        assert_eq!(insights(&recovered, &seed_rules()).len(), 1);
        assert_eq!(insights(&failed, &seed_rules()), []);
    }
}
