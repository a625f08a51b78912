//! The configuration: every number of the rules, with its default.
//!
//! The file is TOML. A key that is not known is refused by name. [`DEFAULTS`] documents every key with its default; a
//! test holds the two together.

mod chroma;
mod maintenance;
mod range;
mod recall;
mod tree;
mod utility;

pub use chroma::{Chroma, Store};
pub use maintenance::{Consolidation, Maintenance, Metrics, Promotion, Schedule};
pub use recall::Recall;
pub use tree::Tree;
pub use utility::Utility;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use memoryd_proto::{Estimator, ScopeChoice};
use serde::{Deserialize, Serialize};

use crate::domain::assessment::{InsightRule, seed_rules};
use crate::domain::capture;
use crate::domain::intake::Thresholds;
use crate::domain::judgement::Promoting;
use crate::domain::ranking::{Blend, Rules};
use crate::domain::secrets;
use crate::domain::utility::{Kernel, Learning};
use crate::domain::{shortcomings, skills};
use crate::index;

/// The documented defaults, as a configuration file.
pub const DEFAULTS: &str = include_str!("config.toml");

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("The configuration {} cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no valid configuration.
    #[error("The configuration {} is not valid: {source}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// A number is out of its range.
    #[error("The configuration {} is not valid: {key} must be {rule}", path.display())]
    Range {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
        /// What it must be.
        rule: &'static str,
    },
    /// A pattern for what is captured is unusable.
    #[error("The configuration {} is not valid: capture.patterns: {source}", path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// Which and why.
        source: capture::Error,
    },
}

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where records are kept.
    pub store: Store,
    /// What is worth storing.
    pub intake: Intake,
    /// What a recall returns.
    pub recall: Recall,
    /// How learned utility is estimated.
    pub learning: Utility,
    /// When an improvement is no longer recalled.
    pub deprecation: Deprecation,
    /// When success raises confidence.
    pub promotion: Promotion,
    /// What performance is measured over.
    pub metrics: Metrics,
    /// What agents confirm of one another.
    pub consolidation: Consolidation,
    /// What jobs go by, and when they run.
    pub maintenance: Maintenance,
    /// The markdown memory tree.
    pub tree: Tree,
    /// Which learnings are worth being a skill.
    pub skills: skills::Rule,
    /// What is said to be worth doing better.
    pub reflection: shortcomings::Rule,
    /// What a report teaches.
    pub report: Report,
    /// Which scope a category belongs to; a category that is not listed goes to both.
    pub scopes: Scopes,
    /// The embedding model.
    pub embedding: Embedding,
    /// The socket's limits.
    pub server: Server,
    /// Further rules for what is redacted.
    pub secrets: Secrets,
    /// Further patterns for what is captured.
    pub capture: Capture,
    /// The Chroma server.
    pub chroma: Chroma,
    /// What is logged.
    pub log: Log,
}

/// What is worth storing (spec I4, I5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Intake {
    /// Confidence from which an improvement is stored.
    pub store_from: f64,
    /// Confidence from which it is kept as a candidate.
    pub candidate_from: f64,
    /// Cosine from which two texts may say the same.
    pub same_from: f64,
    /// Highest confidence that corroboration leads to.
    pub corroborated_cap: f64,
}

/// When an improvement is no longer recalled (spec I6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Deprecation {
    /// Whether it happens by itself.
    pub enabled: bool,
    /// Uses from which it is judged.
    pub usage: u64,
    /// Success rate below which it is deprecated.
    pub success_rate: f64,
}

/// What a report teaches (spec E1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Report {
    /// Quality from which insights are stored.
    pub insights_from: f64,
    /// Rules that derive insights.
    pub rules: Vec<InsightRule>,
}

/// Which scope a category belongs to (spec I9).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scopes(pub BTreeMap<String, ScopeChoice>);

/// The embedding model (spec D5).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Embedding {
    /// Another model than the built-in one: an ONNX file.
    pub model: Option<PathBuf>,
    /// Its `tokenizer.json`.
    pub tokenizer: Option<PathBuf>,
    /// Threads; 0 for one for each core, up to 4.
    pub threads: usize,
}

/// The socket's limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Connections at once.
    pub connections: usize,
    /// Requests worked on at once; 0 for two for each core.
    pub workers: usize,
    /// Seconds that a request may still take when the daemon stops.
    pub drain_seconds: u64,
}

/// Further rules for what is redacted (spec M14).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Secrets {
    /// The rules, beside the built-in ones.
    pub rules: Vec<secrets::Rule>,
}

/// Further patterns for what is captured (spec M9).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capture {
    /// The patterns, before the built-in ones.
    pub patterns: Vec<capture::Pattern>,
}

/// What is logged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// `error`, `warn`, `info`, `debug` or `trace`, or a filter such as `memoryd=debug`.
    pub level: String,
}

impl Default for Intake {
    fn default() -> Self {
        Self { store_from: 0.7, candidate_from: 0.5, same_from: 0.95, corroborated_cap: 0.95 }
    }
}

impl Default for Deprecation {
    fn default() -> Self {
        Self { enabled: true, usage: 10, success_rate: 0.4 }
    }
}

impl Default for Report {
    fn default() -> Self {
        Self { insights_from: 70.0, rules: seed_rules() }
    }
}

impl Default for Scopes {
    fn default() -> Self {
        let global =
            ["search_strategy", "error_handling", "code_quality", "testing_patterns", "documentation_style"];
        let project = ["naming_conventions", "architecture_patterns", "api_usage", "domain_terminology"];
        let global = global.iter().map(|name| ((*name).to_owned(), ScopeChoice::Global));
        let project = project.iter().map(|name| ((*name).to_owned(), ScopeChoice::Project));
        Self(global.chain(project).collect())
    }
}

impl Default for Server {
    fn default() -> Self {
        Self { connections: 4096, workers: 0, drain_seconds: 10 }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self { level: "info".to_owned() }
    }
}

impl Config {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// When it cannot be read, has an unknown key, or a number out of range.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text =
            std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    /// Reads a configuration from `text`, which came from `path`.
    ///
    /// # Errors
    /// When it has an unknown key, or a number out of range.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let config: Self = toml::from_str(text)
            .map_err(|source| Error::Parse { path: path.to_owned(), source: Box::new(source) })?;
        capture::check(&config.capture.patterns)
            .map_err(|source| Error::Capture { path: path.to_owned(), source })?;
        match range::broken(&config) {
            Some((key, rule)) => Err(Error::Range { path: path.to_owned(), key, rule }),
            None => Ok(config),
        }
    }

    /// The thresholds of confidence.
    #[must_use]
    pub fn thresholds(&self) -> Thresholds {
        Thresholds { store: self.intake.store_from, candidate: self.intake.candidate_from }
    }

    /// The weights of similarity.
    #[must_use]
    pub fn blend(&self) -> Blend {
        let Recall { dense, lexical, margin, neighbour, .. } = self.recall;
        // Cases are part of the contextual estimator (spec Q8).
        let case_margin = match self.learning.estimator {
            Estimator::Contextual => Some(self.recall.case_margin),
            Estimator::Global => None,
        };
        Blend { dense, lexical, margin, case_margin, neighbour }
    }

    /// The numbers of a ranking with the weight `alpha` of learned utility.
    #[must_use]
    pub fn rules(&self, alpha: f64) -> Rules {
        Rules {
            gate: self.recall.gate,
            threshold: self.recall.threshold,
            slope: self.recall.slope,
            confidence: self.intake.store_from,
            success_rate: self.recall.success_rate,
            cross_validated: self.recall.cross_validated,
            alpha,
        }
    }

    /// The weight of learned utility in a context with so many interactions (spec Q1).
    #[must_use]
    pub fn alpha(&self, interactions: u64) -> f64 {
        if interactions < self.learning.warm_threshold { 0.0 } else { self.learning.alpha }
    }

    /// The numbers of the global estimator.
    #[must_use]
    pub fn learning(&self) -> Learning {
        Learning {
            rate: self.learning.learning_rate,
            success: self.learning.reward_success,
            failure: self.learning.reward_failure,
            unused: self.learning.reward_unused,
            decay: self.learning.decay_factor,
            outcomes: self.learning.outcomes,
        }
    }

    /// When success raises confidence.
    #[must_use]
    pub fn promoting(&self) -> Promoting {
        let Promotion { usage, success_rate, boost, cap } = self.promotion;
        Promoting { usage, success_rate, boost, cap }
    }

    /// The numbers of the contextual estimator.
    #[must_use]
    pub fn kernel(&self) -> Kernel {
        Kernel {
            floor: self.learning.kernel_floor,
            power: self.learning.kernel_power,
            prior: self.learning.prior,
            decay: self.learning.decay_factor,
        }
    }

    /// The settings of an index over vectors of `dimension`.
    #[must_use]
    pub fn index(&self, dimension: usize) -> index::Settings {
        index::Settings { dimension, k1: self.recall.k1, b: self.recall.b }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, Error> {
        Config::parse(text, Path::new("memoryd.toml"))
    }

    #[test]
    fn the_documented_defaults_are_the_defaults() {
        assert_eq!(parse(DEFAULTS).unwrap(), Config::default());
    }

    #[test]
    fn every_key_is_documented() {
        let shown = toml::to_string(&Config::default()).unwrap();
        for line in shown.lines().filter_map(|line| line.split_once(" = ")) {
            assert!(DEFAULTS.contains(line.0), "{} is not documented", line.0);
        }
    }

    #[test]
    fn unknown_keys_are_refused_by_name() {
        let told = parse("[recall]\nitmes = 3\n").unwrap_err().to_string();
        assert!(told.contains("itmes") && told.contains("memoryd.toml"), "{told}");
    }

    #[test]
    fn numbers_out_of_range_are_refused_by_name() {
        let told = parse("[learning]\nlearning_rate = 2.0\n").unwrap_err().to_string();
        assert!(told.contains("learning.learning_rate"), "{told}");
    }

    #[test]
    fn m9_patterns_that_cannot_work_are_refused_by_name() {
        let pattern = "[[capture.patterns]]\nid = \"house\"\nsignal = \"preference\"\nconfidence = 0.9\n";
        assert!(parse(&format!("{pattern}pattern = 'house rule: (?<rule>.+)'\nrule = '$rule'\n")).is_ok());
        for wrong in ["pattern = '('", "pattern = 'x'\nrule = '$rule'", "pattern = 'x'\nexcept = '['"] {
            let told = parse(&format!("{pattern}{wrong}\n")).unwrap_err().to_string();
            assert!(told.contains("capture.patterns") && told.contains("house"), "{told}");
        }
        let told =
            parse(&format!("{}pattern = 'x'\n", pattern.replace("0.9", "9.0"))).unwrap_err().to_string();
        assert!(told.contains("confidence"), "{told}");
    }

    #[test]
    fn s1_schedules_that_never_come_true_are_refused_by_name() {
        for wrong in ["0 0 3 30 2 *", "0 3 * * *", "at three"] {
            let told =
                parse(&format!("[maintenance.schedule]\nback-up = \"{wrong}\"\n")).unwrap_err().to_string();
            assert!(told.contains("maintenance.schedule.back-up must be"), "{told}");
        }
        assert!(parse("[maintenance.schedule]\nback-up = \"\"\n").is_ok(), "switched off");
    }
}
