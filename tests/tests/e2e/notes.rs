//! The markdown memory tree: what is written is what the seed writes, what people edit wins, and nothing is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::TimeDelta;
use memoryd::clock::TurnedClock;
use memoryd::journal::{Change, Draft, Edit};
use memoryd_proto::{
    Code, ConsumeNote, ForgetNotes, InitNotes, Journal, LearnedNotes, LearningKind, LogNote, NewNote, Note,
    NoteKind, NoteStats, OperationId, Project, ProjectNotes, Projects, PromoteNote, Recall, Report,
    SearchNotes, ShareNote, SharedNotes, ShortcomingKind, Shortcomings, ShowNotes, TaskError, Tier, Undo,
    Written,
};
use memoryd_tests::{Home, World, agent, everywhere, start_of_time};

/// Every file below a folder.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.insert(path.clone(), fs::read_to_string(path).unwrap());
        }
    }
    all
}

pub fn init(world: &World<'_>) {
    world.ask(InitNotes::default());
}

pub fn tree(world: &World<'_>, inner: &str) -> PathBuf {
    world.home.tree().join(inner)
}

pub fn text(world: &World<'_>, inner: &str) -> String {
    fs::read_to_string(tree(world, inner)).unwrap()
}

pub fn put(world: &World<'_>, inner: &str, text: &str) {
    fs::write(tree(world, inner), text).unwrap();
}

/// Replaces a file as editors do.
fn replace(world: &World<'_>, inner: &str, text: &str) {
    let draft = tree(world, "draft");
    fs::write(&draft, text).unwrap();
    fs::rename(draft, tree(world, inner)).unwrap();
}

pub fn log(world: &World<'_>, entry: NewNote, project: Option<&Path>) -> Written {
    world.ask(LogNote { entry, project: project.map(Path::to_owned) })
}

pub fn correction(summary: &str, rule: &str) -> NewNote {
    NewNote::Correction {
        summary: summary.to_owned(),
        context: "formatting a file".to_owned(),
        correction: "No, use tabs".to_owned(),
        rule: rule.to_owned(),
    }
}

pub fn learning(kind: LearningKind, summary: &str) -> NewNote {
    NewNote::Learning {
        kind,
        summary: summary.to_owned(),
        context: "building the release".to_owned(),
        situation: "The linker ran out of memory.\nTwice.".to_owned(),
        rule: "Link with one job.".to_owned(),
    }
}

pub fn preference(rule: &str) -> NewNote {
    NewNote::Preference { rule: rule.to_owned() }
}

pub fn insight(title: &str, rule: &str) -> ShareNote {
    ShareNote {
        title: title.to_owned(),
        from: "app / login".to_owned(),
        relevance: "code".to_owned(),
        insight: "The interface wants its header in lower case.".to_owned(),
        rule: rule.to_owned(),
    }
}

fn search(world: &World<'_>, words: &str) -> Vec<Note> {
    world.ask(SearchNotes { words: words.to_owned(), ..SearchNotes::default() }).notes
}

/// The line of the file that a note cites.
fn cited(note: &Note) -> String {
    let text = fs::read_to_string(&note.file).unwrap();
    text.lines().nth(usize::try_from(note.line).unwrap() - 1).unwrap().to_owned()
}

pub fn undo(world: &World<'_>, written: &Written) -> OperationId {
    world.ask(Undo { operation: written.operation.unwrap() }).operation
}

#[test]
fn m1_a_new_tree_is_the_seeds_and_creating_it_again_changes_nothing() {
    everywhere(|world| {
        let project = world.home.folder("work/app");
        assert_eq!(
            world.fault(SearchNotes { words: "x".to_owned(), ..SearchNotes::default() }).code,
            Code::NotFound
        );
        assert_eq!(world.fault(LogNote { entry: preference("x"), project: None }).code, Code::NotFound);
        assert!(!world.home.tree().exists(), "nothing is created but by init");
        let created = world.ask(InitNotes { project: Some(project.clone()) });
        assert_eq!(created.places.len(), 4);
        assert_eq!(
            text(world, "memory.md"),
            "# Global Memory\n\n## Rules\n\n## Preferences\n\n## Patterns\n\n---\n"
        );
        assert_eq!(
            text(world, "corrections.md"),
            "# Corrections Log\n\nLast 50 corrections. Oldest auto-pruned.\n\n---\n"
        );
        assert_eq!(text(world, "index.md"), "# Index\n\nTopic → file mapping for quick lookup.\n\n---\n");
        let learnings = project.join(".learnings/LEARNINGS.md");
        assert_eq!(
            fs::read_to_string(&learnings).unwrap(),
            "# Learnings — app\n\nCaptured corrections, patterns, and errors.\n\n---\n"
        );
        for folder in ["projects", "domains", "shared", "archive"] {
            let mode = fs::metadata(tree(world, folder)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{folder}");
        }
        put(world, "memory.md", "mine\n");
        let before = files(world.home.path().join("self-improving").as_path());
        let again = world.ask(InitNotes { project: Some(project) });
        assert_eq!((again.operation, again.places.len()), (None, 0));
        assert_eq!(files(&world.home.tree()), before);
        assert_eq!(search(world, "corrections pruned topic captured"), [], "headers are no notes");
    });
}

#[test]
fn m2_each_kind_is_written_as_the_seed_writes_it() {
    everywhere(|world| {
        init(world);
        let project = world.home.folder("work/app");
        let app = Some(project.as_path());
        log(world, correction("Tabs in makefiles", "Always use tabs in makefiles."), app);
        log(world, correction("Short answers", "Answer in two sentences."), None);
        let preferred = log(world, preference("Prefer ripgrep to grep"), app);
        for kind in [LearningKind::Error, LearningKind::Pattern, LearningKind::Gap] {
            log(world, learning(kind, "Linking fails"), app);
        }
        let reflection = |lesson: &str| NewNote::Reflection {
            context: "refactoring".to_owned(),
            reflection: "the steps were too large".to_owned(),
            lesson: lesson.to_owned(),
        };
        log(world, reflection("commit smaller steps"), None);
        assert_eq!(
            text(world, "corrections.md"),
            "# Corrections Log\n\nLast 50 corrections. Oldest auto-pruned.\n\n---\n\n\
             ### [2026-01-05] Tabs in makefiles\n**Project**: app\n**Context**: formatting a file\n\n\
             **Correction**: No, use tabs\n**Rule**: Always use tabs in makefiles.\n\n\
             ### [2026-01-05] Short answers\n**Project**: general\n**Context**: formatting a file\n\n\
             **Correction**: No, use tabs\n**Rule**: Answer in two sentences.\n"
        );
        assert_eq!(
            text(world, "memory.md"),
            "# Global Memory\n\n## Rules\n\n## Preferences\n\n\
             - **Prefer ripgrep to grep** (from: app, first noted: 2026-01-05)\n\n## Patterns\n\n---\n"
        );
        assert_eq!((preferred.places[0].line, preferred.places.len()), (Some(7), 1));
        let learnings = fs::read_to_string(project.join(".learnings/LEARNINGS.md")).unwrap();
        assert!(
            learnings.starts_with(
                "# Learnings — app\n\nCaptured corrections, patterns, and errors.\n\n---\n\n\
                 ### [error] Linking fails\n**Date**: 2026-01-05\n**Context**: building the release\n\n\
                 What went wrong / what was learned:\nThe linker ran out of memory.\nTwice.\n\n\
                 **Rule**: Link with one job.\n\n### [pattern] Linking fails\n"
            ),
            "{learnings}"
        );
        assert_eq!(
            text(world, "domains/reflections.md"),
            "# Reflections\n\n---\n\nCONTEXT: refactoring\nREFLECTION: the steps were too large\nLESSON: commit smaller steps\n"
        );
        log(world, reflection("test first"), app);
        let noted = world.ask(ProjectNotes { project: "app".to_owned() });
        let kinds: Vec<NoteKind> = noted.notes.iter().map(|note| note.kind).collect();
        assert_eq!(kinds, [NoteKind::Error, NoteKind::Pattern, NoteKind::Gap, NoteKind::Reflection]);
        assert_eq!(noted.notes[0].rule.as_deref(), Some("Link with one job."));
        // What is known already is not written twice.
        let again = log(world, preference("prefer  ripgrep to grep."), app);
        assert_eq!((again.operation, again.places[0].line), (None, Some(7)));
        let fault = world.fault(LogNote { entry: learning(LearningKind::Error, "x"), project: None });
        assert_eq!(fault.code, Code::Invalid);
        let fault = world.fault(LogNote { entry: preference(" "), project: None });
        assert_eq!(fault.code, Code::Invalid);
    });
}

#[test]
fn m15_a_search_cites_file_and_line_and_leaves_the_archive_alone() {
    everywhere(|world| {
        init(world);
        log(world, correction("Tabs in makefiles", "Always use tabs in makefiles."), None);
        put(world, "archive/old.md", "- Makefiles need tabs\n");
        put(
            world,
            "domains/code.md",
            "# Code\n\nSome prose on makefiles.\n\n- **Use tabs in makefiles**\n- Other\n",
        );
        let found = search(world, "tabs makefile");
        let files: Vec<(Tier, String)> = found.iter().map(|note| (note.tier, cited(note))).collect();
        assert_eq!(
            files,
            [
                (Tier::Domain, "- **Use tabs in makefiles**".to_owned()),
                (Tier::Corrections, "### [2026-01-05] Tabs in makefiles".to_owned()),
                (Tier::Domain, "Some prose on makefiles.".to_owned()),
            ]
        );
        assert_eq!(found[2].words, ["makefile"]);
        let all = world.ask(SearchNotes { words: "tabs".to_owned(), archive: true, limit: 1 });
        assert_eq!((all.total, all.notes.len()), (3, 1));
        assert_eq!(
            world.fault(SearchNotes { words: "the".to_owned(), ..SearchNotes::default() }).code,
            Code::Invalid
        );
    });
}

#[test]
fn m8_at_equal_rank_the_most_specific_comes_first_then_the_most_recent() {
    everywhere(|world| {
        init(world);
        let line = |day: &str| format!("- **Indent by tabs** (from: x, first noted: {day})\n");
        put(world, "memory.md", &line("2026-01-05"));
        put(world, "domains/x.md", &line("2025-01-01"));
        put(world, "projects/x.md", &(line("2025-01-01") + &line("2025-06-01")));
        let found = search(world, "indent tabs");
        let order: Vec<(Tier, u64)> = found.iter().map(|note| (note.tier, note.line)).collect();
        assert_eq!(order, [(Tier::Project, 2), (Tier::Project, 1), (Tier::Domain, 1), (Tier::Hot, 1)]);
    });
}

#[test]
fn fault_16_a_file_that_is_replaced_is_read_anew() {
    everywhere(|world| {
        init(world);
        for rule in ["Water the tomatoes", "Feed the goldfish", "Feed the goldfish"] {
            replace(world, "memory.md", &format!("# Global Memory\n\n## Rules\n\n- {rule}\n"));
            let found = search(world, rule);
            assert_eq!((found.len(), found[0].title.as_str()), (1, rule));
        }
    });
}

#[test]
fn fault_21_names_that_begin_alike_are_not_mixed_up() {
    everywhere(|world| {
        init(world);
        let (a, ab) = (world.home.folder("work/a"), world.home.folder("work/a-b"));
        log(world, learning(LearningKind::Error, "Of the short one"), Some(&a));
        log(world, learning(LearningKind::Error, "Of the long one"), Some(&ab));
        put(world, "projects/a.md", "- In the short file\n");
        put(world, "projects/a-b.md", "- In the long file\n");
        let titles = |project: String| {
            let notes = world.ask(ProjectNotes { project }).notes;
            notes.into_iter().map(|note| note.title).collect::<Vec<_>>()
        };
        for named in ["a".to_owned(), a.display().to_string()] {
            assert_eq!(titles(named), ["Of the short one", "In the short file"]);
        }
        for named in ["a-b".to_owned(), ab.display().to_string()] {
            assert_eq!(titles(named), ["Of the long one", "In the long file"]);
        }
        assert_eq!(world.fault(ProjectNotes { project: "a-".to_owned() }).code, Code::NotFound);
        assert_eq!(world.fault(ProjectNotes { project: "../memory".to_owned() }).code, Code::NotFound);
        let known: Vec<String> = world.ask(Projects {}).projects.into_iter().map(|one| one.name).collect();
        assert_eq!(known, ["a", "a-b"]);
        // A project that is away is no deletion.
        fs::rename(&a, world.home.path().join("away")).unwrap();
        assert!(!world.ask(Projects {}).projects[0].present);
        assert_eq!(titles("a".to_owned()), ["In the short file"]);
        fs::rename(world.home.path().join("away"), &a).unwrap();
        assert_eq!(titles("a".to_owned()), ["Of the short one", "In the short file"]);
    });
}

#[test]
fn fault_23_a_line_is_found_though_its_text_carries_its_heading() {
    everywhere(|world| {
        init(world);
        let written = log(world, preference("## Preferences\n- **Answer in two sentences**"), None);
        let found = search(world, "Preferences: answer in two sentences");
        assert_eq!(Some(found[0].line), written.places[0].line);
        assert!(cited(&found[0]).contains("Answer in two sentences"), "{}", cited(&found[0]));
        assert_eq!(text(world, "memory.md").matches("## Preferences").count(), 1);
        world.ask(insight("# Auth headers", "# Send the header in lower case"));
        let promoted = world.ask(PromoteNote { name: "2026-01-05-auth-headers".to_owned(), domain: None });
        let found = search(world, "rules send header lower case");
        let line = found.iter().find(|note| note.tier == Tier::Hot).unwrap();
        assert_eq!(Some(line.line), promoted.places[0].line);
    });
}

#[test]
fn m10_insights_are_shared_listed_promoted_and_consumed() {
    everywhere(|world| {
        init(world);
        world.ask(insight("Auth headers", "Send the header in lower case"));
        let second = world.ask(insight("Auth headers!", "Another one"));
        assert!(second.places[0].file.ends_with("shared/2026-01-05-auth-headers-2.md"), "{second:?}");
        let path = "shared/2026-01-05-auth-headers.md";
        assert!(
            text(world, path).starts_with("# Auth headers\n**From**: app / login\n**Date**: 2026-01-05 ")
        );
        assert_eq!(world.ask(NoteStats {}).shared_new, 2);
        let listed = world.ask(SharedNotes { days: 0 });
        assert_eq!((listed.notes.len(), listed.files), (2, 2));
        assert_eq!(world.ask(NoteStats {}).shared_new, 0);

        let name = "2026-01-05-auth-headers".to_owned();
        let before = files(&world.home.tree());
        let promote = |domain| PromoteNote { name: name.clone(), domain };
        let promoted = world.ask(promote(None));
        assert!(text(world, path).contains("\n**Status**: promoted to memory.md\n\nWhat was learned"));
        assert!(text(world, "memory.md").contains(
            "## Rules\n\n- **Send the header in lower case** (from: app / login, first noted: 2026-01-05)\n\n## Pref"
        ));
        assert_eq!(world.ask(promote(None)).operation, None, "once is enough");
        undo(world, &promoted);
        assert_eq!(files(&world.home.tree()), before);
        world.ask(promote(Some("code".to_owned())));
        assert!(text(world, "domains/code.md").starts_with("# code\n\n## Rules\n\n- **Send the header"));
        assert_eq!(world.fault(promote(Some("../x".to_owned()))).code, Code::Invalid);

        let consumed = world.ask(ConsumeNote { name: format!("{name}.md") });
        assert!(!tree(world, path).exists());
        assert!(text(world, "archive/shared/2026-01-05-auth-headers.md").contains("# Auth headers"));
        assert_eq!(world.fault(ConsumeNote { name: name.clone() }).code, Code::NotFound);
        assert_eq!(world.ask(NoteStats {}).consumed, 1);
        undo(world, &consumed);
        assert!(
            tree(world, path).exists() && !tree(world, "archive/shared/2026-01-05-auth-headers.md").exists()
        );
        world.clock.turn(TimeDelta::days(4));
        assert_eq!(world.ask(SharedNotes { days: 3 }).notes, []);
        assert_eq!(world.ask(SharedNotes { days: 4 }).notes.len(), 2);
    });
}

#[test]
fn m13_stats_count_by_tier_and_by_week() {
    everywhere(|world| {
        init(world);
        log(world, correction("Old", "Old rule"), None);
        world.clock.turn(TimeDelta::days(8));
        log(world, correction("New", "New rule"), None);
        log(world, preference("Prefer ripgrep to grep"), None);
        world.ask(insight("Auth", "Send it"));
        world.ask(PromoteNote { name: "2026-01-13-auth".to_owned(), domain: None });
        put(world, "projects/a.md", "# A\n\nProse.\n\n- one\n- two\n");
        put(world, "archive/old.md", "- gone\n");
        let stats = world.ask(NoteStats {});
        assert_eq!((stats.hot, stats.projects.files, stats.projects.entries), (2, 1, 2));
        assert_eq!((stats.domains.files, stats.shared, stats.shared_new, stats.cold), (0, 1, 1, 1));
        assert_eq!((stats.corrections, stats.promotions, stats.written, stats.consumed), (1, 1, 1, 0));
    });
}

#[test]
fn m13_what_moves_to_and_from_the_rules_that_are_always_loaded_is_counted() {
    let home = Home::new();
    let clock = Arc::new(TurnedClock::new(start_of_time()));
    let daemon = home.daemon(&clock);
    let world = World { service: daemon.app(), clock: &clock, home: &home };
    init(&world);
    let moved = |id: &str, from: &str, to: &str| {
        let file = |inner: &str| Some(home.tree().join(inner));
        let edit = Edit { before: file(from), after: file(to) };
        let changes = vec![Change::Note { id: id.to_owned(), title: id.to_owned(), edit }];
        let drafted = Draft { changes, ..Draft::default() };
        daemon.app().journal.commit("job x", |_| Ok((drafted, ()))).unwrap().0.unwrap()
    };
    moved("a", "projects/app.md", "memory.md");
    world.clock.turn(TimeDelta::days(8));
    let counted = || {
        let stats = world.ask(NoteStats {});
        (stats.promotions, stats.demotions)
    };
    assert_eq!(counted(), (0, 0), "that was long ago");
    moved("b", ".learnings/LEARNINGS.md", "memory.md");
    moved("c", "memory.md", "projects/app.md");
    moved("d", "memory.md", "domains/code.md");
    moved("e", "memory.md", "archive/old.md");
    moved("f", "projects/app.md", "archive/old.md");
    assert_eq!(counted(), (1, 2));
    let operation = moved("g", "projects/app.md", "memory.md");
    assert_eq!(counted(), (2, 2));
    world.ask(Undo { operation });
    assert_eq!(counted(), (1, 2), "what was undone does not count, and nor does undoing it");
}

#[test]
fn m1_a_project_with_learnings_is_known_from_its_first_recall_on() {
    everywhere(|world| {
        let recall = |folder: &Path| {
            let recall = Recall::new(agent("finder"), "Link the release");
            world.ask(Recall { project: Some(Project::Folder(folder.to_owned())), ..recall })
        };
        let known = || world.ask(Projects {}).projects.into_iter().map(|one| one.name).collect::<Vec<_>>();
        let (app, bare) = (world.home.folder("work/app/src"), world.home.folder("work/bare"));
        let root = world.home.folder("work/app");
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::create_dir_all(root.join(".learnings")).unwrap();
        fs::write(root.join(".learnings/LEARNINGS.md"), "### [gap] By hand\n\n**Rule**: Sort the imports\n")
            .unwrap();
        recall(&bare);
        assert_eq!((known(), files(&bare).len()), (Vec::new(), 0), "there is nothing to watch");
        recall(&app);
        recall(&app);
        assert_eq!(known(), ["app"]);
        init(world);
        assert_eq!(search(world, "imports")[0].title, "By hand");
    });
}

#[test]
fn m13_what_could_be_better_is_told_with_its_sources() {
    everywhere(|world| {
        assert_eq!(world.ask(Shortcomings::default()).points, []);
        init(world);
        log(world, correction("Short answers", "Answer in short sentences."), None);
        world.clock.turn(TimeDelta::days(20));
        log(world, correction("Long answers", "Please answer in short sentences"), None);
        let lesson = world.remember("Restart the server when a download fails");
        for n in 0..3 {
            let report = world.report(&format!("r{n}"), &format!("Repair download {n}"), n == 0);
            let error = TaskError { kind: "Timeout".to_owned(), message: "late".to_owned() };
            let task_type = "debug".to_owned();
            world.ask(Report { used: vec![lesson.clone()], errors: vec![error], task_type, ..report });
        }
        let list = world.ask(Shortcomings::default());
        let told: Vec<(ShortcomingKind, &str)> =
            list.points.iter().map(|point| (point.kind, point.said.as_str())).collect();
        assert_eq!(
            told,
            [
                (ShortcomingKind::TaskType, "2 of 3 debug tasks failed."),
                (ShortcomingKind::Weakness, "3 of 3 tasks: Encountered errors"),
                (ShortcomingKind::Repeated, "Put right 2 times: Please answer in short sentences"),
                (
                    ShortcomingKind::Misleading,
                    "2 of 3 tasks that used this failed: Restart the server when a download fails"
                ),
            ]
        );
        assert_eq!((list.days, list.tasks), (14, 3));
        assert!(list.points[2].sources[0].ends_with("corrections.md:14"), "{:?}", list.points[2]);
        assert_eq!(list.points[3].sources, [format!("improvement {lesson} of finder")]);
        let other = Shortcomings { agent: Some(agent("writer")), days: 30 };
        let kinds: Vec<_> = world.ask(other).points.into_iter().map(|point| point.kind).collect();
        assert_eq!(kinds, [ShortcomingKind::Repeated]);
        world.clock.turn(TimeDelta::days(15));
        assert_eq!(world.ask(Shortcomings::default()).points, []);
    });
}

#[test]
fn m13_what_was_learned_is_recent_corrections_and_rules() {
    everywhere(|world| {
        init(world);
        log(world, correction("First", "First rule"), None);
        world.clock.turn(TimeDelta::days(1));
        log(world, correction("Second", "Second rule"), None);
        log(world, preference("Prefer ripgrep to grep"), None);
        let titles = |corrections| {
            let notes = world.ask(LearnedNotes { corrections }).notes;
            notes.into_iter().map(|note| note.title).collect::<Vec<_>>()
        };
        assert_eq!(titles(0), ["Second", "First", "Prefer ripgrep to grep"]);
        assert_eq!(titles(1), ["Second", "Prefer ripgrep to grep"]);
    });
}

#[test]
fn m13_files_are_listed_and_shown() {
    everywhere(|world| {
        init(world);
        fs::write(tree(world, "domains/bad.md"), [0xff, 0xfe]).unwrap();
        let list = world.ask(ShowNotes { of: None });
        let names: Vec<(Tier, u64, bool)> =
            list.files.iter().map(|file| (file.tier, file.lines, file.text.is_some())).collect();
        assert_eq!(names, [(Tier::Hot, 9, false), (Tier::Corrections, 5, false), (Tier::Index, 5, false)]);
        assert!(list.skipped.len() == 1 && list.skipped[0].contains("bad.md"), "{:?}", list.skipped);
        for of in ["memory.md", "memory", "hot"] {
            let shown = world.ask(ShowNotes { of: Some(of.to_owned()) });
            assert_eq!(shown.files.len(), 1, "{of}");
            assert_eq!(shown.files[0].text.as_deref(), Some(text(world, "memory.md").as_str()));
        }
        assert_eq!(world.fault(ShowNotes { of: Some("../secret".to_owned()) }).code, Code::NotFound);
    });
}

#[test]
fn m13_forgetting_archives_what_was_shown_and_can_be_undone() {
    everywhere(|world| {
        init(world);
        log(world, correction("Tabs in makefiles", "Always use tabs in makefiles."), None);
        log(world, preference("Indent makefiles by tabs"), None);
        log(world, preference("Prefer ripgrep to grep"), None);
        world.ask(insight("Makefiles and tabs", "Use tabs in makefiles"));
        let before = files(&world.home.tree());
        let forget = |confirmed| world.ask(ForgetNotes { words: "makefile tabs".to_owned(), confirmed });
        let shown = forget(Vec::new());
        assert_eq!((shown.notes.len(), shown.operation), (3, None));
        assert_eq!(files(&world.home.tree()), before, "it asks first");
        // Somebody moves one of them meanwhile, and somebody adds another: what was shown goes, and nothing else.
        let memory = text(world, "memory.md");
        put(world, "memory.md", &memory.replace("# Global", "- No tabs in makefiles please\n\n# Global"));
        let edited = files(&world.home.tree());
        let gone = forget(shown.notes.iter().map(|note| note.id.clone()).collect());
        assert_eq!(gone.notes.len(), 3);
        let kept = text(world, "archive/forgotten-2026-01.md");
        for note in &gone.notes {
            assert!(kept.contains(&note.text), "{kept}");
        }
        assert!(kept.contains("# From memory.md, Preferences\n\n- **Indent"), "{kept}");
        assert!(!tree(world, "shared/2026-01-05-makefiles-and-tabs.md").exists());
        let left: Vec<String> = search(world, "makefile tabs").into_iter().map(|note| note.title).collect();
        assert_eq!(left, ["No tabs in makefiles please"]);
        assert!(text(world, "memory.md").contains("Prefer ripgrep"));
        let archived =
            world.ask(SearchNotes { words: "makefile tabs".to_owned(), archive: true, limit: 0 }).notes;
        let kinds = archived.iter().filter(|note| note.tier == Tier::Cold).map(|note| note.kind);
        assert_eq!(kinds.collect::<BTreeSet<_>>(), gone.notes.iter().map(|note| note.kind).collect());
        world.ask(Undo { operation: gone.operation.unwrap() });
        assert_eq!(files(&world.home.tree()), edited);
        assert_eq!(forget(vec!["unknown".to_owned()]).operation, None);
    });
}

#[test]
fn s7_every_write_is_undone_to_the_byte_and_done_again() {
    everywhere(|world| {
        init(world);
        put(world, "memory.md", "\u{feff}# Mine\r\n\r\n## Preferences\r\n- 記憶 🧠");
        fs::set_permissions(tree(world, "memory.md"), fs::Permissions::from_mode(0o640)).unwrap();
        let project = world.home.folder("work/app");
        let writes = [
            log(world, preference("Prefer ripgrep to grep"), None),
            log(world, correction("Tabs", "Use tabs."), None),
            log(world, learning(LearningKind::Error, "Linking fails"), Some(&project)),
            world.ask(insight("Auth", "Send it")),
        ];
        assert_eq!(
            text(world, "memory.md"),
            "\u{feff}# Mine\r\n\r\n## Preferences\r\n- 記憶 🧠\r\n\
             - **Prefer ripgrep to grep** (from: general, first noted: 2026-01-05)\r\n"
        );
        let mode = fs::metadata(tree(world, "memory.md")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        let all = || (files(&world.home.tree()), files(&project));
        let after = all();
        let undoings: Vec<OperationId> = writes.iter().rev().map(|write| undo(world, write)).collect();
        assert_eq!(text(world, "memory.md"), "\u{feff}# Mine\r\n\r\n## Preferences\r\n- 記憶 🧠");
        assert!(!project.join(".learnings/LEARNINGS.md").exists());
        for undoing in undoings.into_iter().rev() {
            world.ask(Undo { operation: undoing });
        }
        assert_eq!(all(), after);
        let told = world.ask(Journal { limit: 20, ..Journal::default() }).operations;
        assert!(
            told.iter().any(|one| one.actor == "log" && one.changes[0].contains("memory.md")),
            "{told:?}"
        );
    });
}

#[test]
fn s7_what_a_person_edited_since_is_not_undone() {
    everywhere(|world| {
        init(world);
        let written = log(world, preference("Prefer ripgrep to grep"), None);
        let edited = text(world, "memory.md") + "\nmine\n";
        put(world, "memory.md", &edited);
        let before = world.ask(Journal::default()).operations.len();
        let fault = world.fault(Undo { operation: written.operation.unwrap() });
        assert_eq!(fault.code, Code::Conflict);
        assert!(fault.message.contains("memory.md was edited since"), "{fault}");
        assert_eq!(text(world, "memory.md"), edited);
        assert_eq!(world.ask(Journal::default()).operations.len(), before);
    });
}

#[test]
fn a_persons_edit_between_reading_and_writing_wins() {
    let home = Home::new();
    let clock = Arc::new(TurnedClock::new(start_of_time()));
    let daemon = home.daemon(&clock);
    let world = World { service: daemon.app(), clock: &clock, home: &home };
    init(&world);
    let (memory, other) = (home.tree().join("memory.md"), home.tree().join("domains/x.md"));
    let add = |edits: usize| {
        let mut planned = 0;
        let done = daemon.app().journal.commit_files("test", |planning| {
            let before = planning.view.vault.read(&memory)?;
            planned += 1;
            let after = before.clone().map(|text| text + "ours\n");
            let there = planning.view.vault.read(&other)?;
            let changes = vec![
                Change::file(&other, there.as_deref(), Some("x")),
                Change::file(&memory, before.as_deref(), after.as_deref()),
            ];
            if planned <= edits {
                let theirs = fs::read_to_string(&memory).unwrap() + "theirs\n";
                fs::write(&memory, theirs).unwrap();
            }
            Ok((Draft { changes, ..Draft::default() }, ()))
        });
        (done, planned)
    };
    let (done, planned) = add(2);
    assert!(done.is_ok() && planned == 3);
    assert!(text(&world, "memory.md").ends_with("---\ntheirs\ntheirs\nours\n"));
    fs::remove_file(&other).unwrap();
    // Who edits all the time is left alone, and nothing is half done.
    let (done, _) = add(usize::MAX);
    assert!(done.unwrap_err().to_string().contains("was changed meanwhile"));
    assert_eq!(text(&world, "memory.md").matches("ours").count(), 1);
    assert!(!other.exists());
}

fn nowhere_in_the_database(world: &World<'_>) {
    for entry in fs::read_dir(world.home.data_dir()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = if path.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        assert!(!bytes.windows(5).any(|five| five == b"EVERY"), "{}", path.display());
    }
}

#[test]
fn m14_no_secret_reaches_a_file() {
    everywhere(|world| {
        init(world);
        let project = world.home.folder("work/app");
        let say = |words: &str| format!("{words} with ghp_000001Zq8rT5wLk2VbN7xJc4Md9Hf1sEVERY at hand");
        let written = [
            log(
                world,
                NewNote::Correction {
                    summary: say("a"),
                    context: say("b"),
                    correction: say("c"),
                    rule: say("d"),
                },
                None,
            ),
            log(
                world,
                NewNote::Learning {
                    kind: LearningKind::Gap,
                    summary: say("a"),
                    context: say("b"),
                    situation: say("c"),
                    rule: say("d"),
                },
                Some(&project),
            ),
            log(world, preference(&say("a")), None),
            log(
                world,
                NewNote::Reflection { context: say("a"), reflection: say("b"), lesson: say("c") },
                None,
            ),
            world.ask(ShareNote {
                title: say("a"),
                from: say("b"),
                relevance: say("c"),
                insight: say("d"),
                rule: say("e"),
            }),
        ];
        let redacted: Vec<usize> = written.iter().map(|written| written.redacted.len()).collect();
        assert_eq!(redacted, [4, 4, 1, 3, 5]);
        let all: Vec<String> = files(&world.home.tree())
            .into_iter()
            .chain(files(&project))
            .map(|(path, text)| path.display().to_string() + &text)
            .collect();
        assert!(all.iter().any(|text| text.contains("[redacted: github token]")));
        assert!(all.iter().all(|text| !text.to_lowercase().contains("every")), "{all:?}");
        nowhere_in_the_database(world);
    });
}

#[test]
fn m14_a_secret_that_a_person_wrote_is_not_told_and_stays_in_their_file() {
    everywhere(|world| {
        init(world);
        let theirs = "# ghp_000001Zq8rT5wLk2VbN7xJc4Md9Hf1sEVERY\n\n\
                      - Push with ghp_000002Zq8rT5wLk2VbN7xJc4Md9Hf1sEVERY to the mirror\n";
        put(world, "memory.md", theirs);
        let answers = [
            serde_json::to_string(&search(world, "push mirror")).unwrap(),
            serde_json::to_string(&world.ask(ShowNotes { of: Some("hot".to_owned()) })).unwrap(),
            serde_json::to_string(&world.ask(LearnedNotes::default())).unwrap(),
            serde_json::to_string(
                &world.ask(ForgetNotes { words: "push mirror".to_owned(), confirmed: Vec::new() }),
            )
            .unwrap(),
        ];
        for answer in answers {
            assert!(answer.contains("[redacted: github token]") && !answer.contains("EVERY"), "{answer}");
        }
        assert_eq!(text(world, "memory.md"), theirs);
        let written = log(world, preference("Prefer ripgrep to grep"), None);
        undo(world, &written);
        assert_eq!(text(world, "memory.md"), theirs);
        nowhere_in_the_database(world);
    });
}

#[test]
fn no_link_is_followed_out_of_the_tree() {
    everywhere(|world| {
        init(world);
        let outside = world.home.path().join("outside.md");
        fs::write(&outside, "- A secret about goldfish\n").unwrap();
        fs::remove_file(tree(world, "memory.md")).unwrap();
        symlink(&outside, tree(world, "memory.md")).unwrap();
        symlink(world.home.path(), tree(world, "domains/out")).unwrap();
        assert_eq!(search(world, "goldfish"), []);
        let fault = world.fault(LogNote { entry: preference("Feed the goldfish"), project: None });
        assert_eq!(fault.code, Code::Invalid);
        assert_eq!(fs::read_to_string(&outside).unwrap(), "- A secret about goldfish\n");
    });
}
