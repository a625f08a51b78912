//! The jobs that tend the memory tree: caps hold, what is preferred stays, and whatever leaves a file is in another one.

use std::fs;

use chrono::TimeDelta;
use memoryd_proto::{
    InitNotes, JobName, LearningKind, Maintain, NoteStats, PromoteNote, Report, SearchNotes, ShareNote, Undo,
};
use memoryd_tests::{World, agent, everywhere, everywhere_with};

use crate::maintenance::{run, state, there, there_and_back};
use crate::notes::{files, init, learning, log, preference, put, text, tree};

/// A line of `memory.md` or of a file in `projects/` or `domains/`.
fn line(rule: &str, from: &str, day: &str) -> String {
    format!("- **{rule}** (from: {from}, first noted: {day})\n")
}

/// A note helped the agent `finder` in tasks.
fn helped(world: &World<'_>, words: &str, tasks: u32) {
    let found = world.ask(SearchNotes { words: words.to_owned(), ..SearchNotes::default() }).notes;
    let id = format!("note:{}", found[0].id);
    for n in 0..tasks {
        let task = format!("{words} {n}");
        let used = vec![id.parse().unwrap()];
        world.ask(Report {
            used,
            ..Report::new(format!("{id}-{n}").parse().unwrap(), agent("finder"), &task, true)
        });
    }
}

#[test]
fn m5_what_helps_again_and_again_becomes_a_rule() {
    everywhere(|world| {
        init(world);
        let project = world.home.folder("work/app");
        log(world, learning(LearningKind::Pattern, "Linking fails"), Some(&project));
        put(
            world,
            "projects/app.md",
            &format!("# app\n\n{}", line("Run the tests twice", "app", "2026-01-02")),
        );
        helped(world, "linking", 3);
        helped(world, "tests twice", 2);
        let done = there_and_back(world, JobName::PromoteNotes);
        assert_eq!(done.total, 1);
        assert!(
            done.planned[0].why.contains("\"Linking fails\" to memory.md: it helped 3 tasks"),
            "{done:?}"
        );
        assert!(text(world, "memory.md").contains("## Patterns\n\n- **Link with one job.** (from: "));
        let learnings = fs::read_to_string(project.join(".learnings/LEARNINGS.md")).unwrap();
        assert!(learnings.contains("**Status**: promoted to memory.md"), "{learnings}");
        assert!(!text(world, "memory.md").contains("tests twice"));
        // What was long ago counts no more.
        world.clock.turn(TimeDelta::days(8));
        put(world, "memory.md", "# Global Memory\n");
        assert_eq!(run(world, JobName::PromoteNotes, false).total, 0);
    });
}

#[test]
fn m6_what_is_not_used_is_loaded_less_often_and_what_was_taken_back_stays() {
    everywhere(|world| {
        init(world);
        let old = line("Old", "app", "2025-12-01") + &line("Ancient", "app", "2025-09-01");
        let young = line("Young", "app", "2026-01-01");
        put(
            world,
            "memory.md",
            &format!("# Global Memory\n\n## Rules\n\n{old}{young}\n## Preferences\n\n- Tabs\n"),
        );
        put(world, "projects/app.md", "# app\n");
        let done = there_and_back(world, JobName::DemoteNotes);
        assert_eq!(done.total, 1);
        assert_eq!(
            text(world, "memory.md"),
            format!("# Global Memory\n\n## Rules\n\n{young}\n## Preferences\n\n- Tabs\n")
        );
        assert!(text(world, "projects/app.md").contains(&line("Old", "app", "2025-12-01")));
        assert!(text(world, "archive/memory-2026-01.md").contains(&line("Ancient", "app", "2025-09-01")));
        world.ask(Undo { operation: newest(world) });
        assert_eq!(run(world, JobName::DemoteNotes, false).total, 0, "a person wanted it back");
        assert!(text(world, "memory.md").contains("**Old**"));
    });
}

/// The newest operation.
fn newest(world: &World<'_>) -> memoryd_proto::OperationId {
    world.ask(memoryd_proto::Journal { limit: 1, ..memoryd_proto::Journal::default() }).operations[0].id
}

#[test]
fn m4_corrections_and_shared_insights_expire_and_nobody_elses_file_is_removed() {
    everywhere(|world| {
        init(world);
        let correction =
            |n: u32| format!("### [2026-01-0{}] Correction {n}\n**Rule**: Rule {n}\n\n", 1 + n / 12);
        let all: String = (0..55).map(correction).collect();
        put(world, "corrections.md", &format!("# Corrections Log\n\n---\n\n{all}"));
        for name in ["2025-12-20-mine", "2025-12-21-theirs"] {
            put(world, &format!("shared/{name}.md"), &format!("# {name}\n**From**: app\n\nText\n"));
        }
        for n in 0..25 {
            world.ask(ShareNote {
                title: format!("Topic {n}"),
                from: "app".to_owned(),
                relevance: "code".to_owned(),
                insight: "Text".to_owned(),
                rule: format!("Rule of topic {n}"),
            });
        }
        let done = there_and_back(world, JobName::ExpireNotes);
        assert_eq!(done.notes, ["50 of 50 corrections, 20 of 20 shared insights"]);
        assert_eq!(text(world, "corrections.md").matches("###").count(), 50);
        assert_eq!(text(world, "archive/corrections-2026-01.md").matches("###").count(), 5);
        assert_eq!(files(&tree(world, "archive/shared")).len(), 7);
        // What was undone and done again is no longer the job's.
        world.clock.turn(TimeDelta::days(8));
        there(world, JobName::ExpireNotes);
        assert_eq!(files(&tree(world, "shared")).len(), 0);
        let here = files(&tree(world, "archive/shared"));
        let edited = here.keys().last().unwrap();
        fs::write(edited, "mine now\n").unwrap();
        put(world, "archive/shared/2025-01-01-put-there.md", "# Put there\n");
        world.clock.turn(TimeDelta::days(29));
        assert_eq!(there(world, JobName::ExpireNotes).total, 0);
        world.clock.turn(TimeDelta::days(1));
        there_and_back(world, JobName::ExpireNotes);
        let left: Vec<_> = files(&tree(world, "archive/shared")).into_values().collect();
        assert!(
            left.contains(&"mine now\n".to_owned()) && left.contains(&"# Put there\n".to_owned()),
            "{left:?}"
        );
        assert!(left.len() <= 9, "{left:?}");
    });
}

#[test]
fn fault_22_after_two_hundred_promotions_memory_keeps_its_cap_and_nothing_is_lost() {
    everywhere(|world| {
        init(world);
        log(world, preference("Prefer ripgrep to grep"), None);
        for n in 0..200 {
            let insight = format!("# Topic {n}\n**From**: app\n\n**Actionable rule**: Rule number {n}\n");
            put(world, &format!("shared/2026-01-05-{n}.md"), &insight);
            world.ask(PromoteNote { name: format!("2026-01-05-{n}"), domain: None });
        }
        assert!(text(world, "memory.md").lines().count() > 200);
        let done = there_and_back(world, JobName::CompactNotes);
        assert!(
            done.notes.iter().any(|note| note.contains("memory.md has 100 of 100 lines")),
            "{:?}",
            done.notes
        );
        let (memory, archive) = (text(world, "memory.md"), text(world, "archive/memory-2026-01.md"));
        assert!(memory.contains("**Prefer ripgrep to grep**"));
        for n in 0..200 {
            let rule = format!("**Rule number {n}**");
            assert!(memory.contains(&rule) != archive.contains(&rule), "{n}");
        }
        assert_eq!(world.ask(NoteStats {}).promotions, 200);
    });
}

#[test]
fn m7_near_duplicates_are_merged_and_a_summariser_that_fails_is_told() {
    everywhere_with("tree.summariser = [\"false\"]\n", |world| {
        init(world);
        let rules = line("Retry the failed download with exponential backoff", "app", "2026-01-01")
            + &line("Retry the failed download with an exponential backoff", "web", "2026-01-02");
        let body = "Words of it.\n".repeat(150);
        let long =
            format!("### [pattern] Linking\n**Date**: 2026-01-03\n\n{body}\n**Rule**: Link with one job.\n");
        let prose = "Prose.\n\n".repeat(90);
        put(world, "domains/code.md", &format!("# code\n\n{rules}\n## More\n\n{prose}{long}"));
        helped(world, "linking", 1);
        let done = there_and_back(world, JobName::CompactNotes);
        assert!(done.notes[0].starts_with("tree.summariser failed"), "{:?}", done.notes);
        let code = text(world, "domains/code.md");
        assert!(
            code.contains("an exponential backoff** (from: web, app,") || !code.contains("backoff"),
            "{code}"
        );
        assert!(
            code.ends_with("### [pattern] Linking\n**Date**: 2026-01-03\n**Rule**: Link with one job.\n"),
            "{code}"
        );
        assert!(text(world, "archive/domains/code-2026-01.md").contains(&body));
    });
}

#[test]
fn m7_preferences_beyond_the_cap_stay_and_it_is_said() {
    everywhere(|world| {
        init(world);
        let all: Vec<String> = (0..120).map(|n| format!("- Preference {n}")).collect();
        let all = all.join("\n");
        put(world, "memory.md", &format!("# M\n\n## Preferences\n\n{all}\n\n## Rules\n\n- Gone\n"));
        let done = there_and_back(world, JobName::CompactNotes);
        assert!(done.notes[0].contains("more than 100: preferences"), "{:?}", done.notes);
        assert_eq!(text(world, "memory.md"), format!("# M\n\n## Preferences\n\n{all}\n\n## Rules\n\n"));
    });
}

#[test]
fn m1_the_index_follows_the_files() {
    everywhere(|world| {
        init(world);
        assert_eq!(there_and_back(world, JobName::IndexNotes).total, 0);
        put(world, "domains/testing.md", "# testing\n\n## Flaky tests\n\n- Run them twice\n");
        let done = there_and_back(world, JobName::IndexNotes);
        assert_eq!(done.total, 1);
        let index = text(world, "index.md");
        assert!(
            index.contains("- Flaky tests → domains/testing.md\n- testing → domains/testing.md\n"),
            "{index}"
        );
    });
}

#[test]
fn fault_17_a_project_that_is_away_loses_nothing() {
    everywhere(|world| {
        let project = world.home.folder("work/app");
        world.ask(InitNotes { project: Some(project.clone()) });
        log(world, learning(LearningKind::Error, "Linking fails"), Some(&project));
        put(
            world,
            "projects/app.md",
            &format!("# app\n\n{}", line("Run the tests twice", "app", "2026-01-02")),
        );
        helped(world, "linking", 3);
        world.ask(Maintain { job: None, dry_run: false });
        let before = state(world).1;
        fs::rename(&project, project.with_file_name("away")).unwrap();
        for _ in 0..3 {
            world.clock.turn(TimeDelta::days(1));
            world.ask(Maintain { job: None, dry_run: false });
        }
        fs::rename(project.with_file_name("away"), &project).unwrap();
        assert_eq!(state(world).1, before);
        world.clock.turn(TimeDelta::days(1));
        world.ask(Maintain { job: None, dry_run: false });
        assert_eq!(state(world).1, before);
    });
}

#[test]
fn s3_all_jobs_of_the_tree_do_what_their_rehearsal_said_and_all_of_it_can_be_undone() {
    everywhere(|world| {
        init(world);
        let project = world.home.folder("work/app");
        log(world, learning(LearningKind::Pattern, "Linking fails"), Some(&project));
        helped(world, "linking", 3);
        let many = |count: u32, day: &str| -> String {
            (0..count).map(|n| line(&format!("Rule {n} of {day}"), "app", day)).collect()
        };
        let (old, young) = (many(5, "2025-11-01"), many(110, "2026-01-01"));
        put(
            world,
            "memory.md",
            &format!("# M\r\n\r\nMine.\r\n\r\n## Rules\r\n\r\n{}", (old + &young).replace('\n', "\r\n")),
        );
        put(world, "projects/app.md", &format!("# app\n\n## Web\n\n{}", many(220, "2025-12-20")));
        put(world, "shared/2025-12-01-auth.md", "# Auth\n**From**: app\n\nText\n");
        let maintain = |dry_run| world.ask(Maintain { job: None, dry_run }).jobs;
        let before = state(world);
        let planned = maintain(true);
        assert_eq!(state(world), before);
        let done = maintain(false);
        for (planned, done) in planned.iter().zip(&done) {
            let told = |job: &memoryd_proto::JobReport| (job.planned.clone(), job.total, job.left_out);
            assert_eq!(told(planned), told(done), "{}", done.job);
        }
        let busy: Vec<JobName> = done.iter().filter(|job| job.total > 0).map(|job| job.job).collect();
        for job in [JobName::DemoteNotes, JobName::ExpireNotes, JobName::CompactNotes, JobName::IndexNotes] {
            assert!(busy.contains(&job), "{job} had nothing to do");
        }
        assert!(text(world, "memory.md").lines().count() <= 100);
        assert!(text(world, "projects/app.md").lines().count() <= 200);
        let undoable: Vec<_> = done.iter().rev().filter_map(|job| job.operation).collect();
        for operation in undoable {
            world.ask(Undo { operation });
        }
        assert_eq!(state(world), before, "undone to the byte");
    });
}
