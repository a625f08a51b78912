//! A memory is found by the tasks in which it helped (spec Q8).

use memoryd_proto::Report;
use memoryd_tests::{documents, everywhere, everywhere_with};

const LESSON: &str = "Flush the write-ahead log first";
const TASK: &str = "The accounting dashboard shows yesterday's revenue figures";
const LIKE_IT: &str = "accounting dashboard shows old revenue figures of yesterday";

#[test]
fn q8_a_task_in_which_a_memory_helped_leads_to_it_and_is_shown() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        assert_eq!(documents(&world.recall(LIKE_IT)), [""; 0], "its own words do not lead there");
        world.ask(Report { used: vec![id.clone()], ..world.report("r1", TASK, true) });
        let recalled = world.recall(LIKE_IT);
        assert_eq!(documents(&recalled), [LESSON]);
        let why = &recalled.items[0].why;
        assert_eq!(why.case.as_deref(), Some(TASK));
        assert!(why.case_cosine.unwrap() > why.cosine, "{why:?}");
        assert!(why.q > 0.5 && why.evidence > 0.0, "{why:?}");
    });
}

#[test]
fn q8_a_task_in_which_it_did_not_help_leads_nowhere() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        // A success elsewhere keeps its success rate up.
        for n in 0..3 {
            let report = world.report(&format!("good {n}"), "Rotate the garden hoses", true);
            world.ask(Report { used: vec![id.clone()], ..report });
        }
        world.ask(Report { used: vec![id.clone()], ..world.report("bad", TASK, false) });
        assert_eq!(documents(&world.recall(LIKE_IT)), [""; 0]);
    });
}

#[test]
fn q8_an_undone_report_no_longer_leads_there() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        let learned = world.ask(Report { used: vec![id], ..world.report("r1", TASK, true) });
        world.ask(memoryd_proto::Undo { operation: learned.operation });
        assert_eq!(documents(&world.recall(LIKE_IT)), [""; 0]);
    });
}

#[test]
fn q8_cases_belong_to_the_contextual_estimator() {
    everywhere_with("[learning]\nestimator = \"global\"\n", |world| {
        let id = world.remember(LESSON);
        world.ask(Report { used: vec![id], ..world.report("r1", TASK, true) });
        assert_eq!(documents(&world.recall(LIKE_IT)), [""; 0]);
    });
}
