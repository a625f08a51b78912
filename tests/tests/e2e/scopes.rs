//! Which projects an improvement applies to (spec I9).

use memoryd_proto::{Code, Project, Scope, ScopeChoice};
use memoryd_tests::{World, everywhere, everywhere_with};

fn scopes(
    world: &World<'_>,
    category: &str,
    choice: Option<ScopeChoice>,
    document: &str,
) -> Vec<&'static str> {
    let mut lesson = world.lesson(document);
    category.clone_into(&mut lesson.category);
    lesson.scope = choice;
    lesson.project = Some(Project::Folder(world.home.folder("project")));
    let kept = world.keep(lesson).kept;
    kept.iter().map(|kept| if kept.scope == Scope::Global { "global" } else { "project" }).collect()
}

#[test]
fn i9_the_category_decides_the_scope() {
    everywhere(|world| {
        let at =
            |category: &str| scopes(world, category, None, &format!("A lesson that concerns {category}"));
        for category in
            ["search_strategy", "error_handling", "code_quality", "testing_patterns", "documentation_style"]
        {
            assert_eq!(at(category), ["global"], "{category}");
        }
        for category in ["naming_conventions", "architecture_patterns", "api_usage", "domain_terminology"] {
            assert_eq!(at(category), ["project"], "{category}");
        }
        assert_eq!(at("gardening"), ["global", "project"]);
    });
}

#[test]
fn i9_the_caller_overrides_the_table() {
    everywhere(|world| {
        let at = |choice, text| scopes(world, "error_handling", Some(choice), text);
        assert_eq!(at(ScopeChoice::Project, "Close the socket in this project"), ["project"]);
        assert_eq!(at(ScopeChoice::Both, "Log the request identifier everywhere"), ["global", "project"]);
        assert_eq!(at(ScopeChoice::Global, "Name the failing file in the message"), ["global"]);
    });
}

#[test]
fn i9_the_table_is_configurable() {
    everywhere_with("[scopes]\nerror_handling = \"project\"\n", |world| {
        assert_eq!(scopes(world, "error_handling", None, "Close the socket"), ["project"]);
    });
}

#[test]
fn i9_a_project_lesson_without_a_project_is_an_error_that_says_so() {
    everywhere(|world| {
        let mut lesson = world.lesson("Call the ledger API with an idempotency key");
        lesson.category = "api_usage".to_owned();
        let fault = world.fault(lesson);
        assert_eq!(fault.code, Code::Invalid);
        assert!(fault.message.contains("api_usage") && fault.advice.contains("folder"), "{fault}");
        assert_eq!(world.improvements(), []);
    });
}

#[test]
fn i9_both_scopes_are_one_improvement_that_is_used_once() {
    everywhere(|world| {
        let mut lesson = world.lesson("Water the tomatoes in the early morning");
        lesson.category = "gardening".to_owned();
        lesson.project = Some(Project::Folder(world.home.folder("project")));
        let kept = world.keep(lesson).kept;
        assert_eq!(kept[0].id, kept[1].id);
        let mut report = world.report("r1", "Water the tomatoes", true);
        report.used = vec![kept[0].id.clone()];
        assert_eq!(world.ask(report).items.len(), 1);
        let copies = world.improvements();
        assert_eq!(copies.len(), 2);
        assert!(copies.iter().all(|copy| copy.usage.usage_count == 1));
    });
}
