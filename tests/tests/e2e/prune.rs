//! Old operations leave the database for the archive, and nothing that anyone can see depends on it (spec S1, S7).

use std::sync::Arc;

use chrono::TimeDelta;
use memoryd::clock::TurnedClock;
use memoryd_proto::{
    ArchiveKind, ArchivedRecord, Code, DeleteImprovement, Deprecate, ExportQ, ImprovementId, JobName,
    Journal, Learned, Maintain, OperationId, Restore, SearchArchive, Undo,
};
use memoryd_tests::{Home, World, agent, everywhere, everywhere_with, start_of_time};

use crate::maintenance::{there_and_back, use_it};

const LESSON: &str = "Retry a failed download with exponential backoff";

fn days(world: &World<'_>, days: i64) {
    world.clock.turn(TimeDelta::days(days));
}

fn prune(world: &World<'_>) -> OperationId {
    let done = world.ask(Maintain { job: Some(JobName::PruneJournal), dry_run: false });
    done.jobs[0].operation.unwrap()
}

/// Every operation of the journal, newest first, and the newest one that is in the archive.
fn journal(world: &World<'_>) -> (Vec<u64>, Option<OperationId>) {
    let page = world.ask(Journal { limit: 1000, ..Journal::default() });
    (page.operations.iter().map(|one| one.id.0).collect(), page.archived)
}

/// What a user sees of learned utility: usage, Q-values, and a recall's whole explanation but its id.
fn learned(world: &World<'_>, ids: &[&ImprovementId]) -> String {
    let usage: Vec<_> = ids.iter().map(|id| world.find(id).usage).collect();
    let table = world.ask(ExportQ { agent: agent("finder") });
    let recalled = world.recall("retry the failed download");
    format!("{usage:?}\n{table:?}\n{:?} {} {:?}", recalled.items, recalled.alpha, recalled.context)
}

/// A life of successes and failures, with pauses.
fn live(world: &World<'_>, name: &str, ids: &[&ImprovementId], tasks: usize) -> Vec<Learned> {
    (0..tasks)
        .map(|n| {
            world.clock.turn(TimeDelta::hours(31));
            let used = [ids[n % ids.len()]];
            world.live_through(&format!("{name}{n}"), "retry the failed download", n % 5 < 4, &used)
        })
        .collect()
}

fn lessons(world: &World<'_>) -> [ImprovementId; 2] {
    [LESSON, "Retry a failed upload after checking the disk"].map(|text| world.remember(text))
}

#[test]
fn s1_operations_leave_after_ninety_days_and_return_to_the_byte() {
    everywhere(|world| {
        let [one, other] = lessons(world);
        live(world, "r", &[&one, &other], 9);
        assert_eq!(there_and_back(world, JobName::PruneJournal).total, 0);
        days(world, 91);
        world.remember("Compare checksums before unpacking");
        let before = journal(world);
        assert_eq!(before, ((1..=12).rev().collect(), None));
        let done = there_and_back(world, JobName::PruneJournal);
        assert_eq!(done.planned[0].why, "archive operations 1 to 11: older than 90 days");
        assert_eq!(done.planned[0].changes, ["moved operations 1 to 11 to the archive"]);
        let (left, archived) = journal(world);
        assert_eq!((left, archived), (vec![15, 14, 13, 12], Some(OperationId(11))));
    });
}

#[test]
fn s1_no_number_and_no_recall_depends_on_a_prune() {
    let told = [false, true].map(|pruning| {
        let seen = std::cell::RefCell::new(Vec::new());
        everywhere_with("[learning]\nwarm_threshold = 3\n", |world| {
            let see = |what| seen.borrow_mut().push(what);
            let [one, other] = lessons(world);
            let ids = [&one, &other];
            live(world, "old", &ids, 20);
            days(world, 80);
            let young = live(world, "young", &ids, 10);
            days(world, 2);
            see(learned(world, &ids));
            if pruning {
                prune(world);
                assert_eq!(journal(world).1, Some(OperationId(22)));
            }
            see(learned(world, &ids));
            for report in young.iter().rev().step_by(2) {
                world.ask(Undo { operation: report.operation });
                see(learned(world, &ids));
            }
            see(world.export());
        });
        seen.into_inner()
    });
    assert_eq!(told[0], told[1]);
    assert_ne!(told[0][1], told[0][2], "an undo shows");
}

#[test]
fn s1_after_a_prune_a_restart_finds_what_was_there() {
    let home = Home::new();
    home.configure("[learning]\nwarm_threshold = 3\noutcomes = 4\n");
    let clock = Arc::new(TurnedClock::new(start_of_time()));
    let seen = [false, true].map(|again| {
        let daemon = home.daemon(&clock);
        let world = World { service: daemon.app(), clock: &clock, home: &home };
        if !again {
            let [one, other] = lessons(&world);
            live(&world, "r", &[&one, &other], 30);
            days(&world, 91);
            prune(&world);
        }
        (world.recall("retry the failed download").items, world.export().len())
    });
    assert_eq!(seen[0].0.len(), 2);
    assert_eq!(seen[0], seen[1]);
}

#[test]
fn s7_a_report_is_undone_after_a_prune_came_and_went() {
    everywhere(|world| {
        let [one, other] = lessons(world);
        let old = world.ask(memoryd_proto::Report {
            used: vec![one.clone()],
            ..world.report("old", "Retry the download", false)
        });
        days(world, 91);
        live(world, "young", &[&other], 2);
        let pruned = prune(world);
        let fault = world.fault(Undo { operation: old.operation });
        assert_eq!(fault.code, Code::Conflict);
        let file = "operations-2026-04.jsonl.zst";
        let message =
            format!("Operation {} was moved to the archive by operation {pruned}: {file}", old.operation);
        assert_eq!(fault.message, message);
        assert!(fault.advice.contains(&format!("Undo operation {pruned} first")), "{fault}");
        assert_eq!(world.fault(Undo { operation: OperationId(999) }).code, Code::NotFound);

        world.ask(Undo { operation: pruned });
        world.ask(Undo { operation: old.operation });
        let usage = world.find(&one).usage;
        assert_eq!(usage.usage_count, 0);
        // As at first, and faded since.
        assert!((usage.q_value.get() - 0.5 * 0.99_f64.powi(92)).abs() < 1e-9, "{usage:?}");
    });
}

#[test]
fn s7_an_undone_report_is_not_brought_back_by_a_prune_in_between() {
    everywhere(|world| {
        let [one, other] = lessons(world);
        let report = live(world, "old", &[&one], 1).swap_remove(0);
        days(world, 80);
        let undoing = world.ask(Undo { operation: report.operation }).operation;
        days(world, 11);
        there_and_back(world, JobName::PruneJournal);
        let fault = world.fault(Undo { operation: undoing });
        assert!(fault.advice.contains("Send the report again"), "{fault}");
        // Once the undo is old as well, both are gone.
        days(world, 91);
        live(world, "new", &[&other], 1);
        there_and_back(world, JobName::PruneJournal);
        assert_eq!(world.find(&one).usage.usage_count, 0);
    });
}

#[test]
fn s7_prunes_return_in_order_the_newest_first() {
    everywhere(|world| {
        let [one, _] = lessons(world);
        live(world, "first", &[&one], 3);
        days(world, 91);
        live(world, "second", &[&one], 3);
        let first = prune(world);
        days(world, 95);
        let before = world.export();
        let second = prune(world);
        // The first prune is in the archive by now: only the second can say where it went.
        let fault = world.fault(Undo { operation: OperationId(1) });
        assert!(fault.advice.contains(&format!("Undo operation {second} first")), "{fault}");
        let fault = world.fault(Undo { operation: first });
        assert!(fault.message.contains(&format!("by operation {second}")), "{fault}");
        world.ask(Undo { operation: second });
        assert_eq!(world.export(), before);
        world.ask(Undo { operation: first });
        assert_eq!(world.export(), before);
        assert_eq!(journal(world).1, None);
        let done = there_and_back(world, JobName::PruneJournal);
        assert_eq!(done.total, 1, "what was undone is pruned again: {done:?}");
    });
}

#[test]
fn s6_a_pruned_operation_is_found_with_its_reason() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        world.ask(Deprecate { agent: None, id, reason: "the server retries".to_owned() });
        days(world, 91);
        prune(world);
        let search = |id: Option<&str>, text: &str| {
            world
                .ask(SearchArchive {
                    kind: Some(ArchiveKind::Operations),
                    id: id.map(str::to_owned),
                    text: text.to_owned(),
                    ..SearchArchive::default()
                })
                .records
        };
        assert_eq!(search(None, "").len(), 2);
        for found in [search(None, "Server RETRIES"), search(Some("2"), "")] {
            assert_eq!(found.len(), 1);
            let ArchivedRecord::Operation(operation) = &found[0].record else { panic!("{found:?}") };
            assert_eq!((operation.id, operation.actor.as_str()), (OperationId(2), "deprecate"));
            assert_eq!(operation.changes.len(), 1);
        }
    });
}

#[test]
fn s1_many_operations_leave_in_short_steps_and_return_to_the_byte() {
    everywhere(|world| {
        let [one, _] = lessons(world);
        use_it(world, &agent("finder"), &one, 400, 10);
        days(world, 91);
        let done = there_and_back(world, JobName::PruneJournal);
        assert_eq!(done.total, 3, "{done:?}");
        let told: Vec<&str> = done.planned.iter().map(|step| step.changes[0].as_str()).collect();
        assert!(told[2].starts_with("moved operations 334 to 412"), "{told:?}");
    });
}

#[test]
fn q7_the_newest_outcomes_stay_for_the_estimator_and_older_ones_leave() {
    everywhere_with("[learning]\noutcomes = 4\n", |world| {
        let id = world.remember(LESSON);
        let outcomes = || world.export().lines().filter(|line| line.starts_with(r#"{"outcome""#)).count();
        use_it(world, &agent("finder"), &id, 6, 0);
        days(world, 91);
        there_and_back(world, JobName::PruneJournal);
        assert_eq!(outcomes(), 4);
        live(world, "later", &[&id], 3);
        assert_eq!(outcomes(), 7);
        days(world, 91);
        there_and_back(world, JobName::PruneJournal);
        assert_eq!(outcomes(), 4);
        assert_eq!(world.find(&id).usage.usage_count, 9);
    });
}

#[test]
fn s1_what_a_person_undid_of_a_job_is_left_alone_after_it_was_pruned_too() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        use_it(world, &agent("finder"), &id, 20, 0);
        let promote = |world: &World<'_>| {
            world.ask(Maintain { job: Some(JobName::Promote), dry_run: false }).jobs.swap_remove(0)
        };
        world.ask(Undo { operation: promote(world).operation.unwrap() });
        days(world, 91);
        there_and_back(world, JobName::PruneJournal);
        let again = promote(world);
        assert_eq!((again.total, again.operation), (0, None), "{again:?}");
    });
}

#[test]
fn s1_what_is_gone_for_good_takes_its_usage_along_and_brings_it_back() {
    everywhere(|world| {
        let [gone, stays] = lessons(world);
        live(world, "r", &[&gone, &stays], 6);
        let q = |world: &World<'_>| world.ask(ExportQ { agent: agent("finder") }).memories;
        let known = q(world);
        assert_eq!(known.len(), 2);
        world.ask(DeleteImprovement { agent: None, id: gone.clone() });
        days(world, 91);
        there_and_back(world, JobName::PruneJournal);
        assert_eq!(q(world).into_keys().collect::<Vec<_>>(), [stays.to_string()]);
        let restored = world.ask(Restore { agent: None, id: gone.clone() });
        assert_eq!(restored.improvement.usage.usage_count, 3);
        assert_eq!(restored.improvement.usage.success_count, known[gone.as_str()].success_count);
    });
}
