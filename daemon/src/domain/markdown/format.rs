//! Entries as the seed writes them (spec M2).

use chrono::{NaiveDate, NaiveDateTime};

use super::entry::is_reflection;
use super::lines::heading;
use super::{Kind, parse};
use crate::domain::text::excerpt;

/// The section of `memory.md` for what the user prefers.
pub const PREFERENCES: &str = "Preferences";

/// Characters of a skill's description, of which there may be 1,024.
const DESCRIPTION: usize = 1000;

/// The section of `memory.md` for rules.
pub const RULES: &str = "Rules";

/// The section of a project's `CLAUDE.md` for rules that were learned.
pub const LEARNED: &str = "Learned";

/// A learning of a project; `kind` stands in the brackets of its heading.
#[must_use]
pub fn learning(day: NaiveDate, kind: &str, [summary, context, situation, rule]: [&str; 4]) -> String {
    format!(
        "### [{kind}] {}\n**Date**: {day}\n**Context**: {}\n\nWhat went wrong / what was learned:\n{}\n\n**Rule**: {}\n",
        line(summary),
        line(context),
        body(situation),
        line(rule)
    )
}

/// A correction by the user.
#[must_use]
pub fn correction(day: NaiveDate, project: &str, [summary, context, said, rule]: [&str; 4]) -> String {
    format!(
        "### [{day}] {}\n**Project**: {project}\n**Context**: {}\n\n**Correction**: {}\n**Rule**: {}\n",
        line(summary),
        line(context),
        line(said),
        line(rule)
    )
}

/// A line of `memory.md`.
#[must_use]
pub fn hot_line(day: NaiveDate, from: &str, rule: &str) -> String {
    format!("- **{}** (from: {}, first noted: {day})\n", line(rule).replace("**", ""), line(from))
}

/// An insight for other sessions.
#[must_use]
pub fn insight(at: NaiveDateTime, [title, from, relevance, insight, rule]: [&str; 5]) -> String {
    format!(
        "# {}\n**From**: {}\n**Date**: {}\n**Relevance**: {}\n\nWhat was learned or discovered:\n{}\n\n**Actionable rule**: {}\n",
        line(title),
        line(from),
        at.format("%Y-%m-%d %H:%M"),
        line(relevance),
        body(insight),
        line(rule)
    )
}

/// A rule of a project.
#[must_use]
pub fn rule(rule: &str) -> String {
    format!("- {}\n", line(rule).trim_start_matches(['-', '*', '+', ' ']))
}

/// What a skill says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is about, in a line.
    pub title: &'a str,
    /// What is to be done.
    pub rule: &'a str,
    /// What was happening when it was learned; may be empty.
    pub context: &'a str,
    /// What went wrong, or what was learned; may be empty.
    pub situation: &'a str,
    /// Where it was learned, a line each.
    pub sources: &'a [String],
}

/// A skill: its name and description for whoever chooses one, and all that is needed to apply it.
#[must_use]
pub fn skill(skill: &Skill<'_>) -> String {
    let (title, rule, context) = (line(skill.title), line(skill.rule), line(skill.context));
    let mut told =
        if title == rule { rule.clone() } else { format!("{}: {rule}", title.trim_end_matches(['.', ':'])) };
    if !context.is_empty() {
        told = format!("{} Use it for: {context}", ended(&told));
    }
    // A JSON string is one in YAML too.
    let description = serde_json::Value::from(excerpt(&told.replace(char::is_control, " "), DESCRIPTION));
    let mut text =
        format!("---\nname: {}\ndescription: {description}\n---\n\n# {title}\n\n{rule}\n", skill.name);
    let sources =
        skill.sources.iter().map(|source| format!("- {}", line(source))).collect::<Vec<_>>().join("\n");
    for (heading, body) in
        [("When to use it", context), ("What happened", body(skill.situation)), ("Source", sources)]
    {
        if !body.is_empty() {
            text.extend(["\n## ", heading, "\n\n", &body, "\n"]);
        }
    }
    text
}

fn ended(sentence: &str) -> String {
    if sentence.ends_with(['.', '!', '?']) { sentence.to_owned() } else { format!("{sentence}.") }
}

/// What a task taught whoever did it.
#[must_use]
pub fn reflection([context, reflection, lesson]: [&str; 3]) -> String {
    format!("CONTEXT: {}\nREFLECTION: {}\nLESSON: {}\n", line(context), line(reflection), line(lesson))
}

/// A title as part of a file's name: lower case, words joined by `-`.
#[must_use]
pub fn slug(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.map(str::to_lowercase).collect::<Vec<_>>().join("-");
    let short = excerpt(&slug, 60).trim_end_matches(['…', '-']).to_owned();
    if short.is_empty() { "insight".to_owned() } else { short }
}

/// Text as one line that is no heading.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").trim_start_matches('#').trim_start().to_owned()
}

/// Text of several lines that ends no entry and begins none: headings and reflections are escaped, and a fence or comment that would
/// swallow what comes after it is closed.
fn body(text: &str) -> String {
    let text = text.trim();
    let mut tidy = String::with_capacity(text.len());
    for block in parse(text) {
        match block.kind {
            Kind::Opaque { closed: false } if block.text.trim_start().starts_with("<!--") => {
                tidy.push_str(block.text);
                tidy.push_str("\n-->");
            }
            Kind::Opaque { closed: false } => {
                let mark = block.text.trim_start().chars().next().unwrap_or('`');
                let length = block.text.trim_start().chars().take_while(|c| *c == mark).count();
                tidy.push_str(block.text);
                tidy.push('\n');
                tidy.extend(std::iter::repeat_n(mark, length));
            }
            Kind::Opaque { closed: true } => tidy.push_str(block.text),
            Kind::Text if is_reflection(block.text) => {
                tidy.push('\\');
                tidy.push_str(block.text.trim_start());
            }
            Kind::FrontMatter
            | Kind::Heading { .. }
            | Kind::Break
            | Kind::Blank
            | Kind::Item
            | Kind::Text => {
                for one in block.text.split_inclusive('\n') {
                    if heading(one.trim_end_matches(['\n', '\r'])).is_some() {
                        tidy.push('\\');
                        tidy.push_str(one.trim_start());
                    } else {
                        tidy.push_str(one);
                    }
                }
            }
        }
    }
    tidy
}
