//! Records as agents write them to Chroma: a document with flat metadata, in collections that are named after the agent
//! (spec I1, I2, D4; agent-memory-skills). What others wrote without these fields is read with defaults.

pub mod agree;
mod write;

pub use write::{evaluation, improvement, perf_id, snapshot};

use std::collections::BTreeMap;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use memoryd_proto::{
    AgentName, Confidence, CrossValidation, Deprecation, Evaluation, Fault, Improvement, Insight,
    ProjectHash, Promotion, QValue, Quality, Record, Scope, Snapshot, Source, Usage,
};

/// The key that the text of a record goes by, beside those of its metadata. It is Chroma's own.
pub const DOCUMENT: &str = "chroma:document";

/// The confidence of a record that does not say its own: that of what is stored (spec I4).
const CONFIDENCE: f64 = 0.7;

/// The category of a record that does not say its own.
const CATEGORY: &str = "general";

/// What a collection holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Collection {
    /// Whose.
    pub agent: AgentName,
    /// Of what.
    pub kind: Kind,
}

/// Of what a collection holds records.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Improvements, of this scope.
    Improvements(Scope),
    /// Evaluations.
    Evaluations,
    /// Snapshots of performance.
    Performance,
}

/// A value of metadata.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// Another number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// Several texts.
    Texts(Vec<String>),
}

/// A record of a collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// Its id.
    pub id: String,
    /// Its text.
    pub document: Option<String>,
    /// When it was written, as far as the store knows.
    pub at: DateTime<Utc>,
    /// What else is known of it.
    pub metadata: BTreeMap<String, Value>,
}

impl Collection {
    /// What a collection of this name holds; nothing of ours under another name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let inner = name.strip_prefix("agent_")?;
        let (inner, kind) = if let Some(inner) = inner.strip_suffix("_improvements") {
            let project = inner.rsplit_once("_project_");
            match project.and_then(|(agent, hash)| Some((agent, ProjectHash::from_str(hash).ok()?))) {
                Some((agent, hash)) => (agent, Kind::Improvements(Scope::Project(hash))),
                None => (inner, Kind::Improvements(Scope::Global)),
            }
        } else if let Some(inner) = inner.strip_suffix("_evaluations") {
            (inner, Kind::Evaluations)
        } else {
            (inner.strip_suffix("_performance")?, Kind::Performance)
        };
        Some(Self { agent: inner.parse().ok()?, kind })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.kind {
            Kind::Improvements(Scope::Global) => format!("agent_{}_improvements", self.agent),
            Kind::Improvements(Scope::Project(hash)) => {
                format!("agent_{}_project_{hash}_improvements", self.agent)
            }
            Kind::Evaluations => format!("agent_{}_evaluations", self.agent),
            Kind::Performance => format!("agent_{}_performance", self.agent),
        }
    }

    /// What it is for, as its metadata says.
    #[must_use]
    pub fn purpose(&self) -> &'static str {
        match self.kind {
            Kind::Improvements(_) => "learned_improvements",
            Kind::Evaluations => "self_evaluation",
            Kind::Performance => "performance_tracking",
        }
    }

    /// The record of memory that a written one stands for.
    ///
    /// # Errors
    /// When it has no text, or a value that breaks a rule.
    pub fn record(&self, written: Written) -> Result<Record, Fault> {
        match &self.kind {
            Kind::Improvements(scope) => self.improvement(scope, written).map(Record::Improvement),
            Kind::Evaluations => self.evaluation(written).map(Record::Evaluation),
            Kind::Performance => self.snapshot(&written).map(Record::Snapshot),
        }
    }

    fn improvement(&self, scope: &Scope, mut written: Written) -> Result<Improvement, Fault> {
        let document = written.document()?;
        let created_at = written.instant("created_at").unwrap_or(written.at);
        let confidence =
            written.number("confidence").map_or_else(|| Confidence::new(CONFIDENCE), Confidence::new)?;
        let usage = written.usage()?;
        let validating = written.texts("validating_agents");
        let agents = validating.iter().map(|name| name.parse()).collect::<Result<Vec<AgentName>, _>>()?;
        let validated_at = written.instant("cross_validated_at").unwrap_or(created_at);
        let validated = written.flag("cross_validated").unwrap_or(!agents.is_empty());
        let source = match written.text("source").as_deref() {
            Some("system_principles") => Source::SystemPrinciples,
            Some("transferred") => Source::Transferred,
            Some(_) | None => Source::Own,
        };
        let original_id = written.text("original_id").map(|id| id.parse()).transpose()?;
        let deprecated = written.flag("deprecated").unwrap_or_default();
        let reason = written.text("deprecated_reason").unwrap_or_else(|| "Deprecated before".to_owned());
        let deprecated_at = written.instant("deprecated_at").unwrap_or(written.at);
        let promoted = written.flag("promoted").unwrap_or_default();
        let promoted_at = written.instant("promoted_at").unwrap_or(written.at);
        let improvement = Improvement {
            id: written.id.parse()?,
            agent: self.agent.clone(),
            scope: scope.clone(),
            category: written.text("category").unwrap_or_else(|| CATEGORY.to_owned()),
            document,
            learned_from: written.text("learned_from"),
            confidence,
            created_at,
            tags: written.texts("tags"),
            context_tags: written.texts("context_tags"),
            source,
            original_id,
            corroborations: 0,
            evidence: Vec::new(),
            cross_validation: validated.then_some(CrossValidation { agents, at: validated_at }),
            consolidation_eligible: written.flag("consolidation_eligible").unwrap_or(true),
            deprecation: deprecated.then_some(Deprecation { reason, at: deprecated_at }),
            promotion: promoted.then_some(Promotion { at: promoted_at, uses: usage.usage_count }),
            attributes: BTreeMap::new(),
            usage,
        };
        // The collection says whose it is and where it applies.
        for known in ["agent_name", "agent", "scope", "project_hash"] {
            written.metadata.remove(known);
        }
        let rest = written.metadata.into_iter().map(|(key, value)| (key, value.told()));
        Ok(Improvement { attributes: rest.collect(), ..improvement })
    }

    fn evaluation(&self, mut written: Written) -> Result<Evaluation, Fault> {
        let document = written.document()?;
        let told = Told::read(&document);
        let success = written.flag("success").or(told.success).unwrap_or_default();
        let quality = written.number("quality_score").or(told.quality);
        let quality = Quality::new(quality.unwrap_or(if success { 100.0 } else { 0.0 }))?;
        let insight = |text: &str| {
            let (category, confidence) = (CATEGORY.to_owned(), Confidence::new(CONFIDENCE)?);
            Ok::<_, Fault>(Insight { text: text.to_owned(), category, confidence })
        };
        Ok(Evaluation {
            id: written.id.parse()?,
            agent: self.agent.clone(),
            project: None,
            task: told.task.to_owned(),
            task_type: written.text("task_type").unwrap_or_else(|| CATEGORY.to_owned()),
            success,
            quality,
            criteria: Vec::new(),
            time_taken_ms: written.count("time_taken_ms"),
            tokens_used: written.count("tokens_used"),
            strengths: Vec::new(),
            weaknesses: Vec::new(),
            insights: told.insights.into_iter().map(insight).collect::<Result<_, _>>()?,
            recall: None,
            used: Vec::new(),
            notes: None,
            at: written.instant("timestamp").unwrap_or(written.at),
        })
    }

    fn snapshot(&self, written: &Written) -> Result<Snapshot, Fault> {
        let mut written = written.clone();
        let at = written.instant("timestamp").unwrap_or(written.at);
        let missing = |key: &str| {
            Fault::invalid(
                format!("It has no {key}"),
                "A snapshot of performance needs it; metrics are computed anew from evaluations.",
            )
        };
        let total_tasks = written.count("total_tasks").ok_or_else(|| missing("total_tasks"))?;
        let successful_tasks =
            written.count("successful_tasks").ok_or_else(|| missing("successful_tasks"))?;
        let success_rate = if total_tasks == 0 { 0.0 } else { ratio(successful_tasks, total_tasks) };
        let quality = written.number("avg_quality").ok_or_else(|| missing("avg_quality"))?;
        let quality_trend = written.number("quality_trend").unwrap_or_default().clamp(-100.0, 100.0);
        let day = written.id.strip_prefix(write::PERF).and_then(|day| day.parse().ok());
        Ok(Snapshot {
            agent: self.agent.clone(),
            day: day.unwrap_or_else(|| at.date_naive()),
            at,
            total_tasks,
            successful_tasks,
            success_rate,
            avg_quality: Quality::new(quality)?,
            quality_trend,
            avg_time_ms: written.number("avg_time_ms"),
            avg_tokens: written.number("avg_tokens"),
            total_insights: written.count("total_insights").unwrap_or_default(),
            improvements_stored: written.count("improvements_stored").unwrap_or_default(),
            improving: written.flag("improving").unwrap_or(quality_trend > 0.0 && success_rate > 0.7),
        })
    }
}

/// What the text of an evaluation tells: `Task: …. Result: …. Quality: …/100. Insights: …; …`.
#[derive(Default)]
struct Told<'a> {
    task: &'a str,
    success: Option<bool>,
    quality: Option<f64>,
    insights: Vec<&'a str>,
}

impl<'a> Told<'a> {
    fn read(document: &'a str) -> Self {
        let rest = document.trim();
        let (rest, insights) = rest.rsplit_once("Insights:").unwrap_or((rest, ""));
        let (rest, quality) = rest.rsplit_once("Quality:").unwrap_or((rest, ""));
        let (task, result) = rest.rsplit_once("Result:").unwrap_or((rest, ""));
        let task = task.trim().trim_start_matches("Task:").trim();
        let success = match result.trim().trim_end_matches('.') {
            "Success" => Some(true),
            "Failure" => Some(false),
            _ => None,
        };
        let quality = quality.split('/').next().and_then(|score| score.trim().parse().ok());
        let insights = insights.split("; ").map(str::trim).filter(|text| !text.is_empty()).collect();
        Self { task: task.strip_suffix('.').unwrap_or(task), success, quality, insights }
    }
}

impl Written {
    fn document(&mut self) -> Result<String, Fault> {
        self.document.take().filter(|text| !text.trim().is_empty()).ok_or_else(|| {
            Fault::invalid(
                "It has no text",
                "A record without a document says nothing that could be recalled.",
            )
        })
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.metadata.remove(key)
    }

    fn text(&mut self, key: &str) -> Option<String> {
        self.take(key).map(Value::told).filter(|text| !text.trim().is_empty())
    }

    fn number(&mut self, key: &str) -> Option<f64> {
        match self.take(key)? {
            Value::Number(number) => Some(number),
            #[allow(clippy::cast_precision_loss, reason = "no rule tells such large numbers apart")]
            Value::Whole(whole) => Some(whole as f64),
            Value::Text(text) => text.trim().parse().ok(),
            Value::Flag(_) | Value::Texts(_) => None,
        }
    }

    fn count(&mut self, key: &str) -> Option<u64> {
        let number = self.number(key)?.round();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is checked")]
        (0.0..9e15).contains(&number).then_some(number as u64)
    }

    fn flag(&mut self, key: &str) -> Option<bool> {
        match self.take(key)? {
            Value::Flag(flag) => Some(flag),
            Value::Whole(whole) => Some(whole != 0),
            Value::Text(text) => text.trim().to_ascii_lowercase().parse().ok(),
            Value::Number(_) | Value::Texts(_) => None,
        }
    }

    fn instant(&mut self, key: &str) -> Option<DateTime<Utc>> {
        match self.take(key)? {
            Value::Text(text) => text.trim().parse().ok(),
            // Seconds, or milliseconds as `Date.now()` gives them.
            Value::Whole(whole) if whole.abs() < 100_000_000_000 => DateTime::from_timestamp(whole, 0),
            Value::Whole(whole) => DateTime::from_timestamp_millis(whole),
            Value::Number(_) | Value::Flag(_) | Value::Texts(_) => None,
        }
    }

    /// A list: joined by commas, as JSON, or as such.
    fn texts(&mut self, key: &str) -> Vec<String> {
        let texts = match self.take(key) {
            Some(Value::Texts(texts)) => texts,
            Some(Value::Text(text)) => serde_json::from_str(&text)
                .unwrap_or_else(|_| text.split(',').map(|part| part.trim().to_owned()).collect()),
            Some(Value::Whole(_) | Value::Number(_) | Value::Flag(_)) | None => Vec::new(),
        };
        texts.into_iter().filter(|text| !text.trim().is_empty()).collect()
    }

    fn usage(&mut self) -> Result<Usage, Fault> {
        let usage_count = self.count("usage_count").unwrap_or_default();
        let rate = self.number("success_rate").filter(|rate| (0.0..=1.0).contains(rate));
        let told = self.count("success_count").map(|count| count.min(usage_count));
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is a part of a count"
        )]
        let derived = rate.map(|rate| (rate * usage_count as f64).round() as u64);
        let success_count = told.or(derived).unwrap_or_default();
        let success_rate = (usage_count > 0).then(|| ratio(success_count, usage_count));
        let access_count = self.count("access_count").unwrap_or_default();
        Ok(Usage {
            usage_count,
            success_count,
            failure_count: usage_count - success_count,
            success_rate,
            last_used: self.instant("last_used"),
            access_count,
            last_accessed: self.instant("last_accessed"),
            q_value: self.number("q_value").map(QValue::new).transpose()?.unwrap_or_default(),
        })
    }
}

impl Value {
    /// As text.
    #[must_use]
    pub fn told(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Whole(whole) => whole.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Texts(texts) => texts.join(","),
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(id: &str, document: &str, metadata: &[(&str, Value)]) -> Written {
        let metadata = metadata.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        Written { id: id.to_owned(), document: Some(document.to_owned()), metadata, ..Written::default() }
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn collection(name: &str) -> Collection {
        Collection::named(name).unwrap()
    }

    fn improvement(name: &str, metadata: &[(&str, Value)]) -> Result<Improvement, Fault> {
        let written = written("improvement_x_1", "Prefer sources of this year", metadata);
        let Record::Improvement(one) = collection(name).record(written)? else { panic!("another record") };
        Ok(one)
    }

    #[test]
    fn i2_the_name_of_a_collection_says_what_it_holds() {
        let global = collection("agent_research-specialist_improvements");
        assert_eq!(global.agent.as_str(), "research-specialist");
        assert_eq!(global.kind, Kind::Improvements(Scope::Global));
        let project = collection("agent_x_project_0123456789ab_improvements");
        assert_eq!(project.agent.as_str(), "x");
        assert_eq!(project.kind, Kind::Improvements(Scope::Project("0123456789ab".parse().unwrap())));
        let named = collection("agent_my_project_lead_improvements");
        assert_eq!(named.agent.as_str(), "my_project_lead");
        assert_eq!(collection("agent_x_y_evaluations").agent.as_str(), "x_y");
        assert_eq!(collection("agent_x_performance").kind, Kind::Performance);
        for foreign in ["notes", "agent_x", "agent__improvements", "agent_a b_evaluations"] {
            assert_eq!(Collection::named(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn i1_metadata_as_the_seed_writes_it() {
        let one = improvement(
            "agent_x_improvements",
            &[
                ("agent_name", text("x")),
                ("category", text("search_strategy")),
                ("learned_from", text("feedback_2025-11-18")),
                ("confidence", Value::Number(0.85)),
                ("usage_count", Value::Whole(12)),
                ("success_count", Value::Whole(3)),
                ("success_rate", Value::Number(0.25)),
                ("created_at", text("2025-11-18T15:30:00Z")),
                ("last_used", text("2025-11-20T08:00:00+01:00")),
                ("tags", text("recency,date_filtering, search")),
                ("context_tags", text("[\"web\",\"news\"]")),
                ("cross_validated", Value::Flag(true)),
                ("validating_agents", text("y,z")),
                ("deprecated", Value::Flag(true)),
                ("deprecated_reason", text("Low success rate after extensive usage")),
                ("ticket", Value::Whole(7)),
            ],
        )
        .unwrap();
        assert_eq!(one.category, "search_strategy");
        assert_eq!(one.tags, ["recency", "date_filtering", "search"]);
        assert_eq!(one.context_tags, ["web", "news"]);
        assert_eq!((one.usage.usage_count, one.usage.success_count, one.usage.failure_count), (12, 3, 9));
        assert_eq!(one.usage.last_used.unwrap().to_rfc3339(), "2025-11-20T07:00:00+00:00");
        assert_eq!(one.cross_validation.unwrap().agents.len(), 2);
        assert_eq!(one.deprecation.unwrap().reason, "Low success rate after extensive usage");
        assert_eq!(one.attributes, BTreeMap::from([("ticket".to_owned(), "7".to_owned())]));
    }

    #[test]
    fn d4_what_others_wrote_is_read_with_defaults() {
        let one = improvement("agent_x_improvements", &[]).unwrap();
        assert_eq!((one.category.as_str(), one.confidence.get()), (CATEGORY, CONFIDENCE));
        assert!(one.consolidation_eligible && one.deprecation.is_none() && one.usage == Usage::default());
        let only_rate = [("usage_count", Value::Whole(4)), ("success_rate", Value::Number(0.75))];
        assert_eq!(improvement("agent_x_improvements", &only_rate).unwrap().usage.success_count, 3);
        let told = improvement("agent_x_improvements", &[("confidence", Value::Number(85.0))]).unwrap_err();
        assert!(told.message.contains("85"), "{told}");
    }

    #[test]
    fn d4_an_evaluation_is_read_back_from_its_text() {
        let document = "Task: Find the newest survey. Result: Success. Quality: 85/100. \
                        Insights: Filter by date; Ask v1.2 first";
        let record = collection("agent_x_evaluations").record(written(
            "eval_1",
            document,
            &[
                ("task_type", text("research")),
                ("quality_score", Value::Whole(85)),
                ("tokens_used", Value::Whole(9)),
            ],
        ));
        let Record::Evaluation(one) = record.unwrap() else { panic!("another record") };
        assert_eq!(
            (one.task.as_str(), one.success, one.quality.get()),
            ("Find the newest survey", true, 85.0)
        );
        assert_eq!(
            one.insights.iter().map(|insight| insight.text.as_str()).collect::<Vec<_>>(),
            ["Filter by date", "Ask v1.2 first"]
        );
        assert_eq!(one.tokens_used, Some(9));
        let plain = collection("agent_x_evaluations").record(written("eval_2", "It went well", &[]));
        let Record::Evaluation(plain) = plain.unwrap() else { panic!("another record") };
        assert_eq!((plain.task.as_str(), plain.success), ("It went well", false));
    }
}
