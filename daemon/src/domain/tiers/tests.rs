use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use chrono::{DateTime, NaiveDate, TimeDelta, TimeZone, Utc};
use memoryd_proto::{NoteKind, Tier};
use proptest::collection::vec;
use proptest::prelude::*;

use super::compaction::{Compacting, compact};
use super::movement::{Demoting, Promoting, demote, promote};
use super::{Draft, Item, Known, Use, expiry, lines, topics};
use crate::domain::markdown;
use crate::domain::text::Wording;

const MEMORY: &str = "# Global Memory\n\n## Rules\n\n## Preferences\n\n## Patterns\n\n---\n";

fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 6, 1, 9, 0, 0).unwrap()
}

fn today() -> NaiveDate {
    now().date_naive()
}

fn tier(name: &str) -> Tier {
    match name.split('/').next().unwrap() {
        "memory.md" => Tier::Hot,
        "corrections.md" => Tier::Corrections,
        "index.md" => Tier::Index,
        "projects" => Tier::Project,
        "domains" => Tier::Domain,
        "shared" => Tier::Shared,
        "archive" => Tier::Cold,
        _ => Tier::Local,
    }
}

type Files = BTreeMap<String, String>;

fn files<const N: usize>(files: [(&str, &str); N]) -> Files {
    files.map(|(name, text)| (name.to_owned(), text.to_owned())).into()
}

fn draft(files: &Files, taken_back: &[&str]) -> Draft {
    let root = PathBuf::from("/tree");
    let file = |(name, text): (&String, &String)| (root.join(name), tier(name), text.clone());
    let taken_back: HashSet<String> = taken_back.iter().map(|id| (*id).to_owned()).collect();
    Draft::new(root.clone(), files.iter().map(file), taken_back)
}

/// The files once a draft was written.
fn written(files: &Files, draft: Draft) -> Files {
    let mut after = files.clone();
    let groups = draft.groups();
    let mut touched = HashSet::new();
    for group in &groups {
        for (path, page) in &group.files {
            assert!(touched.insert(path.clone()), "{} is in two groups", path.display());
            let name = path.strip_prefix("/tree").unwrap().to_str().unwrap().to_owned();
            assert_eq!(files.get(&name), page.before.as_ref());
            match &page.after {
                Some(text) => after.insert(name, text.clone()),
                None => after.remove(&name),
            };
        }
    }
    after
}

fn id(line: &str) -> String {
    markdown::entries(line, &markdown::parse(line))[0].id()
}

fn used(days_ago: i64, recent_successes: u64, projects: u64) -> Use {
    Use { last_used: Some(now() - TimeDelta::days(days_ago)), recent_successes, projects, since: None }
}

fn known(uses: &HashMap<String, Use>) -> Known<'_> {
    Known { uses, now: now(), today: today() }
}

fn promoted(files: &Files, uses: &HashMap<String, Use>, most: usize) -> (Files, usize) {
    let mut draft = draft(files, &[]);
    let rule = Promoting { successes: 3, projects: 2, lines: most, header: MEMORY };
    let full = promote(&mut draft, &known(uses), &rule);
    (written(files, draft), full)
}

fn demoted(files: &Files, uses: &HashMap<String, Use>) -> Files {
    let mut draft = draft(files, &[]);
    let projects = BTreeSet::from(["app".to_owned()]);
    demote(&mut draft, &known(uses), &demoting(&projects));
    written(files, draft)
}

fn demoting(projects: &BTreeSet<String>) -> Demoting<'_> {
    Demoting { hot: 30, warm: 90, projects, useful_in: 2 }
}

fn alike(one: &Item, other: &Item) -> bool {
    Wording::of(&one.takeaway).is_worded_like(&Wording::of(&other.takeaway))
}

fn compacted(files: &Files, name: &str, most: usize, uses: &HashMap<String, Use>) -> Files {
    let mut draft = draft(files, &[]);
    let projects = BTreeSet::from(["app".to_owned()]);
    let demoting = demoting(&projects);
    let demoting = (tier(name) == Tier::Hot).then_some(&demoting);
    let rule = Compacting { lines: most, days: 30, alike: &alike, summary: &|_| None, demoting };
    compact(&mut draft, &Path::new("/tree").join(name), &known(uses), &rule);
    written(files, draft)
}

const LEARNING: &str = "### [pattern] Linking\n**Date**: 2026-05-20\n**Context**: a release\n\nWhat went wrong / what \
     was learned:\nThe linker ran out of memory.\n\n**Rule**: Link with one job.\n";

#[test]
fn m5_what_helps_is_promoted_once_and_its_source_is_marked_or_moved() {
    let line = "- **Run the tests twice** (from: app, first noted: 2026-05-01)";
    let tree = files([
        ("memory.md", MEMORY),
        ("app/.learnings/LEARNINGS.md", &format!("# Learnings\n\n---\n\n{LEARNING}")),
        ("projects/app.md", &format!("# app\n\n## Rules\n\n{line}\n- Other\n")),
    ]);
    let uses = HashMap::from([
        (id(LEARNING), used(0, 3, 1)),
        (id(line), used(0, 5, 1)),
        (id("- Other"), used(0, 2, 1)),
    ]);
    let (after, full) = promoted(&tree, &uses, 100);
    assert_eq!(full, 0);
    assert!(after["memory.md"].contains(&format!("## Rules\n\n{line}\n\n## Pref")), "{}", after["memory.md"]);
    assert!(
        after["memory.md"]
            .contains("## Patterns\n\n- **Link with one job.** (from: LEARNINGS, first noted: 2026-05-20)\n")
    );
    let learnings = &after["app/.learnings/LEARNINGS.md"];
    assert!(learnings.contains("a release\n**Status**: promoted to memory.md\n"), "{learnings}");
    assert_eq!(after["projects/app.md"], "# app\n\n## Rules\n\n- Other\n");
    assert_eq!(promoted(&after, &uses, 100).0, after);
}

#[test]
fn fault_23_a_text_that_carries_its_heading_still_finds_its_line() {
    let entry = "### [gap] Headings\n**Date**: 2026-05-20\n\n**Rule**: ## Rules: use **tabs**\n";
    let tree = files([("memory.md", MEMORY), ("domains/code.md", entry)]);
    let uses = HashMap::from([(id(entry), used(0, 3, 1))]);
    let (after, _) = promoted(&tree, &uses, 100);
    assert!(after["memory.md"].contains("- **Rules: use tabs**"), "{}", after["memory.md"]);
    assert_eq!(promoted(&after, &uses, 100).0, after, "it is there");
}

#[test]
fn fault_22_there_is_no_room_for_two_hundred_promotions() {
    let line = |n: u32| format!("- **Rule number {n} is good** (from: app, first noted: 2026-05-01)\n");
    let text: String = (0..200).map(line).collect();
    let tree = files([("memory.md", MEMORY), ("domains/code.md", &format!("# code\n\n## Rules\n\n{text}"))]);
    let uses = (0..200).map(|n| (id(&line(n)), used(0, 3 + u64::from(n), 1))).collect();
    let (after, full) = promoted(&tree, &uses, 100);
    assert_eq!(lines(&after["memory.md"]), 100);
    let room = u32::try_from(after["memory.md"].matches("- **Rule").count()).unwrap();
    assert_eq!((room, full), (90, 110));
    for n in 0..200 {
        let of = |name: &str| after[name].contains(&line(n));
        assert!(of("memory.md") != of("domains/code.md"), "{n}");
        assert_eq!(of("memory.md"), n >= 200 - room, "the best come first: {n}");
    }
    assert_eq!(promoted(&after, &uses, 100).0, after);
    // People promoted all of them: the longest unused go to the archive.
    let tree = files([("memory.md", &MEMORY.replace("## Rules\n", &format!("## Rules\n\n{text}")))]);
    let after = compacted(&tree, "memory.md", 100, &uses);
    assert!(lines(&after["memory.md"]) <= 100);
    for n in 0..200 {
        let of = |name: &str| after[name].contains(&line(n));
        assert!(of("memory.md") != of("archive/memory-2026-06.md"), "{n}");
    }
    assert_eq!(compacted(&after, "memory.md", 100, &uses), after);
}

#[test]
fn m5_what_is_useful_in_two_projects_becomes_a_pattern_of_its_field() {
    let line = "- **Run the tests twice** (from: app, first noted: 2026-05-01)";
    let tree = files([
        ("domains/testing.md", "# testing\n"),
        ("projects/app.md", &format!("# app\n\n## Testing\n\n{line}\n\n## Other\n\n- **Link once**\n")),
    ]);
    let uses = HashMap::from([(id(line), used(20, 0, 2)), (id("- Link once"), used(20, 0, 2))]);
    let (after, _) = promoted(&tree, &uses, 100);
    assert_eq!(after["domains/testing.md"], format!("# testing\n\n## Patterns\n\n{line}\n"));
    assert!(after["domains/general.md"].contains("- **Link once** (from: app, first noted: 2026-06-01)"));
    assert_eq!(after["projects/app.md"], "# app\n\n## Testing\n\n## Other\n\n");
    assert_eq!(promoted(&after, &uses, 100).0, after);
}

#[test]
fn m6_what_is_unused_is_loaded_less_and_less_often_and_nothing_is_lost() {
    let memory = "# Global Memory\n\nMy own words.\n\n## Rules\n\n\
        - **Used** (from: app, first noted: 2026-01-01)\n\
        - **Unused** (from: app / login, first noted: 2026-04-30)\n\
        - **Elsewhere** (from: who, first noted: 2026-04-30)\n\
        - **Forgotten** (from: app, first noted: 2026-01-01)\n\
        - Nobody knows when\n\n\
        ## Preferences\n\n- **Tabs** (from: general, first noted: 2020-01-01)\n\n### Editor\n\n- **Wide** (from: x, first noted: 2020-01-01)\n";
    let learning = LEARNING.replace("Link with one job.", "Unused");
    let marked = learning.replace("a release\n", "a release\n**Status**: promoted to memory.md\n");
    let tree = files([("memory.md", memory), ("app/.learnings/LEARNINGS.md", &marked)]);
    let uses = HashMap::from([(id("- Used"), used(29, 0, 1))]);
    let after = demoted(&tree, &uses);
    let left = after["memory.md"].lines().filter(|line| line.starts_with("- ")).collect::<Vec<_>>();
    let names: Vec<&str> =
        left.iter().map(|line| line.trim_matches(['-', ' ', '*']).split("**").next().unwrap()).collect();
    assert_eq!(names, ["Used", "Nobody knows when", "Tabs", "Wide"]);
    assert!(after["memory.md"].contains("\nMy own words.\n"));
    assert_eq!(
        after["projects/app.md"],
        "# app\n\n## Rules\n\n- **Unused** (from: app / login, first noted: 2026-04-30)\n"
    );
    assert!(after["domains/general.md"].contains("- **Elsewhere**"));
    assert!(after["archive/memory-2026-06.md"].contains("# From memory.md, Rules\n\n- **Forgotten**"));
    assert!(after["app/.learnings/LEARNINGS.md"].contains("**Status**: demoted from memory.md\n"));
    assert_eq!(demoted(&after, &uses), after);
    let warm = files([(
        "domains/a.md",
        "# a\n\n- **Old** (from: a, first noted: 2026-03-03)\n- **New** (from: a, first noted: 2026-03-04)\n",
    )]);
    let after = demoted(&warm, &HashMap::new());
    assert!(!after["domains/a.md"].contains("Old") && after["domains/a.md"].contains("New"));
    assert!(after["archive/domains/a-2026-06.md"].contains("# From domains/a.md, a\n\n- **Old**"));
}

#[test]
fn what_a_person_took_back_is_left_alone() {
    let line = "- **Old** (from: a, first noted: 2026-01-01)\n";
    let tree = files([("memory.md", line)]);
    let mut draft = draft(&tree, &[&id(line)]);
    let rule = Demoting { hot: 30, warm: 90, projects: &BTreeSet::new(), useful_in: 2 };
    demote(&mut draft, &known(&HashMap::new()), &rule);
    assert_eq!(draft.groups(), []);
}

#[test]
fn m4_the_newest_corrections_stay() {
    let correction =
        |n: u32| format!("### [2026-05-{:02}] Correction {n}\n**Rule**: Rule {n}\n\n", 1 + n / 3);
    let text: String =
        [40, 3].into_iter().chain((0..60).filter(|n| ![40, 3].contains(n))).map(correction).collect();
    let tree = files([("corrections.md", &format!("# Corrections Log\n\n---\n\n{text}- A line\n"))]);
    let go = |files: &Files| {
        let mut draft = draft(files, &[]);
        expiry::corrections(&mut draft, &known(&HashMap::new()), 50);
        written(files, draft)
    };
    let after = go(&tree);
    for n in 0..60 {
        let of = |name: &str| after[name].contains(&format!("Correction {n}\n"));
        assert_eq!((of("corrections.md"), of("archive/corrections-2026-06.md")), (n >= 10, n < 10), "{n}");
    }
    assert_eq!(go(&after), after);
}

#[test]
fn m4_shared_insights_expire_by_age_and_number() {
    let mut tree = Files::new();
    for n in 0..30 {
        let day = today() - TimeDelta::days(n / 3);
        tree.insert(format!("shared/{day}-topic-{n}.md"), format!("# Topic {n}\n**From**: app\n\nText\n"));
    }
    tree.insert("archive/shared/2026-05-23-topic-27.md".to_owned(), "Another\n".to_owned());
    let go = |files: &Files| {
        let mut draft = draft(files, &[]);
        expiry::shared(&mut draft, &known(&HashMap::new()), 7, 20);
        written(files, draft)
    };
    let after = go(&tree);
    let shared: Vec<&String> = after.keys().filter(|name| name.starts_with("shared/")).collect();
    assert_eq!(shared.len(), 20);
    assert!(shared.iter().all(|name| name.as_str() >= "shared/2026-05-26"), "{shared:?}");
    assert_eq!(after.len(), 31);
    assert_eq!(after["archive/shared/2026-05-23-topic-27.md"], "Another\n");
    assert!(after["archive/shared/2026-05-23-topic-27-2.md"].starts_with("# Topic 27"));
    assert_eq!(go(&after), after);
}

#[test]
fn m7_near_duplicates_become_the_newest_with_both_sources() {
    let memory = "# M\n\n## Rules\n\n\
        - **Retry a failed download with backoff** (from: app, first noted: 2026-05-01)\n\
        - **Retry the failed download with backoff** (from: web, first noted: 2026-05-09)\n\
        - **Retry the failed download 3 times** (from: web, first noted: 2026-05-09)\n\n\
        ## Preferences\n\n- **Retry a failed download with backoff now** (from: x, first noted: 2026-05-09)\n";
    let tree = files([("memory.md", memory)]);
    let after = compacted(&tree, "memory.md", 10, &HashMap::new());
    let expected = memory
        .replace("- **Retry a failed download with backoff** (from: app, first noted: 2026-05-01)\n", "")
        .replace(
            "(from: web, first noted: 2026-05-09)\n- **Retry the failed download 3",
            "(from: web, app, first noted: 2026-05-09)\n- **Retry the failed download 3",
        );
    assert_eq!(after["memory.md"], expected);
    assert!(after["archive/memory-2026-06.md"].contains("(from: app, first noted: 2026-05-01)"));
    assert_eq!(compacted(&after, "memory.md", 10, &HashMap::new()), after);
    let learnings = [
        LEARNING.to_owned(),
        LEARNING.replace("05-20", "05-22").replace("\n\nWhat", "\n**Project**: web\n\nWhat"),
    ];
    let tree = files([("domains/code.md", &learnings.join("\n"))]);
    let after = compacted(&tree, "domains/code.md", 12, &HashMap::new());
    assert!(
        after["domains/code.md"].contains("**Project**: web\n**Also from**: code\n"),
        "{}",
        after["domains/code.md"]
    );
    assert_eq!(after["domains/code.md"].matches("###").count(), 1);
}

#[test]
fn m7_what_is_used_is_shortened_before_it_goes() {
    let tree = files([("domains/code.md", &format!("# code\n\n{LEARNING}\n- One\n- Two\n\n  with more\n"))]);
    let uses = HashMap::from([(id(LEARNING), used(1, 1, 1)), (id("- One"), used(40, 1, 1))]);
    let after = compacted(&tree, "domains/code.md", 9, &uses);
    assert_eq!(
        after["domains/code.md"],
        "# code\n\n### [pattern] Linking\n**Date**: 2026-05-20\n**Rule**: Link with one job.\n"
    );
    let mut draft = draft(&tree, &[]);
    let said = |_: &Item| Some("Use one\njob".to_owned());
    let rule = Compacting { lines: 9, days: 30, alike: &alike, summary: &said, demoting: None };
    compact(&mut draft, Path::new("/tree/domains/code.md"), &known(&uses), &rule);
    assert!(written(&tree, draft)["domains/code.md"].ends_with("2026-05-20\n**Rule**: Use one job\n"));
}

#[test]
fn m7_preferences_alone_may_exceed_the_cap() {
    let preference = |n: u32| format!("- Preference {n}\n");
    let text: String = (0..30).map(preference).collect();
    let correction = "### [2026-05-01] Tabs\n**Rule**: Use tabs\n";
    let memory = format!("# M\n\n## User preferences\n\n{text}- Use tabs\n\n## Rules\n\n- Gone\n");
    let tree = files([("memory.md", &memory), ("archive/corrections-2026-05.md", correction)]);
    let after = compacted(&tree, "memory.md", 10, &HashMap::new());
    assert_eq!(after["memory.md"], memory.replace("- Gone\n", ""));
    assert_eq!(compacted(&after, "memory.md", 10, &HashMap::new()), after);
}

#[test]
fn m3_m7_what_corrections_confirm_makes_room_at_last_and_is_loaded_on_match() {
    let rule = |n: u32| format!("- **Rule number {n} is good** (from: app, first noted: 2026-05-01)\n");
    let rules: String = (0..20).map(rule).collect();
    let correction = |n: u32| format!("### [2026-05-01] {n}\n**Rule**: Rule number {n} is good\n\n");
    let corrections: String = (0..20).map(correction).collect();
    let kept = "## Preferences\n\n- Use tabs\n";
    let memory = format!("# M\n\n{kept}\n## Rules\n\n- Gone\n{rules}");
    let tree = files([("memory.md", &memory), ("archive/corrections-2026-05.md", &corrections)]);
    let uses = HashMap::from([(id(&rule(0)), used(3, 1, 1)), (id(&rule(7)), used(40, 1, 1))]);
    let after = compacted(&tree, "memory.md", 28, &uses);
    assert!(!after["memory.md"].contains("- Gone"), "what nobody confirmed goes first");
    assert!(after["memory.md"].contains(&rules), "there was room then");
    let after = compacted(&after, "memory.md", 12, &uses);
    assert_eq!(lines(&after["memory.md"]), 12);
    assert!(after["memory.md"].contains(kept));
    let of = |name: &str, n: u32| after[name].contains(&rule(n));
    assert!(of("memory.md", 0) && of("projects/app.md", 7), "what was used longest ago goes first");
    assert!((0..20).all(|n| of("memory.md", n) != of("projects/app.md", n)));
    let last = compacted(&after, "projects/app.md", 9, &uses);
    assert_eq!(lines(&last["projects/app.md"]), 9);
    assert!(said(&after).is_subset(&said(&last)), "the others are in the archive");
}

#[test]
fn m6_m7_a_preference_stays_where_the_same_words_are_a_rule_too() {
    let line = "- **Use tabs** (from: app, first noted: 2026-05-01)\n";
    let newer = line.replace("-01", "-14");
    let memory = format!("# M\n\n## Preferences\n\n{line}\n## Rules\n\n{line}{newer}");
    let tree = files([("memory.md", &memory)]);
    let uses = HashMap::from([(id(line), used(30, 0, 0))]);
    for after in [demoted(&tree, &uses), compacted(&tree, "memory.md", 8, &HashMap::new())] {
        assert_eq!(preferences(&after), preferences(&tree));
        assert!(after["memory.md"].lines().count() < 9, "{}", after["memory.md"]);
    }
}

#[test]
fn m1_the_index_maps_topics_to_files_and_leaves_peoples_lines() {
    let tree = files([
        ("index.md", "# Index\n\nTopic → file mapping for quick lookup.\n\n---\n\n- mine → there\n"),
        ("projects/app.md", "# app\n\n## Rules\n\n- One\n\n## Testing\n\n- Two\n"),
        ("domains/testing.md", "# testing\n\n- Three\n"),
        ("shared/2026-05-30-auth.md", "# Auth headers\n**From**: app\n\nText\n"),
    ]);
    let go = |files: &Files| {
        let mut draft = draft(files, &[]);
        assert!(topics::index(&mut draft));
        written(files, draft)
    };
    let mut after = go(&tree);
    let block = "<!-- topics, kept by memoryd -->\n\n- app → projects/app.md\n- Auth headers → shared/2026-05-30-auth.md\n\
        - testing → domains/testing.md, projects/app.md\n\n<!-- end of topics -->\n";
    assert_eq!(after["index.md"], format!("{}\n{block}", tree["index.md"]).replace("- testing", "- Testing"));
    assert_eq!(go(&after), after);
    after.get_mut("index.md").unwrap().push_str("\nmine too\n");
    after.remove("domains/testing.md");
    let again = go(&after);
    assert!(
        again["index.md"].ends_with("-->\n\nmine too\n")
            && again["index.md"].contains("- Testing → projects/app.md\n")
    );
    let broken = again["index.md"].replace("<!-- end of topics -->", "");
    after.insert("index.md".to_owned(), broken);
    let mut draft = draft(&after, &[]);
    assert!(!topics::index(&mut draft), "what is broken is left alone");
    assert_eq!(draft.groups(), []);
}

/// Pieces of a file as people write them.
fn piece() -> impl Strategy<Value = String> {
    let words = vec(
        prop::sample::select(vec!["retry", "the", "build", "never", "3", "times", "cache", "tabs", "log"]),
        1..6,
    );
    let day = 1..28_u32;
    (0..12_u32, words, day, 0..6_usize).prop_map(|(kind, words, day, more)| {
        let words = words.join(" ");
        let more = "More of it.\n".repeat(more);
        match kind {
            0..4 => format!("- **{words}** (from: app, first noted: 2026-05-{day:02})\n"),
            4 => format!("- {words}\n  {words}\n"),
            5 => {
                format!("### [pattern] {words}\n**Date**: 2026-05-{day:02}\n\n{more}\n**Rule**: {words}.\n\n")
            }
            6 => format!("### [2026-04-{day:02}] {words}\n**Rule**: {words} please\n\n"),
            7 => format!("\n## {words}\n\n"),
            8 => "\n## Preferences\n\n".to_owned(),
            9 => format!("\nProse about {words}\n{more}\n"),
            10 => format!("CONTEXT: {words}\nREFLECTION: {words}\nLESSON: {words}\n\n"),
            _ => format!("```\n- {words}\n```\n"),
        }
    })
}

fn uses() -> impl Strategy<Value = Vec<(u8, i64, u64, u64)>> {
    vec((any::<u8>(), 0..120_i64, 0..5_u64, 0..4_u64), 0..20)
}

/// Every note and every piece of prose, by what it says.
fn said(files: &Files) -> BTreeSet<String> {
    let of = |text: &String| {
        markdown::entries(text, &markdown::parse(text)).iter().map(markdown::Entry::id).collect::<Vec<_>>()
    };
    files.values().flat_map(of).collect()
}

/// What users prefer, where it is, without the mark that it was promoted, too.
fn preferences(files: &Files) -> Vec<String> {
    let said = |item: Item| {
        let lines = item.text.lines().filter(|line| !line.starts_with("**Status**"));
        format!("{}: {}", item.path.display(), lines.collect::<Vec<_>>().join("\n"))
    };
    let draft = draft(files, &[]);
    let paths: Vec<&Path> = [Tier::Hot, Tier::Project, Tier::Domain]
        .into_iter()
        .flat_map(|tier| draft.of(tier))
        .map(|(path, _)| path)
        .collect();
    let items = paths.into_iter().flat_map(|path| draft.items(path));
    items.filter(|item| item.preferred).map(said).collect()
}

fn prose(files: &Files, name: &str) -> Vec<String> {
    let text = &files[name];
    let entries = markdown::entries(text, &markdown::parse(text));
    entries.iter().filter(|entry| entry.kind == NoteKind::Prose).map(|entry| entry.text.to_owned()).collect()
}

proptest! {
    #[test]
    fn m5_m6_m7_nothing_is_lost_no_preference_is_touched_and_a_second_time_there_is_nothing_to_do(
        memory in vec(piece(), 0..30),
        app in vec(piece(), 0..30),
        uses in uses(),
        crlf in any::<bool>(),
        most in 1..40_usize,
    ) {
        let text = |pieces: &[String]| {
            let text = pieces.concat();
            if crlf { text.replace('\n', "\r\n") } else { text }
        };
        let tree = files([("memory.md", &text(&memory)), ("projects/app.md", &text(&app))]);
        let ids: Vec<String> = said(&tree).into_iter().collect();
        let uses: HashMap<String, Use> = uses.into_iter().filter(|_| !ids.is_empty())
            .map(|(at, days, successes, projects)| (ids[usize::from(at) % ids.len()].clone(), used(days, if days < 7 { successes } else { 0 }, projects)))
            .collect();
        let before = (said(&tree), preferences(&tree));
        let jobs: [&dyn Fn(&Files) -> Files; 4] = [
            &|files| promoted(files, &uses, most).0,
            &|files| demoted(files, &uses),
            &|files| compacted(files, "memory.md", most, &uses),
            &|files| compacted(files, "projects/app.md", most, &uses),
        ];
        let after = jobs.iter().fold(tree.clone(), |files, job| {
            let after = job(&files);
            assert_eq!(job(&after), after, "a second time there is nothing to do");
            after
        });
        prop_assert!(before.0.is_subset(&said(&after)), "lost: {:?}", before.0.difference(&said(&after)));
        for preference in &before.1 {
            prop_assert!(preferences(&after).contains(preference), "{preference}");
        }
        for name in ["memory.md", "projects/app.md"] {
            prop_assert_eq!(prose(&tree, name), prose(&after, name));
        }
        for name in ["memory.md", "projects/app.md"] {
            let (mut draft, path) = (draft(&after, &[]), Path::new("/tree").join(name));
            let yielding = draft.items(&path).into_iter().filter(Item::may_yield).collect::<Vec<_>>();
            let keeps_others_apart = |item: Item| draft.cut(&path, vec![item]).is_empty();
            prop_assert!(lines(&after[name]) <= most || yielding.into_iter().all(keeps_others_apart), "{name} is too long");
        }
    }
}
