//! One recall over improvements and the memory tree: what is loaded, what is found, where it came from, and what a report
//! says of it (spec M3, M6, M8, M15).

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use chrono::TimeDelta;
use memoryd::clock::TurnedClock;
use memoryd::ledger::noted;
use memoryd_proto::{
    Code, Considered, Explain, HotRule, ImprovementId, InitNotes, Item, LearningKind, LogNote, NewNote,
    NoteKind, Origin, Project, Recall, Recalled, Report, SearchNotes, Tier, Undo, Verdict,
};
use memoryd_tests::{Home, World, agent, documents, everywhere, everywhere_with, start_of_time};

fn init(world: &World<'_>) {
    world.ask(InitNotes::default());
}

fn put(world: &World<'_>, inner: &str, text: &str) {
    fs::write(world.home.tree().join(inner), text).unwrap();
}

/// What the agent `finder` recalls in a project.
fn recall_in(world: &World<'_>, project: &str, query: &str) -> Recalled {
    let project = Some(Project::Folder(world.home.folder(project)));
    world.ask(Recall { project, ..Recall::new(agent("finder"), query) })
}

/// The file and line that an answer cites, and what stands there.
fn cited(source: &Origin) -> (PathBuf, String) {
    let Origin::Note { file, line, .. } = source else { panic!("{source:?} is no note") };
    let text = fs::read_to_string(file).unwrap();
    (file.into(), text.lines().nth(usize::try_from(*line).unwrap() - 1).unwrap().to_owned())
}

fn rules(hot: &[HotRule]) -> Vec<&str> {
    hot.iter().map(|rule| rule.document.as_str()).collect()
}

fn one(recalled: Recalled) -> Item {
    let [item] = <[Item; 1]>::try_from(recalled.items).unwrap_or_else(|items| panic!("{items:?}"));
    item
}

/// A report of what a recall led to.
fn report(
    world: &World<'_>,
    id: &str,
    recalled: &Recalled,
    used: &[&ImprovementId],
    success: bool,
) -> Report {
    let used = used.iter().map(|id| (*id).clone()).collect();
    Report {
        recall: Some(recalled.recall.clone()),
        used,
        ..world.report(id, "Retry the failed upload", success)
    }
}

#[test]
fn m15_improvements_and_notes_are_one_ranking_and_each_cites_its_source() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        init(world);
        put(
            world,
            "domains/network.md",
            "# Network\n\n## Uploads\n\n- **Retry a failed upload in smaller parts**\n",
        );
        let recalled = world.recall("retry a failed upload in smaller parts");
        assert_eq!(
            documents(&recalled),
            ["Retry a failed upload in smaller parts", "Retry a failed download with exponential backoff"]
        );
        let [note, improvement] = recalled.items.as_slice() else { panic!("{recalled:?}") };
        assert!(note.why.score > improvement.why.score, "both are measured on one scale");
        assert_eq!((&improvement.id, &improvement.source), (&id, &Origin::Improvement));
        let file = world.home.tree().join("domains/network.md");
        assert_eq!(
            cited(&note.source),
            (file.clone(), "- **Retry a failed upload in smaller parts**".to_owned())
        );
        assert!(note.id.as_str().starts_with("note:"), "{}", note.id);
        assert_eq!((note.category.as_str(), note.confidence.get()), ("Uploads", 1.0));
        let loaded: Vec<_> =
            recalled.loaded.iter().map(|one| (one.file.as_str(), one.tier, one.notes)).collect();
        assert_eq!(loaded, [(file.to_str().unwrap(), Tier::Domain, 1)]);
        assert_eq!((recalled.searched, recalled.skipped), (2, Vec::new()));
    });
}

#[test]
fn m15_a_note_that_says_the_same_as_an_improvement_is_told_once() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff.");
        init(world);
        put(world, "domains/network.md", "- **Retry a failed download with exponential backoff**\n");
        put(
            world,
            "corrections.md",
            "### [2026-01-02] Retry\n**Rule**: Retry a failed download with exponential backoff.\n",
        );
        let recalled = world.recall("retry a failed download");
        assert_eq!(recalled.items.len(), 1, "{recalled:?}");
        let explained = world.ask(Explain { recall: recalled.recall });
        let verdicts: Vec<_> = explained.items.iter().map(|one| one.verdict).collect();
        assert_eq!(verdicts, [Verdict::Returned, Verdict::Duplicate], "{explained:?}");
        assert!(explained.items.iter().any(|one| one.id == id));
    });
}

#[test]
fn m3_hot_rules_are_loaded_whatever_is_asked() {
    everywhere(|world| {
        init(world);
        put(
            world,
            "memory.md",
            "# Global Memory\n\n## Rules\n\n- **Use tabs in makefiles** (from: app, first noted: 2026-01-02)\n\n\
             ## Preferences\n\n- Short answers\n\n---\n",
        );
        for query in ["water the roses in the morning", "which whitespace do makefiles want: tabs?"] {
            let recalled = world.recall(query);
            assert_eq!(rules(&recalled.hot), ["Use tabs in makefiles", "Short answers"], "{query}");
            assert_eq!(recalled.items, [], "what is loaded is not found once more");
        }
        let rule = &world.recall("tabs in makefiles").hot[0];
        assert_eq!(rule.section.as_deref(), Some("Rules"));
        assert!(rule.relevant && !world.recall("water the roses").hot[0].relevant);
        assert!(cited(&rule.source).1.starts_with("- **Use tabs"));
        world.remember("Use tabs in makefiles");
        assert_eq!(
            world.recall("tabs in makefiles").items,
            [],
            "an improvement that says the same adds nothing"
        );
    });
}

#[test]
fn m3_hot_rules_beyond_the_limit_are_named_and_not_loaded() {
    everywhere_with("[tree]\nhot_lines = 20\n", |world| {
        init(world);
        let rules = (1..=22).map(|n| format!("- Rule {n}")).collect::<Vec<_>>().join("\n");
        put(world, "memory.md", &format!("# Global Memory\n\n{rules}"));
        let recalled = world.recall("anything at all");
        assert_eq!(recalled.hot.len(), 20);
        let [skipped] = recalled.skipped.as_slice() else { panic!("{recalled:?}") };
        assert!(skipped.contains("memory.md:23: 2 left out"), "{skipped}");
    });
}

#[test]
fn m3_warm_notes_are_loaded_on_match_and_cold_ones_on_request() {
    everywhere(|world| {
        init(world);
        put(world, "domains/garden.md", "- **Water the roses in the morning**\n");
        put(world, "archive/old.md", "- **Water the roses in the evening twice a week**\n");
        put(world, "index.md", "# Index\n\n- water the roses in the morning: domains/garden.md\n");
        let warm = "Water the roses in the morning";
        assert_eq!(documents(&world.recall("water the roses")), [warm]);
        assert_eq!(documents(&world.recall("compress the backup")), [""; 0]);
        let asked = Recall { archive: true, ..Recall::new(agent("finder"), "water the roses") };
        let recalled = world.ask(asked);
        let mut found = documents(&recalled);
        found.sort_unstable();
        assert_eq!(found, ["Water the roses in the evening twice a week", warm]);
    });
}

#[test]
fn m3_shared_insights_are_recalled_for_a_week() {
    everywhere(|world| {
        init(world);
        let insight = "# Feed API\n**From**: app\n**Date**: 2026-01-04 10:00\n**Relevance**: code\n\n\
                       **Actionable rule**: Send the feed header in lower case.\n";
        put(world, "shared/2026-01-04-feed-api.md", insight);
        assert_eq!(
            documents(&world.recall("send the feed header")),
            ["Feed API\nSend the feed header in lower case."]
        );
        world.clock.turn(TimeDelta::days(7));
        assert_eq!(documents(&world.recall("send the feed header")), [""; 0]);
    });
}

#[test]
fn m3_the_notes_of_other_projects_stay_out() {
    everywhere(|world| {
        init(world);
        for project in ["a", "a-b"] {
            let entry = NewNote::Learning {
                kind: LearningKind::Error,
                summary: format!("Linking {project} fails"),
                context: "building".to_owned(),
                situation: "The linker ran out of memory.".to_owned(),
                rule: format!("Link {project} with one job when memory runs out."),
            };
            world.ask(LogNote { entry, project: Some(world.home.folder(project)) });
            put(
                world,
                &format!("projects/{project}.md"),
                &format!("- **Give {project} swap when memory runs out while it links**\n"),
            );
        }
        let query = "link with one job when memory runs out";
        for project in ["a", "a-b"] {
            let recalled = recall_in(world, project, query);
            assert_eq!(recalled.items.len(), 2, "{recalled:?}");
            for item in &recalled.items {
                assert!(item.document.contains(&format!(" {project} ")), "{item:?}");
                assert!(matches!(item.scope, memoryd_proto::Scope::Project(_)));
            }
        }
        assert_eq!(recall_in(world, "c", query).items, []);
        assert_eq!(world.recall(query).items, []);
    });
}

#[test]
fn m15_a_citation_holds_after_the_file_was_edited() {
    everywhere(|world| {
        init(world);
        put(world, "domains/garden.md", "- **Water the roses in the morning**\n");
        let before = one(world.recall("water the roses"));
        put(
            world,
            "domains/garden.md",
            "# Garden\n\nNotes of a gardener.\n\n- Other\n- **Water the roses in the morning**\n",
        );
        let after = one(world.recall("water the roses"));
        assert_eq!(after.id, before.id);
        assert_eq!(cited(&after.source).1, "- **Water the roses in the morning**");
        assert!(matches!(after.source, Origin::Note { line: 6, kind: NoteKind::Line, .. }), "{after:?}");
    });
}

#[test]
fn m15_files_that_cannot_be_read_are_named() {
    everywhere(|world| {
        init(world);
        fs::write(world.home.tree().join("domains/broken.md"), [0xff, 0xfe, 0x00]).unwrap();
        let recalled = world.recall("water the roses");
        let [skipped] = recalled.skipped.as_slice() else { panic!("{recalled:?}") };
        assert!(skipped.contains("broken.md is no UTF-8 text"), "{skipped}");
    });
}

#[test]
fn m15_what_was_relevant_and_did_not_fit_is_counted() {
    everywhere(|world| {
        init(world);
        put(
            world,
            "domains/pumps.md",
            "- Check the copper pump first\n- Check the zinc pump first\n- Check the iron pump first\n",
        );
        let recalled = world.ask(Recall { limit: 2, ..Recall::new(agent("finder"), "check the pump first") });
        assert_eq!(recalled.items.len(), 2);
        assert_eq!(recalled.skipped, ["1 more that others rank above"]);
    });
}

#[test]
fn i10_notes_have_no_category_and_no_tags() {
    everywhere(|world| {
        init(world);
        put(world, "memory.md", "- Short answers\n");
        put(world, "domains/garden.md", "- **Water the roses in the morning**\n");
        let asked =
            Recall { category: Some("garden".to_owned()), ..Recall::new(agent("finder"), "water the roses") };
        let recalled = world.ask(asked);
        assert_eq!((recalled.items.len(), recalled.hot.len()), (0, 1));
    });
}

const PARTS: &str = "Retry a failed upload in smaller parts";
const NIGHT: &str = "Retry a failed upload during the night";

/// A tree with two notes that a query finds.
fn two_notes(world: &World<'_>) -> impl Fn() -> Vec<Item> {
    init(world);
    put(world, "domains/network.md", &format!("- **{PARTS}**\n- **{NIGHT}**\n"));
    || world.recall("retry a failed upload").items
}

#[test]
fn m6_a_report_credits_a_note_and_the_next_ranking_changes_in_a_warm_context() {
    everywhere_with("[learning]\nwarm_threshold = 1\n", |world| {
        let ranked = two_notes(world);
        let before = ranked();
        let second = before[1].id.clone();
        let recalled = world.recall("retry a failed upload");
        let learned = world.ask(report(world, "r1", &recalled, &[&second], true));
        let outcome = learned.items.iter().find(|item| item.id == second).unwrap();
        assert!(
            outcome.used && outcome.usage_count == 1 && outcome.q_after > outcome.q_before,
            "{outcome:?}"
        );
        let after = ranked();
        assert_eq!(after[0].id, second, "what helped goes first");
        assert!(after[0].why.q > after[1].why.q);

        // It keeps its credit when it moves to another file.
        put(
            world,
            "domains/network.md",
            &format!("- **{PARTS}**\n- **{NIGHT}**\n").replace(&line(&after[0]), ""),
        );
        put(world, "domains/uploads.md", &line(&after[0]));
        assert_eq!(ranked()[0].id, second);
        assert!(ranked()[0].why.q > 0.5);

        world.ask(Undo { operation: learned.operation });
        let undone = ranked();
        assert!(undone.iter().all(|item| (item.why.q - 0.5).abs() < 1e-12), "{undone:?}");
    });
}

fn line(item: &Item) -> String {
    format!("- **{}**\n", item.document)
}

#[test]
fn i10_notes_that_fail_are_recalled_no_more() {
    everywhere(|world| {
        let ranked = two_notes(world);
        let first = ranked()[0].id.clone();
        let recalled = world.recall("retry a failed upload");
        world.ask(report(world, "r1", &recalled, &[&first], false));
        let left: Vec<ImprovementId> = ranked().into_iter().map(|item| item.id).collect();
        assert!(left.len() == 1 && left[0] != first);
        let recalled = world.recall("retry a failed upload");
        let explained = world.ask(Explain { recall: recalled.recall });
        let fallen = explained.items.iter().find(|one| one.id == first).unwrap();
        assert_eq!(fallen.verdict, Verdict::LowSuccess);
    });
}

#[test]
fn m6_a_report_without_a_recall_names_only_notes_that_are_there() {
    everywhere(|world| {
        let ranked = two_notes(world);
        let id = ranked()[0].id.clone();
        let used =
            |used: ImprovementId, n: &str| Report { used: vec![used], ..world.report(n, "Upload", true) };
        assert_eq!(world.ask(used(id, "r1")).items[0].usage_count, 1);
        let stranger: ImprovementId = "note:00112233445566778899aabbccddeeff".parse().unwrap();
        let fault = world.fault(used(stranger.clone(), "r2"));
        assert!(fault.code == Code::NotFound && fault.message.contains("00112233445566778899"), "{fault}");
        let recalled = world.recall("retry a failed upload");
        let fault = world.fault(report(world, "r3", &recalled, &[&stranger], true));
        assert!(fault.code == Code::Invalid && fault.message.contains("did not return"), "{fault}");
    });
}

#[test]
fn m6_a_hot_rule_is_credited_when_it_is_used_and_not_blamed_when_it_is_not() {
    everywhere(|world| {
        init(world);
        put(world, "memory.md", "- **Use tabs in makefiles**\n- **Short answers**\n");
        let recalled = world.recall("retry the failed upload");
        let [tabs, short] = recalled.hot.as_slice() else { panic!("{recalled:?}") };
        let learned = world.ask(report(world, "r1", &recalled, &[&short.id], true));
        let ids: Vec<_> = learned.items.iter().map(|item| &item.id).collect();
        assert_eq!(ids, [&short.id], "the other rule was loaded, and that says nothing of it");
        assert_eq!(learned.items[0].usage_count, 1);
        // Once it has cooled down it starts from where it was.
        put(world, "memory.md", "");
        put(world, "domains/code.md", "- **Use tabs in makefiles**\n- **Short answers**\n");
        let q = |query: &str| one(world.recall(query)).why.q;
        assert!((q("use tabs in makefiles") - 0.5).abs() < 1e-12);
        assert_eq!(one(world.recall("use tabs in makefiles")).id, tabs.id);
    });
}

#[test]
fn m6_a_light_edit_keeps_the_credit() {
    everywhere_with("[learning]\nwarm_threshold = 1\n", |world| {
        let ranked = two_notes(world);
        let before = ranked()[0].clone();
        let recalled = world.recall("retry a failed upload");
        world.ask(report(world, "r1", &recalled, &[&before.id], true));
        let edited = before.document.replace("Retry a failed", "Retry each failed");
        let file = world.home.tree().join("domains/network.md");
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace(&before.document, &edited)).unwrap();
        let after = ranked().into_iter().find(|item| item.document == edited).unwrap();
        assert_eq!(after.id, before.id);
        assert!(after.why.q > 0.5, "{after:?}");
        let named =
            world.ask(SearchNotes { words: "retry each failed".to_owned(), ..SearchNotes::default() });
        let id: ImprovementId = format!("note:{}", named.notes[0].id).parse().unwrap();
        assert_ne!(id, before.id);
        let used = Report { used: vec![id], ..world.report("r2", "Upload", true) };
        assert_eq!(world.ask(used).items[0].usage_count, 2, "by its new name too");
    });
}

#[test]
fn m6_the_use_of_a_note_is_counted_over_all_agents_and_projects() {
    let home = Home::new();
    let clock = Arc::new(TurnedClock::new(start_of_time()));
    let daemon = home.daemon(&clock);
    let world = World { service: daemon.app(), clock: &clock, home: &home };
    let ranked = two_notes(&world);
    let id = ranked()[0].id.clone();
    let started = start_of_time();
    let used = || {
        let view = daemon.app().journal.view();
        let uses = view.read(|connection| noted::uses(connection, started)).unwrap();
        uses[id.as_str().strip_prefix("note:").unwrap()]
    };
    assert_eq!((used().last_used, used().recent_successes, used().projects), (Some(started), 0, 0));
    let mut last = None;
    for (n, project) in ["one", "two", "two"].into_iter().enumerate() {
        clock.turn(TimeDelta::hours(1));
        let used = Report {
            agent: agent(if n == 0 { "writer" } else { "finder" }),
            project: Some(Project::Folder(home.folder(project))),
            used: vec![id.clone()],
            ..world.report(&format!("r{n}"), "Retry the failed upload", n < 2)
        };
        last = Some(world.ask(used).operation);
    }
    let at = |hours| Some(started + TimeDelta::hours(hours));
    assert_eq!((used().last_used, used().recent_successes, used().projects), (at(3), 2, 2));
    world.ask(Undo { operation: last.unwrap() });
    assert_eq!(used().last_used, at(2));
    clock.turn(TimeDelta::hours(1));
    world.recall("retry a failed upload");
    assert_eq!(used().last_used, at(4), "a recall counts too");
}

/// The items of an explained recall that were overruled.
fn overruled(world: &World<'_>, recalled: &Recalled) -> Vec<Considered> {
    let explained = world.ask(Explain { recall: recalled.recall.clone() });
    explained.items.into_iter().filter(|one| one.verdict == Verdict::Overruled).collect()
}

#[test]
fn m8_the_project_wins_over_the_domain_and_over_hot_rules() {
    everywhere(|world| {
        init(world);
        put(
            world,
            "memory.md",
            "- **Do not use tabs in makefiles** (from: general, first noted: 2026-01-04)\n- Short answers\n",
        );
        put(
            world,
            "domains/code.md",
            "- **Never use tabs in makefiles** (from: general, first noted: 2026-01-03)\n",
        );
        put(
            world,
            "projects/app.md",
            "- **Always use tabs in makefiles** (from: app, first noted: 2026-01-01)\n",
        );
        let recalled = recall_in(world, "app", "use tabs in makefiles");
        assert_eq!(documents(&recalled), ["Always use tabs in makefiles"]);
        assert_eq!(rules(&recalled.hot), ["Short answers"]);
        let winner = recalled.items[0].id.clone();
        let losers = overruled(world, &recalled);
        assert_eq!(losers.len(), 2);
        assert!(losers.iter().all(|one| one.conflicts == std::slice::from_ref(&winner)), "{losers:?}");
        assert_eq!(recalled.skipped.len(), 2);
        let told = |inner: &str| {
            recalled.skipped.iter().any(|one| one.contains(inner) && one.contains("projects/app.md:1"))
        };
        assert!(
            told("code.md:1: overruled by") && told("memory.md:1: overruled by"),
            "{:?}",
            recalled.skipped
        );
        // Elsewhere the domain speaks.
        assert_eq!(
            documents(&recall_in(world, "other", "use tabs in makefiles")),
            ["Never use tabs in makefiles"]
        );
    });
}

#[test]
fn m8_at_the_same_level_the_most_recent_wins() {
    everywhere(|world| {
        init(world);
        put(
            world,
            "corrections.md",
            "### [2026-01-02] Retries\n**Rule**: Retry a failed upload 3 times.\n\n\
             ### [2026-01-04] Retries\n**Rule**: Retry a failed upload 5 times.\n",
        );
        let recalled = world.recall("how often to retry a failed upload: times");
        assert_eq!(documents(&recalled), ["Retries\nRetry a failed upload 5 times."]);
        assert!(recalled.items[0].conflicts.is_empty());
        assert_eq!(overruled(world, &recalled)[0].document, "Retries\nRetry a failed upload 3 times.");
    });
}

#[test]
fn m8_what_stays_open_is_returned_twice_and_flagged() {
    everywhere(|world| {
        init(world);
        put(
            world,
            "domains/network.md",
            "- Retry a failed upload 3 times\n- Retry a failed upload 5 times\n",
        );
        let recalled = world.recall("how often to retry a failed upload: times");
        let [first, second] = recalled.items.as_slice() else { panic!("{recalled:?}") };
        assert_eq!(first.conflicts, std::slice::from_ref(&second.id));
        assert_eq!(second.conflicts, std::slice::from_ref(&first.id));
        assert_eq!(overruled(world, &recalled), []);
    });
}

#[test]
fn m14_secrets_in_peoples_files_are_not_told() {
    everywhere(|world| {
        init(world);
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        put(world, "memory.md", &format!("- Push with the token {token}\n"));
        put(world, "domains/git.md", &format!("- **Push releases to the mirror with {token}**\n"));
        let recalled = world.recall("push releases to the mirror");
        let explained = world.ask(Explain { recall: recalled.recall.clone() });
        let told = format!("{recalled:?} {explained:?}");
        assert!(!told.contains(&token), "{told}");
        assert!(recalled.hot[0].document.contains("[redacted: "), "{recalled:?}");
        assert!(recalled.items[0].document.contains("[redacted: "), "{recalled:?}");
        let file = fs::read_to_string(world.home.tree().join("domains/git.md")).unwrap();
        assert!(file.contains(&token), "people's files stay as they are");
    });
}

#[test]
fn q9_an_explanation_tells_the_sources() {
    everywhere(|world| {
        let id = world.remember("Retry a failed download with exponential backoff");
        init(world);
        put(world, "memory.md", "- Retry a failed upload later\n- Short answers\n");
        put(world, "domains/network.md", &format!("- **{PARTS}**\n- **Water the roses**\n"));
        let recalled = world.recall("retry a failed upload");
        let explained = world.ask(Explain { recall: recalled.recall.clone() });
        let source = |wanted: &ImprovementId| {
            let found = explained.items.iter().find(|one| one.id == *wanted);
            found.map(|one| (one.source.clone(), one.verdict))
        };
        for item in &recalled.items {
            assert_eq!(source(&item.id), Some((item.source.clone(), Verdict::Returned)));
        }
        assert_eq!(source(&id).unwrap().0, Origin::Improvement);
        let roses = explained.items.iter().find(|one| one.document == "Water the roses").unwrap();
        assert_eq!(
            (roses.verdict, cited(&roses.source).1.as_str()),
            (Verdict::Irrelevant, "- **Water the roses**")
        );
        assert_eq!(rules(&explained.hot), ["Retry a failed upload later"], "those that bear on the query");
        assert_eq!(explained.loaded, 2);
        let note = explained.items.iter().find(|one| one.document == PARTS).unwrap();
        assert_eq!(note.words, ["retry", "failed", "upload"]);
    });
}
