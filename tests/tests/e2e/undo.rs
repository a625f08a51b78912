//! Whatever changed memory can be undone while nothing newer touched it (spec S7).

use memoryd_proto::{
    Code, DeleteImprovement, Deprecate, Edit, ImprovementId, Insight, Journal, OperationId, Report, Restore,
    Undo,
};
use memoryd_tests::{World, agent, confidence, documents, everywhere};

const LESSON: &str = "Retry a failed download with exponential backoff";

fn edit(id: &ImprovementId, document: &str) -> Edit {
    Edit {
        agent: None,
        id: id.clone(),
        document: Some(document.to_owned()),
        category: None,
        confidence: None,
        tags: None,
        context_tags: None,
    }
}

fn undo(world: &World<'_>, operation: OperationId) -> OperationId {
    let undone = world.ask(Undo { operation });
    assert_eq!(undone.undone, operation);
    assert_ne!(undone.changes, [""; 0], "it says what changed back");
    undone.operation
}

/// Undoes an operation, does it again by undoing that, and undoes it once more. What is found follows each time.
fn back_and_forth(world: &World<'_>, query: &str, change: impl Fn() -> OperationId) {
    let found = || world.recall(query).items.into_iter().map(|item| item.document).collect::<Vec<_>>();
    let before = found();
    let operation = change();
    let after = found();
    assert_ne!(after, before);
    let undoing = undo(world, operation);
    assert_eq!(found(), before);
    let redoing = undo(world, undoing);
    assert_eq!(found(), after);
    undo(world, redoing);
    assert_eq!(found(), before);
}

#[test]
fn s7_remembering_is_undone_to_the_byte_and_done_again() {
    everywhere(|world| {
        world.remember("Pin the toolchain in continuous integration");
        let before = world.export();
        let kept = world.keep(world.lesson(LESSON));
        let after = world.export();
        let undoing = undo(world, kept.operation.unwrap());
        assert_eq!(world.export(), before);
        assert_eq!(documents(&world.recall("retry a failed download")), [""; 0]);
        undo(world, undoing);
        assert_eq!(world.export(), after);
        assert_eq!(documents(&world.recall("retry a failed download")), [LESSON]);
    });
}

#[test]
fn s7_editing_is_undone_to_the_byte_and_done_again() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        let before = world.export();
        let edited = world.ask(edit(&id, "Ask the operator about the broken printer"));
        let after = world.export();
        assert_ne!(after, before);
        let undoing = undo(world, edited.operation.unwrap());
        assert_eq!(world.export(), before);
        undo(world, undoing);
        assert_eq!(world.export(), after);
    });
}

#[test]
fn s7_search_follows_every_step() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        back_and_forth(world, "retry a failed download", || {
            world.ask(edit(&id, "Ask the operator about the broken printer")).operation.unwrap()
        });
        back_and_forth(world, "retry a failed download", || {
            world.ask(DeleteImprovement { agent: None, id: id.clone() }).operation
        });
        back_and_forth(world, "retry a failed download", || {
            let call = Deprecate { agent: None, id: id.clone(), reason: "the server retries".to_owned() };
            world.ask(call).operation.unwrap()
        });
        back_and_forth(world, "water the tomatoes", || {
            world.keep(world.lesson("Water the tomatoes early")).operation.unwrap()
        });
    });
}

#[test]
fn s7_deleting_archives_and_is_undone_to_the_byte_or_restored_later() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        world.live_through("r1", "retry the failed download", true, &[&id]);
        let before = world.export();
        let deleted = world.ask(DeleteImprovement { agent: None, id: id.clone() });
        assert_eq!(deleted.improvement.document, LESSON);
        assert!(std::path::Path::new(&deleted.archive).is_file(), "{}", deleted.archive);
        assert_eq!(world.improvements(), []);
        undo(world, deleted.operation);
        assert_eq!(world.export(), before);

        world.ask(DeleteImprovement { agent: None, id: id.clone() });
        world.clock.turn(chrono::TimeDelta::days(40));
        let restored = world.ask(Restore { agent: None, id: id.clone() });
        assert_eq!(restored.improvement.document, LESSON);
        assert_eq!(restored.improvement.usage.usage_count, 1);
        assert_eq!(documents(&world.recall("retry the failed download")), [LESSON]);
    });
}

#[test]
fn s7_a_report_is_undone_to_the_byte_and_can_be_sent_again() {
    everywhere(|world| {
        let used = world.remember(LESSON);
        world.remember("Retry a failed upload after checking the disk");
        world.live_through("r0", "retry the failed download", true, &[&used]);
        let recalled = world.recall("retry the failed download");
        assert_eq!(recalled.items.len(), 2);
        let before = world.export();
        let mut report = world.report("r1", "Retry the failed download", false);
        report.recall = Some(recalled.recall);
        report.used = vec![used.clone()];
        report.insights = vec![Insight {
            text: "Compare checksums before unpacking".to_owned(),
            category: "code_quality".to_owned(),
            confidence: confidence(0.8),
        }];
        report.quality = memoryd_proto::Graded::Overall(memoryd_tests::quality(75.0));
        let learned = world.ask(report.clone());
        let after = world.export();
        let undoing = undo(world, learned.operation);
        assert_eq!(world.export(), before);
        let fault = world.fault(Undo { operation: undoing });
        assert_eq!(fault.code, Code::Conflict);
        assert!(fault.advice.contains("Send the report again"), "{fault}");
        let again = world.ask(report);
        assert!(!again.repeated);
        assert_eq!(again.items, learned.items);
        assert_eq!(world.export(), after);
    });
}

#[test]
fn s7_the_first_report_of_all_is_undone_to_the_byte() {
    everywhere(|world| {
        let used = world.remember(LESSON);
        let before = world.export();
        let learned =
            world.ask(Report { used: vec![used], ..world.report("r1", "Retry the download", true) });
        undo(world, learned.operation);
        assert_eq!(world.export(), before);
    });
}

#[test]
fn s7_a_deprecation_by_failure_is_undone_with_its_report() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        let fail = |n: u32| {
            world.ask(Report {
                used: vec![id.clone()],
                ..world.report(&format!("r{n}"), "Retry the download", false)
            })
        };
        for n in 1..10 {
            fail(n);
        }
        let before = world.export();
        let tenth = fail(10);
        assert!(tenth.items[0].deprecated);
        undo(world, tenth.operation);
        assert_eq!(world.export(), before);
        assert_eq!(world.find(&id).deprecation, None);
    });
}

#[test]
fn s7_what_something_newer_touched_is_not_undone_and_the_newer_is_named() {
    everywhere(|world| {
        let kept = world.keep(world.lesson(LESSON));
        let id = &kept.kept[0].id;
        let newer = world.ask(edit(id, "Retry a failed download three times")).operation.unwrap();
        let before = world.export();
        let fault = world.fault(Undo { operation: kept.operation.unwrap() });
        assert_eq!(fault.code, Code::Conflict);
        assert!(fault.message.contains(&format!("operation {newer}")), "{fault}");
        assert!(fault.message.contains(id.as_str()), "{fault}");
        assert_eq!(world.export(), before);
        // In order it goes.
        undo(world, newer);
        undo(world, kept.operation.unwrap());
        assert_eq!(world.improvements(), []);
    });
}

#[test]
fn s7_an_operation_is_undone_once() {
    everywhere(|world| {
        let operation = world.keep(world.lesson(LESSON)).operation.unwrap();
        let undoing = undo(world, operation);
        let fault = world.fault(Undo { operation });
        assert_eq!(fault.code, Code::Conflict);
        assert!(fault.advice.contains(&undoing.to_string()), "{fault}");
        assert_eq!(world.fault(Undo { operation: OperationId(99) }).code, Code::NotFound);
    });
}

#[test]
fn s7_what_was_undone_again_stays_undone() {
    everywhere(|world| {
        let operation = world.keep(world.lesson(LESSON)).operation.unwrap();
        let undoing = undo(world, operation);
        let redoing = undo(world, undoing);
        let again = undo(world, redoing);
        let before = world.export();
        for (undone, by) in [(operation, undoing), (redoing, again)] {
            let fault = world.fault(Undo { operation: undone });
            assert_eq!(fault.code, Code::Conflict);
            assert!(fault.advice.contains(&by.to_string()), "{fault}");
        }
        assert_eq!(world.export(), before);
        // Either of the two undoings that stand may be taken back, the newer first.
        undo(world, again);
        assert_eq!(documents(&world.recall("retry a failed download")), [LESSON]);
    });
}

#[test]
fn s7_the_journal_shows_who_did_what_when_and_why() {
    everywhere(|world| {
        let kept = world.keep(world.lesson(LESSON));
        let id = kept.kept[0].id.clone();
        let at = memoryd::clock::Clock::now(world.clock);
        world.clock.turn(chrono::TimeDelta::hours(1));
        let call = Deprecate { agent: None, id: id.clone(), reason: "the server retries".to_owned() };
        let deprecated = world.ask(call).operation.unwrap();
        let undone = undo(world, deprecated);
        let page = world.ask(Journal { agent: Some(agent("finder")), ..Journal::default() });
        let told: Vec<_> = page
            .operations
            .iter()
            .map(|one| (one.id, one.actor.as_str(), one.reason.as_str(), one.undone_by))
            .collect();
        let back = format!("undo operation {deprecated}: the server retries");
        assert_eq!(
            told,
            [
                (undone, "undo", back.as_str(), None),
                (deprecated, "deprecate", "the server retries", Some(undone)),
                (kept.operation.unwrap(), "remember", "a lesson on error_handling", None),
            ]
        );
        assert_eq!(page.operations[2].at, at);
        assert_eq!(page.operations[2].changes, [format!("added improvement {id}")]);
        assert_eq!(page.operations[1].changes, [format!("changed improvement {id}: deprecation")]);
        assert!(!page.more);
        let first = world.ask(Journal { limit: 1, ..Journal::default() });
        assert!(first.more && first.operations.len() == 1);
        let older = world.ask(Journal { before: Some(deprecated), ..Journal::default() });
        assert_eq!(older.operations.len(), 1);
    });
}

#[test]
fn a_change_that_changes_nothing_is_no_operation() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        let before = (world.export(), world.ask(Journal::default()).operations);
        let same = world.ask(edit(&id, LESSON));
        assert_eq!((same.operation, same.improvement.document.as_str()), (None, LESSON));
        assert_eq!(world.ask(Restore { agent: None, id: id.clone() }).operation, None);
        assert_eq!((world.export(), world.ask(Journal::default()).operations), before);

        let deprecate = || world.ask(Deprecate { agent: None, id: id.clone(), reason: "twice".to_owned() });
        assert!(deprecate().operation.is_some());
        assert_eq!(deprecate().operation, None);
    });
}

#[test]
fn an_edit_into_the_text_of_another_is_refused_and_the_other_named() {
    everywhere(|world| {
        let one = world.remember(LESSON);
        let other = world.remember("Pin the toolchain in continuous integration");
        let fault = world.fault(edit(&one, "pin the toolchain in continuous integration!"));
        assert_eq!(fault.code, Code::Conflict);
        assert!(fault.message.contains(other.as_str()), "{fault}");
    });
}
