//! How memories become one, are confirmed, and spread (spec S5, I12).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use memoryd_proto::{
    AgentName, Confidence, CrossValidation, Improvement, ImprovementId, Promotion, Source, Usage,
};

use super::corroboration::SOURCES;
use super::utility::Ledgered;

/// The agent whose memory holds the principles.
pub const PRINCIPLES: &str = "system_principles";

/// Whether an improvement is in force: not deprecated, and of the confidence `from` which improvements are recalled.
#[must_use]
pub fn recalled(improvement: &Improvement, from: f64) -> bool {
    improvement.deprecation.is_none() && improvement.confidence.get() >= from
}

/// Whether an improvement takes part: it is in force, and not barred.
#[must_use]
pub fn eligible(improvement: &Improvement, from: f64) -> bool {
    improvement.consolidation_eligible && recalled(improvement, from)
}

/// Which of two improvements is the better one: it comes first.
///
/// First counts the success rate by the rule of succession, (successes + 1) / (uses + 2), so that one lucky use does not
/// outrank many good ones and what is untested outranks what fails; then uses, confidence, the older, and last the names.
#[must_use]
pub fn better(one: &Improvement, other: &Improvement) -> Ordering {
    let rate = |usage: &Usage| real(usage.success_count + 1) / real(usage.usage_count + 2);
    rate(&other.usage)
        .total_cmp(&rate(&one.usage))
        .then(other.usage.usage_count.cmp(&one.usage.usage_count))
        .then(other.confidence.get().total_cmp(&one.confidence.get()))
        .then_with(|| (one.created_at, &one.agent, &one.id).cmp(&(other.created_at, &other.agent, &other.id)))
}

/// Groups of neighbours. Each takes the best that is left and, of those near it, the better first, all that fit.
#[derive(Debug, Default)]
pub struct Groups {
    taken: Vec<bool>,
    groups: Vec<Vec<usize>>,
}

impl Groups {
    /// No groups yet, of `count` places, the best first.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self { taken: vec![false; count], groups: Vec::new() }
    }

    /// Takes up a place, unless it is taken, and those of `near` that `fit` the group so far. Places come in order, and
    /// so do those that are near.
    pub fn take(
        &mut self,
        place: usize,
        near: impl IntoIterator<Item = usize>,
        mut fit: impl FnMut(&[usize], usize) -> bool,
    ) {
        if std::mem::replace(&mut self.taken[place], true) {
            return;
        }
        let mut group = vec![place];
        for other in near {
            if !self.taken[other] && fit(&group, other) {
                self.taken[other] = true;
                group.push(other);
            }
        }
        if group.len() > 1 {
            self.groups.push(group);
        }
    }

    /// The groups of two and more, each with its best first.
    #[must_use]
    pub fn finish(self) -> Vec<Vec<usize>> {
        self.groups
    }
}

/// Whether the callers' own fields of two improvements do not tell them apart.
#[must_use]
pub fn agree(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> bool {
    one.iter().all(|(key, value)| other.get(key).is_none_or(|other| other == value))
}

/// The improvement that takes the place of `keeper` and of others that say the same, without its usage.
///
/// Text, category and source are the keeper's. Confidence is the highest. Tags, sources and the callers' own fields are
/// united. Each source that the keeper lacked corroborates it. What promotions rested on is added up, so that only newer
/// uses promote it again.
#[must_use]
pub fn merged(keeper: &Improvement, others: &[&Improvement]) -> Improvement {
    let mut merged = keeper.clone();
    for other in others {
        if other.confidence > merged.confidence {
            merged.confidence = other.confidence;
        }
        unite(&mut merged.tags, &other.tags);
        unite(&mut merged.context_tags, &other.context_tags);
        for source in &other.evidence {
            if merged.evidence.len() < SOURCES && !merged.evidence.contains(source) {
                merged.evidence.push(source.clone());
                merged.corroborations = merged.corroborations.saturating_add(1);
            }
        }
        merged.corroborations = merged.corroborations.max(other.corroborations);
        if let Some(theirs) = &other.cross_validation {
            let at = merged.cross_validation.as_ref().map_or(theirs.at, |own| own.at.max(theirs.at));
            merged.cross_validation = Some(confirmed(&merged, &theirs.agents, at));
        }
        if let Some(theirs) = &other.promotion {
            let (at, uses) = merged.promotion.as_ref().map_or((theirs.at, 0), |own| (own.at, own.uses));
            merged.promotion = Some(Promotion { at: at.max(theirs.at), uses: uses + theirs.uses });
        }
        for (key, value) in &other.attributes {
            merged.attributes.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    merged
}

fn unite(all: &mut Vec<String>, more: &[String]) {
    for one in more {
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
}

/// The usage of several as one: counts are summed, the latest instants kept, and Q-values weighted by the uses they rest
/// on. Without any use the first one's Q-value counts. `factor` is what a day without recall leaves of a Q-value.
#[must_use]
pub fn merged_usage(usages: &[Ledgered], factor: f64) -> Option<Ledgered> {
    let sum = |count: fn(&Ledgered) -> u64| usages.iter().map(count).sum::<u64>();
    // On the last day that any of them was settled; from then on the merged one fades.
    let q_day = usages.iter().map(|one| one.q_day).max()?;
    let uses = sum(|one| one.usage_count);
    let q = if uses == 0 {
        usages.first()?.q_on(q_day, factor)
    } else {
        usages.iter().map(|one| one.q_on(q_day, factor) * real(one.usage_count)).sum::<f64>() / real(uses)
    };
    Some(Ledgered {
        usage_count: uses,
        success_count: sum(|one| one.success_count),
        failure_count: sum(|one| one.failure_count),
        last_used: usages.iter().filter_map(|one| one.last_used).max(),
        access_count: sum(|one| one.access_count),
        last_accessed: usages.iter().filter_map(|one| one.last_accessed).max(),
        q,
        q_day,
        idle_days: 0,
    })
}

/// The confirmation of an improvement once other agents confirm it too. Agents are only ever added, and the instant is
/// that of the last addition. An agent does not confirm its own.
#[must_use]
pub fn confirmed(improvement: &Improvement, by: &[AgentName], at: DateTime<Utc>) -> CrossValidation {
    let known = improvement.cross_validation.as_ref();
    let mut agents: Vec<AgentName> = known.map_or_else(Vec::new, |known| known.agents.clone());
    for agent in by {
        if *agent != improvement.agent && !agents.contains(agent) {
            agents.push(agent.clone());
        }
    }
    agents.sort();
    let before = known.map(|known| (known.agents.len(), known.at));
    CrossValidation {
        at: before.filter(|(count, _)| *count == agents.len()).map_or(at, |(_, at)| at),
        agents,
    }
}

/// The lesson of several agents for those who lack it: confirmed, and not to be consolidated again (spec I12).
#[must_use]
pub fn principle(
    improvement: Improvement,
    original: ImprovementId,
    agents: Vec<AgentName>,
    at: DateTime<Utc>,
) -> Improvement {
    Improvement {
        source: Source::SystemPrinciples,
        original_id: Some(original),
        cross_validation: Some(CrossValidation { agents, at }),
        consolidation_eligible: false,
        ..improvement
    }
}

/// The confidence of a lesson that is transferred (spec I12).
#[must_use]
pub fn discounted(confidence: Confidence, discount: f64) -> Confidence {
    Confidence::clamped(confidence.get() * discount)
}

/// The id of a lesson that is transferred at an instant, in milliseconds (spec I12).
#[must_use]
pub fn transferred(original: &ImprovementId, millis: i64) -> String {
    format!("transferred_{original}_{millis}")
}

/// Where a transferred lesson was learned from.
#[must_use]
pub fn transfer_of(original: &ImprovementId) -> String {
    format!("transfer of {original}")
}

/// The words by which the context tags of agents are compared: their case does not matter.
#[must_use]
pub fn context(tag: &str) -> String {
    tag.to_lowercase()
}

/// The context tags of several, each once, those of the better first.
#[must_use]
pub fn united_context<'a>(improvements: impl IntoIterator<Item = &'a Improvement>) -> Vec<String> {
    improvements.into_iter().fold(Vec::new(), |mut all, one| {
        unite(&mut all, &one.context_tags);
        all
    })
}

#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn real(count: u64) -> f64 {
    count as f64
}
