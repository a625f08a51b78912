//! An agent's static file is read and never written (spec I11).

use std::fs;

use chrono::TimeDelta;
use memoryd_proto::{Code, Initialise, Project, ScopeChoice};
use memoryd_tests::{World, agent, confidence, everywhere};

fn initialise(world: &World<'_>, file: Option<std::path::PathBuf>) -> memoryd_proto::Initialised {
    world.ask(Initialise { agent: agent("finder"), file, project: None })
}

#[test]
fn i11_a_month_of_work_leaves_the_agents_file_as_it_was() {
    everywhere(|world| {
        let path = world.home.path().join("finder.md");
        let text = "# Finder\r\n\r\nFinds code.  \n\tNo newline at the end: ä";
        fs::write(&path, text).unwrap();
        let touched = |path| {
            let metadata = fs::metadata(path).unwrap();
            (metadata.modified().unwrap(), metadata.len(), metadata.permissions())
        };
        let before = touched(&path);
        assert_eq!(initialise(world, Some(path.clone())).static_text.as_deref(), Some(text));
        for day in 0..30 {
            let id = world.remember(&format!("Day {day}: check pump {day} before opening valve {day}"));
            let task = format!("Day {day}: check pump {day}");
            let recalled = world.recall(&task);
            let mut report = world.report(&format!("day-{day}"), &task, day % 3 != 0);
            report.used =
                recalled.items.iter().map(|item| item.id.clone()).filter(|one| *one == id).collect();
            report.recall = Some(recalled.recall);
            world.ask(report);
            world.clock.turn(TimeDelta::days(1));
        }
        let after = initialise(world, Some(path.clone()));
        assert_eq!(after.static_text.as_deref(), Some(text));
        assert_eq!(after.learned_improvements.len(), 30);
        assert!(after.memory_enabled);
        assert_eq!(fs::read(&path).unwrap(), text.as_bytes());
        assert_eq!(touched(&path), before);
    });
}

#[test]
fn i11_an_agent_starts_with_what_it_learned_here_and_nothing_barred() {
    everywhere(|world| {
        let mut elsewhere = world.lesson("Call the ledger API with an idempotency key");
        elsewhere.scope = Some(ScopeChoice::Project);
        elsewhere.project = Some(Project::Folder(world.home.folder("elsewhere")));
        world.keep(elsewhere);
        let mut here = world.lesson("Name tables in the plural");
        here.scope = Some(ScopeChoice::Project);
        here.project = Some(Project::Folder(world.home.folder("here")));
        world.keep(here);
        world.remember("Retry a failed download with exponential backoff");
        let mut unsure = world.lesson("Warm the cache before measuring latency");
        unsure.confidence = confidence(0.6);
        world.keep(unsure);
        let dropped = world.remember("Restart the server when in doubt");
        world.ask(memoryd_proto::Deprecate { agent: None, id: dropped, reason: String::new() });

        let started = world.ask(Initialise {
            agent: agent("finder"),
            file: None,
            project: Some(Project::Folder(world.home.folder("here"))),
        });
        let mut texts: Vec<_> = started.learned_improvements.into_iter().map(|one| one.document).collect();
        texts.sort();
        assert_eq!(texts, ["Name tables in the plural", "Retry a failed download with exponential backoff"]);
        assert_eq!(started.static_text, None);
    });
}

#[test]
fn i11_a_file_that_is_not_there_is_named_and_not_created() {
    everywhere(|world| {
        let path = world.home.path().join("missing.md");
        let fault =
            world.fault(Initialise { agent: agent("finder"), file: Some(path.clone()), project: None });
        assert_eq!(fault.code, Code::NotFound);
        assert!(fault.message.contains("missing.md"), "{fault}");
        assert!(!path.exists());
    });
}
