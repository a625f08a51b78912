//! What several agents learned is confirmed. A group is made around its best improvement, and each that joins is near
//! every other, so that nothing chains away. Only improvements with success of their own count: an untested copy is no
//! evidence.

use std::collections::BTreeSet;

use memoryd_proto::{AgentName, Improvement};

use super::{Item, by_scope};
use crate::domain::consolidation::{self, Groups};
use crate::domain::text::Wording;
use crate::index::{self, Join};
use crate::jobs::Tending;
use crate::journal::{Plan, Step};

/// Vectors between two notices of progress.
const OFTEN: usize = 256;

/// Plans the confirming, and returns the groups that agree: places in one scope, the best first, of two agents or more.
pub(super) fn plan(tending: &Tending<'_>, items: &[Item], plan: &mut Plan) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let (mut done, all) = (items.len(), 2 * items.len() as u64);
    for places in by_scope(items).into_values() {
        let count = places.len();
        let progress = |compared: usize| (tending.progress)((done + compared) as u64, all);
        found.extend(groups(tending, items, places, &progress));
        done += count;
        (tending.progress)(done as u64, all);
    }
    for group in &found {
        plan.steps.extend(group.iter().filter_map(|&place| step(tending, items, group, place)));
    }
    found
}

/// The groups of one scope.
fn groups(
    tending: &Tending<'_>,
    items: &[Item],
    mut places: Vec<usize>,
    progress: &dyn Fn(usize),
) -> Vec<Vec<usize>> {
    let from = tending.config.consolidation.agree_from;
    places.retain(|&place| proven(tending, &items[place]));
    places.sort_by(|&one, &other| consolidation::better(&items[one].improvement, &items[other].improvement));
    let vectors: Vec<&[f32]> = places.iter().filter_map(|&place| items[place].vector.as_deref()).collect();
    let wordings: Vec<Wording> =
        places.iter().map(|&place| Wording::of(&items[place].improvement.document)).collect();
    let agree = |one: usize, other: usize| {
        f64::from(index::exact(vectors[one], vectors[other])) >= from
            && wordings[one].may_agree(&wordings[other])
    };
    let mut groups = Groups::new(places.len());
    Join::new(&vectors).pairs(from, |best, near| {
        groups.take(best, near.iter().map(|near| near.place), |group, other| {
            group.iter().all(|&one| agree(one, other))
        });
        if best % OFTEN == 0 {
            progress(best);
        }
    });
    let agents = |group: &[usize]| {
        group.iter().map(|&place| &items[place].improvement.agent).collect::<BTreeSet<_>>().len()
    };
    let groups = groups.finish().into_iter();
    let groups = groups.map(|group| group.into_iter().map(|one| places[one]).collect::<Vec<_>>());
    groups.filter(|group| agents(group) > 1).collect()
}

/// Whether an improvement is evidence: an agent used it, with success enough.
fn proven(tending: &Tending<'_>, Item { improvement, vector, .. }: &Item) -> bool {
    let rate = improvement.usage.success_rate;
    vector.is_some()
        && consolidation::eligible(improvement, tending.config.intake.store_from)
        && rate.is_some_and(|rate| rate >= tending.config.consolidation.success_rate)
        && improvement.agent.key() != consolidation::PRINCIPLES
}

/// The step that confirms one of a group by the agents of the others, if some of these have not yet.
fn step(tending: &Tending<'_>, items: &[Item], group: &[usize], place: usize) -> Option<Step> {
    let Item { row, improvement: before, .. } = &items[place];
    let agents: Vec<AgentName> = group.iter().map(|&one| items[one].improvement.agent.clone()).collect();
    let confirmed = consolidation::confirmed(before, &agents, tending.now);
    let known = before.cross_validation.as_ref().map_or(&[][..], |known| &known.agents);
    let fresh: Vec<&str> =
        confirmed.agents.iter().filter(|agent| !known.contains(agent)).map(AgentName::as_str).collect();
    if fresh.is_empty() {
        return None;
    }
    let why = format!("confirm {}: also learned by {}", before.id, fresh.join(", "));
    let after = Improvement { cross_validation: Some(confirmed), ..before.clone() };
    Some(Step::of(why, *row, before.clone(), Some(after)))
}
