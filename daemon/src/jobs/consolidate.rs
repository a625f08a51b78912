//! Weekly: what is said twice becomes one, what agents confirm of one another is marked, and what is confirmed spreads
//! (spec S5). Only improvements of one scope are compared, by the vectors that are stored.

mod confirm;
mod merge;
mod spread;

use std::collections::BTreeMap;

use memoryd_proto::{Cadence, Improvement, JobName, Scope};

use super::{Job, Tending};
use crate::error::Error;
use crate::journal::Plan;
use crate::store::listing::Wanted;
use crate::store::rows;

/// The job.
pub struct Consolidate;

/// An improvement as the steps so far leave it.
struct Item {
    row: Option<i64>,
    improvement: Improvement,
    vector: Option<Vec<f32>>,
}

impl Job for Consolidate {
    fn name(&self) -> JobName {
        JobName::Consolidate
    }

    fn cadence(&self) -> Cadence {
        Cadence::Weekly
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let reason = "what is said twice becomes one, and what agents confirm spreads".to_owned();
        let mut plan = Plan { reason, ..Plan::default() };
        if let Some(reason) = &tending.view.degraded {
            plan.notes.push(format!("Nothing is compared while vectors are not used. {reason}."));
            return Ok(plan);
        }
        let items = merge::plan(tending, items(tending)?, &mut plan)?;
        let groups = confirm::plan(tending, &items, &mut plan);
        spread::plan(tending, &items, &groups, &mut plan)?;
        Ok(plan)
    }
}

/// Every improvement, with the vector of its text if one of the model's is stored.
fn items(tending: &Tending<'_>) -> Result<Vec<Item>, Error> {
    let improvements = tending.improvements(&Wanted::default())?;
    let mut vectors = tending.view.read(rows::vectors)?;
    let dimension = tending.view.embedder.dimension();
    vectors.retain(|_, vector| vector.len() == dimension);
    let item = |(row, improvement): (Option<i64>, Improvement)| Item {
        row,
        improvement,
        vector: row.and_then(|row| vectors.remove(&row)),
    };
    Ok(improvements.into_iter().map(item).collect())
}

/// The places of items, by scope.
fn by_scope(items: &[Item]) -> BTreeMap<&Scope, Vec<usize>> {
    let mut scopes: BTreeMap<&Scope, Vec<usize>> = BTreeMap::new();
    for (place, item) in items.iter().enumerate() {
        scopes.entry(&item.improvement.scope).or_default().push(place);
    }
    scopes
}
