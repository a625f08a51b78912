#![allow(clippy::unwrap_used, reason = "a test fails where it is wrong")]

use chrono::NaiveDate;
use memoryd_proto::NoteKind;
use proptest::prelude::*;

use super::*;

fn day() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 1, 5).unwrap()
}

fn printed(source: &str) -> String {
    parse(source).iter().map(|block| block.text).collect()
}

fn read(source: &str) -> Vec<Entry<'_>> {
    entries(source, &parse(source))
}

/// Markdown as people write it: a bit of everything.
const REAL: &str = "\u{feff}---\ntitle: x\n---\n# 記憶 🧠\n\nProse with\nlines.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```md\n### [error] in code\n- item in code\n```\n<!--\n### [error] in a comment\n-->\n<div>\n### not closed\n</div>\n\n1. one\n   - two\n\n     three\n\n- four\nlazy\n* * *\nno newline";

#[test]
fn m2_real_markdown_is_printed_byte_for_byte() {
    for source in
        [REAL.to_owned(), REAL.replace('\n', "\r\n"), String::new(), "\n".to_owned(), "---\n".to_owned()]
    {
        assert_eq!(printed(&source), source);
    }
}

#[test]
fn m2_code_and_comments_hold_no_entries() {
    let titles: Vec<String> = read(REAL).into_iter().map(|entry| entry.title).collect();
    assert!(titles.iter().all(|title| !title.contains("in ") && !title.contains("item")), "{titles:?}");
    assert_eq!(titles.iter().filter(|title| *title == "four" || *title == "one").count(), 2, "{titles:?}");
}

#[test]
fn m2_what_is_written_is_read_back() {
    let text = learning(day(), "error", ["It broke", "building", "The linker\nfailed.", "Pin it."]);
    let entry = &read(&text)[0];
    assert_eq!(
        (entry.kind, entry.title.as_str(), entry.rule()),
        (NoteKind::Error, "It broke", Some("Pin it."))
    );
    assert_eq!((entry.date(), entry.field("Context")), (Some(day()), Some("building")));

    let text = correction(day(), "general", ["Tabs", "formatting", "Use tabs", "Always use tabs."]);
    let entry = &read(&text)[0];
    assert_eq!(
        (entry.kind, entry.date(), entry.rule()),
        (NoteKind::Correction, Some(day()), Some("Always use tabs."))
    );
    assert_eq!((entry.field("Project"), entry.field("Correction")), (Some("general"), Some("Use tabs")));

    let text = hot_line(day(), "app/build", "Use (plain) tabs");
    let entry = &read(&text)[0];
    assert_eq!(
        (entry.kind, entry.title.as_str(), entry.date()),
        (NoteKind::Line, "Use (plain) tabs", Some(day()))
    );
    assert_eq!(entry.field("from"), Some("app/build"));

    let at = day().and_hms_opt(9, 30, 0).unwrap();
    let text = insight(at, ["Auth", "app / login", "code", "It needs a header.", "Send the header."]);
    let entry = &read(&text)[0];
    assert_eq!(
        (entry.kind, entry.title.as_str(), entry.rule()),
        (NoteKind::Insight, "Auth", Some("Send the header."))
    );
    assert_eq!((entry.field("Date"), entry.field("Relevance")), (Some("2026-01-05 09:30"), Some("code")));

    let text = reflection(["refactoring", "too large", "smaller steps"]);
    let entry = &read(&text)[0];
    assert_eq!(
        (entry.kind, entry.title.as_str(), entry.rule()),
        (NoteKind::Reflection, "refactoring", Some("smaller steps"))
    );
}

#[test]
fn m2_the_examples_of_the_seed_are_entries() {
    let examples = [
        (
            "### [correction|error|pattern|gap] short summary\n**Date**: YYYY-MM-DD\n**Context**: what was happening\n\nWhat went wrong / what was learned:\nDescription of the situation.\n\n**Rule**: the takeaway (one sentence).\n",
            NoteKind::Correction,
            Some("the takeaway (one sentence)."),
        ),
        (
            "### [date] short summary\n**Project**: project-name (or \"general\")\n**Context**: what was happening\n\n**Correction**: what the user said.\n**Rule**: the permanent takeaway.\n",
            NoteKind::Correction,
            Some("the permanent takeaway."),
        ),
        ("- **Rule text** (from: project/area, first noted: date)\n", NoteKind::Line, None),
        (
            "CONTEXT: [type of task]\nREFLECTION: [what I noticed]\nLESSON: [what to do differently — log if reusable]\n",
            NoteKind::Reflection,
            Some("[what to do differently — log if reusable]"),
        ),
        (
            "# Topic Title\n**From**: project-name / task description\n**Date**: YYYY-MM-DD HH:MM\n**Relevance**: writing | code | general | project-name\n\nWhat was learned or discovered:\nBrief description.\n\n**Actionable rule**: one sentence the other session can apply.\n",
            NoteKind::Insight,
            Some("one sentence the other session can apply."),
        ),
    ];
    for (source, kind, rule) in examples {
        let found = read(source);
        assert_eq!(found.len(), 1, "{source}");
        assert_eq!((found[0].kind, found[0].rule(), found[0].date()), (kind, rule, None), "{source}");
        assert_eq!(found[0].text, source.trim_end());
    }
}

#[test]
fn m2_a_text_that_looks_like_markdown_stays_within_its_entry() {
    for situation in [
        "### [error] inner\ntext",
        "# Top",
        "```sh\nnever closed",
        "<!-- never closed",
        "---\na\n---",
        "CONTEXT: a\nREFLECTION: b\nLESSON: c",
    ] {
        let one = learning(day(), "gap", ["One\n### [error] two", "# here", situation, "## Rule"]);
        let both = format!("{one}\n{}", learning(day(), "error", ["Two", "c", "s", "r"]));
        let found = read(&both);
        assert_eq!(found.len(), 2, "{both}");
        assert_eq!((found[0].rule(), found[1].rule()), (Some("Rule"), Some("r")), "{both}");
    }
}

#[test]
fn an_id_survives_moves_and_light_edits_and_tells_rules_apart() {
    let id = |source: &str| read(source).pop().unwrap().id();
    let rule = id("- **Use tabs, always** (from: app, first noted: 2026-01-05)\n");
    assert_eq!(id("# Elsewhere\n\n\n* use  tabs always.\n"), rule);
    assert_eq!(id(&correction(day(), "app", ["Other", "words", "here", "Use tabs always!"])), rule);
    assert_ne!(id("- Never use tabs\n"), rule);
    assert_ne!(id("- Use --tabs always\n"), rule);
}

#[test]
fn edits_put_entries_where_they_belong() {
    let memory = "# Global Memory\n\n## Rules\n\n## Preferences\n\n## Patterns\n\n---\n";
    let (one, line) = edit::append(memory, Some("Preferences"), "- a\n");
    assert_eq!(
        (one.as_str(), line),
        ("# Global Memory\n\n## Rules\n\n## Preferences\n\n- a\n\n## Patterns\n\n---\n", 7)
    );
    let (two, line) = edit::append(&one, Some("preferences"), "- b\n");
    assert_eq!((&two[..48], line), ("# Global Memory\n\n## Rules\n\n## Preferences\n\n- a\n-", 8));
    let (three, line) = edit::append(&two, Some("Patterns"), "- c\n");
    assert!(three.ends_with("## Patterns\n\n- c\n\n---\n"), "{three}");
    assert_eq!(three.lines().nth(line - 1), Some("- c"));
    let (other, line) = edit::append("# X\r\n\r\ntext", Some("Rules"), "- d\n");
    assert_eq!((other.as_str(), line), ("# X\r\n\r\ntext\r\n\r\n## Rules\r\n\r\n- d\r\n", 7));
    let (log, line) = edit::append("# Log\n\n---\n", None, "### [error] x\n");
    assert_eq!((log.as_str(), line), ("# Log\n\n---\n\n### [error] x\n", 5));
    let (open, _) = edit::append("# Log\n\n```\nopen\n", None, "### [error] x\n");
    assert_eq!(read(&open)[0].title, "x", "{open}");
}

#[test]
fn a_mark_is_a_field_of_its_entry() {
    for source in ["# T\n**From**: a\n\nbody\n", "### [error] x\r\nbody\r\n", "### [error] x"] {
        let span = read(source)[0].span.clone();
        let marked = edit::mark(source, &span, STATUS, "promoted");
        let found = read(&marked);
        assert_eq!((found.len(), found[0].field("Status")), (1, Some("promoted")), "{marked}");
        let (before, after) = marked.split_once("**Status**: promoted").unwrap();
        assert!(source.starts_with(before.trim_end()) && source.ends_with(after.trim_start()), "{marked}");
    }
}

fn documents() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "---\n",
        "# A\n",
        "## Rules\n",
        "### [error] x\n",
        "### [2026-01-05] y\n",
        "**Rule**: z\n",
        "- a\n",
        "  b\n",
        "1. c\n",
        "```\n",
        "~~~~\n",
        "<!--\n",
        "-->\n",
        "<b>\n",
        "| a |\n",
        "\n",
        "\n\n",
        "CONTEXT: a\n",
        "LESSON: b\n",
        "text\n",
        "text\r\n",
        "\u{feff}",
        "文字\n",
        "🦀 x\n",
        "\t- d\n",
        "\r",
        "a",
        "#",
        "**From**: q\n",
    ]);
    prop::collection::vec(prop_oneof![4 => pieces.prop_map(str::to_owned), 1 => any::<String>()], 0..24)
        .prop_map(|pieces| pieces.concat())
}

#[test]
fn m11_whatever_is_marked_says_the_same_as_before() {
    let texts = [
        learning(day(), "error", ["It broke", "building", "The linker\nfailed.", "Pin it."]),
        correction(day(), "general", ["Tabs", "formatting", "Use tabs", "Always use tabs."]),
        hot_line(day(), "app/build", "Use tabs"),
        "1. Use tabs,\n   always\n\n   - not spaces".to_owned(),
        reflection(["refactoring", "too large", "smaller steps"]),
        "CONTEXT: a\n\nREFLECTION: b\n\nLESSON: c\nand d".to_owned(),
        "### [gap] bare".to_owned(),
    ];
    for text in texts {
        for source in [format!("# Top\n\n{text}\n\n# Next\n\n- other"), text.replace('\n', "\r\n"), text] {
            let one = read(&source)[0].clone();
            assert!(!one.is_marked("promoted"));
            let marked = edit::mark(&source, &one.span, STATUS, "promoted");
            let found = read(&marked);
            assert_eq!(found.len(), read(&source).len(), "{marked}");
            assert!(found[0].is_marked("promoted"), "{marked}");
            assert_eq!((found[0].id(), found[0].situation()), (one.id(), one.situation()), "{marked}");
            let (line, added) = edit::added(&source, &marked);
            assert!(added.iter().any(|line| line.to_ascii_lowercase().contains("status")), "{added:?}");
            assert!(line >= one.line);
            let again = edit::mark(&marked, &found[0].span, STATUS, "else");
            assert!(read(&again)[0].is_marked("promoted") && read(&again)[0].is_marked("else"), "{again}");
        }
    }
}

#[test]
fn the_situation_is_what_is_told_beside_the_labels() {
    let told = |text: &str| read(text)[0].situation();
    let text =
        learning(day(), "error", ["It broke", "building", "The linker\nfailed.\n\n- twice", "Pin it."]);
    assert_eq!(told(&text), "The linker\nfailed.\n\n- twice");
    assert_eq!(told(&correction(day(), "x", ["Tabs", "formatting", "Use tabs", "Always."])), "Use tabs");
    assert_eq!(told(&reflection(["refactoring", "too large", "smaller steps"])), "too large");
    assert_eq!(told("- **Use tabs**\n  always"), "");
}

proptest! {
    #[test]
    fn m2_every_text_is_printed_byte_for_byte(source in documents()) {
        prop_assert_eq!(printed(&source), source);
    }

    #[test]
    fn entries_are_pieces_of_the_text_in_order(source in documents()) {
        let mut end = 0;
        for entry in read(&source) {
            prop_assert!(entry.span.start >= end);
            prop_assert_eq!(&source[entry.span.clone()], entry.text);
            prop_assert_eq!(source[..entry.span.start].matches('\n').count() + 1, entry.line);
            end = entry.span.end;
        }
    }

    #[test]
    fn an_appended_entry_is_found_on_its_line_and_nothing_else_changes(
        source in documents(),
        section in prop::option::of(Just("Rules")),
    ) {
        let before: Vec<String> = read(&source).iter().map(|entry| entry.text.to_owned()).collect();
        let (after, line) = edit::append(&source, section, &hot_line(day(), "here", "a new rule"));
        let at = (0..=source.len()).find(|at| source.is_char_boundary(*at)
            && after.starts_with(&source[..*at]) && after.ends_with(&source[*at..]));
        prop_assert!(at.is_some());
        let found = read(&after);
        // Within an entry that is open at the end, a list item is part of that.
        let inside = found.iter().any(|entry| entry.kind != NoteKind::Line && entry.text.contains("a new rule"));
        let own = found.iter().find(|entry| entry.title == "a new rule");
        prop_assert!(inside || own.is_some_and(|own| own.line == line), "{after:?}");
        prop_assert!(after.lines().nth(line - 1).unwrap().contains("a new rule"));
        // A fence that is not closed is no longer within the entry before it.
        let open = parse(&source).iter().any(|block| block.kind == Kind::Opaque { closed: false });
        if !inside && !open {
            let others: Vec<String> = found.iter().filter(|entry| entry.title != "a new rule")
                .map(|entry| entry.text.to_owned()).collect();
            prop_assert_eq!(others, before);
        }
    }

    #[test]
    fn removing_an_entry_leaves_the_others(source in documents(), nth in any::<prop::sample::Index>()) {
        let entries = read(&source);
        if !entries.is_empty() {
            let gone = nth.get(&entries);
            let after = edit::remove(&source, std::slice::from_ref(&gone.span));
            prop_assert!(after.starts_with(&source[..gone.span.start]));
            prop_assert!(source.ends_with(&after[gone.span.start..]));
        }
    }
}
