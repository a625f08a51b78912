//! Hooks for consolidation across agents (spec I12).

use memoryd_proto::{
    Code, Consolidatable, CrossValidation, Deprecate, Keeping, MarkCrossValidated, ReceivePrinciple, Source,
};
use memoryd_tests::{agent, confidence, documents, everywhere};

fn principle(value: f64) -> ReceivePrinciple {
    ReceivePrinciple {
        agent: agent("finder"),
        document: "Retry a failed download with exponential backoff".to_owned(),
        category: "error_handling".to_owned(),
        confidence: confidence(value),
        original_id: "improvement_writer_7".parse().unwrap(),
    }
}

#[test]
fn i12_a_principle_arrives_discounted_confirmed_and_not_to_be_consolidated_again() {
    everywhere(|world| {
        let received = world.ask(principle(0.9));
        assert_eq!(received.kept[0].how, Keeping::Stored);
        let one = world.find(&received.kept[0].id);
        let now = memoryd::clock::Clock::now(world.clock);
        assert_eq!(one.id.as_str(), format!("transferred_improvement_writer_7_{}", now.timestamp_millis()));
        assert!((one.confidence.get() - 0.81).abs() < 1e-12);
        assert_eq!(one.source, Source::SystemPrinciples);
        assert_eq!(one.original_id.as_ref().unwrap().as_str(), "improvement_writer_7");
        assert!(one.cross_validation.is_some());
        assert!(!one.consolidation_eligible);
        assert_eq!(world.ask(Consolidatable { agent: agent("finder") }).total, 0);
        let recalled = world.recall("retry a failed download");
        assert_eq!(documents(&recalled), ["Retry a failed download with exponential backoff"]);
        assert!((recalled.items[0].why.multiplier - 1.2).abs() < 1e-12);
    });
}

#[test]
fn i12_the_same_principle_received_twice_is_one() {
    everywhere(|world| {
        world.ask(principle(0.9));
        let before = world.export();
        assert_eq!(world.ask(principle(0.9)).kept[0].how, Keeping::Known);
        assert_eq!(world.export(), before);
    });
}

#[test]
fn i12_the_discount_counts_for_the_bands() {
    everywhere(|world| {
        // 0.75 · 0.9 = 0.675
        assert_eq!(world.ask(principle(0.75)).kept[0].how, Keeping::Candidate);
        assert_eq!(documents(&world.recall("retry a failed download")), [""; 0]);
    });
}

#[test]
fn i12_the_eligible_are_those_that_are_not_deprecated() {
    everywhere(|world| {
        let kept = world.remember("Retry a failed download with exponential backoff");
        let dropped = world.remember("Restart the server when in doubt");
        world.ask(Deprecate { agent: None, id: dropped, reason: String::new() });
        let listed = world.ask(Consolidatable { agent: agent("finder") });
        assert_eq!(listed.improvements.iter().map(|one| &one.id).collect::<Vec<_>>(), [&kept]);
        assert_eq!(listed.total, 1);
    });
}

#[test]
fn i12_confirmation_names_the_other_agents_and_when() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        let mark = |names: &[&str]| MarkCrossValidated {
            agent: agent("finder"),
            id: id.clone(),
            validating_agents: names.iter().map(|name| agent(name)).collect(),
        };
        let now = memoryd::clock::Clock::now(world.clock);
        let marked = world.ask(mark(&["writer", "Finder", "archivist", "WRITER"]));
        let agents = vec![agent("archivist"), agent("writer")];
        assert_eq!(marked.improvement.cross_validation, Some(CrossValidation { agents, at: now }));
        // The same again is nothing new.
        world.clock.turn(chrono::TimeDelta::hours(1));
        let before = world.export();
        world.ask(mark(&["archivist", "writer"]));
        assert_eq!(world.export(), before);
        // Agents are added, never taken away.
        let later = memoryd::clock::Clock::now(world.clock);
        let marked = world.ask(mark(&["builder"]));
        let agents = vec![agent("archivist"), agent("builder"), agent("writer")];
        assert_eq!(marked.improvement.cross_validation, Some(CrossValidation { agents, at: later }));
        let before = world.export();
        // An agent cannot confirm its own.
        let fault = world.fault(mark(&["FINDER"]));
        assert_eq!(fault.code, Code::Invalid);
        assert_eq!(world.export(), before);
    });
}
