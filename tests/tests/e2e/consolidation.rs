//! Consolidation: what is said twice becomes one, what agents confirm of one another is marked, and what is confirmed
//! spreads (spec S5, I12, I5).

use std::sync::Arc;

use memoryd::clock::TurnedClock;
use memoryd::database::{self, Durability};
use memoryd_proto::{
    AgentName, Code, Deprecate, FindImprovement, Import, Improvement, JobName, Recall, Record, Remember,
    Report, Restore, Scope, Source, Undo,
};
use memoryd_tests::{Home, World, agent, confidence, documents, everywhere, start_of_time};

use crate::maintenance::{run, there, there_and_back};

const UNPACK: &str = "Compare checksums before unpacking an archive";
const UNPACK_TOO: &str = "Compare the checksums before unpacking the archive";
const RETRY: &str = "Retry the failed download with exponential backoff";
const RETRY_TOO: &str = "When a download fails, retry it with exponential backoff";
const TASK: &str = "The accounting dashboard shows yesterday's revenue figures";
const LIKE_IT: &str = "accounting dashboard shows old revenue figures of yesterday";

/// An improvement as another daemon exports it: used in `uses` tasks, `successes` of which succeeded.
pub fn learned(whose: &str, id: &str, document: &str, successes: u64, uses: u64) -> Improvement {
    let lesson = serde_json::json!({
        "id": id, "agent": whose, "scope": "global", "category": "error_handling", "document": document,
        "confidence": 0.8, "created_at": "2026-01-01T09:00:00Z",
        "usage": {
            "usage_count": uses, "success_count": successes, "failure_count": uses - successes,
            "access_count": uses, "q_value": 0.5,
        },
    });
    serde_json::from_value(lesson).unwrap()
}

fn tagged(tag: &str, improvement: Improvement) -> Improvement {
    Improvement { context_tags: vec![tag.to_owned()], ..improvement }
}

pub fn import(world: &World<'_>, improvements: impl IntoIterator<Item = Improvement>) {
    let records: Vec<Record> = improvements.into_iter().map(Record::Improvement).collect();
    let count = records.len() as u64;
    let imported = world.ask(Import { records, dry_run: false });
    assert_eq!((imported.added, imported.refused.len()), (count, 0), "{imported:?}");
}

fn find(world: &World<'_>, whose: &str, id: &str) -> Improvement {
    world.ask(FindImprovement { agent: Some(agent(whose)), id: id.parse().unwrap() })
}

fn ids(world: &World<'_>, whose: &str) -> Vec<String> {
    let all = world.improvements().into_iter().filter(|one| one.agent == agent(whose));
    let mut ids: Vec<String> = all.map(|one| one.id.to_string()).collect();
    ids.sort();
    ids
}

/// Two agents that learned the same with success, and a third that works on the like.
fn three_agents(world: &World<'_>) {
    import(
        world,
        [
            tagged("rust", learned("Ada", "a1", RETRY, 9, 10)),
            tagged("http", learned("bob", "b1", RETRY_TOO, 4, 5)),
            tagged("Rust", learned("cid", "c1", "Pin the toolchain in continuous integration", 0, 0)),
            tagged("sql", learned("dan", "d1", "Name tables in the plural", 0, 0)),
        ],
    );
}

#[test]
fn s5_near_duplicates_of_an_agent_become_one_with_the_statistics_of_both() {
    everywhere(|world| {
        let mut best = learned("finder", "best", UNPACK, 4, 4);
        best.tags = vec!["zip".to_owned()];
        best.usage.q_value = memoryd_proto::QValue::clamped(0.9);
        let mut other = learned("finder", "other", UNPACK_TOO, 3, 6);
        other.tags = vec!["tar".to_owned()];
        other.confidence = confidence(0.9);
        other.usage.q_value = memoryd_proto::QValue::clamped(0.4);
        import(world, [other, best]);
        let done = there_and_back(world, JobName::Consolidate);
        assert_eq!(done.total, 1);
        assert_eq!(done.planned[0].why, format!("merge a near-duplicate into best: {UNPACK:?}"));
        assert_eq!(ids(world, "finder"), ["best"]);
        let one = find(world, "finder", "best");
        assert_eq!(one.document, UNPACK);
        assert_eq!((one.usage.usage_count, one.usage.success_count, one.usage.failure_count), (10, 7, 3));
        assert_eq!(one.usage.access_count, 10);
        assert!((one.usage.q_value.get() - 0.6).abs() < 1e-9, "weighted by uses: {:?}", one.usage);
        assert_eq!((one.tags, one.confidence), (vec!["zip".to_owned(), "tar".to_owned()], confidence(0.9)));
        // What was removed is in the archive. Brought back and merged again, it does not count twice.
        world.ask(Restore { agent: None, id: "other".parse().unwrap() });
        assert_eq!(there(world, JobName::Consolidate).total, 1);
        assert_eq!(find(world, "finder", "best").usage.usage_count, 10);
    });
}

#[test]
fn s5_numbers_negation_and_the_callers_fields_keep_near_duplicates_apart() {
    everywhere(|world| {
        let ticket = |ticket: &str, improvement: Improvement| Improvement {
            attributes: [("ticket".to_owned(), ticket.to_owned())].into(),
            ..improvement
        };
        import(
            world,
            [
                learned("finder", "1", "Wait 3 seconds before retrying a failed download", 1, 1),
                learned("finder", "2", "Wait 30 seconds before retrying a failed download", 1, 1),
                learned("finder", "3", RETRY, 1, 1),
                learned("finder", "4", "Do not retry the failed download with exponential backoff", 1, 1),
                ticket("7", learned("finder", "5", UNPACK, 1, 1)),
                ticket("8", learned("finder", "6", UNPACK_TOO, 1, 1)),
                // Nor does one agent confirm the opposite of what another learned.
                learned("writer", "7", "Never retry the failed download with exponential backoff", 1, 1),
            ],
        );
        assert_eq!(there_and_back(world, JobName::Consolidate).total, 0);
    });
}

#[test]
fn s5_the_tasks_of_what_was_merged_still_lead_to_it_and_undo_gives_back_both() {
    everywhere(|world| {
        import(
            world,
            [learned("finder", "best", UNPACK, 5, 5), learned("finder", "other", UNPACK_TOO, 0, 0)],
        );
        let used = vec!["other".parse().unwrap()];
        let reported = world.ask(Report { used, ..world.report("r1", TASK, true) });
        world.clock.turn(chrono::TimeDelta::days(3));
        assert_eq!(documents(&world.recall(LIKE_IT)), [UNPACK_TOO]);
        let before = world.export();
        let done = there(world, JobName::Consolidate);
        let recalled = world.recall(LIKE_IT);
        assert_eq!(documents(&recalled), [UNPACK]);
        assert_eq!(recalled.items[0].why.case.as_deref(), Some(TASK));
        assert_eq!(find(world, "finder", "best").usage.usage_count, 6);
        // A report that the merged usage rests on is not undone beneath it.
        let fault = world.fault(Undo { operation: reported.operation });
        assert!(fault.message.contains(&format!("operation {}", done.operation.unwrap())), "{fault}");
        // The recall above was counted for what was merged, which is gone with the undo.
        let undone = world.ask(Undo { operation: done.operation.unwrap() });
        assert_eq!(world.export(), before, "undone to the byte");
        assert_eq!(documents(&world.recall(LIKE_IT)), [UNPACK_TOO]);
        // Past tasks are never taken back twice, and what a person took back is not planned again.
        let fault = world.fault(Undo { operation: undone.operation });
        assert_eq!(fault.code, Code::Conflict);
        assert!(fault.advice.contains("What a job did"), "{fault}");
        let again = run(world, JobName::Consolidate, false);
        assert_eq!((again.total, again.operation), (0, None));
        assert_eq!(ids(world, "finder"), ["best", "other"]);
    });
}

#[test]
fn s5_copies_in_several_scopes_are_merged_in_all_of_them_and_count_once() {
    everywhere(|world| {
        let project = Scope::Project("0123456789ab".parse().unwrap());
        let here = |improvement: Improvement| Improvement { scope: project.clone(), ..improvement };
        let (best, other) =
            (learned("finder", "best", UNPACK, 4, 4), learned("finder", "other", UNPACK_TOO, 1, 2));
        // This one is only global, so its usage stays its own.
        let alone = learned("finder", "alone", "Compare the checksums before you unpack the archive", 1, 2);
        import(world, [best.clone(), here(best), other.clone(), here(other), alone]);
        let done = there_and_back(world, JobName::Consolidate);
        assert_eq!(done.total, 1, "{done:?}");
        assert_eq!(ids(world, "finder"), ["alone", "best", "best"]);
        assert_eq!(find(world, "finder", "best").usage.usage_count, 6);
        assert_eq!(find(world, "finder", "alone").usage.usage_count, 2);
    });
}

#[test]
fn s5_what_two_agents_learned_is_confirmed_and_spreads_to_those_who_work_on_the_like() {
    everywhere(|world| {
        three_agents(world);
        let done = there_and_back(world, JobName::Consolidate);
        let at = memoryd::clock::Clock::now(world.clock);
        let principle = format!("principle_a1_{}", at.timestamp_millis());
        let planned: Vec<&str> = done.planned.iter().map(|step| step.why.as_str()).collect();
        assert_eq!(
            planned,
            [
                "confirm a1: also learned by bob",
                "confirm b1: also learned by Ada",
                "principle from a1",
                &format!("transfer {principle} to agent cid: shares \"rust\""),
            ]
        );
        let confirmed = find(world, "ada", "a1").cross_validation.unwrap();
        assert_eq!((confirmed.agents, confirmed.at), (vec![agent("bob")], at));

        let principle = find(world, "system_principles", &principle);
        assert_eq!(principle.document, RETRY, "the words of the best, all of them");
        assert_eq!(principle.context_tags, ["rust", "http"]);
        assert_eq!(principle.original_id.as_ref().unwrap().as_str(), "a1");
        assert_eq!((principle.source, principle.confidence), (Source::SystemPrinciples, confidence(0.8)));
        assert!(!principle.consolidation_eligible);
        assert_eq!(principle.cross_validation.unwrap().agents, [agent("Ada"), agent("bob")]);

        let received = format!("transferred_a1_{}", at.timestamp_millis());
        assert_eq!(ids(world, "cid"), ["c1", received.as_str()]);
        assert_eq!(ids(world, "dan"), ["d1"]);
        let received = find(world, "cid", &received);
        assert_eq!(received.document, RETRY);
        assert!((received.confidence.get() - 0.72).abs() < 1e-12);
        assert_eq!(received.learned_from.as_deref(), Some("transfer of a1"));
        assert_eq!(received.source, Source::SystemPrinciples);
        assert!(received.cross_validation.is_some() && !received.consolidation_eligible);
        for who in ["ada", "cid"] {
            let recalled = world.ask(Recall::new(agent(who), "retry the failed download"));
            assert_eq!(documents(&recalled), [RETRY]);
            assert!((recalled.items[0].why.multiplier - 1.2).abs() < 1e-12);
        }
    });
}

#[test]
fn s5_success_of_its_own_is_what_makes_an_agent_a_witness() {
    everywhere(|world| {
        import(
            world,
            [
                learned("ada", "a1", RETRY, 9, 10),
                learned("bob", "b1", RETRY_TOO, 0, 0),
                learned("cid", "c1", "Retry every failed download with exponential backoff", 1, 2),
            ],
        );
        assert_eq!(there_and_back(world, JobName::Consolidate).total, 0);
        let succeed = |id: &str, whose: AgentName, improvement: &str| {
            let used = vec![improvement.parse().unwrap()];
            world.ask(Report { used, ..Report::new(id.parse().unwrap(), whose, "A task", true) });
        };
        succeed("r1", agent("bob"), "b1");
        assert_eq!(there(world, JobName::Consolidate).total, 3);
        let first = find(world, "ada", "a1").cross_validation.unwrap();
        assert_eq!(first.agents, [agent("bob")]);
        // Later a third joins them. There is a principle by now, and nobody is confirmed anew but by the newcomer.
        world.clock.turn(chrono::TimeDelta::days(7));
        succeed("r2", agent("cid"), "c1");
        let done = there(world, JobName::Consolidate);
        assert_eq!(done.planned[0].why, "confirm a1: also learned by cid");
        assert_eq!(done.total, 3, "{done:?}");
        let grown = find(world, "ada", "a1").cross_validation.unwrap();
        assert_eq!(grown.agents, [agent("bob"), agent("cid")]);
        assert_eq!(grown.at - first.at, chrono::TimeDelta::days(7));
    });
}

#[test]
fn s5_what_was_received_and_removed_is_not_sent_again() {
    everywhere(|world| {
        three_agents(world);
        run(world, JobName::Consolidate, false);
        for whose in ["cid", "system_principles"] {
            let all = ids(world, whose);
            let id = all.iter().find(|id| id.contains("a1")).unwrap().parse().unwrap();
            world.ask(memoryd_proto::DeleteImprovement { agent: Some(agent(whose)), id });
            world.clock.turn(chrono::TimeDelta::days(7));
            assert_eq!(there(world, JobName::Consolidate).total, 0, "after {whose} removed it");
        }
        // Who comes later and works on the like receives nothing of a principle that is gone.
        import(world, [tagged("http", learned("eve", "e1", "Name tables in the plural", 0, 0))]);
        assert_eq!(there(world, JobName::Consolidate).total, 0);
    });
}

#[test]
fn s5_who_knows_it_in_other_words_or_barred_it_receives_nothing() {
    everywhere(|world| {
        three_agents(world);
        import(world, [learned("cid", "c2", "Retry failed downloads with exponential back-off", 0, 0)]);
        world.ask(Deprecate { agent: Some(agent("cid")), id: "c2".parse().unwrap(), reason: String::new() });
        run(world, JobName::Consolidate, false);
        assert_eq!(ids(world, "cid"), ["c1", "c2"]);
        // One who comes later receives the principle that is there.
        world.clock.turn(chrono::TimeDelta::days(7));
        import(world, [tagged("HTTP", learned("eve", "e1", "Name tables in the plural", 0, 0))]);
        assert_eq!(there_and_back(world, JobName::Consolidate).total, 1);
        assert_eq!(ids(world, "eve").len(), 2);
    });
}

#[test]
fn fault_29_consolidating_ten_times_is_consolidating_once() {
    everywhere(|world| {
        three_agents(world);
        import(
            world,
            [
                learned("Ada", "a2", "Retry every failed download with exponential backoff", 2, 3),
                learned("Ada", "a3", UNPACK, 2, 3),
                learned("Ada", "a4", UNPACK_TOO, 2, 3),
                tagged("rust", learned("bob", "b2", UNPACK_TOO, 2, 3)),
            ],
        );
        run(world, JobName::Consolidate, false);
        let once = world.export();
        for _ in 1..10 {
            world.clock.turn(chrono::TimeDelta::minutes(1));
            assert_eq!(run(world, JobName::Consolidate, false).total, 0);
            assert_eq!(world.export(), once);
        }
        for one in world.improvements().iter().filter(|one| one.original_id.is_some()) {
            assert_eq!(
                one.id.as_str().matches("principle_").count()
                    + one.id.as_str().matches("transferred_").count(),
                1
            );
            assert!([RETRY, UNPACK, UNPACK_TOO].contains(&one.document.as_str()), "{one:?}");
        }
    });
}

#[test]
fn s5_without_vectors_nothing_is_compared_and_it_says_so() {
    let home = Home::new();
    let clock = Arc::new(TurnedClock::new(start_of_time()));
    {
        let daemon = home.daemon(&clock);
        three_agents(&World { service: daemon.client(), clock: &clock, home: &home });
    }
    {
        let (_, writer) = database::open(&home.data_dir().join("memory.db")).unwrap();
        let tamper = |transaction: &_| database::set_meta(transaction, "model", "some-other-model 384");
        writer.lock().transaction(Durability::Full, |transaction| tamper(transaction)).unwrap();
    }
    let daemon = home.daemon(&clock);
    let world = World { service: daemon.client(), clock: &clock, home: &home };
    let done = there(&world, JobName::Consolidate);
    assert_eq!(done.total, 0);
    assert!(done.notes[0].contains("some-other-model"), "{done:?}");
}

#[test]
fn i5_a_merged_lesson_stated_again_is_known() {
    everywhere(|world| {
        import(
            world,
            [learned("finder", "best", UNPACK, 4, 4), learned("finder", "other", UNPACK_TOO, 0, 0)],
        );
        run(world, JobName::Consolidate, false);
        world.ask(Remember::new(agent("finder"), "error_handling", confidence(0.8), UNPACK_TOO));
        assert_eq!(ids(world, "finder"), ["best"]);
    });
}
