//! Learnings that prove themselves become skills, which stand on their own (spec M12).

use std::fs;
use std::path::Path;

use memoryd_proto::{
    Code, ExtractSkill, LearningKind, NewNote, SkillCandidate, SkillCriterion, Skills, Undo,
};
use memoryd_tests::{World, everywhere, everywhere_with};

use crate::notes::{files, init, learning, log, preference, put, text, tree};

fn candidates(world: &World<'_>) -> Vec<SkillCandidate> {
    let list = world.ask(Skills::default());
    assert_eq!(list.total, list.candidates.len() as u64);
    list.candidates
}

fn extract(note: &str) -> ExtractSkill {
    ExtractSkill { note: note.to_owned(), ..ExtractSkill::default() }
}

/// The values of a front matter, read as YAML reads them.
fn front_matter(skill: &str) -> (String, String) {
    let (front, _) = skill.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let value = |label: &str| front.lines().find_map(|line| line.strip_prefix(label)).unwrap();
    (value("name: ").to_owned(), serde_json::from_str(value("description: ")).unwrap())
}

#[test]
fn m12_candidates_come_with_what_they_meet_and_where_they_are_noted() {
    everywhere_with("[skills]\nwords = 6\n", |world| {
        init(world);
        assert_eq!(candidates(world), []);
        let (app, other) = (world.home.folder("work/app"), world.home.folder("work/other"));
        log(world, learning(LearningKind::Error, "Linking fails"), Some(&app));
        log(world, learning(LearningKind::Error, "Linking fails"), Some(&other));
        put(world, "domains/code.md", "# Code\n\n- Link with one job\n- Sort the imports\n");
        log(world, preference("Save this as a habit"), None);
        let found = candidates(world);
        let met = |n: usize| found[n].met.iter().map(|met| met.criterion).collect::<Vec<_>>();
        assert_eq!(found.len(), 2);
        assert_eq!(
            met(0),
            [SkillCriterion::Recurring, SkillCriterion::NonObvious, SkillCriterion::Broad],
            "{found:?}"
        );
        assert_eq!(found[0].places.len(), 3);
        assert_eq!(
            (found[0].note.title.as_str(), found[0].name.as_deref()),
            ("Linking fails", Some("linking-fails"))
        );
        assert_eq!((found[1].note.title.as_str(), met(1)), ("Sort the imports", vec![SkillCriterion::Broad]));
        let list = world.ask(Skills { limit: 1 });
        assert_eq!((list.candidates.len(), list.total), (1, 2));
    });
}

#[test]
fn m12_a_skill_stands_on_its_own_and_the_learning_is_marked() {
    everywhere(|world| {
        init(world);
        let app = world.home.folder("work/app");
        log(world, learning(LearningKind::Error, "Linking: it \"fails\""), Some(&app));
        let before = (files(&world.home.tree()), files(&app));
        let shown = world.ask(ExtractSkill { dry_run: true, ..extract("linker memory") });
        assert_eq!((files(&world.home.tree()), files(&app)), before);
        let done = world.ask(extract("linker memory"));
        assert_eq!(done.additions, shown.additions);
        let skill = text(world, "skills/linking-it-fails/SKILL.md");
        let description = "Linking: it \"fails\": Link with one job. Use it for: building the release";
        assert_eq!(front_matter(&skill), ("linking-it-fails".to_owned(), description.to_owned()));
        for said in
            ["\n# Linking: it \"fails\"\n\nLink with one job.\n", "\nThe linker ran out of memory.\nTwice.\n"]
        {
            assert!(skill.contains(said), "{skill}");
        }
        let source = app.join(".learnings/LEARNINGS.md");
        assert!(
            skill.contains(&format!("\n## Source\n\n- {}, noted on 2026-01-05", source.display())),
            "{skill}"
        );
        assert!(fs::read_to_string(&source).unwrap().contains("\n**Status**: promoted_to_skill\n"));

        // It is one now, and no other takes its place.
        assert_eq!(world.ask(extract("linker memory")).written.operation, None);
        let mut other = learning(LearningKind::Gap, "Linking it fails");
        if let NewNote::Learning { rule, .. } = &mut other {
            "Use another linker".clone_into(rule);
        }
        log(world, other, Some(&app));
        let fault = world.fault(extract("another linker"));
        assert_eq!(fault.code, Code::Conflict);
        assert_eq!(text(world, "skills/linking-it-fails/SKILL.md"), skill);
        world.ask(ExtractSkill { name: Some("other-linker".to_owned()), ..extract("another linker") });
        assert!(text(world, "skills/other-linker/SKILL.md").contains("# Linking it fails\n"));
    });
}

#[test]
fn m12_extracting_a_skill_is_undone_to_the_byte() {
    everywhere(|world| {
        init(world);
        put(
            world,
            "domains/code.md",
            "# Code\n\n- **Sort the imports** (from: app, first noted: 2026-01-02)\n",
        );
        let before = files(&world.home.tree());
        let done = world.ask(extract("imports"));
        assert!(text(world, "domains/code.md").ends_with("2026-01-02)\n  **Status**: promoted_to_skill\n"));
        assert_eq!(candidates(world), []);
        world.ask(Undo { operation: done.written.operation.unwrap() });
        assert_eq!(files(&world.home.tree()), before);
        assert_eq!(candidates(world).len(), 1);
    });
}

#[test]
fn m12_a_skill_goes_where_it_is_wanted_and_has_a_plain_name() {
    everywhere(|world| {
        init(world);
        put(world, "domains/code.md", "# Code\n\n- Sort the imports\n- 記憶\n");
        let into = world.home.folder("agent/skills");
        let call = |name: Option<&str>, into: &Path| ExtractSkill {
            name: name.map(str::to_owned),
            into: Some(into.to_owned()),
            ..extract("imports")
        };
        for name in ["../x", "Sort", "a_b", "", "a--b", "a/b"] {
            assert_eq!(world.fault(call(Some(name), &into)).code, Code::Invalid, "{name}");
        }
        assert_eq!(world.fault(call(None, &into.join("missing"))).code, Code::NotFound);
        assert_eq!(world.fault(call(None, Path::new("relative"))).code, Code::NotFound);
        let fault = world.fault(ExtractSkill { into: Some(into.clone()), ..extract("記憶") });
        assert_eq!(fault.code, Code::Invalid);
        std::os::unix::fs::symlink(world.home.path(), into.join("out")).unwrap();
        let fault = world.fault(call(Some("out"), &into));
        assert_eq!(fault.code, Code::Invalid, "{fault}");
        let done = world.ask(call(None, &into));
        assert!(into.join("sort-the-imports/SKILL.md").is_file());
        assert!(!tree(world, "skills").exists());
        world.ask(Undo { operation: done.written.operation.unwrap() });
        assert!(!into.join("sort-the-imports/SKILL.md").exists());
    });
}

#[test]
fn m14_no_secret_reaches_a_skill_or_the_list() {
    everywhere(|world| {
        init(world);
        let secret = "ghp_000001Zq8rT5wLk2VbN7xJc4Md9Hf1sEVERY";
        put(world, "domains/code.md", &format!("# Code\n\n- Push to the mirror with {secret}\n"));
        let list = serde_json::to_string(&candidates(world)).unwrap();
        assert!(list.contains("[redacted: github token]") && !list.contains("EVERY"), "{list}");
        let done = world.ask(ExtractSkill { name: Some("push".to_owned()), ..extract("mirror") });
        assert_eq!(done.written.redacted[0], "github token");
        let told = serde_json::to_string(&done).unwrap();
        assert!(!told.contains("EVERY") && !text(world, "skills/push/SKILL.md").contains("EVERY"), "{told}");
    });
}
