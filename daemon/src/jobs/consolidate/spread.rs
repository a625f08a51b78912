//! What agents confirmed becomes a principle, and goes to those who work on the like and lack it (spec I12).
//!
//! A principle has the words of the best of its group, all of them. An agent lacks it if it has nothing near it and
//! nothing of the same origin, and if nothing of that origin was ever removed from its memory: it is not sent again.

use std::collections::{BTreeMap, HashMap, HashSet};

use memoryd_proto::{AgentName, ArchiveKind, Improvement, ImprovementId, Scope, Source};
use serde::Deserialize;

use super::{Item, by_scope};
use crate::domain::{consolidation, corroboration, intake};
use crate::error::Error;
use crate::index::{self, Join};
use crate::jobs::Tending;
use crate::journal::{Change, Plan, Step};

/// What an archive tells of a lesson that came from elsewhere.
#[derive(Deserialize)]
struct Archived {
    agent: AgentName,
    original_id: Option<ImprovementId>,
}

/// A principle, and those who confirm it.
struct Principle {
    improvement: Improvement,
    vector: Vec<f32>,
    agents: HashSet<AgentName>,
    /// Their context tags.
    tags: Vec<String>,
}

/// The memory that principles spread in.
struct Spreading<'a> {
    tending: &'a Tending<'a>,
    items: &'a [Item],
    /// Ids that are taken, by agent.
    taken: HashSet<(AgentName, ImprovementId)>,
    /// Origins of what was removed, by agent.
    removed: HashSet<(AgentName, ImprovementId)>,
}

/// Plans principles and their transfer, scope by scope, for groups that agree.
pub(super) fn plan(
    tending: &Tending<'_>,
    items: &[Item],
    groups: &[Vec<usize>],
    plan: &mut Plan,
) -> Result<(), Error> {
    if groups.is_empty() {
        return Ok(());
    }
    let archived: Vec<Archived> = tending.view.archive.all(ArchiveKind::Improvements)?;
    let removed = archived.into_iter().filter_map(|one| Some((one.agent, one.original_id?))).collect();
    let taken =
        items.iter().map(|item| (item.improvement.agent.clone(), item.improvement.id.clone())).collect();
    let mut spreading = Spreading { tending, items, taken, removed };
    for (scope, places) in by_scope(items) {
        let places: Vec<&Item> = places.into_iter().map(|place| &items[place]).collect();
        let here = groups.iter().filter(|group| items[group[0]].improvement.scope == *scope);
        let principles = spreading.principles(&places, here, plan)?;
        spreading.transfer(scope, &places, &principles, plan);
    }
    Ok(())
}

impl Spreading<'_> {
    /// The principles of a scope that groups confirm: those that are there, and new ones.
    fn principles<'g>(
        &mut self,
        scope: &[&Item],
        groups: impl Iterator<Item = &'g Vec<usize>>,
        plan: &mut Plan,
    ) -> Result<Vec<Principle>, Error> {
        let whose: AgentName = consolidation::PRINCIPLES.parse()?;
        let there = scope.iter().filter(|item| item.improvement.agent == whose);
        let mut principles: Vec<Principle> = there
            .map(|item| Principle {
                improvement: item.improvement.clone(),
                vector: item.vector.clone().unwrap_or_default(),
                agents: HashSet::new(),
                tags: Vec::new(),
            })
            .collect();
        for group in groups {
            let group: Vec<&Item> = group.iter().map(|&place| &self.items[place]).collect();
            let agents = group.iter().map(|item| item.improvement.agent.clone());
            let tags = consolidation::united_context(group.iter().map(|item| &item.improvement));
            if let Some(known) = self.nearest(&mut principles, group[0]) {
                known.agents.extend(agents);
                known.tags.extend(tags);
            } else if let Some(Item { improvement: best, vector: Some(vector), .. }) =
                self.best(&whose, &group, &principles)
            {
                let Some(id) = self.free(&whose, |millis| format!("principle_{}_{millis}", best.id)) else {
                    plan.notes.push(format!("{} becomes no principle: its id is too long", best.id));
                    continue;
                };
                let agents: HashSet<AgentName> = agents.collect();
                let learned_from = format!("consolidation of {}", best.id);
                let best = Improvement { context_tags: tags.clone(), ..best.clone() };
                let principle = self.lesson(&best, &whose, id, &best.id, learned_from, &agents);
                plan.steps.push(step(&principle, vector, format!("principle from {}", best.id)));
                principles.push(Principle { improvement: principle, vector: vector.clone(), agents, tags });
            }
        }
        principles.retain(|one| {
            !one.tags.is_empty()
                && consolidation::recalled(&one.improvement, self.tending.config.intake.store_from)
        });
        Ok(principles)
    }

    /// The principle that says what an improvement says, if there is one.
    fn nearest<'p>(&self, principles: &'p mut [Principle], item: &Item) -> Option<&'p mut Principle> {
        let vector = item.vector.as_deref()?;
        let near = principles.iter_mut().map(|one| (index::exact(vector, &one.vector), one));
        let near =
            near.filter(|(cosine, _)| f64::from(*cosine) >= self.tending.config.consolidation.agree_from);
        near.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, one)| one)
    }

    /// The best of a group that is not the origin of a principle. None if one of the group was, and somebody removed
    /// that principle.
    fn best<'g>(&self, whose: &AgentName, group: &[&'g Item], principles: &[Principle]) -> Option<&'g Item> {
        let removed = |item: &&Item| self.removed.contains(&(whose.clone(), item.improvement.id.clone()));
        let origin = |item: &Item| {
            principles.iter().any(|one| one.improvement.original_id.as_ref() == Some(&item.improvement.id))
        };
        if group.iter().any(removed) {
            return None;
        }
        group.iter().copied().find(|item| !origin(item))
    }

    /// Plans to send principles to those who work on the like and lack them.
    fn transfer(&mut self, scope: &Scope, here: &[&Item], principles: &[Principle], plan: &mut Plan) {
        let (from, config) = (self.tending.config.consolidation.agree_from, self.tending.config);
        let (whose, mut vectors): (Vec<&AgentName>, Vec<&[f32]>) =
            here.iter().filter_map(|item| Some((&item.improvement.agent, item.vector.as_deref()?))).unzip();
        let probes: Vec<&[f32]> = principles.iter().map(|one| one.vector.as_slice()).collect();
        vectors.extend(&probes);
        // By principle: who has something near it, and which principles are near it.
        let mut near: Vec<(HashSet<&AgentName>, Vec<usize>)> = Vec::new();
        Join::new(&vectors).matches(&probes, from, |_, found| {
            let places = || found.iter().map(|near| near.place);
            near.push((
                places().filter_map(|place| whose.get(place).copied()).collect(),
                places().filter_map(|place| place.checked_sub(whose.len())).collect(),
            ));
        });
        let origins: HashSet<(&AgentName, &ImprovementId)> = here
            .iter()
            .filter_map(|item| Some((&item.improvement.agent, item.improvement.original_id.as_ref()?)))
            .collect();
        let contexts = contexts(scope, self.items);
        let mut sent: HashSet<(&AgentName, usize)> = HashSet::new();
        for (n, (Principle { improvement, vector, agents, tags }, (knowing, like_it))) in
            principles.iter().zip(&near).enumerate()
        {
            let tags: Vec<(&String, String)> =
                tags.iter().map(|tag| (tag, consolidation::context(tag))).collect();
            let original = improvement.original_id.as_ref().unwrap_or(&improvement.id);
            let confidence = consolidation::discounted(improvement.confidence, config.consolidation.discount);
            if intake::admit(confidence, config.thresholds()).is_err() {
                continue;
            }
            for (&agent, works_on) in &contexts {
                let Some((shared, _)) = tags.iter().find(|(_, tag)| works_on.contains(tag)) else { continue };
                if agents.contains(agent)
                    || knowing.contains(agent)
                    || origins.contains(&(agent, original))
                    || self.removed.contains(&(agent.clone(), original.clone()))
                    || like_it.iter().any(|&other| sent.contains(&(agent, other)))
                {
                    continue;
                }
                let Some(id) = self.free(agent, |millis| consolidation::transferred(original, millis)) else {
                    plan.notes.push(format!("{} is not transferred: its id is too long", improvement.id));
                    break;
                };
                let discounted = Improvement { confidence, ..improvement.clone() };
                let learned_from = consolidation::transfer_of(original);
                let lesson = self.lesson(&discounted, agent, id, original, learned_from, agents);
                let why = format!("transfer {} to agent {agent}: shares {shared:?}", improvement.id);
                plan.steps.push(step(&lesson, vector, why));
                sent.insert((agent, n));
            }
        }
    }

    /// What `known` says, as a principle that an agent is given.
    fn lesson(
        &self,
        known: &Improvement,
        agent: &AgentName,
        id: ImprovementId,
        original: &ImprovementId,
        learned_from: String,
        confirmed_by: &HashSet<AgentName>,
    ) -> Improvement {
        let mut agents: Vec<AgentName> = confirmed_by.iter().cloned().collect();
        agents.sort();
        let own = Improvement {
            agent: agent.clone(),
            id,
            created_at: chrono::SubsecRound::trunc_subsecs(self.tending.now, 6),
            corroborations: 0,
            evidence: vec![corroboration::source(Some(&learned_from))],
            learned_from: Some(learned_from),
            promotion: None,
            attributes: BTreeMap::new(),
            ..known.clone()
        };
        consolidation::principle(own, original.clone(), agents, self.tending.now)
    }

    /// An id that an agent does not use yet, and takes now; none when it would be too long.
    fn free(&mut self, agent: &AgentName, name: impl Fn(i64) -> String) -> Option<ImprovementId> {
        let mut millis = self.tending.now.timestamp_millis();
        loop {
            let id: ImprovementId = name(millis).parse().ok()?;
            if self.taken.insert((agent.clone(), id.clone())) {
                return Some(id);
            }
            millis += 1;
        }
    }
}

/// What each agent works on: the context tags of what it learned itself. What holds in one project concerns those who
/// learned in it; what holds everywhere, all.
fn contexts<'a>(scope: &Scope, items: &'a [Item]) -> BTreeMap<&'a AgentName, HashSet<String>> {
    let mut contexts: BTreeMap<&AgentName, HashSet<String>> = BTreeMap::new();
    for Item { improvement, .. } in items {
        let counts = improvement.source == Source::Own
            && improvement.deprecation.is_none()
            && improvement.agent.key() != consolidation::PRINCIPLES
            && (*scope == Scope::Global || improvement.scope == *scope);
        if counts && !improvement.context_tags.is_empty() {
            let tags = improvement.context_tags.iter().map(|tag| consolidation::context(tag));
            contexts.entry(&improvement.agent).or_default().extend(tags);
        }
    }
    contexts
}

/// The step that stores a lesson whose vector is known.
fn step(lesson: &Improvement, vector: &[f32], why: String) -> Step {
    Step {
        agent: Some(lesson.agent.clone()),
        why,
        changes: vec![Change::improvement(None, None, Some(lesson.clone()))],
        vectors: HashMap::from([(lesson.document.clone(), vector.to_vec())]),
        ..Step::default()
    }
}
