//! Weekly: the review of the week that just ended is kept, for people to read (spec P3).

mod agents;
mod lessons;
mod tree;

use chrono::{DateTime, Utc};
use memoryd_proto::{Cadence, Day, JobName, Review as Reviewed, Standing, StandingCount, Week};
use rusqlite::Connection;

use super::{Job, Tending};
use crate::clock::Zone;
use crate::config::Config;
use crate::database::span::Span;
use crate::domain::criteria::{self, Evidence, Part};
use crate::domain::decay;
use crate::domain::secrets::Redactor;
use crate::error::Error;
use crate::journal::{self, Change, Edit, Plan, Step};
use crate::ledger::recalls::EXPIRY;
use crate::ledger::{contexts, week as ledger};
use crate::store::listing::{self, Showing, Wanted};
use crate::store::reviews;
use crate::store::tally;
use crate::view::View;

/// Bins of the distribution of Q-values.
const BINS: usize = 20;

/// The job.
pub struct Review;

impl Job for Review {
    fn name(&self) -> JobName {
        JobName::Review
    }

    fn cadence(&self) -> Cadence {
        Cadence::Weekly
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let week = Week::of(tending.zone.day(tending.now)).before(1);
        let mut plan = Plan { reason: format!("the review of {week}"), ..Plan::default() };
        if tending.view.read(|connection| reviews::find(connection, week))?.is_some() {
            plan.notes.push(format!("The review of {week} is kept."));
            return Ok(plan);
        }
        let review = of(tending.view, tending.config, tending.redactor, tending.zone, week, tending.now)?;
        let all = &review.all;
        if all.tasks + all.recalls + all.stored == 0 {
            plan.notes.push(format!("Nothing happened in {week}."));
            return Ok(plan);
        }
        let rate =
            all.success_rate().map_or_else(String::new, |rate| format!(", {:.0} % succeeded", 100.0 * rate));
        let why = format!("keep the review of {week}: {} tasks{rate}", all.tasks);
        let changes = vec![Change::Review(Edit { before: None, after: Some(review) })];
        plan.steps.push(Step { why, changes, ..Step::default() });
        Ok(plan)
    }
}

/// The review of a week from what is stored now. Of a week that is not over it goes up to `now`.
///
/// # Errors
/// When something that it needs cannot be read.
pub fn of(
    view: &View,
    config: &Config,
    redactor: &Redactor,
    zone: Zone,
    week: Week,
    now: DateTime<Utc>,
) -> Result<Reviewed, Error> {
    let span = span(zone, week);
    let asked = Asked { config, zone, week, span, now };
    let noted = tree::of(&asked, view, redactor)?;
    let review = view.read(|connection| asked.review(connection))?;
    Ok(Reviewed { shared: noted.shared, skills: noted.skills, ..review })
}

/// From the midnight that a week begins with to the one that it ends with.
fn span(zone: Zone, week: Week) -> Span {
    [week, week.next()].map(|week| zone.midnight(week.monday()))
}

/// What a review is made from.
struct Asked<'a> {
    config: &'a Config,
    zone: Zone,
    week: Week,
    span: Span,
    now: DateTime<Utc>,
}

impl Asked<'_> {
    fn review(&self, connection: &Connection) -> Result<Reviewed, Error> {
        let [from, to] = self.span;
        let agents = agents::of(self, connection)?;
        let all = agents::together(agents.iter().map(|one| &one.week));
        let lessons = lessons::of(self, connection)?;
        let grown = ledger::interactions(connection, self.span)?;
        let contexts = contexts::states(connection, &self.config.learning)?.into_iter().map(|state| {
            let grown = grown.get(state.name.as_str()).copied().unwrap_or_default();
            memoryd_proto::ContextReview { state, grown }
        });
        Ok(Reviewed {
            week: self.week,
            from,
            to,
            made_at: self.now,
            before: agents::together(agents.iter().map(|one| &one.before)),
            days: self.days(connection)?,
            standing: self.standing(connection)?,
            q_values: self.q_values(connection)?,
            contexts: contexts.collect(),
            best: lessons.best,
            worst: lessons.worst,
            fallen: lessons.fallen,
            shared: Vec::new(),
            skills: Vec::new(),
            maintenance: journal::work(connection, super::ACTOR, self.span)?,
            criteria: criteria::judge(&self.evidence(connection, all.stored)?),
            all,
            agents,
        })
    }

    /// The span of `n` weeks before this one.
    fn weeks_before(&self, n: u64) -> (Week, Span) {
        let week = self.week.before(n);
        (week, span(self.zone, week))
    }

    fn days(&self, connection: &Connection) -> Result<Vec<Day>, Error> {
        let mut days = Vec::new();
        for n in 0..7 {
            let day = self.week.day(n);
            let span = [self.zone.midnight(day), self.zone.midnight(self.week.day(n + 1))];
            let done = tally::tasks(connection, span)?;
            days.push(Day {
                day,
                tasks: done.values().map(|one| one.tasks).sum(),
                succeeded: done.values().map(|one| one.succeeded).sum(),
            });
        }
        Ok(days)
    }

    fn standing(&self, connection: &Connection) -> Result<StandingCount, Error> {
        let showing = Showing::at(self.now, self.config);
        let count = |standing| {
            listing::count(connection, &Wanted { standing: Some(standing), ..Wanted::default() }, &showing)
        };
        Ok(StandingCount {
            active: count(Standing::Active)?,
            candidates: count(Standing::Candidate)?,
            deprecated: count(Standing::Deprecated)?,
        })
    }

    fn q_values(&self, connection: &Connection) -> Result<Vec<u64>, Error> {
        let (today, factor) = (decay::day(self.now), self.config.learning.decay_factor);
        let mut bins = vec![0; BINS];
        for (q, day) in tally::q_values(connection)? {
            let q = q * decay::left(factor, decay::idle_days(day, today));
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "a bin is a small number"
            )]
            let bin = (q.clamp(0.0, 1.0) * BINS as f64) as usize;
            bins[bin.min(BINS - 1)] += 1;
        }
        Ok(bins)
    }

    fn evidence(&self, connection: &Connection, stored: u64) -> Result<Evidence, Error> {
        let [from, to] = self.span;
        let part = |(part, whole)| Part { part, whole };
        let due = [from, to.min(self.now - EXPIRY)];
        let (asked, reported) = ledger::recalls(connection, due)?
            .values()
            .fold((0, 0), |(asked, reported), one| (asked + one.0, reported + one.1));
        let (deprecated, promoted) = lessons::judged(self, connection)?;
        Ok(Evidence {
            over: self.now >= to,
            stored,
            helped: part(ledger::helped(connection, self.span)?),
            counted: part(ledger::counted(connection, self.span)?),
            trend: agents::trend(self, connection)?,
            reported: Part { part: reported, whole: asked },
            deprecated,
            promoted,
        })
    }
}
