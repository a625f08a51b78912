//! A recall has one report, within a day, by its own agent (spec Q6).

use chrono::TimeDelta;
use memoryd_proto::{Code, Explain, RecallOutcome, Report, Status};
use memoryd_tests::{agent, everywhere};

#[test]
fn q6_a_second_report_of_a_recall_is_refused_and_changes_nothing() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        let recall = world.recall("retry the failed download").recall;
        assert_eq!(world.ask(Status {}).open_recalls, 1);
        let mut report = world.report("r1", "Retry the failed download", true);
        report.recall = Some(recall.clone());
        report.used = vec![id];
        world.ask(report.clone());
        assert_eq!(world.ask(Status {}).open_recalls, 0);
        assert_eq!(world.ask(Explain { recall }).outcome, RecallOutcome::Succeeded);
        let before = world.export();
        report.id = "r2".parse().unwrap();
        let fault = world.fault(report);
        assert_eq!(fault.code, Code::Conflict);
        assert!(fault.message.contains("reported already"), "{fault}");
        assert_eq!(world.export(), before);
    });
}

#[test]
fn q6_after_a_day_a_recall_expires_and_leaves_q_alone() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        let report = |recall, name: &str| Report {
            recall: Some(recall),
            used: vec![id.clone()],
            ..world.report(name, "Retry the failed download", true)
        };
        let last = world.recall("retry the failed download").recall;
        world.clock.turn(TimeDelta::hours(24));
        world.ask(report(last, "just in time"));

        let late = world.recall("retry the failed download").recall;
        world.clock.turn(TimeDelta::hours(24) + TimeDelta::microseconds(1));
        let before = world.export();
        assert_eq!(world.ask(Status {}).open_recalls, 0);
        assert_eq!(world.ask(Explain { recall: late.clone() }).outcome, RecallOutcome::Expired);
        let fault = world.fault(report(late, "too late"));
        assert_eq!(fault.code, Code::Conflict);
        assert!(fault.message.contains("24 hours"), "{fault}");
        assert_eq!(world.export(), before);
    });
}

#[test]
fn q6_an_agent_cannot_report_the_recall_of_another() {
    everywhere(|world| {
        world.remember("Retry a failed download with exponential backoff");
        let recall = world.recall("retry the failed download").recall;
        let mut report = world.report("r1", "Retry the failed download", true);
        report.agent = agent("writer");
        report.recall = Some(recall);
        let before = world.export();
        let fault = world.fault(report);
        assert_eq!(fault.code, Code::Conflict);
        assert!(fault.message.contains("finder") && fault.message.contains("writer"), "{fault}");
        assert_eq!(world.export(), before);
    });
}

#[test]
fn q6_a_recall_that_never_was_is_not_found() {
    everywhere(|world| {
        let mut report = world.report("r1", "Retry the failed download", true);
        report.recall = Some("recall_1_1".parse().unwrap());
        assert_eq!(world.fault(report).code, Code::NotFound);
        assert_eq!(world.fault(Explain { recall: "recall_1_1".parse().unwrap() }).code, Code::NotFound);
    });
}
