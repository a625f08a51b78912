//! When a job is due (spec S1, S2): at times of the local clock, once for each, and once for all that were missed.
//!
//! A time that the clock skips is kept right after the gap; one that it shows twice is kept the first time. croner does
//! so only for expressions with a single second, minute and hour, so it is asked for local times, and the way from there
//! to an instant is found here.

use chrono::{
    DateTime, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Timelike, Utc,
};
use croner::parser::{CronParser, Seconds, Year};

/// The longest that a failed run is put off.
const LONGEST: TimeDelta = TimeDelta::hours(6);

/// No clock skips more minutes than this at once.
const LONGEST_GAP: i64 = 26 * 60;

/// A cron expression: second, minute, hour, day of month, month, day of week.
#[derive(Clone, Debug)]
pub struct Cron(croner::Cron);

/// What a schedule says of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// There is nothing to do yet.
    Waits,
    /// It is to run now, which keeps the schedule up to this time.
    Runs(DateTime<Utc>),
    /// What was kept last lies further ahead than the next time: it came from a clock that went wrong. The schedule
    /// counts from now on.
    Resets,
}

impl Cron {
    /// Reads an expression. None if it has not six fields, does not make sense, or never comes true.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.split_whitespace().count() != 6 {
            return None;
        }
        let parser = CronParser::builder().seconds(Seconds::Required).year(Year::Disallowed).build();
        let cron = parser.parse(text).ok()?;
        let some_day = NaiveDate::from_ymd_opt(2000, 1, 1)?.and_time(NaiveTime::MIN);
        cron.find_next_occurrence(&some_day, true).ok()?;
        Some(Self(cron))
    }

    /// The first time after an instant.
    #[must_use]
    pub fn next<Z: TimeZone>(&self, after: DateTime<Utc>, zone: &Z) -> Option<DateTime<Utc>> {
        let mut shown = shown(after, zone);
        loop {
            shown = self.0.find_next_occurrence(&shown, false).ok()?;
            let at = first(shown, zone)?;
            if at > after {
                return Some(at);
            }
        }
    }

    /// The last time that is not after `now`.
    #[must_use]
    pub fn latest<Z: TimeZone>(&self, now: DateTime<Utc>, zone: &Z) -> Option<DateTime<Utc>> {
        let mut shown = shown(now, zone);
        // When the clock shows an hour for the second time, all of the first lies behind.
        if let MappedLocalTime::Ambiguous(one, other) = zone.from_local_datetime(&shown) {
            shown += (other - one).abs();
        }
        let mut found = self.0.find_previous_occurrence(&shown, true).ok()?;
        loop {
            let at = first(found, zone)?;
            if at <= now {
                return Some(at);
            }
            found = self.0.find_previous_occurrence(&found, false).ok()?;
        }
    }

    /// Whether it is a job's turn that kept the schedule up to `kept`.
    #[must_use]
    pub fn turn<Z: TimeZone>(&self, kept: DateTime<Utc>, now: DateTime<Utc>, zone: &Z) -> Turn {
        if kept > now {
            let sooner = self.next(now, zone).is_some_and(|next| next < kept);
            return if sooner { Turn::Resets } else { Turn::Waits };
        }
        self.latest(now, zone).filter(|latest| *latest > kept).map_or(Turn::Waits, Turn::Runs)
    }
}

/// How long a job is put off that failed so many times in a row: a minute, and twice as long each time, up to six hours.
#[must_use]
pub fn backoff(failures: u32) -> TimeDelta {
    let minutes = 1_i64.checked_shl(failures.saturating_sub(1)).filter(|minutes| *minutes > 0);
    minutes.map_or(LONGEST, |minutes| TimeDelta::minutes(minutes.min(LONGEST.num_minutes())))
}

/// When a job that failed is tried again, if that is still ahead. A time further ahead than a job is ever put off came
/// from a clock that went wrong.
#[must_use]
pub fn put_off(retry_at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    retry_at.filter(|at| *at > now && *at - now <= LONGEST)
}

/// What the clocks of a zone show at an instant.
fn shown<Z: TimeZone>(at: DateTime<Utc>, zone: &Z) -> NaiveDateTime {
    zone.from_utc_datetime(&at.naive_utc()).naive_local()
}

/// When the clocks of a zone first show a time, or have first gone past it.
fn first<Z: TimeZone>(time: NaiveDateTime, zone: &Z) -> Option<DateTime<Utc>> {
    // chrono's zone of the system names the two instants of an overlap in either order, and takes the end of an overlap
    // for part of it: hence the earliest that is true.
    let exactly = |time: NaiveDateTime| {
        let (one, other) = match zone.from_local_datetime(&time) {
            MappedLocalTime::Single(one) => (Some(one), None),
            MappedLocalTime::Ambiguous(one, other) => (Some(one), Some(other)),
            MappedLocalTime::None => (None, None),
        };
        one.into_iter().chain(other).map(|at| at.to_utc()).filter(|at| shown(*at, zone) == time).min()
    };
    let minute = time.with_second(0)?;
    exactly(time).or_else(|| {
        (1..=LONGEST_GAP).find_map(|n| exactly(minute.checked_add_signed(TimeDelta::minutes(n))?))
    })
}

#[cfg(test)]
mod tests;
