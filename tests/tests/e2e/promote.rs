//! A project's learning becomes a rule of its CLAUDE.md only when somebody says so, and nothing else is touched (spec
//! M11).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use memoryd_proto::{Code, Distilled, Journal, LearningKind, ProjectNotes, PromoteLearning, Undo};
use memoryd_tests::{World, everywhere};

use crate::notes::{correction, files, init, learning, log, preference};

fn promote(note: &str, project: &Path) -> PromoteLearning {
    PromoteLearning { note: note.to_owned(), project: Some(project.to_owned()), ..PromoteLearning::default() }
}

/// A project with two learnings.
fn project(world: &World<'_>) -> PathBuf {
    let project = world.home.folder("work/app");
    log(world, learning(LearningKind::Error, "Linking fails"), Some(&project));
    let mut other = learning(LearningKind::Pattern, "Seeds of flaky tests");
    if let memoryd_proto::NewNote::Learning { rule, situation, .. } = &mut other {
        "Ask for the seed first.".clone_into(rule);
        "It fails now and then.".clone_into(situation);
    }
    log(world, other, Some(&project));
    project
}

fn learnings(project: &Path) -> String {
    fs::read_to_string(project.join(".learnings/LEARNINGS.md")).unwrap()
}

fn told(done: &Distilled) -> Vec<&str> {
    done.additions.iter().flat_map(|added| &added.lines).map(String::as_str).collect()
}

#[test]
fn m11_a_learning_becomes_a_rule_and_is_marked_and_both_are_undone() {
    everywhere(|world| {
        init(world);
        let project = project(world);
        let theirs = "# App\n\nRun `make`.\n\n## Style\n- Tabs\n\n<!-- end -->";
        fs::write(project.join("CLAUDE.md"), theirs).unwrap();
        let before = files(&project);

        let shown = world.ask(PromoteLearning { dry_run: true, ..promote("linking fails", &project) });
        let added = ["", "## Learned", "", "- Link with one job.", "**Status**: promoted to CLAUDE.md"];
        assert_eq!(told(&shown), added);
        assert_eq!((shown.written.operation, files(&project)), (None, before.clone()));

        let done = world.ask(promote("linking fails", &project));
        assert_eq!(told(&done), added);
        let rules = format!("{theirs}\n\n## Learned\n\n- Link with one job.\n");
        assert_eq!(fs::read_to_string(project.join("CLAUDE.md")).unwrap(), rules);
        let (line, lines) = (done.written.places[0].line.unwrap(), rules.lines().count() as u64);
        assert_eq!(line, lines);
        let marked =
            "**Context**: building the release\n**Status**: promoted to CLAUDE.md\n\nWhat went wrong";
        assert_eq!(learnings(&project).matches(marked).count(), 1);

        let after = files(&project);
        let again = world.ask(promote("linking fails", &project));
        assert_eq!((again.written.operation, told(&again).len()), (None, 0));
        assert_eq!((again.written.places[0].line, files(&project)), (Some(line), after));

        let second = world.ask(promote("seed first", &project));
        assert_eq!(second.additions[0].lines, ["- Ask for the seed first."]);
        let told = &world.ask(Journal::default()).operations[0];
        assert!(told.actor == "promote-learning" && told.changes.len() == 2, "{told:?}");
        for done in [second, done] {
            world.ask(Undo { operation: done.written.operation.unwrap() });
        }
        assert_eq!(files(&project), before);
    });
}

#[test]
fn m11_a_learning_is_named_by_its_id_or_by_words_that_it_alone_has() {
    everywhere(|world| {
        let project = project(world);
        let notes = world.home.folder("work/app").join(".learnings/LEARNINGS.md");
        init(world);
        let ids: Vec<String> = world
            .ask(ProjectNotes { project: "app".to_owned() })
            .notes
            .into_iter()
            .map(|note| note.id)
            .collect();
        let dry = |note: &str| PromoteLearning { dry_run: true, ..promote(note, &project) };
        for named in [&ids[0][..], &ids[0][..6], "linker memory"] {
            assert_eq!(told(&world.ask(dry(named)))[2], "- Link with one job.", "{named}");
        }
        let fault = world.fault(dry("release"));
        assert_eq!(fault.code, Code::Invalid);
        assert!(fault.advice.contains(&ids[0][..12]) && fault.advice.contains(&ids[1][..12]), "{fault}");
        assert_eq!(world.fault(dry("goldfish")).code, Code::NotFound);
        assert_eq!(world.fault(dry("the")).code, Code::NotFound);
        assert_eq!(world.fault(PromoteLearning { project: None, ..dry("linker") }).code, Code::Invalid);
        // What says the same in two places is one learning.
        let text = fs::read_to_string(&notes).unwrap();
        fs::write(&notes, format!("{text}\n{text}")).unwrap();
        assert_eq!(told(&world.ask(dry("linker memory")))[2], "- Link with one job.");
    });
}

#[test]
fn m11_the_file_and_the_words_can_be_chosen_and_secrets_are_not_told() {
    everywhere(|world| {
        let project = project(world);
        fs::create_dir(project.join(".github")).unwrap();
        let to = PathBuf::from(".github/copilot-instructions.md");
        let rule = "Link\nwith `-j1` and ghp_000001Zq8rT5wLk2VbN7xJc4Md9Hf1sEVERY";
        let call = PromoteLearning {
            to: Some(to.clone()),
            rule: Some(rule.to_owned()),
            ..promote("linker", &project)
        };
        let done = world.ask(call);
        assert_eq!(done.written.redacted, ["github token"]);
        let text = fs::read_to_string(project.join(to)).unwrap();
        assert_eq!(text, "## Learned\n\n- Link with `-j1` and [redacted: github token]\n");
        assert!(learnings(&project).contains("**Status**: promoted to .github/copilot-instructions.md\n"));
    });
}

#[test]
fn m11_no_path_and_no_link_leads_out_of_the_project() {
    everywhere(|world| {
        let project = project(world);
        let outside = world.home.folder("work/app-2");
        fs::write(outside.join("x.md"), "theirs\n").unwrap();
        symlink(&outside, project.join("out")).unwrap();
        symlink(outside.join("x.md"), project.join("CLAUDE.md")).unwrap();
        fs::create_dir(project.join(".git")).unwrap();
        let before = (files(&project), files(&outside));
        let absolute = outside.join("x.md");
        let paths = [
            "CLAUDE.md",
            "out/x.md",
            "../app-2/x.md",
            absolute.to_str().unwrap(),
            "sub/../../app-2/x.md",
            ".git/x.md",
            "Makefile",
            "missing/x.md",
            ".learnings/LEARNINGS.md",
            ".",
            "",
        ];
        for to in paths {
            let fault = world.fault(PromoteLearning { to: Some(to.into()), ..promote("linker", &project) });
            assert_eq!(fault.code, Code::Invalid, "{to}: {fault}");
        }
        assert_eq!((files(&project), files(&outside)), before);
        // Within the project a link is followed.
        fs::write(project.join("AGENTS.md"), "# Rules\n").unwrap();
        symlink("AGENTS.md", project.join("GEMINI.md")).unwrap();
        world.ask(PromoteLearning { to: Some("GEMINI.md".into()), ..promote("linker", &project) });
        let rules = fs::read_to_string(project.join("AGENTS.md")).unwrap();
        assert_eq!(rules, "# Rules\n\n## Learned\n\n- Link with one job.\n");
        assert!(project.join("GEMINI.md").is_symlink());
    });
}

#[test]
fn m11_only_what_is_noted_of_the_project_is_meant() {
    everywhere(|world| {
        init(world);
        let project = project(world);
        log(world, correction("Tabs in makefiles", "Always use tabs in makefiles."), Some(&project));
        log(world, preference("Prefer ripgrep to grep"), Some(&project));
        assert_eq!(world.fault(promote("tabs makefiles", &project)).code, Code::NotFound);
        let own = world.home.tree().join("projects/app.md");
        fs::write(&own, "# app\n\n- Number the migrations (from: app, first noted: 2026-01-02)\n").unwrap();
        world.ask(promote("migrations", &project));
        assert_eq!(
            fs::read_to_string(&own).unwrap(),
            "# app\n\n- Number the migrations (from: app, first noted: 2026-01-02)\n  **Status**: promoted to CLAUDE.md\n"
        );
        assert_eq!(
            fs::read_to_string(project.join("CLAUDE.md")).unwrap(),
            "## Learned\n\n- Number the migrations\n"
        );
    });
}
