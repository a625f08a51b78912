//! A report counts once, and as a whole (spec E2).

use memoryd_proto::{Code, CriterionScore, Graded, Insight, Journal, Report};
use memoryd_tests::{World, agent, confidence, everywhere, quality};

fn lessons(world: &World<'_>, id: &str) -> Report {
    let mut report = world.report(id, "Retry the failed download", true);
    report.insights = vec![Insight {
        text: "Compare checksums before unpacking".to_owned(),
        category: "code_quality".to_owned(),
        confidence: confidence(0.8),
    }];
    report
}

#[test]
fn e2_the_same_report_sent_again_changes_nothing_and_is_answered_the_same() {
    everywhere(|world| {
        let used = world.remember("Retry a failed download with exponential backoff");
        let mut report = lessons(world, "r1");
        report.recall = Some(world.recall("retry the failed download").recall);
        report.used = vec![used];
        let first = world.ask(report.clone());
        let before = world.export();
        world.clock.turn(chrono::TimeDelta::days(2));
        let unturned = world.export();
        let again = world.ask(report.clone());
        assert!(!first.repeated && again.repeated);
        assert_eq!(again.operation, first.operation);
        assert_eq!(again.evaluation, first.evaluation);
        assert_eq!(again.items, first.items);
        assert_eq!(world.export(), unturned);
        world.clock.turn(chrono::TimeDelta::days(-2));
        assert_eq!(world.export(), before);

        // Another agent may use the same id for its own.
        let other = Report { agent: agent("writer"), recall: None, used: Vec::new(), ..report };
        assert!(!world.ask(other).repeated);
    });
}

#[test]
fn e2_a_report_with_one_wrong_part_leaves_nothing_behind() {
    everywhere(|world| {
        let stranger = world.remember("Pin the toolchain in continuous integration");
        world.remember("Retry a failed download with exponential backoff");
        let recalled = world.recall("retry the failed download");
        assert_eq!(recalled.items.len(), 1);
        let before = (world.export(), world.ask(Journal::default()).operations);

        let mut not_recalled = lessons(world, "r1");
        not_recalled.recall = Some(recalled.recall.clone());
        not_recalled.used = vec![stranger];
        let fault = world.fault(not_recalled);
        assert_eq!(fault.code, Code::Invalid);

        let mut unknown_criterion = lessons(world, "r1");
        unknown_criterion.recall = Some(recalled.recall.clone());
        unknown_criterion.quality =
            Graded::Criteria(vec![CriterionScore { criterion: "speed".to_owned(), score: quality(50.0) }]);
        assert_eq!(world.fault(unknown_criterion).code, Code::Invalid);

        let mut empty = lessons(world, "r1");
        empty.insights[0].text = " ".to_owned();
        assert_eq!(world.fault(empty).code, Code::Invalid);

        assert_eq!((world.export(), world.ask(Journal::default()).operations), before);
        // The id was not used up, and the recall is still open.
        let mut right = lessons(world, "r1");
        right.recall = Some(recalled.recall);
        assert!(!world.ask(right).repeated);
    });
}
