//! How memories become one, are confirmed, and spread (spec S5, I12).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use memoryd_proto::{
    AgentName, Confidence, CrossValidation, Improvement, ImprovementId, Promotion, Source, Usage,
};

use super::corroboration::SOURCES;
use super::judgement;
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
/// First counts the record, then uses, confidence, the older, and last the names.
#[must_use]
pub fn better(one: &Improvement, other: &Improvement) -> Ordering {
    let record = |usage: &Usage| judgement::record(usage.success_count, usage.usage_count);
    record(&other.usage)
        .total_cmp(&record(&one.usage))
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

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn improvement(agent: &str, id: &str) -> Improvement {
        let json = format!(
            r#"{{"id":"{id}","agent":"{agent}","scope":"global","category":"c","document":"d","confidence":0.8,
            "created_at":"2026-01-05T09:00:00Z","learned_from":null,"original_id":null,"cross_validation":null,
            "deprecation":null,"promotion":null}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    fn used(id: &str, successes: u64, uses: u64) -> Improvement {
        let usage = Usage { success_count: successes, usage_count: uses, ..Usage::default() };
        Improvement { usage, ..improvement("ada", id) }
    }

    fn agents(names: &[&str]) -> Vec<AgentName> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    #[test]
    fn s5_the_best_succeeds_on_much_evidence_and_every_tie_is_broken() {
        let sure = Improvement { confidence: Confidence::clamped(0.9), ..used("e", 0, 0) };
        let older = Improvement { created_at: DateTime::UNIX_EPOCH, ..used("f", 0, 0) };
        let best_first = [
            used("a", 95, 100),
            used("b", 2, 2),
            used("c", 1, 1),
            used("d", 5, 10),
            sure,
            older,
            used("g", 0, 0),
        ];
        for (n, one) in best_first.iter().enumerate() {
            for (m, other) in best_first.iter().enumerate() {
                assert_eq!(better(one, other), n.cmp(&m), "{} and {}", one.id, other.id);
            }
        }
        assert_eq!(
            better(&used("a", 0, 0), &used("z", 0, 9)),
            Ordering::Less,
            "what fails is worse than untested"
        );
        assert_eq!(better(&improvement("ada", "x"), &improvement("Bob", "x")), Ordering::Less);
    }

    #[test]
    fn s5_merging_loses_nothing_and_counts_no_source_twice() {
        let keeper = Improvement {
            tags: vec!["http".to_owned()],
            evidence: vec!["s1".to_owned(), "s2".to_owned()],
            corroborations: 1,
            cross_validation: Some(CrossValidation { agents: agents(&["cid"]), at: DateTime::UNIX_EPOCH }),
            ..improvement("ada", "a")
        };
        let at = keeper.created_at;
        let other = Improvement {
            confidence: Confidence::clamped(0.9),
            tags: vec!["retry".to_owned(), "http".to_owned()],
            context_tags: vec!["rust".to_owned()],
            evidence: vec!["s2".to_owned(), "s3".to_owned()],
            cross_validation: Some(CrossValidation { agents: agents(&["Bob", "CID"]), at }),
            promotion: Some(Promotion { at, uses: 20 }),
            attributes: [("ticket".to_owned(), "7".to_owned())].into(),
            ..improvement("ada", "b")
        };
        let one = merged(&keeper, &[&other]);
        assert_eq!((one.id.as_str(), one.confidence.get()), ("a", 0.9));
        assert_eq!(
            (one.tags, one.context_tags),
            (vec!["http".to_owned(), "retry".to_owned()], other.context_tags)
        );
        assert_eq!((one.evidence.len(), one.corroborations), (3, 2));
        assert_eq!(one.cross_validation, Some(CrossValidation { agents: agents(&["bob", "cid"]), at }));
        assert_eq!(one.promotion, other.promotion);
        assert_eq!(one.attributes, other.attributes);
    }

    #[test]
    fn s5_usage_is_summed_and_q_weighted_by_uses_on_one_day() {
        let usage = |uses, successes, q, q_day| Ledgered {
            usage_count: uses,
            success_count: successes,
            failure_count: uses - successes,
            last_used: Some(q_day),
            access_count: 10,
            last_accessed: None,
            q,
            q_day,
            idle_days: 3,
        };
        let sum = merged_usage(&[usage(3, 3, 0.8, 20), usage(1, 0, 0.4, 10)], 0.5).unwrap();
        assert_eq!((sum.usage_count, sum.success_count, sum.failure_count, sum.access_count), (4, 3, 1, 20));
        assert_eq!((sum.last_used, sum.q_day, sum.idle_days), (Some(20), 20, 0));
        let faded = 0.4 * 0.5_f64.powi(9);
        assert!((sum.q - (3.0 * 0.8 + faded) / 4.0).abs() < 1e-12, "{sum:?}");
        let unused = merged_usage(&[usage(0, 0, 0.46, 20), usage(0, 0, 0.1, 20)], 0.99).unwrap();
        assert!((unused.q - 0.46).abs() < 1e-12);
        assert_eq!(merged_usage(&[], 0.99), None);
    }

    #[test]
    fn i12_agents_are_only_added_and_the_instant_is_that_of_the_last() {
        let (then, now) = (DateTime::UNIX_EPOCH, improvement("ada", "a").created_at);
        let first = confirmed(&improvement("ada", "a"), &agents(&["cid", "ADA", "bob", "Cid"]), then);
        assert_eq!(first, CrossValidation { agents: agents(&["bob", "cid"]), at: then });
        let known = Improvement { cross_validation: Some(first.clone()), ..improvement("ada", "a") };
        assert_eq!(confirmed(&known, &agents(&["bob"]), now), first);
        let grown = CrossValidation { agents: agents(&["bob", "cid", "dan"]), at: now };
        assert_eq!(confirmed(&known, &agents(&["dan"]), now), grown);
    }

    /// Groups of points on a line, where those within 10 of each other are near; `all` of a group, or only its best.
    fn grouped(points: &[u8], all: bool) -> Vec<Vec<usize>> {
        let close = |one: usize, other: usize| points[one].abs_diff(points[other]) <= 10;
        let mut groups = Groups::new(points.len());
        for place in 0..points.len() {
            let near: Vec<usize> = (place + 1..points.len()).filter(|&other| close(place, other)).collect();
            groups.take(place, near, |group, other| !all || group.iter().all(|&one| close(one, other)));
        }
        groups.finish()
    }

    proptest! {
        #[test]
        fn groups_never_chain_and_leave_nobody_out(points in vec(0..100_u8, 0..40), all in any::<bool>()) {
            let close = |one: usize, other: usize| points[one].abs_diff(points[other]) <= 10;
            let groups = grouped(&points, all);
            let mut owner: Vec<Option<usize>> = vec![None; points.len()];
            for group in &groups {
                prop_assert!(group.len() > 1 && group.is_sorted());
                for &one in group {
                    prop_assert!(owner[one].replace(group[0]).is_none(), "in one group at most");
                    prop_assert!(close(group[0], one));
                    prop_assert!(!all || group.iter().all(|&other| close(one, other)));
                }
            }
            // Around their bests alone, no two that are left are near: a second time there is nothing to do.
            let left: Vec<u8> =
                (0..points.len()).filter(|&one| owner[one].is_none_or(|best| best == one)).map(|one| points[one]).collect();
            prop_assert!(all || grouped(&left, false).is_empty());
        }
    }
}
