//! How each agent's week went.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;
use memoryd_proto::{AgentName, AgentReview, Figures, Point};
use rusqlite::Connection;

use super::Asked;
use crate::database::span::Span;
use crate::domain::performance;
use crate::error::Error;
use crate::ledger::week as ledger;
use crate::store::listing;
use crate::store::tally::{self, Tasks};

/// Weeks that are looked back on, this one included.
const WEEKS: u64 = 12;

/// Every agent that has memory or asked for it: most tasks in the week first, then by name.
pub fn of(asked: &Asked<'_>, connection: &Connection) -> Result<Vec<AgentReview>, Error> {
    let weeks = (0..WEEKS)
        .rev()
        .map(|n| {
            let (week, span) = asked.weeks_before(n);
            Ok((week, tally::tasks(connection, span)?))
        })
        .collect::<Result<Vec<_>, Error>>()?;
    let [this, before] = [0, 1].map(|n| figures(connection, asked.weeks_before(n).1));
    let (mut this, mut before) = (this?, before?);
    let mut qualities: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (key, quality) in tally::qualities(connection, recent(asked))? {
        let newest = qualities.entry(key).or_default();
        if newest.len() < asked.config.metrics.evaluations as usize {
            newest.push(quality);
        }
    }
    let mut agents: Vec<AgentReview> = names(connection, &this, &before)?
        .into_iter()
        .map(|(key, agent)| AgentReview {
            agent,
            week: this.remove(&key).unwrap_or_default(),
            before: before.remove(&key).unwrap_or_default(),
            trend: qualities.get(&key).and_then(|newest| rise(newest)),
            weeks: weeks
                .iter()
                .map(|(week, done)| {
                    let Tasks { tasks, succeeded, quality } = done.get(&key).copied().unwrap_or_default();
                    Point { week: *week, tasks, succeeded, quality }
                })
                .collect(),
        })
        .collect();
    agents.sort_by_key(|one| std::cmp::Reverse(one.week.tasks));
    Ok(agents)
}

/// The names of agents by key. One that only ever asked has no memory, and goes by its key.
fn names(
    connection: &Connection,
    this: &BTreeMap<String, Figures>,
    before: &BTreeMap<String, Figures>,
) -> Result<BTreeMap<String, AgentName>, Error> {
    let known = listing::agents(connection)?;
    let mut names: BTreeMap<String, AgentName> =
        known.into_iter().map(|(name, ..)| (name.key(), name)).collect();
    for key in this.keys().chain(before.keys()) {
        if let (false, Ok(name)) = (names.contains_key(key), key.parse()) {
            names.insert(key.clone(), name);
        }
    }
    Ok(names)
}

/// What each agent did in a span, by key.
fn figures(connection: &Connection, span: Span) -> Result<BTreeMap<String, Figures>, Error> {
    let (tasks, insights) = (tally::tasks(connection, span)?, tally::insights(connection, span)?);
    let (stored, recalls) = (tally::stored(connection, span)?, ledger::recalls(connection, span)?);
    let keys: BTreeSet<&String> = tasks.keys().chain(stored.keys()).chain(recalls.keys()).collect();
    let figures = keys.into_iter().map(|key| {
        let Tasks { tasks, succeeded, quality } = tasks.get(key).copied().unwrap_or_default();
        let (recalls, reported) = recalls.get(key).copied().unwrap_or_default();
        let figures = Figures {
            tasks,
            succeeded,
            quality,
            insights: insights.get(key).copied().unwrap_or_default(),
            stored: stored.get(key).copied().unwrap_or_default(),
            recalls,
            reported,
        };
        (key.clone(), figures)
    });
    Ok(figures.collect())
}

/// What agents did together.
pub fn together<'a>(agents: impl Iterator<Item = &'a Figures>) -> Figures {
    let mut all = Figures::default();
    let mut quality = 0.0;
    for one in agents {
        #[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
        let weight = one.tasks as f64;
        quality += one.quality.unwrap_or_default() * weight;
        all.tasks += one.tasks;
        all.succeeded += one.succeeded;
        all.insights += one.insights;
        all.stored += one.stored;
        all.recalls += one.recalls;
        all.reported += one.reported;
    }
    #[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
    let tasks = all.tasks as f64;
    all.quality = (all.tasks > 0).then(|| quality / tasks);
    all
}

/// How the quality of all agents' tasks moved over 30 days.
pub fn trend(asked: &Asked<'_>, connection: &Connection) -> Result<Option<f64>, Error> {
    let all: Vec<f64> =
        tally::qualities(connection, recent(asked))?.into_iter().map(|(_, quality)| quality).collect();
    Ok(rise(&all))
}

fn rise(newest_first: &[f64]) -> Option<f64> {
    (newest_first.len() > 1).then(|| performance::trend(newest_first))
}

/// The 30 days that end with the week, or now.
fn recent(asked: &Asked<'_>) -> Span {
    let end = asked.span[1].min(asked.now + TimeDelta::microseconds(1));
    [end - TimeDelta::days(asked.config.metrics.days.into()), end]
}
