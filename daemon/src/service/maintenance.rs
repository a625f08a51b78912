//! Tending memory: one job after the other, planned and carried out, or only planned (spec S1–S4).

mod apart;

use std::cell::Cell;
use std::ops::ControlFlow;

use chrono::{DateTime, Utc};
use memoryd_proto::{Code, Fault, Happening, JobName, JobReport, JobRun, Maintain, Maintained, Phase, Serve};
use parking_lot::Mutex;

use super::App;
use crate::clock::Zone;
use crate::domain::schedule;
use crate::error::Error;
use crate::jobs::{self, Ahead, Job, Tending};
use crate::journal::{self, Plan};
use crate::ledger::runs::{self, Runs};

/// How many planned steps are told.
const SHOWN: usize = 200;

/// How often a job is planned anew because somebody edited a file meanwhile.
const AGAIN: usize = 4;

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
        *self.running.lock()
    }
}

impl Serve<Maintain> for App {
    fn serve(&self, call: Maintain) -> Result<Maintained, Fault> {
        Ok(self.maintain(&call)?)
    }
}

impl App {
    /// Runs the jobs that are due, in their order, one at a time. A job that fails does not stop the others, and is
    /// tried again later. Does nothing while maintenance runs.
    ///
    /// # Errors
    /// When it cannot be found out what is due. What became of each job is kept with its runs.
    pub fn tend(&self) -> Result<Vec<JobReport>, Error> {
        let Some(_turn) = self.tender.turn.try_lock() else { return Ok(Vec::new()) };
        self.journal.look_back();
        self.see_first()?;
        let mut reports = Vec::new();
        for job in jobs::ALL {
            if self.counters.stop.is_cancelled() {
                break;
            }
            let Some(due) = self.due(job.name())? else { continue };
            match self.run(*job, Some(due)) {
                Ok(report) => reports.push(report),
                Err(Error::Stopping) => break,
                Err(error) => tracing::error!(job = %job.name(), %error, "a job failed"),
            }
        }
        Ok(reports)
    }

    fn maintain(&self, call: &Maintain) -> Result<Maintained, Error> {
        let Some(_turn) = self.tender.turn.try_lock() else {
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
            let done = if call.dry_run { self.rehearse(*job, &mut ahead) } else { self.run(*job, None) };
            reports.push(done.map_err(|error| {
                let fault = Fault::from(error);
                Fault { message: format!("Job {}: {}", job.name(), fault.message), ..fault }
            })?);
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

    /// Plans a job, carries the plan out, and keeps how that went. With `due` the run keeps that time of the schedule.
    fn run(&self, job: &dyn Job, due: Option<DateTime<Utc>>) -> Result<JobReport, Error> {
        let (started_at, name) = (self.now(), job.name());
        *self.tender.running.lock() = Some(name);
        self.tell(Happening::JobStarted { job: name });
        let planned = self.plan(job, started_at, &Ahead::default());
        let done = planned.and_then(|plan| apart::run(|| self.carry_out(job, plan, started_at, due)));
        *self.tender.running.lock() = None;
        let (operation, total, failed) = match &done {
            Ok(report) => (report.operation, report.total, None),
            Err(error) => (None, 0, Some(error.to_string())),
        };
        self.tell(Happening::JobEnded { job: name, operation, total, failed: failed.clone() });
        if !matches!(done, Ok(_) | Err(Error::Stopping)) {
            let took_ms = self.took(started_at);
            self.keep_failure(name, JobRun { started_at, took_ms, operation, total, failed })?;
        }
        done
    }

    /// Carries a plan out. Where somebody edits a file meanwhile, what was left out is planned again by what it says now,
    /// as part of the same operation.
    fn carry_out(
        &self,
        job: &dyn Job,
        mut plan: Plan,
        started_at: DateTime<Utc>,
        due: Option<DateTime<Utc>>,
    ) -> Result<JobReport, Error> {
        let (name, actor) = (job.name(), jobs::actor(job.name()));
        let told = self.progress(name, Phase::Changing);
        let progress = |done, of| {
            told(done, of);
            if self.counters.stop.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let (mut made, mut total, mut again) = (Vec::new(), 0, AGAIN);
        let mut report = loop {
            let mut report = report(name, &plan);
            let carried = self.journal.carry_out(&actor, plan, &progress)?;
            report.left_out = carried.left_out.len() as u64;
            if !carried.edited || again == 0 {
                report.notes.extend(carried.unwritten);
                break report;
            }
            again -= 1;
            let stands =
                report.planned.into_iter().enumerate().filter(|(at, _)| !carried.left_out.contains(at));
            made.extend(stands.map(|(_, step)| step));
            total += report.total - report.left_out;
            plan = self.plan(job, started_at, &Ahead::default())?;
        };
        report.total += total;
        report.planned.splice(0..0, made);
        report.planned.truncate(SHOWN);
        report.operation = self.journal.complete(&actor, |connection, operation| {
            let took_ms = self.took(started_at);
            let run = JobRun { started_at, took_ms, operation, total: report.total, failed: None };
            let known = runs::find(connection, name)?.unwrap_or_else(|| Runs::none(started_at));
            let runs = Runs { due: due.unwrap_or(known.due), failures: 0, retry_at: None, last: Some(run) };
            Ok(runs::put(connection, name, &runs)?)
        })?;
        report.took_ms = self.took(started_at);
        if report.operation.is_some() {
            let said = report.planned.first().map_or("", |step| &step.why);
            tracing::info!(job = %name, steps = report.total, "{said}");
        }
        Ok(report)
    }

    /// Keeps that a job failed, and when it is tried again.
    fn keep_failure(&self, job: JobName, run: JobRun) -> Result<(), Error> {
        let now = self.now();
        let known = self.view().read(|connection| runs::find(connection, job))?;
        let known = known.unwrap_or_else(|| Runs::none(run.started_at));
        let failures = known.failures.saturating_add(1);
        let retry_at = Some(now + schedule::backoff(failures));
        let failed = Runs { due: known.due, failures, retry_at, last: Some(run) };
        self.journal.note(|connection| runs::put(connection, job, &failed))
    }

    /// The plan of a job, without what a person took back.
    fn plan(&self, job: &dyn Job, now: DateTime<Utc>, ahead: &Ahead) -> Result<Plan, Error> {
        let actor = jobs::actor(job.name());
        let taken_back = self.view().read(|connection| journal::taken_back(connection, &actor))?;
        let mut plan = apart::run_behind(|| {
            let progress = self.progress(job.name(), Phase::Planning);
            let (view, config, zone) = (self.view(), &self.config, self.tender.zone);
            job.plan(&Tending {
                view,
                config,
                now,
                zone,
                ahead,
                taken_back: &taken_back,
                redactor: &self.redactor,
                progress: &progress,
            })
        })?;
        let planned = plan.steps.len();
        plan.steps.retain(|step| step.changes.iter().all(|change| !taken_back.contains(&change.item())));
        let left_alone = planned - plan.steps.len();
        if left_alone > 0 {
            plan.notes.push(format!("{left_alone} left alone: this was done before, and undone"));
        }
        Ok(plan)
    }

    /// Tells those who watch how far a job is, once for each hundredth.
    fn progress(&self, job: JobName, phase: Phase) -> impl Fn(u64, u64) {
        let told = Cell::new(None);
        move |done, of| {
            let hundredth = Some(done * 100 / of.max(1));
            if of > 0 && told.replace(hundredth) != hundredth {
                self.tell(Happening::JobProgress { job, phase, done, of });
            }
        }
    }

    fn tell(&self, what: Happening) {
        self.journal.events().publish(self.now(), what);
    }

    /// Milliseconds since `began`, by the daemon's clock.
    fn took(&self, began: DateTime<Utc>) -> u64 {
        u64::try_from((self.now() - began).num_milliseconds()).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use memoryd_proto::{Cadence, Tier};

    use super::*;
    use crate::boot::{Daemon, Places};
    use crate::clock::SystemClock;
    use crate::config::Config;
    use crate::journal::{Change, Step};

    /// Adds a line to each file of a tier, and somebody edits one of them while it is planned.
    struct Busy {
        edited: PathBuf,
        /// How often they do.
        edits: usize,
        planned: AtomicUsize,
    }

    impl Job for Busy {
        fn name(&self) -> JobName {
            JobName::Review
        }

        fn cadence(&self) -> Cadence {
            Cadence::Weekly
        }

        fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
            let mut plan = Plan { reason: "add a line".to_owned(), ..Plan::default() };
            let reading = tending.sheets()?.only(|leaf| leaf.tier == Tier::Domain);
            plan.notes.clone_from(&reading.unread);
            for sheet in reading.sheets.iter().filter(|sheet| !sheet.text.contains("added")) {
                let after = format!("{}added\n", sheet.text);
                let changes = vec![Change::file(&sheet.leaf.path, Some(&sheet.text), Some(&after))];
                let why = sheet.leaf.path.display().to_string();
                plan.steps.push(Step { why, changes, ..Step::default() });
            }
            let planned = self.planned.fetch_add(1, Ordering::Relaxed);
            if planned < self.edits {
                fs::write(&self.edited, format!("edit {planned}\n")).unwrap();
            }
            Ok(plan)
        }
    }

    #[test]
    fn s3_what_was_edited_meanwhile_is_planned_again_within_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let places = Places { data_dir: at("data"), config_file: None, socket: at("socket") };
        let mut config = Config::default();
        config.tree.root = at("tree").display().to_string();
        fs::create_dir_all(at("tree/domains")).unwrap();
        let daemon = Daemon::build(config, &places, Arc::new(SystemClock)).unwrap();
        let app = daemon.app();
        let edited = at("tree/domains/b.md");
        for (edits, left_out, text) in [(1, 0, "edit 0\nadded\n"), (AGAIN + 1, 1, "edit 4\n")] {
            fs::write(at("tree/domains/a.md"), "a\n").unwrap();
            fs::write(&edited, "b\n").unwrap();
            fs::write(at("tree/domains/c.md"), [0xff]).unwrap();
            let job = Busy { edited: edited.clone(), edits, planned: AtomicUsize::new(0) };
            let report = app.run(&job, None).unwrap();
            assert_eq!(fs::read_to_string(&edited).unwrap(), text);
            assert_eq!(fs::read_to_string(at("tree/domains/a.md")).unwrap(), "a\nadded\n");
            assert_eq!((report.total, report.planned.len(), report.left_out), (2, 2, left_out));
            assert_eq!(report.notes, [format!("{} is no UTF-8 text", at("tree/domains/c.md").display())]);
            let undone = app.journal.undo(report.operation.unwrap()).unwrap();
            assert_eq!(undone.1.len() as u64, 2 - left_out, "one operation made it all");
            assert_eq!(fs::read_to_string(at("tree/domains/a.md")).unwrap(), "a\n");
        }
    }
}
