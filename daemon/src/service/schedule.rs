//! When jobs are due, and how they last went (spec S1, S2).

use chrono::{DateTime, Utc};
use memoryd_proto::{Fault, JobName, JobState, Schedule, ScheduleView, Serve};

use super::App;
use crate::domain::schedule::{self, Cron, Turn};
use crate::error::Error;
use crate::jobs::{self, Job};
use crate::ledger::runs::{self, Runs};

impl Serve<Schedule> for App {
    fn serve(&self, _: Schedule) -> Result<ScheduleView, Fault> {
        Ok(self.schedule()?)
    }
}

impl App {
    /// When jobs run next, and how they last went.
    pub(super) fn schedule(&self) -> Result<ScheduleView, Error> {
        let jobs = jobs::ALL.iter().map(|job| self.state(*job)).collect::<Result<_, _>>()?;
        Ok(ScheduleView { now: self.now(), zone: self.tender.zone.name().to_owned(), jobs })
    }

    fn state(&self, job: &dyn Job) -> Result<JobState, Error> {
        let (now, zone, name) = (self.now(), self.tender.zone, job.name());
        let runs = self.runs(name)?.unwrap_or_else(|| Runs::none(now));
        let next = self.next(name, &runs, now)?;
        Ok(JobState {
            job: name,
            cadence: job.cadence(),
            cron: self.config.maintenance.schedule.cron(name).to_owned(),
            next,
            next_offset: zone.local(next.unwrap_or(now)).offset().local_minus_utc(),
            running: self.tender.running() == Some(name),
            last: runs.last,
            failures: runs.failures,
        })
    }

    /// When a job runs next; none when it is switched off.
    fn next(&self, job: JobName, runs: &Runs, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, Error> {
        let Some(cron) = self.cron(job) else { return Ok(None) };
        let zone = self.tender.zone;
        let turn = zone.turn(&cron, runs.due, now);
        if matches!(turn, Turn::Runs(_)) || self.journal.interrupted(&jobs::actor(job))? {
            return Ok(Some(schedule::put_off(runs.retry_at, now).unwrap_or(now)));
        }
        let kept = if turn == Turn::Resets { now } else { now.max(runs.due) };
        Ok(zone.next(&cron, kept))
    }

    /// The time of the schedule that a job is to keep now, if it is its turn. What was interrupted is completed at once.
    pub(super) fn due(&self, job: JobName) -> Result<Option<DateTime<Utc>>, Error> {
        let now = self.now();
        let runs = self.runs(job)?.unwrap_or_else(|| Runs::none(now));
        let interrupted = self.journal.interrupted(&jobs::actor(job))?;
        let Some(cron) = self.cron(job) else {
            if interrupted {
                // Switched off in the middle: what was done is an operation, and can be undone.
                self.journal.complete(&jobs::actor(job), |_, _| Ok(()))?;
            }
            return Ok(None);
        };
        if schedule::put_off(runs.retry_at, now).is_some() {
            return Ok(None);
        }
        match self.tender.zone.turn(&cron, runs.due, now) {
            Turn::Runs(due) => Ok(Some(due)),
            Turn::Waits => Ok(interrupted.then_some(runs.due)),
            Turn::Resets => {
                let reset = Runs { due: now, ..runs };
                self.journal.note(|connection| runs::put(connection, job, &reset))?;
                Ok(interrupted.then_some(now))
            }
        }
    }

    /// Lets the schedule of jobs that were never seen count from now on, so that nothing runs at once where memoryd is
    /// new.
    pub(super) fn see_first(&self) -> Result<(), Error> {
        let mut new = Vec::new();
        for job in jobs::ALL {
            if self.runs(job.name())?.is_none() {
                new.push((job.name(), Runs::none(self.now())));
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        self.journal
            .note(|connection| new.iter().try_for_each(|(job, runs)| runs::put(connection, *job, runs)))
    }

    fn runs(&self, job: JobName) -> Result<Option<Runs>, Error> {
        self.view().read(|connection| runs::find(connection, job))
    }

    /// The schedule of a job, unless it is switched off.
    fn cron(&self, job: JobName) -> Option<Cron> {
        Cron::parse(self.config.maintenance.schedule.cron(job))
    }
}
