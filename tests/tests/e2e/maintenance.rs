//! Maintenance: what is planned is what is done, a second time there is nothing to do, and all of it can be undone.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::TimeDelta;
use memoryd_proto::{
    AgentName, Graded, ImprovementId, Improvements, JobName, JobReport, Maintain, Report, Snapshots, Undo,
};
use memoryd_tests::{World, agent, everywhere, quality};

use crate::consolidation::{import, learned};
use crate::notes::files;

/// Everything that is stored, and every file of the memory tree and of projects.
pub fn state(world: &World<'_>) -> (String, BTreeMap<PathBuf, String>) {
    let mut all = files(&world.home.tree());
    all.extend(files(&world.home.path().join("work")));
    (world.export(), all)
}

/// Rehearses a job, runs it, runs it again, and undoes it: the same plan, then nothing, then the bytes as they were.
pub fn there_and_back(world: &World<'_>, job: JobName) -> JobReport {
    let before = state(world);
    let done = there(world, job);
    let after = state(world);
    if let Some(operation) = done.operation {
        let undone = world.ask(Undo { operation });
        assert_eq!(state(world), before, "undone to the byte");
        world.ask(Undo { operation: undone.operation });
        assert_eq!(state(world), after, "and done again");
    }
    done
}

/// Rehearses a job, runs it, and runs it again: the same plan, then nothing.
pub fn there(world: &World<'_>, job: JobName) -> JobReport {
    let before = state(world);
    let planned = run(world, job, true);
    assert_eq!(state(world), before, "a rehearsal changes nothing");
    let done = run(world, job, false);
    assert_eq!((&planned.planned, planned.total), (&done.planned, done.total), "the same plan");
    let after = state(world);
    let again = run(world, job, false);
    assert_eq!((again.total, again.operation), (0, None), "{again:?}");
    assert_eq!(state(world), after);
    done
}

/// Runs a job, or only rehearses it.
pub fn run(world: &World<'_>, job: JobName, dry_run: bool) -> JobReport {
    let mut jobs = world.ask(Maintain { job: Some(job), dry_run }).jobs;
    assert_eq!(jobs.len(), 1);
    jobs.swap_remove(0)
}

pub fn use_it(world: &World<'_>, whose: &AgentName, id: &ImprovementId, successes: u32, failures: u32) {
    for n in 0..successes + failures {
        world.ask(Report {
            used: vec![id.clone()],
            quality: Graded::Overall(quality(80.0)),
            ..Report::new(format!("{id}-{n}").parse().unwrap(), whose.clone(), "A task", n < successes)
        });
        world.clock.turn(TimeDelta::minutes(1));
    }
}

#[test]
fn i7_what_fails_is_deprecated_daily_and_keeps_its_statistics() {
    everywhere(|world| {
        let lessons = [
            learned("finder", "bad", "Restart the whole machine when a download fails", 4, 12),
            learned("finder", "young", "Raise the timeout to an hour", 0, 9),
            learned("finder", "fair", "Retry a failed download with exponential backoff", 4, 10),
        ];
        import(world, lessons);
        let done = there_and_back(world, JobName::Deprecate);
        assert_eq!(done.total, 1);
        assert!(done.planned[0].why.contains("bad: 4 of 12 uses succeeded"), "{done:?}");
        let bad = world.find(&"bad".parse().unwrap());
        assert_eq!(bad.deprecation.unwrap().reason, "Low success rate after extensive usage");
        assert_eq!((bad.usage.usage_count, bad.usage.success_count), (12, 4));
    });
}

#[test]
fn q4_decay_counts_a_day_once_however_often_its_job_runs() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        world.live_through("r1", "retry the failed download", true, &[&id]);
        let q = || world.find(&id).usage.q_value.get();
        let before = q();
        world.clock.turn(TimeDelta::days(5));
        assert!((q() - before * 0.99_f64.powi(4)).abs() < 1e-12, "four whole days lie between");
        let slept = q();
        let done = there_and_back(world, JobName::Decay);
        assert!(done.notes[0].starts_with("1 of 1 Q-values fade"), "{done:?}");
        run(world, JobName::Decay, false);
        assert!((q() - slept).abs() < 1e-15);
    });
}

#[test]
fn s3_all_jobs_do_what_their_rehearsal_said_once_and_all_of_it_can_be_undone() {
    everywhere(|world| {
        let retry = "Retry the failed download with exponential backoff";
        import(
            world,
            [
                learned("ada", "a1", retry, 9, 10),
                // Together with its near-duplicate it has been used often enough to be promoted.
                learned("ada", "a2", "Retry the failed download with an exponential backoff", 14, 15),
                learned("bob", "b1", "When a download fails, retry it with exponential backoff", 4, 5),
                learned("bob", "bad", "Restart the whole machine", 1, 12),
            ],
        );
        let old = world.remember("Pin the toolchain in continuous integration");
        use_it(world, &agent("finder"), &old, 1, 0);
        world.clock.turn(TimeDelta::days(100));
        use_it(world, &agent("finder"), &world.remember("Compare checksums before unpacking"), 2, 1);
        world.clock.turn(TimeDelta::days(7));

        let before = world.export();
        let maintain = |dry_run| world.ask(Maintain { job: None, dry_run }).jobs;
        let planned = maintain(true);
        assert_eq!(world.export(), before);
        let done = maintain(false);
        for (planned, done) in planned.iter().zip(&done) {
            assert_eq!((&planned.planned, planned.total), (&done.planned, done.total), "{}", done.job);
        }
        let busy: Vec<JobName> = done.iter().filter(|job| job.total > 0).map(|job| job.job).collect();
        let idle = [
            JobName::Decay,
            JobName::PromoteNotes,
            JobName::DemoteNotes,
            JobName::ExpireNotes,
            JobName::CompactNotes,
            JobName::IndexNotes,
            JobName::RemoveDeprecated,
        ];
        assert_eq!(busy, JobName::ALL.into_iter().filter(|job| !idle.contains(job)).collect::<Vec<_>>());

        let after = world.export();
        assert!(maintain(false).iter().all(|job| job.total == 0), "a second time there is nothing to do");
        assert_eq!(world.export(), after);
        for operation in done.iter().rev().filter_map(|job| job.operation) {
            world.ask(Undo { operation });
        }
        assert_eq!(world.export(), before, "undone to the byte");
    });
}

#[test]
fn fault_27_instants_are_utc_and_days_are_those_of_the_zone() {
    memoryd_tests::everywhere_with("maintenance.zone = \"America/Los_Angeles\"\n", |world| {
        // Two in the morning of Tuesday in UTC, and still Monday evening there.
        world.clock.turn(TimeDelta::hours(17));
        let at = memoryd::clock::Clock::now(world.clock);
        assert_eq!(at.to_rfc3339(), "2026-01-06T02:00:00+00:00");
        let id = world.remember("Retry a failed download with exponential backoff");
        assert_eq!(world.find(&id).created_at, at);
        let since = |since| world.ask(Improvements { since: Some(since), ..Improvements::default() }).total;
        assert_eq!((since(at), since(at + TimeDelta::microseconds(1))), (1, 0));
        world.ask(Report { used: vec![id], ..world.report("r1", "Retry the download", true) });
        run(world, JobName::Metrics, false);
        let day = |text: &str| text.parse().unwrap();
        let snapshot = &world.ask(Snapshots::default()).snapshots[0];
        assert_eq!((snapshot.day, snapshot.at), (day("2026-01-05"), at));
        let from = |since| world.ask(Snapshots { since: Some(since), ..Snapshots::default() }).total;
        assert_eq!((from(day("2026-01-05")), from(day("2026-01-06"))), (1, 0));
    });
}

#[test]
fn i8_what_succeeds_is_promoted_once_for_new_evidence() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        use_it(world, &agent("finder"), &id, 18, 2);
        let done = there_and_back(world, JobName::Promote);
        assert_eq!(done.total, 1);
        assert!(done.planned[0].why.contains("18 of 20 uses succeeded"), "{done:?}");
        let promoted = world.find(&id);
        assert!((promoted.confidence.get() - 0.85).abs() < 1e-9);
        assert_eq!(promoted.promotion.unwrap().uses, 20);
    });
}

#[test]
fn p1_one_snapshot_a_day_and_none_without_evaluations() {
    everywhere(|world| {
        assert_eq!(there_and_back(world, JobName::Metrics).total, 0);
        let id = world.remember("Retry a failed download with exponential backoff");
        use_it(world, &agent("finder"), &id, 3, 1);
        assert_eq!(there_and_back(world, JobName::Metrics).total, 1);
        use_it(world, &agent("finder"), &world.remember("Compare checksums before unpacking"), 0, 1);
        assert_eq!(there_and_back(world, JobName::Metrics).total, 1);
        let page = world.ask(Snapshots::default());
        assert_eq!(page.total, 1, "a rerun replaces the snapshot of the day");
        let snapshot = &page.snapshots[0];
        assert_eq!((snapshot.total_tasks, snapshot.successful_tasks), (5, 3));
        assert_eq!(snapshot.improvements_stored, 2);
    });
}
