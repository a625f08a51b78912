//! A memory is found by the tasks in which it helped (spec Q8).

use std::sync::Arc;

use memoryd::clock::TurnedClock;
use memoryd_proto::{Recall, Remember, Report, Why};
use memoryd_tests::{
    Home, Running, agent, confidence, documents, everywhere, everywhere_with, start_of_time,
};

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

#[test]
fn q8_only_the_newest_outcomes_are_kept_and_a_restart_sees_the_same() {
    const FIRST: &str = "Descale the espresso machine in the kitchen";
    let home = Home::new();
    home.configure("[learning]\noutcomes = 3\n");
    let clock = Arc::new(TurnedClock::new(start_of_time()));
    let seen = |daemon: &Running, query: &str| -> Vec<Why> {
        let recalled = daemon.client().call(Recall::new(agent("coder"), query)).unwrap();
        recalled.items.into_iter().map(|item| item.why).collect()
    };
    let daemon = home.daemon(&clock);
    let lesson = Remember::new(agent("coder"), "code_quality", confidence(0.8), LESSON);
    let id = daemon.client().call(lesson).unwrap().kept.swap_remove(0).id;
    for (n, task) in [FIRST, TASK, "Rotate the garden hoses", TASK].into_iter().enumerate() {
        let report = Report::new(format!("r{n}").parse().unwrap(), agent("coder"), task, true);
        daemon.client().call(Report { used: vec![id.clone()], ..report }).unwrap();
    }
    let lived = seen(&daemon, LIKE_IT);
    assert_eq!(lived[0].case.as_deref(), Some(TASK));
    assert_eq!(seen(&daemon, FIRST), [], "the oldest of four outcomes is dropped");
    drop(daemon);
    let daemon = home.daemon(&clock);
    assert_eq!(seen(&daemon, LIKE_IT), lived);
    assert_eq!(seen(&daemon, FIRST), []);
}
