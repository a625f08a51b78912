//! Figures about a memory, and whose there are (spec P2).

use chrono::TimeDelta;
use memoryd_proto::{AgentSummary, Agents, Dashboard, Deprecate, Project, Remember, Report, ScopeChoice};
use memoryd_tests::{World, agent, confidence, everywhere};

fn fill(world: &World<'_>) {
    world.remember("Restart the server when in doubt");
    let dropped = world.improvements()[0].id.clone();
    world.ask(Deprecate { agent: None, id: dropped, reason: String::new() });
    world.clock.turn(TimeDelta::days(40));
    world.ask(world.report("old", "Water the tomatoes", false));
    world.clock.turn(TimeDelta::days(31));
    let id = world.remember("Retry a failed download with exponential backoff");
    let mut unsure = world.lesson("Warm the cache before measuring latency");
    unsure.confidence = confidence(0.6);
    world.keep(unsure);
    for (n, success) in [true, true, true, false].into_iter().enumerate() {
        world.ask(Report { used: vec![id.clone()], ..world.report(&format!("r{n}"), "Retry it", success) });
    }
    let mut other = Remember::new(agent("writer"), "api_usage", confidence(0.9), "Name tables in the plural");
    other.scope = Some(ScopeChoice::Project);
    other.project = Some(Project::Folder(world.home.folder("project")));
    world.keep(other);
}

#[test]
fn p2_the_dashboard_counts_what_is_there() {
    everywhere(|world| {
        fill(world);
        let view = world.ask(Dashboard { agent: Some(agent("finder")) });
        assert_eq!(
            (
                view.total_improvements,
                view.active_improvements,
                view.deprecated_improvements,
                view.candidates
            ),
            (3, 1, 1, 1)
        );
        assert_eq!((view.total_evaluations, view.improvements_last_7_days), (5, 2));
        // The failure of 31 days ago is out of the window.
        assert_eq!(view.recent_success_rate, Some(0.75));
        assert_eq!(view.recent_quality, Some(75.0));
        assert_eq!(view.top_improvements[0].document, "Retry a failed download with exponential backoff");
        assert_eq!(view.top_q[0].document, "Retry a failed download with exponential backoff");
        let all = world.ask(Dashboard { agent: None });
        assert_eq!((all.total_improvements, all.active_improvements), (4, 2));
    });
}

#[test]
fn p2_a_memory_without_anything_has_no_rates() {
    everywhere(|world| {
        let view = world.ask(Dashboard { agent: None });
        assert_eq!((view.total_improvements, view.total_evaluations), (0, 0));
        assert_eq!((view.recent_success_rate, view.recent_quality), (None, None));
        assert_eq!((view.top_improvements, view.top_q), (Vec::new(), Vec::new()));
    });
}

#[test]
fn agents_are_listed_by_name_with_what_they_hold() {
    everywhere(|world| {
        fill(world);
        let summary = |name: &str, improvements, evaluations, projects| AgentSummary {
            name: agent(name),
            improvements,
            evaluations,
            projects,
        };
        assert_eq!(world.ask(Agents {}).agents, [summary("finder", 3, 5, 0), summary("writer", 1, 0, 1)]);
    });
}
