//! What of the things said is worth keeping (spec M9).

use chrono::TimeDelta;
use memoryd_proto::{
    Capture, Captured, Journal, KeepCaptured, Keeping, Project, Projects, Scope, Signal, ToolOutcome, Undo,
};
use memoryd_tests::sentences::{self, Score};
use memoryd_tests::{World, agent, everywhere, everywhere_with};

use crate::notes::{init, text};

fn said(text: &str) -> Capture {
    Capture { text: text.to_owned(), tool: None, keep: None }
}

fn kept(world: &World<'_>, text: &str) -> Captured {
    let keep = KeepCaptured { agent: agent("finder"), project: None };
    world.ask(Capture { keep: Some(keep), ..said(text) })
}

#[test]
fn m9_few_are_captured_that_should_not_be() {
    for file in ["capture-dev.tsv", "capture-eval.tsv"] {
        let score = Score::of(sentences::read(&sentences::data(file)));
        let (precision, recall) = (score.precision(), score.recall());
        assert!(score.judged.len() >= 200, "{file}");
        assert!(precision >= 0.95 && recall >= 0.8, "{file}: precision {precision:.3}, recall {recall:.3}");
    }
}

#[test]
fn m9_what_is_captured_is_kept_once_and_recalled() {
    everywhere(|world| {
        let first = kept(world, "Please always squash commits before you merge.");
        assert_eq!(first.finding.unwrap().signal, Signal::Preference);
        let id = first.kept.unwrap().kept[0].id.clone();
        let improvement = world.find(&id);
        assert_eq!(improvement.document, "Squash commits before you merge");
        assert_eq!(improvement.category, "preferences");
        assert_eq!(improvement.learned_from.as_deref(), Some("capture"));
        let again = kept(world, "Please always squash commits before you merge.");
        assert_eq!(again.kept.unwrap().kept[0].how, Keeping::Known);
        let recalled = world.recall("squash commits before the merge");
        assert_eq!(recalled.items[0].id, id);
        assert_eq!(world.ask(Journal::default()).operations[0].actor, "capture");
    });
}

#[test]
fn m9_nothing_is_kept_of_what_is_said_for_this_once_or_unless_asked() {
    everywhere(|world| {
        let once = kept(world, "For this file, always use tabs");
        assert!(once.finding.is_none() && once.kept.is_none());
        assert_eq!(once.vetoed[0].veto, "once");
        let unasked = world.ask(said("always use tabs"));
        assert!(unasked.finding.is_some() && unasked.kept.is_none());
        assert_eq!(world.improvements(), []);
    });
}

#[test]
fn m9_an_error_is_kept_in_the_project_where_it_happened() {
    everywhere(|world| {
        let project = Project::Hash("0123456789ab".parse().unwrap());
        let keep = KeepCaptured { agent: agent("finder"), project: Some(project) };
        let tool = ToolOutcome { name: "Bash".to_owned(), exit_code: Some(2), failed: false };
        let text = "make: *** No rule to make target 'al'.".to_owned();
        let captured = world.ask(Capture { text, tool: Some(tool), keep: Some(keep) });
        assert_eq!(captured.finding.unwrap().signal, Signal::Error);
        let improvement = &world.improvements()[0];
        assert_eq!(improvement.scope, Scope::Project("0123456789ab".parse().unwrap()));
        assert_eq!(improvement.category, "error_handling");
    });
}

#[test]
fn m9_patterns_of_the_configuration_count() {
    let config = "[[capture.patterns]]\nid = \"house\"\nsignal = \"knowledge_gap\"\npattern = 'house rule: (?<rule>.+)'\n\
                  confidence = 0.9\nrule = \"$rule\"\n";
    everywhere_with(config, |world| {
        let finding = world.ask(said("House rule: shoes off")).finding.unwrap();
        assert_eq!((finding.pattern.as_str(), finding.rule.as_deref()), ("house", Some("Shoes off")));
    });
}

#[test]
fn m9_a_text_of_any_length_is_answered() {
    everywhere(|world| {
        let long = "ünd so weiter, ".repeat(100_000);
        assert!(world.ask(said(&long)).finding.is_none());
        let tool = Some(ToolOutcome { name: "Bash".to_owned(), exit_code: Some(1), failed: true });
        let answer = world.ask(Capture { text: format!("{long}\nValueError: at the end"), tool, keep: None });
        assert!(answer.finding.unwrap().sentence.contains("ValueError: at the end"));
    });
}

#[test]
fn m9_what_is_captured_goes_to_the_tree_in_the_form_of_the_seed() {
    everywhere(|world| {
        init(world);
        let app = world.home.folder("work/app");
        let keep = |text: &str, project: Option<Project>| {
            let keep = KeepCaptured { agent: agent("finder"), project };
            world.ask(Capture { keep: Some(keep), ..said(text) })
        };
        let preferred = keep("Please always squash commits before you merge.", None);
        assert_eq!(preferred.finding.unwrap().signal, Signal::Preference);
        assert!(preferred.kept.is_none());
        let noted = preferred.noted.unwrap();
        assert!(noted.places[0].file.ends_with("memory.md") && noted.places[0].line == Some(7), "{noted:?}");
        let line = "## Preferences\n\n- **Squash commits before you merge** (from: general, first noted: 2026-01-05)\n";
        assert!(text(world, "memory.md").contains(line));
        assert_eq!(world.improvements(), [], "it is kept once");
        let again = keep("Please always squash commits before you merge.", None).noted.unwrap();
        assert_eq!((again.operation, again.places), (None, noted.places.clone()));

        let sentence = "No, that's not right, the port is 8443.";
        let corrected = keep(sentence, Some(Project::Folder(app.clone())));
        assert_eq!(corrected.finding.unwrap().signal, Signal::Correction);
        let corrections = text(world, "corrections.md");
        assert!(corrections.contains("### [2026-01-05] "), "{corrections}");
        assert!(
            corrections
                .contains("**Project**: app\n**Context**: said to finder\n\n**Correction**: No, that's")
        );
        assert!(corrected.noted.unwrap().operation.is_some());
        assert!(keep(sentence, Some(Project::Folder(app.clone()))).noted.unwrap().operation.is_none());
        world.clock.turn(TimeDelta::days(1));
        let next_day = keep(sentence, Some(Project::Folder(app.clone()))).noted.unwrap();
        assert!(next_day.operation.is_some(), "it had to be put right again");

        let names: Vec<String> = world.ask(Projects {}).projects.into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["app"]);
        assert_eq!(world.ask(Journal::default()).operations[0].actor, "capture");
        world.ask(Undo { operation: next_day.operation.unwrap() });
        assert_eq!(text(world, "corrections.md"), corrections);
    });
}

#[test]
fn m9_what_a_project_teaches_goes_to_its_learnings_and_else_to_the_corrections() {
    everywhere(|world| {
        init(world);
        let app = world.home.folder("work/app");
        let fail = |project: Option<Project>| {
            let keep = KeepCaptured { agent: agent("finder"), project };
            let tool = ToolOutcome { name: "Bash".to_owned(), exit_code: Some(2), failed: false };
            let text = "make: *** No rule to make target 'al'.".to_owned();
            world.ask(Capture { text, tool: Some(tool), keep: Some(keep) }).noted.unwrap()
        };
        let noted = fail(Some(Project::Folder(app.clone())));
        let learnings = std::fs::read_to_string(&noted.places[0].file).unwrap();
        assert!(noted.places[0].file.ends_with("work/app/.learnings/LEARNINGS.md"));
        assert!(
            learnings
                .contains("### [error] Bash failed with exit code 2: make: *** No rule to make target 'al'"),
            "{learnings}"
        );
        assert!(learnings.contains("\n**Context**: running Bash\n"), "{learnings}");
        let known = world.ask(Projects {}).projects[0].hash.clone();
        assert_eq!(fail(Some(Project::Hash(known))).operation, None, "the project is known by its hash");
        let noted = fail(None);
        assert!(noted.places[0].file.ends_with("corrections.md"));
        assert!(text(world, "corrections.md").contains("**Project**: general\n"));
    });
}

#[test]
fn m14_no_secret_is_captured_into_the_tree() {
    everywhere(|world| {
        init(world);
        let answer = kept(world, "Always push with ghp_000001Zq8rT5wLk2VbN7xJc4Md9Hf1sEVERY");
        assert_eq!(answer.redacted, ["github token"]);
        let memory = text(world, "memory.md");
        assert!(memory.contains("[redacted: github token]") && !memory.contains("EVERY"), "{memory}");
    });
}
