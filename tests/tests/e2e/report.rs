//! What a report is answered (spec E1).

use memoryd_proto::{Evaluations, Feedback, Graded, Insight, Keeping, Record, Report, TaskError};
use memoryd_tests::{World, agent, confidence, documents, everywhere, quality};

fn full(world: &World<'_>) -> Report {
    let mut report = world.report("r1", "Download the archive from the mirror", true);
    "research".clone_into(&mut report.task_type);
    report.quality = Graded::Overall(quality(85.0));
    report.time_taken_ms = Some(900);
    report.expected_ms = Some(1000);
    report.tokens_used = Some(1234);
    report.validation_passed = Some(true);
    report.retries = 2;
    report.errors = vec![
        TaskError { kind: "ConnectionTimeout".to_owned(), message: "no answer in 30 s".to_owned() },
        TaskError { kind: "ChecksumMismatch".to_owned(), message: "mirror B".to_owned() },
    ];
    report.feedback = Some(Feedback { positive: true, comment: "Quick work".to_owned() });
    report.optimization = Some("Ask the nearest mirror first".to_owned());
    report.insights = vec![Insight {
        text: "Compare checksums before unpacking".to_owned(),
        category: "code_quality".to_owned(),
        confidence: confidence(0.75),
    }];
    report.notes = Some("mirror B is broken".to_owned());
    report
}

#[test]
fn e1_a_report_is_answered_with_everything_it_did() {
    everywhere(|world| {
        let used = world.remember("Download archives from the nearest mirror");
        let idle = world.remember("Unpack archives from the mirror in a scratch folder");
        let recalled = world.recall("download the archives from the mirror");
        assert_eq!(recalled.items.len(), 2);
        let mut report = full(world);
        report.recall = Some(recalled.recall.clone());
        report.used = vec![used.clone()];
        let learned = world.ask(report);

        let evaluation = &learned.evaluation;
        assert_eq!(evaluation.agent, agent("finder"));
        assert_eq!(
            (evaluation.task.as_str(), evaluation.task_type.as_str()),
            ("Download the archive from the mirror", "research")
        );
        assert_eq!((evaluation.success, evaluation.quality), (true, quality(85.0)));
        assert_eq!((evaluation.time_taken_ms, evaluation.tokens_used), (Some(900), Some(1234)));
        assert_eq!(
            evaluation.strengths,
            ["Completed faster than expected", "All validations passed", "Quick work"]
        );
        assert_eq!(evaluation.weaknesses, ["Encountered 2 errors", "Required 2 retries"]);
        assert_eq!(
            (evaluation.recall.as_ref(), &evaluation.used),
            (Some(&recalled.recall), &vec![used.clone()])
        );
        assert_eq!(evaluation.notes.as_deref(), Some("mirror B is broken"));

        let told: Vec<_> = learned
            .insights
            .iter()
            .map(|one| {
                (one.insight.text.as_str(), one.derived, one.kept.as_ref().map(|kept| kept.kept[0].how))
            })
            .collect();
        assert_eq!(
            told,
            [
                ("Compare checksums before unpacking", false, Some(Keeping::Stored)),
                (
                    "When encountering ConnectionTimeout, retry with exponential backoff (3 attempts)",
                    true,
                    Some(Keeping::Stored)
                ),
                ("Ask the nearest mirror first", true, Some(Keeping::Stored)),
            ]
        );
        let outcome = |id| learned.items.iter().find(|item| item.id == id).unwrap();
        assert!(outcome(used.clone()).used && !outcome(idle.clone()).used);
        assert_eq!(learned.context.as_ref().map(|context| context.interactions), Some(1));
        assert!(!learned.repeated);

        assert_eq!(world.ask(Evaluations::default()).evaluations, std::slice::from_ref(evaluation));
        assert_eq!(world.improvements().len(), 5);
        assert_eq!(
            documents(&world.recall("compare the checksums"))[0],
            "Compare checksums before unpacking"
        );
    });
}

#[test]
fn e1_below_a_quality_of_seventy_nothing_is_learned_and_the_report_says_why() {
    everywhere(|world| {
        let mut report = full(world);
        report.quality = Graded::Overall(quality(69.9));
        let learned = world.ask(report);
        assert_eq!(learned.insights.len(), 3);
        for outcome in &learned.insights {
            assert!(outcome.kept.is_none());
            let refused = outcome.refused.as_deref().unwrap();
            assert!(refused.contains("69.9") && refused.contains("70"), "{refused}");
        }
        assert_eq!(world.improvements(), []);
        assert_eq!(world.ask(Evaluations::default()).total, 1);

        let mut enough = full(world);
        enough.id = "r2".parse().unwrap();
        enough.quality = Graded::Overall(quality(70.0));
        assert!(world.ask(enough).insights.iter().all(|outcome| outcome.kept.is_some()));
    });
}

#[test]
fn e1_a_failure_without_a_lesson_stores_an_evaluation_and_nothing_else() {
    everywhere(|world| {
        let mut report = world.report("r1", "Download the archive", false);
        report.errors = vec![TaskError { kind: "ConnectionTimeout".to_owned(), message: String::new() }];
        report.feedback = Some(Feedback { positive: false, comment: "Gave up too early".to_owned() });
        let learned = world.ask(report);
        assert_eq!(learned.evaluation.quality, quality(0.0));
        assert_eq!(learned.evaluation.strengths, [""; 0]);
        assert_eq!(learned.evaluation.weaknesses, ["Encountered 1 errors", "Gave up too early"]);
        assert_eq!(learned.insights.len(), 0);
        let records = world.records();
        assert!(matches!(records.as_slice(), [Record::Evaluation(_)]), "{records:?}");
    });
}

#[test]
fn e1_an_insight_that_is_not_sure_enough_is_refused_and_the_rest_of_the_report_counts() {
    everywhere(|world| {
        let insight = |text: &str, value| Insight {
            text: text.to_owned(),
            category: "code_quality".to_owned(),
            confidence: confidence(value),
        };
        let mut report = world.report("r1", "Tidy the module", true);
        report.insights = vec![insight("Guess the port", 0.3), insight("Read the schema first", 0.9)];
        let learned = world.ask(report);
        assert!(learned.insights[0].refused.as_deref().unwrap().contains("0.3"));
        assert!(learned.insights[1].kept.is_some());
        assert_eq!(world.improvements().len(), 1);
    });
}

#[test]
fn e1_evaluations_are_listed_newest_first() {
    everywhere(|world| {
        for n in 1..=3 {
            world.ask(world.report(&format!("r{n}"), &format!("Task {n}"), n != 2));
            world.clock.turn(chrono::TimeDelta::hours(1));
        }
        let tasks = |asked: Evaluations| {
            world.ask(asked).evaluations.into_iter().map(|one| one.task).collect::<Vec<_>>()
        };
        assert_eq!(tasks(Evaluations::default()), ["Task 3", "Task 2", "Task 1"]);
        assert_eq!(tasks(Evaluations { success: Some(false), ..Evaluations::default() }), ["Task 2"]);
        let since = Some(memoryd_tests::start_of_time() + chrono::TimeDelta::hours(1));
        assert_eq!(tasks(Evaluations { since, ..Evaluations::default() }), ["Task 3", "Task 2"]);
        assert_eq!(tasks(Evaluations { offset: 1, limit: 1, ..Evaluations::default() }), ["Task 2"]);
    });
}
