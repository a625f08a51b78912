//! The zone whose local time schedules and days go by. Instants are UTC everywhere else.

use chrono::{DateTime, FixedOffset, Local, NaiveDate, NaiveTime, Offset, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

use crate::domain::schedule::{Cron, Turn};

/// A time zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zone {
    /// That of the system.
    #[default]
    System,
    /// One by its IANA name.
    Named(Tz),
}

impl Zone {
    /// The zone of an IANA name, or that of the system for an empty one; none when there is no such zone.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if name.is_empty() { Some(Self::System) } else { name.parse().ok().map(Self::Named) }
    }

    /// Its IANA name, or `local` for that of the system.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "local",
            Self::Named(zone) => zone.name(),
        }
    }

    /// An instant as its clocks show it.
    #[must_use]
    pub fn local(self, at: DateTime<Utc>) -> DateTime<FixedOffset> {
        fn fixed<Z: TimeZone>(at: DateTime<Utc>, zone: &Z) -> DateTime<FixedOffset> {
            let local = at.with_timezone(zone);
            local.with_timezone(&local.offset().fix())
        }
        match self {
            Self::System => fixed(at, &Local),
            Self::Named(zone) => fixed(at, &zone),
        }
    }

    /// The first time of a schedule after an instant.
    #[must_use]
    pub fn next(self, cron: &Cron, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        match self {
            Self::System => cron.next(after, &Local),
            Self::Named(zone) => cron.next(after, &zone),
        }
    }

    /// Whether it is a job's turn that kept its schedule up to `kept`.
    #[must_use]
    pub fn turn(self, cron: &Cron, kept: DateTime<Utc>, now: DateTime<Utc>) -> Turn {
        match self {
            Self::System => cron.turn(kept, now, &Local),
            Self::Named(zone) => cron.turn(kept, now, &zone),
        }
    }

    /// The day of an instant.
    #[must_use]
    pub fn day(self, at: DateTime<Utc>) -> NaiveDate {
        self.local(at).date_naive()
    }

    /// The first instant of a day. Where clocks skip midnight, the day begins later.
    #[must_use]
    pub fn midnight(self, day: NaiveDate) -> DateTime<Utc> {
        let midnight = day.and_time(NaiveTime::MIN);
        (0..24)
            .find_map(|hours| {
                let local = midnight + TimeDelta::hours(hours);
                match self {
                    Self::System => Local.from_local_datetime(&local).earliest().map(|at| at.to_utc()),
                    Self::Named(zone) => zone.from_local_datetime(&local).earliest().map(|at| at.to_utc()),
                }
            })
            .unwrap_or_else(|| midnight.and_utc())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_that_of_the_zone() {
        let at = Utc.with_ymd_and_hms(2026, 1, 5, 23, 30, 0).unwrap();
        let kiritimati = Zone::named("Pacific/Kiritimati").unwrap();
        assert_eq!(kiritimati.day(at), NaiveDate::from_ymd_opt(2026, 1, 6).unwrap());
        assert_eq!(Zone::named("UTC").unwrap().day(at), NaiveDate::from_ymd_opt(2026, 1, 5).unwrap());
        assert_eq!(Zone::named("Mars/Olympus"), None);
    }

    #[test]
    fn a_day_begins_when_its_clocks_say_so() {
        let begins = |zone: &str, (y, m, d)| {
            let day = NaiveDate::from_ymd_opt(y, m, d).unwrap();
            Zone::named(zone).unwrap().midnight(day).to_rfc3339()
        };
        assert_eq!(begins("Europe/Dublin", (2026, 7, 1)), "2026-06-30T23:00:00+00:00");
        // In Cairo the clocks go from midnight to one in the morning.
        assert_eq!(begins("Africa/Cairo", (2026, 4, 24)), "2026-04-23T22:00:00+00:00");
    }
}
