//! Usage follows from what was imported and the outcomes that stand, whatever is undone in between (spec I6, S7).

use memoryd_proto::{
    Agents, Code, DeleteImprovement, ImportQ, ImprovementId, Project, QTable, Report, Restore, ScopeChoice,
    Undo,
};
use memoryd_tests::{World, agent, everywhere};

const LESSON: &str = "Retry a failed download with exponential backoff";

fn used(world: &World<'_>, report: &str, success: bool, id: &ImprovementId) -> memoryd_proto::Learned {
    world.ask(Report { used: vec![id.clone()], ..world.report(report, "Retry the failed download", success) })
}

/// Utility from elsewhere: 8 successes and 2 failures, and a Q-value of 0.75.
fn import(world: &World<'_>, id: &ImprovementId) -> memoryd_proto::OperationId {
    let table = format!(
        r#"{{"memories":{{"{id}":{{"q_value":0.75,"access_count":12,"last_accessed":"2026-01-05",
        "success_count":8,"failure_count":2}}}},"contexts":{{}},
        "config":{{"learning_rate":0.1,"decay_factor":0.99,"warm_threshold":100}}}}"#
    );
    let table: QTable = serde_json::from_str(&table).unwrap();
    world.ask(ImportQ { agent: agent("finder"), table }).operation.unwrap()
}

/// Uses, successes and the Q-value.
fn standing(world: &World<'_>, id: &ImprovementId) -> (u64, u64, f64) {
    let usage = world.find(id).usage;
    (usage.usage_count, usage.success_count, (usage.q_value.get() * 1e9).round() / 1e9)
}

#[test]
fn s7_an_older_report_is_undone_under_a_newer_one() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        let older = used(world, "r1", true, &id);
        used(world, "r2", false, &id);
        world.ask(Undo { operation: older.operation });
        // 0.5 + 0.1 · (−0.2 − 0.5)
        assert_eq!(standing(world, &id), (1, 0, 0.43));
    });
}

#[test]
fn q5_reports_count_on_top_of_what_was_imported() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        import(world, &id);
        let learned = used(world, "r1", true, &id);
        // 0.75 + 0.1 · (1 − 0.75)
        assert_eq!(standing(world, &id), (11, 9, 0.775));
        world.ask(Undo { operation: learned.operation });
        assert_eq!(standing(world, &id), (10, 8, 0.75));
    });
}

#[test]
fn q5_an_import_replaces_what_was_known_and_a_later_undo_does_not_bring_it_back() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        used(world, "r1", true, &id);
        import(world, &id);
        assert_eq!(standing(world, &id), (10, 8, 0.75));
        let learned = used(world, "r2", true, &id);
        world.ask(Undo { operation: learned.operation });
        assert_eq!(standing(world, &id), (10, 8, 0.75));
    });
}

#[test]
fn q5_an_import_that_reports_built_upon_is_not_undone() {
    everywhere(|world| {
        let id = world.remember(LESSON);
        let imported = import(world, &id);
        let learned = used(world, "r1", true, &id);
        let before = world.export();
        let fault = world.fault(Undo { operation: imported });
        assert_eq!(fault.code, Code::Conflict);
        assert!(fault.message.contains(&format!("operation {}", learned.operation)), "{fault}");
        assert_eq!(world.export(), before);
        // In order it goes.
        world.ask(Undo { operation: learned.operation });
        world.ask(Undo { operation: imported });
        assert_eq!(standing(world, &id), (0, 0, 0.5));
    });
}

#[test]
fn s7_an_agent_whose_first_lesson_is_undone_is_no_agent() {
    everywhere(|world| {
        let operation = world.keep(world.lesson(LESSON)).operation.unwrap();
        world.ask(Undo { operation });
        assert_eq!(world.ask(Agents {}).agents, []);
    });
}

#[test]
fn s7_what_was_in_both_scopes_is_restored_in_both() {
    everywhere(|world| {
        let mut lesson = world.lesson(LESSON);
        lesson.scope = Some(ScopeChoice::Both);
        lesson.project = Some(Project::Folder(world.home.folder("project")));
        let id = world.keep(lesson).kept[0].id.clone();
        let before = world.export();
        world.ask(DeleteImprovement { agent: None, id: id.clone() });
        world.ask(Restore { agent: None, id });
        let scopes = |export: &str| {
            let mut lines: Vec<String> = export.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(scopes(&world.export()), scopes(&before));
    });
}
