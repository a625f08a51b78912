//! Which values the numbers of the configuration may have.

use memoryd_proto::JobName;

use super::Config;
use crate::domain::schedule::Cron;

/// The first key whose value is out of range, and its rule.
pub(super) fn broken(config: &Config) -> Option<(String, &'static str)> {
    number(config)
        .or_else(|| tree(config))
        .or_else(|| noted(config))
        .or_else(|| chroma(config))
        .map(|(key, rule)| (key.to_owned(), rule))
        .or_else(|| schedule(config))
}

/// The first expression that is no schedule. One that never comes true would switch a job off unnoticed.
fn schedule(config: &Config) -> Option<(String, &'static str)> {
    let schedule = &config.maintenance.schedule;
    let broken = |job: &JobName| {
        let cron = schedule.cron(*job);
        !cron.is_empty() && Cron::parse(cron).is_none()
    };
    JobName::ALL.into_iter().find(broken).map(|job| {
        let rule = "empty or a cron expression of six fields (second, minute, hour, day of month, month, day of week) \
                    that comes true some day, such as \"0 30 3 * * *\"";
        (format!("maintenance.schedule.{job}"), rule)
    })
}

/// What a number of days must be.
const DAYS: &str = "a number from 1 to 36500";

fn days(value: u32) -> bool {
    (1..=36_500).contains(&value)
}

/// How the Chroma server is asked.
fn chroma(config: &Config) -> Option<(&'static str, &'static str)> {
    let chroma = &config.chroma;
    let named = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let checks = [
        (
            "chroma.url",
            chroma.url.starts_with("http://") || chroma.url.starts_with("https://"),
            "an address that begins with http:// or https://",
        ),
        ("chroma.tenant", named(&chroma.tenant), "empty, or of A-Z, a-z, 0-9, -, _ and ."),
        (
            "chroma.database",
            !chroma.database.is_empty() && named(&chroma.database),
            "a name of A-Z, a-z, 0-9, -, _ and .",
        ),
        ("chroma.deadline_ms", (1..=500).contains(&chroma.deadline_ms), "a number from 1 to 500"),
        ("chroma.nearest", (1..=300).contains(&chroma.nearest), "a number from 1 to 300"),
        ("chroma.count_seconds", chroma.count_seconds > 0, "above 0"),
        ("chroma.read_seconds", chroma.read_seconds > 0, "above 0"),
    ];
    first_broken(&checks)
}

/// What the memory tree is looked through for.
fn noted(config: &Config) -> Option<(&'static str, &'static str)> {
    let (skills, reflection) = (&config.skills, &config.reflection);
    let checks = [
        ("skills.recurring", skills.recurring > 0, "above 0"),
        ("skills.successes", skills.successes > 0, "above 0"),
        ("skills.projects", skills.projects > 0, "above 0"),
        ("reflection.days", days(reflection.days), DAYS),
        ("reflection.repeated", reflection.repeated > 0, "above 0"),
        ("reflection.failing", (0.0..=1.0).contains(&reflection.failing), "a number from 0 to 1"),
    ];
    first_broken(&checks)
}

fn tree(config: &Config) -> Option<(&'static str, &'static str)> {
    /// Lines that hold the headings of a file, and something below them.
    const LINES: u32 = 20;
    let checks = [
        (
            "tree.root",
            config.tree.root.starts_with('/') || config.tree.root.starts_with("~/"),
            "an absolute path, or one that begins with ~/",
        ),
        ("tree.hot_lines", config.tree.hot_lines >= LINES, "at least 20"),
        ("tree.warm_lines", config.tree.warm_lines >= LINES, "at least 20"),
        ("tree.corrections", config.tree.corrections > 0, "above 0"),
        ("tree.shared_files", config.tree.shared_files > 0, "above 0"),
        ("tree.shared_days", days(config.tree.shared_days), DAYS),
        ("tree.archived_shared_days", days(config.tree.archived_shared_days), DAYS),
        ("tree.promote_uses", config.tree.promote_uses > 0, "above 0"),
        ("tree.promote_days", days(config.tree.promote_days), DAYS),
        ("tree.promote_projects", config.tree.promote_projects > 1, "at least 2"),
        // Else a rule would come and go.
        (
            "tree.demote_days",
            days(config.tree.demote_days) && config.tree.demote_days > config.tree.promote_days,
            "a number above tree.promote_days, up to 36500",
        ),
        (
            "tree.archive_days",
            days(config.tree.archive_days) && config.tree.archive_days >= config.tree.demote_days,
            "a number from tree.demote_days to 36500",
        ),
        (
            "tree.summariser",
            config.tree.summariser.first().is_none_or(|program| !program.is_empty()),
            "empty, or a program and its arguments",
        ),
    ];
    first_broken(&checks)
}

/// The first of some keys for which it does not hold what their value must be.
fn first_broken(checks: &[(&'static str, bool, &'static str)]) -> Option<(&'static str, &'static str)> {
    checks.iter().find(|(_, holds, _)| !holds).map(|(key, _, rule)| (*key, *rule))
}

fn number(config: &Config) -> Option<(&'static str, &'static str)> {
    const SHARE: &str = "a number from 0 to 1";
    let share = |value: f64| (0.0..=1.0).contains(&value);
    let weight = |value: f32| value.is_finite() && value >= 0.0;
    let checks = [
        ("intake.store_from", share(config.intake.store_from), SHARE),
        (
            "intake.candidate_from",
            share(config.intake.candidate_from) && config.intake.candidate_from <= config.intake.store_from,
            "a number from 0 to intake.store_from",
        ),
        ("intake.same_from", share(config.intake.same_from), SHARE),
        ("intake.corroborated_cap", share(config.intake.corroborated_cap), SHARE),
        ("recall.items", (1..=1000).contains(&config.recall.items), "a number from 1 to 1000"),
        ("recall.overfetch", (2..=100).contains(&config.recall.overfetch), "a number from 2 to 100"),
        ("recall.candidates", config.recall.candidates <= 1000, "at most 1000"),
        ("recall.gate", config.recall.gate > 0.0 && config.recall.gate < 1.0, "between 0 and 1"),
        ("recall.threshold", config.recall.threshold.is_finite(), "a number"),
        ("recall.slope", config.recall.slope.is_finite() && config.recall.slope > 0.0, "above 0"),
        ("recall.success_rate", share(config.recall.success_rate), SHARE),
        ("recall.cross_validated", config.recall.cross_validated >= 1.0, "at least 1"),
        ("recall.dense", weight(config.recall.dense), "at least 0"),
        ("recall.lexical", weight(config.recall.lexical), "at least 0"),
        ("recall.margin", weight(config.recall.margin), "at least 0"),
        ("recall.case_margin", weight(config.recall.case_margin), "at least 0"),
        ("recall.neighbour", (0.0..=1.0).contains(&config.recall.neighbour), SHARE),
        ("recall.k1", weight(config.recall.k1), "at least 0"),
        ("recall.b", (0.0..=1.0).contains(&config.recall.b), SHARE),
        ("learning.alpha", share(config.learning.alpha), SHARE),
        ("learning.learning_rate", share(config.learning.learning_rate), SHARE),
        ("learning.decay_factor", share(config.learning.decay_factor), SHARE),
        ("learning.outcomes", (1..=4096).contains(&config.learning.outcomes), "a number from 1 to 4096"),
        (
            "learning.kernel_floor",
            (-1.0..1.0).contains(&config.learning.kernel_floor),
            "at least -1 and below 1",
        ),
        ("learning.kernel_power", (1..=16).contains(&config.learning.kernel_power), "a number from 1 to 16"),
        ("learning.prior", config.learning.prior > 0.0, "above 0"),
        ("deprecation.success_rate", share(config.deprecation.success_rate), SHARE),
        ("promotion.success_rate", share(config.promotion.success_rate), SHARE),
        ("promotion.boost", share(config.promotion.boost), SHARE),
        ("promotion.cap", share(config.promotion.cap), SHARE),
        ("metrics.evaluations", config.metrics.evaluations > 0, "above 0"),
        ("metrics.days", config.metrics.days > 0, "above 0"),
        ("metrics.success_rate", share(config.metrics.success_rate), SHARE),
        ("consolidation.agree_from", share(config.consolidation.agree_from), SHARE),
        ("consolidation.success_rate", share(config.consolidation.success_rate), SHARE),
        ("consolidation.discount", share(config.consolidation.discount), SHARE),
        (
            "maintenance.zone",
            crate::clock::Zone::named(&config.maintenance.zone).is_some(),
            "empty or the name of a time zone, such as Europe/Dublin",
        ),
        ("maintenance.daily_copies", config.maintenance.daily_copies > 0, "above 0"),
        ("maintenance.evaluation_days", days(config.maintenance.evaluation_days), DAYS),
        ("maintenance.deprecated_days", days(config.maintenance.deprecated_days), DAYS),
        ("maintenance.journal_days", days(config.maintenance.journal_days), DAYS),
        (
            "report.insights_from",
            (0.0..=100.0).contains(&config.report.insights_from),
            "a number from 0 to 100",
        ),
        ("server.connections", config.server.connections > 0, "above 0"),
        (
            "embedding.tokenizer",
            config.embedding.model.is_some() == config.embedding.tokenizer.is_some(),
            "given together with embedding.model",
        ),
    ];
    first_broken(&checks)
}
