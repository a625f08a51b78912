//! What could be done better, going by how recent tasks went and by what had to be noted more than once (spec M13).

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use chrono::NaiveDate;
use memoryd_proto::{Evaluation, Note, NoteKind, Shortcoming, ShortcomingKind};
use serde::{Deserialize, Serialize};

use crate::domain::text;

/// Sources that are named.
const SOURCES: usize = 5;

/// From when on something is worth a word.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// How many days back is looked, unless the caller says.
    pub days: u32,
    /// How often it must have happened.
    pub repeated: usize,
    /// The share of the tasks of a type that must have failed, 0 to 1.
    pub failing: f64,
}

impl Default for Rule {
    fn default() -> Self {
        Self { days: 14, repeated: 2, failing: 0.3 }
    }
}

/// Something that was used, and how the tasks went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// What it says.
    pub said: String,
    /// Where it is kept.
    pub source: String,
    /// Tasks in which it was used.
    pub uses: u64,
    /// Of them, those that succeeded.
    pub successes: u64,
}

/// What failed, and what was weak, in some tasks, newest first.
#[must_use]
pub fn of_tasks(tasks: &[Evaluation], rule: &Rule) -> Vec<Shortcoming> {
    let source = |task: &&Evaluation| format!("evaluation {} of {}", task.id, task.agent);
    let mut types: BTreeMap<&str, Vec<&Evaluation>> = BTreeMap::new();
    let mut weaknesses: BTreeMap<String, Vec<&Evaluation>> = BTreeMap::new();
    for task in tasks {
        types.entry(&task.task_type).or_default().push(task);
        let weak: HashSet<String> = task.weaknesses.iter().map(|said| without_numbers(said)).collect();
        for said in weak {
            weaknesses.entry(said).or_default().push(task);
        }
    }
    let failing = types.into_iter().filter_map(|(named, all)| {
        let failed: Vec<&&Evaluation> = all.iter().filter(|task| !task.success).collect();
        #[allow(clippy::cast_precision_loss, reason = "there are few tasks")]
        let share = failed.len() as f64 / all.len() as f64;
        let said = format!("{} of {} {named} tasks failed.", failed.len(), all.len());
        let sources = failed.iter().map(|task| source(task)).take(SOURCES).collect();
        (failed.len() >= rule.repeated && share >= rule.failing)
            .then_some((failed.len(), Shortcoming { kind: ShortcomingKind::TaskType, said, sources }))
    });
    let weak = weaknesses.into_iter().filter(|(_, weak)| weak.len() >= rule.repeated).map(|(said, weak)| {
        let said = format!("{} of {} tasks: {said}", weak.len(), tasks.len());
        let sources = weak.iter().map(source).take(SOURCES).collect();
        (weak.len(), Shortcoming { kind: ShortcomingKind::Weakness, said, sources })
    });
    heaviest_first(failing.chain(weak).collect())
}

/// Corrections, gaps and errors that came up again: of those that are noted on the same subject, at least one since a
/// day. Two are on the same subject if they say the same, or share most of their longer words.
#[must_use]
pub fn of_notes(notes: &[Note], since: NaiveDate, rule: &Rule) -> Vec<Shortcoming> {
    let logged = |note: &&Note| matches!(note.kind, NoteKind::Correction | NoteKind::Gap | NoteKind::Error);
    let mut notes: Vec<(&Note, HashSet<String>)> =
        notes.iter().filter(logged).map(|note| (note, words(said(note)))).collect();
    notes.sort_by_key(|(note, _)| (Reverse(note.date), &note.file, note.line));
    let mut told: HashSet<usize> = HashSet::new();
    let mut found = Vec::new();
    for (at, (note, about)) in notes.iter().enumerate() {
        if told.contains(&at) || note.date.is_none_or(|day| day < since) {
            continue;
        }
        let same = |(other, words): &(&Note, HashSet<String>)| {
            other.kind == note.kind && (other.id == note.id || alike(about, words))
        };
        let again: Vec<usize> = (0..notes.len()).filter(|n| !told.contains(n) && same(&notes[*n])).collect();
        if again.len() < rule.repeated {
            continue;
        }
        let how = if note.kind == NoteKind::Correction { "Put right" } else { "Came up" };
        let said = format!("{how} {} times: {}", again.len(), said(note));
        let source = |n: &usize| format!("{}:{}", notes[*n].0.file, notes[*n].0.line);
        let sources = again.iter().map(source).take(SOURCES).collect();
        found.push((again.len(), Shortcoming { kind: ShortcomingKind::Repeated, said, sources }));
        told.extend(again);
    }
    heaviest_first(found)
}

/// What was used and did not help in most of its tasks.
#[must_use]
pub fn of_uses(used: Vec<Used>, rule: &Rule) -> Vec<Shortcoming> {
    let misled = used.into_iter().filter_map(|Used { said, source, uses, successes }| {
        let failures = uses - successes;
        let misleads = failures >= rule.repeated as u64 && failures > successes;
        let said = format!("{failures} of {uses} tasks that used this failed: {said}");
        misleads.then(|| {
            (failures, Shortcoming { kind: ShortcomingKind::Misleading, said, sources: vec![source] })
        })
    });
    heaviest_first(misled.collect())
}

fn heaviest_first<N: Ord + Copy>(mut weighed: Vec<(N, Shortcoming)>) -> Vec<Shortcoming> {
    weighed.sort_by(|(n, one), (m, other)| {
        (one.kind, Reverse(n), &one.said).cmp(&(other.kind, Reverse(m), &other.said))
    });
    weighed.into_iter().map(|(_, one)| one).collect()
}

fn said(note: &Note) -> &str {
    note.rule.as_deref().unwrap_or(&note.title)
}

/// "Encountered 2 errors" and "Encountered 3 errors" are the same weakness.
fn without_numbers(said: &str) -> String {
    let is_number = |word: &&str| word.chars().all(|c| c.is_ascii_digit());
    said.split_whitespace().filter(|word| !is_number(word)).collect::<Vec<_>>().join(" ")
}

/// The words of a text that are long enough to say what it is about.
fn words(said: &str) -> HashSet<String> {
    let normal = text::normalise(said);
    let words = normal.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| word.chars().count() > 3).map(str::to_owned).collect()
}

fn alike(one: &HashSet<String>, other: &HashSet<String>) -> bool {
    let (shared, all) = (one.intersection(other).count(), one.union(other).count());
    shared > 1 && 2 * shared >= all
}

#[cfg(test)]
mod tests {
    use memoryd_proto::{Quality, Tier};

    use super::*;

    const RULE: Rule = Rule { days: 14, repeated: 2, failing: 0.3 };

    fn task(n: u32, task_type: &str, success: bool, weaknesses: &[&str]) -> Evaluation {
        Evaluation {
            id: format!("eval_{n}").parse().unwrap(),
            agent: "ada".parse().unwrap(),
            project: None,
            task: "A task".to_owned(),
            task_type: task_type.to_owned(),
            success,
            quality: Quality::new(50.0).unwrap(),
            criteria: Vec::new(),
            time_taken_ms: None,
            tokens_used: None,
            strengths: Vec::new(),
            weaknesses: weaknesses.iter().map(|said| (*said).to_owned()).collect(),
            insights: Vec::new(),
            recall: None,
            used: Vec::new(),
            notes: None,
            at: "2026-01-05T09:00:00Z".parse().unwrap(),
        }
    }

    fn note(line: u64, kind: NoteKind, day: u32, rule: &str) -> Note {
        Note {
            id: rule.to_lowercase(),
            file: "/tree/corrections.md".to_owned(),
            line,
            tier: Tier::Corrections,
            kind,
            section: None,
            title: "A title".to_owned(),
            date: NaiveDate::from_ymd_opt(2026, 1, day),
            rule: Some(rule.to_owned()),
            text: String::new(),
            words: Vec::new(),
        }
    }

    fn told(found: &[Shortcoming]) -> Vec<&str> {
        found.iter().map(|one| one.said.as_str()).collect()
    }

    #[test]
    fn m13_types_of_tasks_that_fail_and_weaknesses_that_come_back_are_told() {
        let mut tasks = vec![
            task(1, "debug", false, &["Encountered 2 errors"]),
            task(2, "debug", false, &["Encountered 3 errors", "Required 1 retries"]),
            task(3, "debug", true, &[]),
        ];
        tasks.extend((4..14).map(|n| task(n, "docs", n > 5, &[])));
        let found = of_tasks(&tasks, &RULE);
        assert_eq!(told(&found), ["2 of 3 debug tasks failed.", "2 of 13 tasks: Encountered errors"]);
        assert_eq!(found[0].sources, ["evaluation eval_1 of ada", "evaluation eval_2 of ada"]);
    }

    #[test]
    fn m13_what_had_to_be_put_right_again_is_told_once() {
        let (correction, gap) = (NoteKind::Correction, NoteKind::Gap);
        let notes = [
            note(5, correction, 2, "Always answer in short sentences."),
            note(9, correction, 8, "Answer in short sentences, please"),
            note(13, correction, 9, "Use tabs in makefiles"),
            note(17, gap, 9, "Answer in short sentences"),
            note(21, correction, 1, "Squash commits before merging"),
            note(25, correction, 1, "Squash commits before merging"),
        ];
        let since = NaiveDate::from_ymd_opt(2026, 1, 5).unwrap();
        let found = of_notes(&notes, since, &RULE);
        assert_eq!(told(&found), ["Put right 2 times: Answer in short sentences, please"]);
        assert_eq!(found[0].sources, ["/tree/corrections.md:9", "/tree/corrections.md:5"]);
    }

    #[test]
    fn m13_what_was_used_in_vain_is_told() {
        let used = |uses, successes| {
            let (said, source) = (format!("{successes}/{uses}"), "improvement x".to_owned());
            Used { said, source, uses, successes }
        };
        let found = of_uses(vec![used(2, 1), used(3, 1), used(1, 0), used(9, 7), used(5, 0)], &RULE);
        let vain = ["5 of 5 tasks that used this failed: 0/5", "2 of 3 tasks that used this failed: 1/3"];
        assert_eq!(told(&found), vain);
    }
}
