//! When maintenance runs (spec S1–S4; faults 24, 25, 26), and what becomes of it when it fails or is cut short.

use std::process::Command;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, TimeDelta, Utc};
use memoryd::boot::Daemon;
use memoryd::clock::{Clock, TurnedClock, Zone};
use memoryd::service::App;
use memoryd_proto::{
    Code, Confidence, Happening, Import, Improvement, Improvements, JobName, JobState, Journal, Maintain,
    OperationId, Phase, Record, Remember, Report, Schedule, Serve, Status, Undo, Usage, Watch,
};
use memoryd_tests::{Ended, Home, Process, Running, Spawned, agent, confidence, start_of_time};

/// The jobs that run daily, as they are configured by default.
const DAILY: [JobName; 4] = [JobName::Metrics, JobName::Deprecate, JobName::Promote, JobName::Decay];

/// Only `metrics` runs, when `cron` says, in `zone`.
fn only_metrics(zone: &str, cron: &str) -> String {
    let off = JobName::ALL.into_iter().filter(|job| *job != JobName::Metrics);
    let on = format!("[maintenance]\nzone = \"{zone}\"\n[maintenance.schedule]\nmetrics = \"{cron}\"\n");
    off.fold(on, |config, job| config + job.as_str() + " = \"\"\n")
}

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// A daemon in a home of its own whose clock stands at `start`, as if memoryd had just been installed.
fn fresh(config: &str, start: DateTime<Utc>) -> (Home, Arc<TurnedClock>, Running) {
    let home = Home::new();
    home.configure(config);
    let clock = Arc::new(TurnedClock::new(start));
    let daemon = home.daemon(&clock);
    (home, clock, daemon)
}

/// The jobs that are run now.
fn tend(app: &App) -> Vec<JobName> {
    app.tend().unwrap().iter().map(|report| report.job).collect()
}

/// Lets days pass in steps of ten minutes, and returns when a job ran by the local clock.
fn live(app: &App, clock: &TurnedClock, zone: Zone, job: JobName, days: i64) -> Vec<String> {
    let mut ran = Vec::new();
    for _ in 0..days * 24 * 6 {
        if tend(app).contains(&job) {
            ran.push(zone.local(clock.now()).format("%m-%d %H:%M %z").to_string());
        }
        clock.turn(TimeDelta::minutes(10));
    }
    ran
}

/// When `metrics` ran in the days from `start` on.
fn lived(zone: &str, cron: &str, start: &str, days: i64) -> Vec<String> {
    let (_home, clock, daemon) = fresh(&only_metrics(zone, cron), at(start));
    live(daemon.app(), &clock, Zone::named(zone).unwrap(), JobName::Metrics, days)
}

fn state(app: &App, job: JobName) -> JobState {
    let view = app.serve(Schedule {}).unwrap();
    view.jobs.into_iter().find(|state| state.job == job).unwrap()
}

#[test]
fn fault_24_in_dublin_a_daily_job_keeps_its_hour_and_runs_once() {
    let spring = lived("Europe/Dublin", "0 0 3 * * *", "2025-03-28T12:00:00Z", 4);
    let expected = ["03-29 03:00 +0000", "03-30 03:00 +0100", "03-31 03:00 +0100", "04-01 03:00 +0100"];
    assert_eq!(spring, expected);
    let autumn = lived("Europe/Dublin", "0 0 3 * * *", "2025-10-24T12:00:00Z", 4);
    let expected = ["10-25 03:00 +0100", "10-26 03:00 +0000", "10-27 03:00 +0000", "10-28 03:00 +0000"];
    assert_eq!(autumn, expected);
}

#[test]
fn fault_24_a_time_that_the_clock_skips_or_shows_twice_counts_once() {
    let gap = lived("Europe/Berlin", "0 30 2 * * *", "2025-03-29T12:00:00Z", 2);
    assert_eq!(gap, ["03-30 03:00 +0200", "03-31 02:30 +0200"]);
    let overlap = lived("Europe/Berlin", "0 30 2 * * *", "2025-10-25T12:00:00Z", 2);
    assert_eq!(overlap, ["10-26 02:30 +0200", "10-27 02:30 +0100"]);
    let midnight = lived("America/Santiago", "0 0 0 * * *", "2025-09-06T12:00:00Z", 2);
    assert_eq!(midnight, ["09-07 01:00 -0300", "09-08 00:00 -0300"]);
}

#[test]
fn s1_the_next_time_is_told_with_its_own_offset() {
    let (_home, _clock, daemon) =
        fresh(&only_metrics("Europe/Dublin", "0 0 3 * * *"), at("2025-03-29T12:00:00Z"));
    assert_eq!(tend(daemon.app()), []);
    let metrics = state(daemon.app(), JobName::Metrics);
    assert_eq!((metrics.next, metrics.next_offset), (Some(at("2025-03-30T02:00:00Z")), 3600));
    let decay = state(daemon.app(), JobName::Decay);
    assert_eq!((decay.next, decay.cron.as_str()), (None, ""), "switched off");
    let next = daemon.app().serve(Status {}).unwrap().next_job;
    assert_eq!(next.map(|job| job.job), Some(JobName::Metrics));
}

/// The name of the variable that says to this test's own process that it is the child.
const CHILD: &str = "MEMORYD_TEST_CHILD";

#[test]
fn fault_24_the_zone_of_the_system_is_that_of_its_environment() {
    if std::env::var_os(CHILD).is_some() {
        let dublin = Zone::named("Europe/Dublin").unwrap();
        for (start, days) in [("2025-03-29T12:00:00Z", 2), ("2025-10-25T12:00:00Z", 2)] {
            for cron in ["0 0 1 * * *", "0 30 1 * * *", "0 0 2 * * *"] {
                let (_home, clock, daemon) = fresh(&only_metrics("", cron), at(start));
                let ran = live(daemon.app(), &clock, Zone::System, JobName::Metrics, days);
                drop(daemon);
                assert_eq!(ran, lived("Europe/Dublin", cron, start, days), "{cron}");
                assert!(dublin.local(clock.now()) == Zone::System.local(clock.now()));
            }
        }
        return;
    }
    let name = "schedule::fault_24_the_zone_of_the_system_is_that_of_its_environment";
    let child = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact"])
        .env(CHILD, "1")
        .env("TZ", "Europe/Dublin")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn fault_25_after_forty_days_off_each_job_runs_once() {
    let (home, clock, daemon) = fresh("", start_of_time());
    assert_eq!(tend(daemon.app()), [], "a fresh install runs nothing at once");
    drop(daemon);
    clock.turn(TimeDelta::days(40));
    let daemon = home.daemon(&clock);
    let ran = tend(daemon.app());
    let all: Vec<JobName> = daemon.app().serve(Schedule {}).unwrap().jobs.iter().map(|job| job.job).collect();
    assert_eq!(ran, all, "each once, in their order");
    assert_eq!(tend(daemon.app()), []);
    clock.turn(TimeDelta::days(1));
    assert_eq!(tend(daemon.app()).iter().filter(|job| DAILY.contains(job)).count(), DAILY.len());
}

#[test]
fn fault_25_off_across_a_weekly_time_it_runs_once() {
    let config = only_metrics("UTC", "0 0 3 * * SUN");
    let (home, clock, daemon) = fresh(&config, start_of_time());
    assert_eq!(tend(daemon.app()), []);
    drop(daemon);
    clock.turn(TimeDelta::days(20));
    let daemon = home.daemon(&clock);
    assert_eq!(tend(daemon.app()), [JobName::Metrics]);
    assert_eq!(tend(daemon.app()), []);
    assert_eq!(state(daemon.app(), JobName::Metrics).next, Some(at("2026-02-01T03:00:00Z")));
}

#[test]
fn fault_26_a_fresh_install_left_alone_for_35_days_loses_nothing() {
    let (_home, clock, daemon) = fresh("", start_of_time());
    let app = daemon.app();
    let texts = ["Retry a failed download", "Pin the toolchain", "Compare checksums before unpacking"];
    for (text, sure) in texts.into_iter().zip([0.8, 0.6, 0.9]) {
        let lesson = Remember::new(agent("finder"), "error_handling", confidence(sure), text);
        app.serve(lesson).unwrap();
    }
    let stored = || app.serve(Improvements::default()).unwrap().improvements;
    let before = stored();
    assert_eq!(before.len(), 3);
    let (mut ran, days) = (Vec::new(), 35);
    for _ in 0..days * 24 {
        ran.extend(tend(app));
        clock.turn(TimeDelta::hours(1));
    }
    for job in DAILY {
        assert_eq!(ran.iter().filter(|ran| **ran == job).count(), days, "{job}");
    }
    let mut after = stored();
    // Utility fades, and comes back; nothing else may change.
    after.iter_mut().zip(&before).for_each(|(after, before)| after.usage.q_value = before.usage.q_value);
    assert_eq!(after, before);
}

#[test]
fn s2_a_clock_that_jumps_neither_repeats_a_job_nor_starves_it() {
    let (_home, clock, daemon) = fresh(&only_metrics("UTC", "0 0 3 * * *"), start_of_time());
    let app = daemon.app();
    assert_eq!(tend(app), []);
    clock.turn(TimeDelta::hours(18));
    assert_eq!(tend(app), [JobName::Metrics]);
    clock.turn(TimeDelta::minutes(-10));
    assert_eq!(tend(app), []);
    clock.turn(TimeDelta::minutes(20));
    assert_eq!(tend(app), [], "the same time is not kept twice");
    clock.turn(TimeDelta::days(5 * 365));
    assert_eq!(tend(app), [JobName::Metrics], "far ahead: once");
    clock.turn(TimeDelta::days(-5 * 365));
    assert_eq!(tend(app), []);
    assert_eq!(state(app, JobName::Metrics).next, Some(at("2026-01-07T03:00:00Z")));
    clock.turn(TimeDelta::days(1));
    assert_eq!(tend(app), [JobName::Metrics], "and back: as ever");
}

/// Lets every write to a table of a daemon's database fail.
fn break_table(home: &Home, table: &str) {
    let sql = format!(
        "CREATE TRIGGER broken BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no space left'); END"
    );
    database(home).execute_batch(&sql).unwrap();
}

fn mend(home: &Home) {
    database(home).execute_batch("DROP TRIGGER broken").unwrap();
}

fn database(home: &Home) -> rusqlite::Connection {
    rusqlite::Connection::open(home.data_dir().join("memory.db")).unwrap()
}

#[test]
fn s2_a_job_that_fails_is_tried_again_later_and_later_and_shows_until_it_succeeds() {
    let (home, clock, daemon) = fresh("[maintenance]\nzone = \"UTC\"\n", start_of_time());
    let app = daemon.app();
    let report = Report::new("r1".parse().unwrap(), agent("finder"), "Water the tomatoes", true);
    app.serve(report).unwrap();
    assert_eq!(tend(app), []);
    break_table(&home, "snapshot");
    clock.turn(TimeDelta::days(1));
    let others = tend(app);
    assert!(!others.contains(&JobName::Metrics) && others.contains(&JobName::Decay), "{others:?}");
    for (failures, minutes) in [(1, 1), (2, 2), (3, 4)] {
        let failing = app.serve(Status {}).unwrap().failing;
        assert_eq!(failing.len(), 1);
        assert_eq!((failing[0].job, failing[0].failures), (JobName::Metrics, failures));
        assert_eq!(failing[0].next, Some(clock.now() + TimeDelta::minutes(minutes)));
        let why = failing[0].last.as_ref().and_then(|last| last.failed.as_deref());
        assert!(why.is_some_and(|why| why.contains("no space left")), "{why:?}");
        clock.turn(TimeDelta::minutes(minutes) - TimeDelta::seconds(1));
        assert_eq!(tend(app), []);
        assert_eq!(state(app, JobName::Metrics).failures, failures, "not yet");
        clock.turn(TimeDelta::seconds(1));
        assert_eq!(tend(app), []);
    }
    mend(&home);
    clock.turn(TimeDelta::minutes(8));
    assert_eq!(tend(app), [JobName::Metrics]);
    let metrics = state(app, JobName::Metrics);
    assert_eq!((metrics.failures, metrics.next), (0, Some(at("2026-01-07T03:00:00Z"))));
    assert_eq!(app.serve(Status {}).unwrap().failing, []);
}

#[test]
fn s2_running_a_job_by_hand_clears_its_failure_and_keeps_its_schedule() {
    let (home, clock, daemon) = fresh("[maintenance]\nzone = \"UTC\"\n", start_of_time());
    let app = daemon.app();
    let report = Report::new("r1".parse().unwrap(), agent("finder"), "Water the tomatoes", true);
    app.serve(report).unwrap();
    assert_eq!(tend(app), []);
    let next = state(app, JobName::Metrics).next;
    break_table(&home, "snapshot");
    let by_hand = Maintain { job: Some(JobName::Metrics), dry_run: false };
    let fault = app.serve(by_hand.clone()).unwrap_err();
    assert_eq!(fault.code, Code::Internal);
    assert!(fault.message.contains("Job metrics") && fault.message.contains("no space left"), "{fault}");
    assert_eq!(state(app, JobName::Metrics).failures, 1);
    mend(&home);
    app.serve(by_hand).unwrap();
    let metrics = state(app, JobName::Metrics);
    assert_eq!((metrics.failures, metrics.next), (0, next));
    assert_eq!(metrics.last.unwrap().started_at, clock.now());
}

#[test]
fn s1_a_schedule_that_never_comes_true_is_refused_at_the_start_by_name() {
    for cron in ["0 0 3 30 2 *", "0 3 * * *", "at three"] {
        let home = Home::new();
        home.configure(&format!("[maintenance.schedule]\nreview = \"{cron}\"\n"));
        let Err(Ended { said, .. }) = Spawned::new(&home, &[]).outcome() else { panic!("it started") };
        assert!(
            said.contains("maintenance.schedule.review must be") && said.contains("memoryd.toml"),
            "{said}"
        );
    }
}

/// Improvements that are due for promotion: too many for a single transaction.
const MANY: usize = 150;

fn promotable(n: usize) -> Record {
    let usage = Usage { usage_count: 20, success_count: 20, success_rate: Some(1.0), ..Usage::default() };
    Record::Improvement(Improvement {
        id: format!("imp_{n}").parse().unwrap(),
        agent: agent("finder"),
        scope: memoryd_proto::Scope::Global,
        category: "error_handling".to_owned(),
        document: format!("Lesson {n}: tighten screw {n} of machine {}", n * 7),
        learned_from: None,
        confidence: confidence(0.8),
        created_at: start_of_time(),
        tags: Vec::new(),
        context_tags: Vec::new(),
        source: memoryd_proto::Source::Own,
        original_id: None,
        corroborations: 0,
        evidence: Vec::new(),
        cross_validation: None,
        consolidation_eligible: true,
        deprecation: None,
        promotion: None,
        attributes: std::collections::BTreeMap::new(),
        usage,
    })
}

fn promoted(service: &impl Serve<Improvements>) -> usize {
    let page = service.serve(Improvements { limit: 1000, ..Improvements::default() }).unwrap();
    assert_eq!(page.improvements.len(), MANY);
    let risen = |confidence: Confidence| confidence.get() > 0.8;
    page.improvements.iter().filter(|one| one.promotion.is_some() && risen(one.confidence)).count()
}

fn operations(service: &impl Serve<Journal>, actor: &str) -> Vec<OperationId> {
    let page = service.serve(Journal::default()).unwrap();
    page.operations.iter().filter(|one| one.actor == actor).map(|one| one.id).collect()
}

/// A clock that does something whenever the daemon looks at it.
struct Tripwire {
    clock: TurnedClock,
    wire: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl Clock for Tripwire {
    fn now(&self) -> DateTime<Utc> {
        // What it does may look at the clock too.
        if let Ok(wire) = self.wire.try_lock()
            && let Some(trip) = &*wire
        {
            trip();
        }
        self.clock.now()
    }
}

/// Whether `promote` makes its changes.
fn changing(app: &App) -> bool {
    let events = app.serve(Watch { after: Some(0), wait_ms: 0 }).unwrap().events;
    events.last().is_some_and(|event| {
        matches!(event.what, Happening::JobProgress { job: JobName::Promote, phase: Phase::Changing, .. })
    })
}

/// Lets many promotions be due in a home, and calls `meanwhile` while they are made. Returns the daemon afterwards.
fn disturbed(home: &Home, meanwhile: impl Fn(&App) + Send + 'static) -> Arc<App> {
    let clock = Arc::new(Tripwire { clock: TurnedClock::new(start_of_time()), wire: Mutex::default() });
    let places = home.places();
    let app = Daemon::build(places.config().unwrap(), &places, clock.clone()).unwrap().app();
    app.serve(Import { records: (0..MANY).map(promotable).collect(), dry_run: false }).unwrap();
    assert_eq!(tend(&app), []);
    clock.clock.turn(TimeDelta::days(1));
    let victim = app.clone();
    *clock.wire.lock().unwrap() = Some(Box::new(move || {
        if changing(&victim) {
            meanwhile(&victim);
        }
    }));
    tend(&app);
    clock.wire.lock().unwrap().take();
    app
}

/// Lets a daemon be stopped while `promote` makes its changes.
fn cut_short(home: &Home) {
    let app = disturbed(home, |app| app.counters.stop.cancel());
    let done = promoted(&*app);
    assert!(0 < done && done < MANY, "{done} of {MANY}");
    let [operation] = operations(&*app, "job promote")[..] else { panic!("one operation") };
    assert_eq!(app.serve(Undo { operation }).unwrap_err().code, Code::Conflict, "it is not complete");
    assert_eq!(state(&app, JobName::Promote).failures, 0, "to be stopped is no failure");
}

#[test]
fn s4_while_a_job_runs_no_other_begins() {
    let home = Home::new();
    let (tell, told) = std::sync::mpsc::channel();
    let app = disturbed(&home, move |app| {
        let refused = app.serve(Maintain { job: None, dry_run: false }).unwrap_err();
        let running = app.serve(Schedule {}).unwrap().jobs.into_iter().find(|job| job.running).unwrap().job;
        tell.send((refused, running, app.tend().unwrap().len())).unwrap();
    });
    let meanwhile: Vec<_> = told.try_iter().collect();
    assert!(meanwhile.len() > 1, "the clock is looked at after each batch");
    for (refused, running, tended) in meanwhile {
        assert_eq!((refused.code, running, tended), (Code::Busy, JobName::Promote, 0));
        assert!(refused.message.contains("job promote"), "{refused}");
    }
    assert_eq!(promoted(&*app), MANY);
    assert_eq!(operations(&*app, "job promote").len(), 1);
}

#[test]
fn s3_what_a_stop_cut_short_is_completed_by_the_next_start_as_one_operation() {
    let home = Home::new();
    home.configure("[maintenance]\nzone = \"UTC\"\n");
    cut_short(&home);
    let clock = Arc::new(TurnedClock::new(start_of_time() + TimeDelta::days(1)));
    let daemon = home.daemon(&clock);
    assert!(tend(daemon.app()).contains(&JobName::Promote));
    assert_eq!(promoted(daemon.app()), MANY);
    let [operation] = operations(daemon.app(), "job promote")[..] else { panic!("one operation") };
    daemon.app().serve(Undo { operation }).unwrap();
    assert_eq!(promoted(daemon.app()), 0);
}

#[test]
fn s3_what_was_cut_short_and_then_switched_off_stays_as_it_is_and_can_be_undone() {
    let home = Home::new();
    home.configure("[maintenance]\nzone = \"UTC\"\n");
    cut_short(&home);
    home.configure("[maintenance]\nzone = \"UTC\"\n[maintenance.schedule]\npromote = \"\"\n");
    let daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time() + TimeDelta::days(1))));
    let done = promoted(daemon.app());
    assert!(!tend(daemon.app()).contains(&JobName::Promote));
    assert_eq!(promoted(daemon.app()), done);
    let [operation] = operations(daemon.app(), "job promote")[..] else { panic!("one operation") };
    daemon.app().serve(Undo { operation }).unwrap();
    assert_eq!(promoted(daemon.app()), 0);
}

#[test]
fn s3_a_real_daemon_completes_what_was_cut_short_soon_after_its_start() {
    let home = Home::new();
    cut_short(&home);
    let daemon = Process::start(&home);
    ended(&daemon, JobName::Promote);
    assert_eq!(promoted(daemon.client()), MANY);
    let operations = operations(daemon.client(), "job promote");
    assert_eq!(operations.len(), 1);
}

#[test]
fn s3_a_daemon_killed_in_the_middle_of_a_job_leaves_what_its_next_run_completes() {
    let home = Home::new();
    let daemon = Process::start(&home);
    daemon.client().call(Import { records: (0..MANY).map(promotable).collect(), dry_run: false }).unwrap();
    let (by_hand, beside) = (home.client(), home.client());
    std::thread::scope(|scope| {
        // Its answer never comes.
        let job = scope.spawn(move || by_hand.call(Maintain { job: Some(JobName::Promote), dry_run: false }));
        let mut after = Some(0);
        'watching: loop {
            let watched = beside.call(Watch { after, wait_ms: 10_000 }).unwrap();
            after = Some(watched.next);
            for event in watched.events {
                if let Happening::JobProgress { phase: Phase::Changing, .. } = event.what {
                    break 'watching;
                }
            }
        }
        daemon.kill9();
        let _ = job.join().unwrap();
    });
    // The start completes it at once if there is an operation to complete, and a run by hand if there is none yet.
    let daemon = Process::start(&home);
    let call = Maintain { job: Some(JobName::Promote), dry_run: false };
    while daemon.client().call(call.clone()).is_err_and(|fault| fault.code == Code::Busy) {}
    assert_eq!(promoted(daemon.client()), MANY);
    assert_eq!(operations(daemon.client(), "job promote").len(), 1, "one operation, however it was cut");
}

/// Waits until a job of a daemon has ended.
fn ended(daemon: &Process, job: JobName) {
    let mut after = Some(0);
    loop {
        let watched = daemon.client().call(Watch { after, wait_ms: 10_000 }).unwrap();
        after = Some(watched.next);
        for event in watched.events {
            if let Happening::JobEnded { job: which, failed, .. } = event.what
                && which == job
            {
                assert_eq!(failed, None);
                return;
            }
        }
    }
}
