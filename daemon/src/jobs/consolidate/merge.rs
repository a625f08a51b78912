//! Near-duplicates of one agent become one. A group is made around its best improvement, which stays: the others mean
//! the same as that one, whatever they are to each other.
//!
//! An improvement may have a copy in each of several scopes, and its usage is one for all. So improvements are merged
//! only if they are in the same scopes, and then in all of these; where the copies of one differ, it is left alone.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use memoryd_proto::{AgentName, Improvement, ImprovementId, Scope};

use super::Item;
use crate::domain::consolidation::{self, Groups};
use crate::domain::text::{self, Wording};
use crate::error::Error;
use crate::index::Join;
use crate::jobs::Tending;
use crate::journal::{Change, Edit, Event, Plan, Step};
use crate::ledger::outcomes::{self, Outcome};
use crate::ledger::usage;

/// The places of the copies of one improvement, in the order of their scopes.
type Copies = Vec<usize>;

/// Characters of a text that tell which it is.
const SHOWN: usize = 60;

/// Plans the merging, and returns the items as it leaves them.
pub(super) fn plan(tending: &Tending<'_>, mut items: Vec<Item>, plan: &mut Plan) -> Result<Vec<Item>, Error> {
    let mut gone = HashSet::new();
    for group in groups(tending, &items) {
        plan.steps.push(step(tending, &mut items, &group)?);
        gone.extend(group.into_iter().skip(1).flatten());
    }
    let mut place = 0..;
    items.retain(|_| place.next().is_some_and(|place| !gone.contains(&place)));
    Ok(items)
}

/// What is to be merged: groups of improvements, the one that stays first.
fn groups(tending: &Tending<'_>, items: &[Item]) -> Vec<Vec<Copies>> {
    let mut copies: BTreeMap<(&AgentName, &ImprovementId), Copies> = BTreeMap::new();
    for (place, Item { improvement, .. }) in items.iter().enumerate() {
        copies.entry((&improvement.agent, &improvement.id)).or_default().push(place);
    }
    let mut alike: BTreeMap<(&AgentName, Vec<&Scope>), Vec<Copies>> = BTreeMap::new();
    for ((agent, _), mut copies) in copies {
        copies.sort_by_key(|&place| &items[place].improvement.scope);
        let first = &items[copies[0]].improvement;
        let takes_part = copies.iter().all(|&place| {
            let Item { row, improvement, vector } = &items[place];
            consolidation::eligible(improvement, tending.config.intake.store_from)
                && improvement.document == first.document
                && vector.is_some()
                && !tending
                    .taken_back
                    .contains(&Change::improvement(*row, None, Some(improvement.clone())).item())
        });
        if takes_part {
            let scopes = copies.iter().map(|&place| &items[place].improvement.scope).collect();
            alike.entry((agent, scopes)).or_default().push(copies);
        }
    }
    let (mut done, all) = (0, 2 * items.len() as u64);
    let mut found = Vec::new();
    for alike in alike.into_values() {
        done += alike.iter().map(|copies| copies.len() as u64).sum::<u64>();
        found.extend(near_duplicates(items, alike, tending.config.intake.same_from));
        (tending.progress)(done, all);
    }
    found
}

/// The groups among improvements of one agent that are in the same scopes.
fn near_duplicates(items: &[Item], mut alike: Vec<Copies>, same_from: f64) -> Vec<Vec<Copies>> {
    alike.sort_by(|one, other| {
        consolidation::better(&items[one[0]].improvement, &items[other[0]].improvement)
    });
    let vectors: Vec<&[f32]> = alike.iter().filter_map(|copies| items[copies[0]].vector.as_deref()).collect();
    let wordings: Vec<Wording> =
        alike.iter().map(|copies| Wording::of(&items[copies[0]].improvement.document)).collect();
    let agree = |one: usize, other: usize| {
        alike[one].iter().zip(&alike[other]).all(|(&one, &other)| {
            consolidation::agree(&items[one].improvement.attributes, &items[other].improvement.attributes)
        })
    };
    let mut groups = Groups::new(alike.len());
    Join::new(&vectors).pairs(same_from, |best, near| {
        groups.take(best, near.iter().map(|near| near.place), |group, other| {
            wordings[best].may_mean_the_same(&wordings[other]) && group.iter().all(|&one| agree(one, other))
        });
    });
    let copies = |group: Vec<usize>| group.into_iter().map(|place| alike[place].clone()).collect();
    groups.finish().into_iter().map(copies).collect()
}

/// The step that merges a group. The item that stays takes its new form.
fn step(tending: &Tending<'_>, items: &mut [Item], group: &[Copies]) -> Result<Step, Error> {
    let (keeper, others) = group.split_at(1);
    let (keeper, best) = (&keeper[0], items[keeper[0][0]].improvement.clone());
    let mut changes = Vec::new();
    let mut merged = Vec::new();
    for (scope, &place) in keeper.iter().enumerate() {
        let theirs: Vec<&Improvement> =
            others.iter().map(|copies| &items[copies[scope]].improvement).collect();
        let Item { row, improvement, .. } = &items[place];
        let after = consolidation::merged(improvement, &theirs);
        if after != *improvement {
            changes.push(Change::improvement(*row, Some(improvement.clone()), Some(after.clone())));
        }
        merged.push(after);
    }
    for &place in others.iter().flatten() {
        let Item { row, improvement, .. } = &items[place];
        changes.push(Change::improvement(*row, Some(improvement.clone()), None));
    }
    let ids: Vec<ImprovementId> =
        group.iter().map(|copies| items[copies[0]].improvement.id.clone()).collect();
    let keep = tending.config.learning.outcomes;
    let (usages, events) = tending.view.read(|connection| {
        let usages = ids.iter().map(|id| usage::find(connection, &best.agent, id));
        let usages = usages.collect::<Result<Vec<_>, _>>()?;
        let past = ids.iter().map(|id| outcomes::past(connection, &best.agent, id, keep));
        Ok::<_, Error>((usages, inherited(&best.id, past.collect::<Result<_, _>>()?, keep)))
    })?;
    let showing = tending.showing();
    let known: Vec<_> = usages.iter().flatten().cloned().collect();
    let total = consolidation::merged_usage(&known, showing.decay);
    // What is removed leaves no usage behind: restored one day and merged again, it would count twice.
    for (n, (id, before)) in ids.iter().zip(usages).enumerate() {
        let after = total.clone().filter(|_| n == 0);
        if before.is_some() || after.is_some() {
            let edit = Edit { before, after };
            changes.push(Change::Usage { agent: best.agent.clone(), id: id.clone(), edit });
        }
    }
    for (&place, mut after) in keeper.iter().zip(merged) {
        after.usage =
            total.as_ref().map_or_else(Default::default, |total| total.shown(showing.today, showing.decay));
        items[place].improvement = after;
    }
    let count = match others.len() {
        1 => "a near-duplicate".to_owned(),
        count => format!("{count} near-duplicates"),
    };
    let why = format!("merge {count} into {}: {:?}", best.id, text::excerpt(&best.document, SHOWN));
    Ok(Step { agent: Some(best.agent), why, changes, events, ..Step::default() })
}

/// The past tasks that `keeper` takes over: of its own, which come first, and those of the others the newest `keep`,
/// oldest first. A task in which it was used itself is its own already.
fn inherited(keeper: &ImprovementId, past: Vec<Vec<Outcome>>, keep: usize) -> Vec<Event> {
    let mut known = HashSet::new();
    let mut all: Vec<Outcome> = past.into_iter().flatten().collect();
    all.retain(|one| known.insert((one.at, one.task.as_ref().map(|task| task.text.clone()))));
    all.sort_by_key(|one| Reverse(one.at));
    all.truncate(keep);
    let theirs = all.into_iter().rev().filter(|one| one.id != *keeper);
    theirs.map(|one| Event::Outcome(Outcome { id: keeper.clone(), ..one })).collect()
}
