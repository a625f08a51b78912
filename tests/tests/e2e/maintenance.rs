//! Maintenance: what is planned is what is done, a second time there is nothing to do, and all of it can be undone.

use memoryd_proto::{
    AgentName, Graded, ImprovementId, JobName, JobReport, Maintain, Report, Snapshots, Undo,
};
use memoryd_tests::{World, agent, everywhere, quality};

/// Rehearses a job, runs it, runs it again, and undoes it: the same plan, then nothing, then the bytes as they were.
pub fn there_and_back(world: &World<'_>, job: JobName) -> JobReport {
    let before = world.export();
    let one = |dry_run| {
        let mut jobs = world.ask(Maintain { job: Some(job), dry_run }).jobs;
        assert_eq!(jobs.len(), 1);
        jobs.swap_remove(0)
    };
    let planned = one(true);
    assert_eq!(world.export(), before, "a rehearsal changes nothing");
    let done = one(false);
    assert_eq!((&planned.planned, planned.total), (&done.planned, done.total), "the same plan");
    let after = world.export();
    let again = one(false);
    assert_eq!((again.total, again.operation), (0, None), "{again:?}");
    assert_eq!(world.export(), after);
    if let Some(operation) = done.operation {
        let undone = world.ask(Undo { operation });
        assert_eq!(world.export(), before, "undone to the byte");
        world.ask(Undo { operation: undone.operation });
        assert_eq!(world.export(), after, "and done again");
    }
    done
}

pub fn use_it(world: &World<'_>, whose: &AgentName, id: &ImprovementId, successes: u32, failures: u32) {
    for n in 0..successes + failures {
        world.ask(Report {
            used: vec![id.clone()],
            quality: Graded::Overall(quality(80.0)),
            ..Report::new(format!("{id}-{n}").parse().unwrap(), whose.clone(), "A task", n < successes)
        });
        world.clock.turn(chrono::TimeDelta::minutes(1));
    }
}

#[test]
fn i7_what_fails_is_deprecated_daily() {
    memoryd_tests::everywhere_with("[deprecation]\nusage = 10\n", |world| {
        let good = world.remember("Retry a failed download with exponential backoff");
        use_it(world, &agent("finder"), &good, 10, 0);
        let done = there_and_back(world, JobName::Deprecate);
        assert_eq!(done.total, 0);
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
