//! Everything out, and in again elsewhere (spec D4).

use memoryd_proto::{
    Category, Code, Criterion, Deprecate, Export, Import, Insight, MarkCrossValidated, Profile, Project,
    Record, Remember, ScopeChoice, SetProfile, Undo,
};
use memoryd_tests::{World, agent, confidence, documents, everywhere};

/// A memory with something of every kind in it.
fn live(world: &World<'_>) {
    world.ask(SetProfile {
        profile: Profile {
            agent: agent("finder"),
            criteria: vec![Criterion { name: "speed".to_owned(), weight: 100.0 }],
            categories: vec![Category {
                name: "error_handling".to_owned(),
                description: "Failures".to_owned(),
            }],
        },
    });
    let mut rich = world.lesson("Retry a failed download with exponential backoff");
    rich.scope = Some(ScopeChoice::Both);
    rich.project = Some(Project::Folder(world.home.folder("project")));
    rich.learned_from = Some("session 1".to_owned());
    rich.tags = vec!["a,b".to_owned()];
    rich.context_tags = vec!["http".to_owned()];
    rich.attributes = [("reviewer".to_owned(), "Ann".to_owned())].into();
    let id = world.keep(rich).kept[0].id.clone();
    let mut candidate = world.lesson("Warm the cache before measuring latency");
    candidate.confidence = confidence(0.6);
    world.keep(candidate);
    let dropped = world.remember("Restart the server when in doubt");
    world.ask(Deprecate { agent: None, id: dropped, reason: "it hides the cause".to_owned() });
    world.ask(MarkCrossValidated {
        agent: agent("finder"),
        id: id.clone(),
        validating_agents: vec![agent("writer")],
    });
    for n in 0..3 {
        world.clock.turn(chrono::TimeDelta::hours(7));
        world.live_through(&format!("r{n}"), "retry the failed download", n != 2, &[&id]);
    }
    let mut report = world.report("r9", "Unpack the archive", true);
    report.insights = vec![Insight {
        text: "Compare checksums before unpacking".to_owned(),
        category: "gardening".to_owned(),
        confidence: confidence(0.8),
    }];
    world.ask(report);
}

fn import(world: &World<'_>, jsonl: &str) -> memoryd_proto::Imported {
    let records = jsonl.lines().map(|line| serde_json::from_str::<Record>(line).unwrap()).collect();
    world.ask(Import { records, dry_run: false })
}

#[test]
fn d4_an_export_imported_into_a_fresh_home_exports_the_same_bytes() {
    everywhere(|world| {
        live(world);
        let exported = world.export();
        assert!(exported.lines().count() >= 10, "{exported}");
        everywhere(|other| {
            let at = memoryd::clock::Clock::now(world.clock) - memoryd::clock::Clock::now(other.clock);
            other.clock.turn(at);
            let imported = import(other, &exported);
            assert_eq!((imported.refused.len(), imported.known), (0, 0));
            assert_eq!(imported.added, exported.lines().count() as u64);
            assert_eq!(other.export(), exported);
            let query = "retry the failed download";
            assert_eq!(documents(&other.recall(query)), documents(&world.recall(query)));
        });
    });
}

#[test]
fn d4_importing_twice_changes_nothing_the_second_time() {
    everywhere(|world| {
        live(world);
        let exported = world.export();
        let again = import(world, &exported);
        assert_eq!((again.added, again.known), (0, exported.lines().count() as u64));
        assert_eq!(again.operation, None);
        assert_eq!(world.export(), exported);
    });
}

#[test]
fn d4_an_import_can_be_tried_and_undone() {
    everywhere(|world| {
        live(world);
        let exported = world.export();
        everywhere(|other| {
            let records = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let tried = other.ask(Import { records, dry_run: true });
            assert_eq!((tried.added, tried.operation), (exported.lines().count() as u64, None));
            assert_eq!(other.export(), "");
            let imported = import(other, &exported);
            other.ask(Undo { operation: imported.operation.unwrap() });
            assert_eq!(other.export(), "");
            assert_eq!(documents(&other.recall("retry the failed download")), [""; 0]);
        });
    });
}

#[test]
fn d4_one_bad_record_is_refused_by_its_place_and_the_others_are_taken() {
    everywhere(|world| {
        world.remember("Retry a failed download with exponential backoff");
        world.remember("Pin the toolchain in continuous integration");
        let mut records = world.records();
        let Record::Improvement(bad) = &mut records[0] else { panic!("{records:?}") };
        bad.document = " ".to_owned();
        everywhere(|other| {
            let imported = other.ask(Import { records: records.clone(), dry_run: false });
            assert_eq!((imported.added, imported.refused.len()), (1, 1));
            assert_eq!(imported.refused[0].index, 0);
            assert!(imported.refused[0].reason.contains("no text"), "{:?}", imported.refused);
            assert_eq!(other.improvements().len(), 1);
        });
    });
}

#[test]
fn d4_more_than_a_thousand_records_at_once_are_refused() {
    everywhere(|world| {
        world.remember("Retry a failed download with exponential backoff");
        let records = vec![world.records()[0].clone(); 1001];
        let fault = world.fault(Import { records, dry_run: false });
        assert_eq!(fault.code, Code::Invalid);
        assert!(fault.advice.contains("1000"), "{fault}");
    });
}

#[test]
fn d4_a_place_that_is_none_is_refused() {
    everywhere(|world| {
        for after in ["", "nowhere:1", "improvement:x", "improvement"] {
            let fault = world.fault(Export { agent: None, after: Some(after.to_owned()) });
            assert_eq!(fault.code, Code::Invalid);
            assert!(fault.message.contains("no place in an export"), "{fault}");
        }
    });
}

#[test]
fn d4_an_export_of_one_agent_holds_nothing_of_another() {
    everywhere(|world| {
        live(world);
        let own =
            Remember::new(agent("finder-2"), "error_handling", confidence(0.8), "Name the failing file");
        world.keep(own);
        let page = world.ask(Export { agent: Some(agent("FINDER-2")), after: None });
        assert_eq!((page.records.len(), page.total, page.next), (1, 1, None));
        assert!(matches!(&page.records[0], Record::Improvement(one) if one.agent == agent("finder-2")));
    });
}
