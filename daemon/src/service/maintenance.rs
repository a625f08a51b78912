//! Tending memory: one job after the other, planned and carried out, or only planned (spec S1–S4).

use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Utc};
use memoryd_proto::{
    Code, Fault, JobName, JobReport, JobRun, JobState, Maintain, Maintained, Schedule, ScheduleView, Serve,
};

use super::App;
use crate::clock::Zone;
use crate::error::Error;
use crate::jobs::{self, Ahead, Job, Tending};
use crate::journal::{self, Plan};
use crate::ledger::runs::{self, Runs};

/// How many planned steps are told.
const SHOWN: usize = 200;

/// What tends memory: one job at a time.
#[derive(Debug)]
pub struct Tender {
    /// The zone whose local time counts.
    pub zone: Zone,
    /// Held while jobs run.
    turn: Mutex<()>,
    running: Mutex<Option<JobName>>,
}

impl Tender {
    /// A tender that goes by the local time of `zone`.
    #[must_use]
    pub fn new(zone: Zone) -> Self {
        Self { zone, turn: Mutex::default(), running: Mutex::default() }
    }

    /// The job that runs now.
    #[must_use]
    pub fn running(&self) -> Option<JobName> {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runs(&self, job: Option<JobName>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = job;
    }
}

impl Serve<Maintain> for App {
    fn serve(&self, call: Maintain) -> Result<Maintained, Fault> {
        Ok(self.maintain(&call)?)
    }
}

impl Serve<Schedule> for App {
    fn serve(&self, _: Schedule) -> Result<ScheduleView, Fault> {
        Ok(self.schedule()?)
    }
}

impl App {
    fn maintain(&self, call: &Maintain) -> Result<Maintained, Error> {
        let Ok(_turn) = self.tender.turn.try_lock() else {
            let job = self.tender.running().map_or_else(String::new, |job| format!(": job {job}"));
            return Err(Fault::new(
                Code::Busy,
                format!("Maintenance is running{job}"),
                "`memoryctl watch` shows how far it is. Try again when it is done.",
            )
            .into());
        };
        let mut ahead = Ahead::default();
        let mut reports = Vec::new();
        for job in jobs::ALL.iter().filter(|job| call.job.is_none_or(|wanted| wanted == job.name())) {
            reports.push(if call.dry_run { self.rehearse(*job, &mut ahead)? } else { self.run(*job, None)? });
        }
        Ok(Maintained { dry_run: call.dry_run, jobs: reports })
    }

    /// Says what a job would do, after those that are ahead.
    fn rehearse(&self, job: &dyn Job, ahead: &mut Ahead) -> Result<JobReport, Error> {
        let began = self.now();
        let plan = self.plan(job, began, ahead)?;
        ahead.absorb(&plan);
        Ok(JobReport { took_ms: self.took(began), ..report(job.name(), &plan) })
    }

    /// Plans a job and carries the plan out. With `due` the run keeps that time of the schedule.
    fn run(&self, job: &dyn Job, due: Option<DateTime<Utc>>) -> Result<JobReport, Error> {
        let (started_at, name) = (self.now(), job.name());
        self.tender.runs(Some(name));
        let planned = self.plan(job, started_at, &Ahead::default());
        let done = planned.and_then(|plan| {
            let mut report = report(name, &plan);
            let carried =
                self.journal.carry_out(&jobs::actor(name), plan, &|_, _| {}, |connection, carried| {
                    let run = JobRun {
                        started_at,
                        took_ms: self.took(started_at),
                        operation: carried.operation,
                        total: report.total,
                        failed: None,
                    };
                    let known = runs::find(connection, name)?.unwrap_or_else(|| Runs::none(started_at));
                    let runs =
                        Runs { due: due.unwrap_or(known.due), failures: 0, retry_at: None, last: Some(run) };
                    Ok(runs::put(connection, name, &runs)?)
                })?;
            report.operation = carried.operation;
            report.left_out = carried.left_out;
            report.took_ms = self.took(started_at);
            Ok(report)
        });
        self.tender.runs(None);
        done
    }

    /// The plan of a job, without what a person took back.
    fn plan(&self, job: &dyn Job, now: DateTime<Utc>, ahead: &Ahead) -> Result<Plan, Error> {
        let tending = Tending {
            view: self.view(),
            config: &self.config,
            now,
            zone: self.tender.zone,
            ahead,
            progress: &|_, _| {},
        };
        let mut plan = job.plan(&tending)?;
        let actor = jobs::actor(job.name());
        let taken_back = self.view().read(|connection| journal::taken_back(connection, &actor))?;
        let planned = plan.steps.len();
        plan.steps.retain(|step| step.changes.iter().all(|change| !taken_back.contains(&change.item())));
        let left_alone = planned - plan.steps.len();
        if left_alone > 0 {
            plan.notes.push(format!("{left_alone} left alone: this was done before, and undone"));
        }
        Ok(plan)
    }

    /// Milliseconds since `began`, by the daemon's clock.
    fn took(&self, began: DateTime<Utc>) -> u64 {
        u64::try_from((self.now() - began).num_milliseconds()).unwrap_or_default()
    }

    /// When jobs run next, and how they last went.
    pub(super) fn schedule(&self) -> Result<ScheduleView, Error> {
        let (now, zone) = (self.now(), self.tender.zone);
        let running = self.tender.running();
        let mut states = Vec::new();
        for job in jobs::ALL {
            let name = job.name();
            let known = self.view().read(|connection| runs::find(connection, name))?;
            let known = known.unwrap_or_else(|| Runs::none(now));
            states.push(JobState {
                job: name,
                cadence: job.cadence(),
                cron: self.config.maintenance.schedule.cron(name).to_owned(),
                next: None,
                next_offset: zone.local(now).offset().local_minus_utc(),
                running: running == Some(name),
                last: known.last,
                failures: known.failures,
            });
        }
        Ok(ScheduleView { now, zone: zone.name().to_owned(), jobs: states })
    }
}

fn report(job: JobName, plan: &Plan) -> JobReport {
    JobReport {
        job,
        operation: None,
        planned: plan.steps.iter().take(SHOWN).map(journal::Step::told).collect(),
        total: plan.steps.len() as u64,
        left_out: 0,
        notes: plan.notes.clone(),
        took_ms: 0,
    }
}
