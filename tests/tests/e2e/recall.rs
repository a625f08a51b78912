//! What a recall returns, and in which order (spec I10).

use memoryd_proto::{Code, Deprecate, MarkCrossValidated, Project, Recall, Scope, ScopeChoice, Verdict};
use memoryd_tests::{agent, confidence, documents, everywhere};

#[test]
fn i10_a_question_that_memory_says_nothing_about_gets_nothing() {
    everywhere(|world| {
        world.remember("Retry a failed download with exponential backoff");
        world.remember("Pin the toolchain in continuous integration");
        let recalled = world.recall("Who painted the ceiling of the Sistine Chapel?");
        assert_eq!(documents(&recalled), [""; 0]);
        assert_eq!(recalled.searched, 2);
    });
}

#[test]
fn i10_what_is_relevant_comes_back_and_what_is_not_stays() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        world.remember("Pin the toolchain in continuous integration");
        let recalled = world.recall("The download failed. Should I retry?");
        assert_eq!(recalled.items.iter().map(|item| &item.id).collect::<Vec<_>>(), [&id]);
        let item = &recalled.items[0];
        assert_eq!(item.scope, Scope::Global);
        assert_eq!(item.category, "error_handling");
        assert_eq!(item.confidence, confidence(0.8));
        assert!(item.why.relevance >= 0.6, "{:?}", item.why);
        assert!(item.why.lexical > 0.0 && item.why.cosine > 0.0, "{:?}", item.why);
    });
}

#[test]
fn i10_relevance_does_not_depend_on_what_else_is_stored() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        let why = |recalled: memoryd_proto::Recalled| {
            recalled.items.into_iter().find(|item| item.id == id).unwrap().why.cosine
        };
        let alone = why(world.recall("how to retry a failed download"));
        for n in 0..20 {
            world.remember(&format!("Lesson {n} on gardens: water bed {n} in the morning"));
        }
        let among_others = why(world.recall("how to retry a failed download"));
        assert!((alone - among_others).abs() < 1e-9);
    });
}

#[test]
fn i10_five_unless_told_otherwise() {
    everywhere(|world| {
        for n in 0..8 {
            world.remember(&format!("Check pump {n} before opening valve {n}"));
        }
        let mut recall = Recall::new(agent("finder"), "check the pump before opening the valve");
        assert_eq!(world.ask(recall.clone()).items.len(), 5);
        recall.limit = 2;
        assert_eq!(world.ask(recall.clone()).items.len(), 2);
        recall.limit = 5000;
        assert_eq!(world.ask(recall).items.len(), 8);
    });
}

#[test]
fn i10_deprecated_items_are_not_recalled() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        world.ask(Deprecate { agent: None, id: id.clone(), reason: "the server retries".to_owned() });
        assert_eq!(documents(&world.recall("retry a failed download")), [""; 0]);
        world.ask(memoryd_proto::Restore { agent: None, id });
        assert_eq!(world.recall("retry a failed download").items.len(), 1);
    });
}

#[test]
fn i10_used_items_below_six_tenths_of_success_are_not_recalled() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        let used = |n: u32, success| {
            let mut report = world.report(&format!("r{n}"), "Retry the failed download", success);
            report.used = vec![id.clone()];
            world.ask(report);
        };
        used(1, true);
        assert_eq!(world.recall("retry a failed download").items.len(), 1);
        used(2, false);
        assert_eq!(world.recall("retry a failed download").items.len(), 0);
        // Two of three is enough again.
        used(3, true);
        assert_eq!(world.recall("retry a failed download").items.len(), 1);
    });
}

#[test]
fn i10_the_project_goes_first_and_the_copy_folds() {
    everywhere(|world| {
        let project = Some(Project::Folder(world.home.folder("project")));
        let mut lesson = world.lesson("Retry a failed download with exponential backoff");
        lesson.project.clone_from(&project);
        lesson.scope = Some(ScopeChoice::Both);
        world.keep(lesson);
        let mut recall = Recall::new(agent("finder"), "retry a failed download");
        recall.project = project;
        let recalled = world.ask(recall);
        assert_eq!(recalled.items.len(), 1);
        assert!(matches!(recalled.items[0].scope, Scope::Project(_)));
        let explained = world.ask(memoryd_proto::Explain { recall: recalled.recall });
        let verdicts: Vec<Verdict> = explained.items.iter().map(|item| item.verdict).collect();
        assert_eq!(verdicts, [Verdict::Returned, Verdict::Duplicate]);
    });
}

#[test]
fn i10_other_projects_and_other_agents_stay_out() {
    everywhere(|world| {
        let mut lesson = world.lesson("Call the ledger API with an idempotency key");
        lesson.category = "api_usage".to_owned();
        lesson.project = Some(Project::Folder(world.home.folder("one")));
        world.keep(lesson);
        let mut recall = Recall::new(agent("finder"), "call the ledger API");
        assert_eq!(world.ask(recall.clone()).items, []);
        recall.project = Some(Project::Folder(world.home.folder("two")));
        assert_eq!(world.ask(recall.clone()).items, []);
        recall.project = Some(Project::Folder(world.home.folder("one")));
        assert_eq!(world.ask(recall.clone()).items.len(), 1);
        recall.agent = agent("writer");
        assert_eq!(world.ask(recall).items, []);
    });
}

#[test]
fn i10_confirmation_by_other_agents_multiplies_the_score() {
    everywhere(|world| {
        world.remember("Check the pump on Mondays before opening the valve");
        world.remember("Check the pump on Fridays before opening the valve");
        let query = "check the pump before opening the valve";
        let order = || world.recall(query).items.into_iter().map(|item| item.id).collect::<Vec<_>>();
        let before = order();
        let [first, second] = before.as_slice() else { panic!("{before:?}") };
        world.ask(MarkCrossValidated {
            agent: agent("finder"),
            id: second.clone(),
            validating_agents: vec![agent("writer"), agent("finder")],
        });
        assert_eq!(order(), [second.clone(), first.clone()]);
        let recalled = world.recall(query);
        let why = &recalled.items[0].why;
        assert!((why.multiplier - 1.2).abs() < 1e-12);
        assert!((why.score - why.relevance * 1.2).abs() < 1e-12);
    });
}

#[test]
fn i10_filters_are_exact() {
    everywhere(|world| {
        for n in 0..30 {
            world.remember(&format!("Check pump {n} before opening valve {n}"));
        }
        let mut tagged = world.lesson("Check pump 99 before opening valve 99 in winter");
        tagged.tags = vec!["winter".to_owned(), "pumps".to_owned()];
        tagged.category = "code_quality".to_owned();
        let id = world.keep(tagged).kept[0].id.clone();
        let mut recall = Recall::new(agent("finder"), "check the pump before opening the valve");
        recall.limit = 1;
        recall.tags = vec!["winter".to_owned(), "pumps".to_owned()];
        assert_eq!(world.ask(recall.clone()).items[0].id, id);
        recall.tags = vec!["winter".to_owned(), "summer".to_owned()];
        assert_eq!(world.ask(recall.clone()).items, []);
        recall.tags = Vec::new();
        recall.category = Some("code_quality".to_owned());
        assert_eq!(world.ask(recall).items[0].id, id);
    });
}

#[test]
fn i10_an_empty_question_is_an_error_that_says_so() {
    everywhere(|world| {
        let fault = world.fault(Recall::new(agent("finder"), " \n"));
        assert_eq!(fault.code, Code::Invalid);
        assert!(fault.message.contains("nothing to recall for"), "{fault}");
    });
}
