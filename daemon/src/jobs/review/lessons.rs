//! The improvements that were used in the week: which worked, which failed, and whether maintenance keeps up with them.

use std::cmp::Ordering;

use memoryd_proto::Lesson;
use rusqlite::Connection;

use super::Asked;
use crate::domain::criteria::Part;
use crate::domain::{judgement, ranking};
use crate::error::Error;
use crate::ledger::week::{self as ledger, Used};
use crate::store::listing::{self, Order, Showing, Wanted};
use crate::store::tally;

/// How many of the best and of the worst are shown.
const SHOWN: usize = 5;

/// How many of their last tasks.
const TASKS: u64 = 3;

/// The improvements that were used.
pub struct Lessons {
    pub best: Vec<Lesson>,
    pub worst: Vec<Lesson>,
    pub fallen: u64,
}

/// The best, the worst, and how many succeed too seldom to be recalled.
pub fn of(asked: &Asked<'_>, connection: &Connection) -> Result<Lessons, Error> {
    let mut used = ledger::used(connection, asked.span)?;
    used.sort_by(|a, b| record(b).total_cmp(&record(a)).then_with(|| busier(a, b)));
    let falls = |one: &Used| rate(one) < asked.config.recall.success_rate;
    let fallen = used.iter().filter(|one| falls(one)).count() as u64;
    let best = used.iter().filter(|one| one.successes > 0 && record(one) > 0.5 && !falls(one));
    let best = taken(asked, connection, best)?;
    used.sort_by(|a, b| record(a).total_cmp(&record(b)).then_with(|| busier(a, b)));
    let shown = |one: &Used| {
        best.iter().any(|best| best.improvement.agent == one.agent && best.improvement.id == one.id)
    };
    let worst = used.iter().filter(|one| one.successes < one.uses && !shown(one));
    let worst = taken(asked, connection, worst)?;
    Ok(Lessons { best, worst, fallen })
}

/// The first of some improvements, with their evidence. Those that are gone are passed over.
fn taken<'a>(
    asked: &Asked<'_>,
    connection: &Connection,
    used: impl Iterator<Item = &'a Used>,
) -> Result<Vec<Lesson>, Error> {
    let (gates, showing) = (asked.config.rules(0.0), Showing::at(asked.now, asked.config));
    let mut lessons = Vec::new();
    for one in used {
        let wanted = Wanted::one(&one.agent, &one.id);
        let found = listing::improvements(connection, &wanted, Order::Export, (0, 1), &showing)?;
        let Some((_, improvement)) = found.into_iter().next() else { continue };
        let (confidence, rate) = (improvement.confidence.get(), improvement.usage.success_rate);
        let recalled = ranking::barred(improvement.deprecation.is_some(), confidence, rate, &gates).is_none();
        let tasks = ledger::last_tasks(connection, &one.agent, &one.id, asked.span[1], TASKS)?;
        lessons.push(Lesson { improvement, uses: one.uses, successes: one.successes, recalled, tasks });
        if lessons.len() == SHOWN {
            break;
        }
    }
    Ok(lessons)
}

/// Of the improvements that were used often enough: those that fail and are deprecated, of those that fail, and those
/// that succeed and await no promotion, of those that succeed (spec I7, I8).
pub fn judged(asked: &Asked<'_>, connection: &Connection) -> Result<(Part, Part), Error> {
    let (deprecation, rule) = (&asked.config.deprecation, asked.config.promoting());
    let showing = Showing::at(asked.now, asked.config);
    let (part, whole) = tally::failing(connection, deprecation.usage, deprecation.success_rate)?;
    let (deprecated, mut promoted) = (Part { part, whole }, Part::default());
    for row in tally::succeeding(connection, rule.usage, rule.success_rate)? {
        let Some((improvement, _)) = listing::at_row(connection, row, &showing)? else { continue };
        promoted.whole += 1;
        promoted.part += u64::from(judgement::promoted(&improvement, &rule).is_none());
    }
    Ok((deprecated, promoted))
}

/// How good its record is.
fn record(used: &Used) -> f64 {
    judgement::record(used.all_successes, used.all_uses)
}

#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn rate(used: &Used) -> f64 {
    used.all_successes as f64 / used.all_uses as f64
}

/// Of equal records, that of the most uses in the week comes first, then goes the name.
fn busier(a: &Used, b: &Used) -> Ordering {
    b.uses.cmp(&a.uses).then_with(|| (a.agent.key(), &a.id).cmp(&(b.agent.key(), &b.id)))
}
