//! Records of memory as agents write them to Chroma: the keys are those of agent-memory-skills, lists are joined by
//! commas, and what is not known is left out (spec I1).

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, SecondsFormat, Utc};
use memoryd_proto::{Evaluation, Improvement, Snapshot, Source};

use super::{Value, Written};

/// What the id of a snapshot begins with; its day follows.
pub(super) const PERF: &str = "perf_";

/// The id of the snapshot of a day.
#[must_use]
pub fn perf_id(day: NaiveDate) -> String {
    format!("{PERF}{day}")
}

/// An improvement, with its usage.
#[must_use]
pub fn improvement(one: &Improvement) -> Written {
    let mut told = Metadata::default();
    for (key, value) in &one.attributes {
        told.text(key, value);
    }
    told.text("agent_name", one.agent.as_str());
    told.text("category", &one.category);
    told.some_text("learned_from", one.learned_from.as_deref());
    told.set("confidence", Value::Number(one.confidence.get()));
    told.count("usage_count", one.usage.usage_count);
    told.count("success_count", one.usage.success_count);
    if let Some(rate) = one.usage.success_rate {
        told.set("success_rate", Value::Number(rate));
    }
    told.instant("created_at", Some(one.created_at));
    told.instant("last_used", one.usage.last_used);
    told.texts("tags", &one.tags);
    told.texts("context_tags", &one.context_tags);
    let source = match one.source {
        Source::Own => "self",
        Source::SystemPrinciples => "system_principles",
        Source::Transferred => "transferred",
    };
    told.text("source", source);
    told.some_text("original_id", one.original_id.as_ref().map(memoryd_proto::ImprovementId::as_str));
    told.set("cross_validated", Value::Flag(one.cross_validation.is_some()));
    if let Some(validation) = &one.cross_validation {
        let agents: Vec<String> = validation.agents.iter().map(|agent| agent.as_str().to_owned()).collect();
        told.texts("validating_agents", &agents);
        told.instant("cross_validated_at", Some(validation.at));
    }
    told.set("consolidation_eligible", Value::Flag(one.consolidation_eligible));
    told.set("deprecated", Value::Flag(one.deprecation.is_some()));
    if let Some(deprecation) = &one.deprecation {
        told.text("deprecated_reason", &deprecation.reason);
        told.instant("deprecated_at", Some(deprecation.at));
    }
    if let Some(promotion) = &one.promotion {
        told.set("promoted", Value::Flag(true));
        told.instant("promoted_at", Some(promotion.at));
    }
    told.written(one.id.as_str(), one.document.clone(), one.created_at)
}

/// An evaluation.
#[must_use]
pub fn evaluation(one: &Evaluation) -> Written {
    let insights: Vec<&str> = one.insights.iter().map(|insight| insight.text.as_str()).collect();
    let result = if one.success { "Success" } else { "Failure" };
    let document = format!(
        "Task: {}. Result: {result}. Quality: {}/100. Insights: {}",
        one.task.trim_end_matches('.'),
        one.quality.get(),
        insights.join("; ")
    );
    let mut told = Metadata::default();
    told.text("agent_name", one.agent.as_str());
    told.text("task_type", &one.task_type);
    told.set("success", Value::Flag(one.success));
    told.set("quality_score", Value::Number(one.quality.get()));
    one.time_taken_ms.into_iter().for_each(|time| told.count("time_taken_ms", time));
    one.tokens_used.into_iter().for_each(|tokens| told.count("tokens_used", tokens));
    told.count("strengths_count", one.strengths.len() as u64);
    told.count("weaknesses_count", one.weaknesses.len() as u64);
    told.count("insights_count", one.insights.len() as u64);
    told.instant("timestamp", Some(one.at));
    told.written(one.id.as_str(), document, one.at)
}

/// A snapshot of performance.
#[must_use]
pub fn snapshot(one: &Snapshot) -> Written {
    let document = format!(
        "Performance snapshot: {:.1}% success, quality {:.1}/100, {} improvements",
        100.0 * one.success_rate,
        one.avg_quality.get(),
        one.improvements_stored
    );
    let mut told = Metadata::default();
    told.text("agent_name", one.agent.as_str());
    told.text("period", "30_days");
    told.count("total_tasks", one.total_tasks);
    told.count("successful_tasks", one.successful_tasks);
    told.set("success_rate", Value::Number(one.success_rate));
    told.set("avg_quality", Value::Number(one.avg_quality.get()));
    told.set("quality_trend", Value::Number(one.quality_trend));
    one.avg_time_ms.into_iter().for_each(|time| told.set("avg_time_ms", Value::Number(time)));
    one.avg_tokens.into_iter().for_each(|tokens| told.set("avg_tokens", Value::Number(tokens)));
    told.count("total_insights", one.total_insights);
    told.count("improvements_stored", one.improvements_stored);
    told.set("improving", Value::Flag(one.improving));
    told.instant("timestamp", Some(one.at));
    told.written(&perf_id(one.day), document, one.at)
}

#[derive(Default)]
struct Metadata(BTreeMap<String, Value>);

impl Metadata {
    fn set(&mut self, key: &str, value: Value) {
        self.0.insert(key.to_owned(), value);
    }

    fn text(&mut self, key: &str, text: &str) {
        self.set(key, Value::Text(text.to_owned()));
    }

    fn some_text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    fn texts(&mut self, key: &str, texts: &[String]) {
        if !texts.is_empty() {
            // A text with a comma would be read as two.
            let plain = texts.iter().all(|text| !text.contains(','));
            let json = || serde_json::to_string(texts).unwrap_or_default();
            self.set(key, Value::Text(if plain { texts.join(",") } else { json() }));
        }
    }

    fn count(&mut self, key: &str, count: u64) {
        self.set(key, Value::Whole(i64::try_from(count).unwrap_or(i64::MAX)));
    }

    fn instant(&mut self, key: &str, at: Option<DateTime<Utc>>) {
        if let Some(at) = at {
            self.text(key, &at.to_rfc3339_opts(SecondsFormat::AutoSi, true));
        }
    }

    fn written(self, id: &str, document: String, at: DateTime<Utc>) -> Written {
        Written { id: id.to_owned(), document: Some(document), at, metadata: self.0 }
    }
}
