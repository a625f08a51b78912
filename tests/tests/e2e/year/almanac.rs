//! When which job must run, worked out from the calendar alone and not by cron expressions.

use std::collections::BTreeSet;

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, TimeDelta, TimeZone, Utc, Weekday};
use chrono_tz::Tz;
use memoryd_proto::JobName;

/// The default schedule, as a person would say it.
fn says(job: JobName) -> (u32, u32, fn(NaiveDate) -> bool) {
    let daily: fn(NaiveDate) -> bool = |_| true;
    let first_of_month: fn(NaiveDate) -> bool = |date| date.day() == 1;
    match job {
        JobName::Metrics => (3, 0, daily),
        JobName::Consolidate => (3, 10, |date| date.weekday() == Weekday::Sun),
        JobName::Deprecate => (3, 20, daily),
        JobName::Promote => (3, 25, daily),
        JobName::Decay => (3, 30, daily),
        JobName::PromoteNotes => (3, 32, daily),
        JobName::DemoteNotes => (3, 33, daily),
        JobName::ExpireNotes => (3, 34, daily),
        JobName::CompactNotes => (3, 35, daily),
        JobName::IndexNotes => (3, 36, daily),
        JobName::Review => (3, 40, |date| date.weekday() == Weekday::Mon),
        JobName::ArchiveEvaluations => (4, 0, first_of_month),
        JobName::RemoveDeprecated => (4, 10, first_of_month),
        JobName::PruneJournal => (4, 20, first_of_month),
        JobName::BackUp => (4, 30, daily),
    }
}

/// Knows what is due.
pub struct Almanac {
    zone: Tz,
    looked: DateTime<Utc>,
}

impl Almanac {
    /// An almanac for a daemon that was installed at `from`.
    pub fn new(zone: Tz, from: DateTime<Utc>) -> Self {
        Self { zone, looked: from }
    }

    /// What became due since it was last asked.
    pub fn due(&mut self, now: DateTime<Utc>) -> BTreeSet<JobName> {
        let since = std::mem::replace(&mut self.looked, now);
        JobName::ALL.into_iter().filter(|&job| self.next(job, since) <= now).collect()
    }

    /// The first time of a job after an instant.
    pub fn next(&self, job: JobName, after: DateTime<Utc>) -> DateTime<Utc> {
        let (hour, minute, on) = says(job);
        let time = NaiveTime::from_hms_opt(hour, minute, 0).unwrap();
        let mut date = after.with_timezone(&self.zone).date_naive();
        loop {
            let at = self.instant(date, time);
            if on(date) && at > after {
                return at;
            }
            date = date + Days::new(1);
        }
    }

    /// A local time; if the clocks skip it, the moment at which they do.
    fn instant(&self, date: NaiveDate, time: NaiveTime) -> DateTime<Utc> {
        let mut local = date.and_time(time);
        loop {
            if let Some(at) = self.zone.from_local_datetime(&local).earliest() {
                return at.to_utc();
            }
            local += TimeDelta::minutes(1);
        }
    }
}
