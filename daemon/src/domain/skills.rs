//! Which learnings are worth being a skill (spec M12). The criteria are the seed's, and any one is enough:
//!
//! - *recurring*: noted in several files, or used in several tasks;
//! - *verified*: used in tasks most of which succeeded;
//! - *non-obvious*: an error or a gap with a takeaway whose situation took many words to tell, as what had to be
//!   investigated does;
//! - *broad*: kept in `domains/`, noted in several projects, or used in several;
//! - *asked*: its text says that the user wants it saved as a skill.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasher;

use memoryd_proto::{Note, NoteKind, Place, SkillCandidate, SkillCriterion, SkillEvidence, Tier};

use serde::{Deserialize, Serialize};

use crate::domain::markdown::{self, Entry};

/// The status of a learning that became a skill.
pub const PROMOTED: &str = "promoted_to_skill";

/// The longest name of a skill.
const LONGEST: usize = 64;

/// How a user asks for a skill.
const ASKS: [&str; 6] = [
    "save this as a skill",
    "save that as a skill",
    "save it as a skill",
    "make this a skill",
    "make it a skill",
    "into a skill",
];

/// From when on a criterion is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// Files in which it is noted, or tasks in which it was used.
    pub recurring: u64,
    /// Tasks in which it was used and that succeeded.
    pub successes: u64,
    /// Projects in which it is noted, or was used.
    pub projects: u64,
    /// Words of the situation.
    pub words: usize,
}

impl Default for Rule {
    fn default() -> Self {
        Self { recurring: 3, successes: 2, projects: 2, words: 30 }
    }
}

/// How a note was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Tasks in which it was used.
    pub tasks: u64,
    /// Of them, those that succeeded.
    pub successes: u64,
    /// Projects in which it was used.
    pub projects: u64,
}

/// The learnings that meet a criterion: those that meet the most first, then the most used, then by place. `uses` has
/// the usage of notes by their id.
#[must_use]
pub fn candidates<S: BuildHasher>(
    notes: &[Note],
    uses: &HashMap<String, Uses, S>,
    rule: &Rule,
) -> Vec<SkillCandidate> {
    let mut said: BTreeMap<&str, Vec<&Note>> = BTreeMap::new();
    for note in notes.iter().filter(|note| is_learning(note)) {
        said.entry(&note.id).or_default().push(note);
    }
    let tally = |id: &str| uses.get(id).copied().unwrap_or_default();
    let mut candidates: Vec<SkillCandidate> = said
        .into_values()
        .filter_map(|mut places| {
            places.sort_by_key(|note| (note.tier, Reverse(note.date), &note.file, note.line));
            candidate(&places, tally(&places[0].id), rule)
        })
        .collect();
    candidates.sort_by_cached_key(|one| {
        let note = &one.note;
        (Reverse((one.met.len(), tally(&note.id).tasks)), note.tier, note.file.clone(), note.line)
    });
    candidates
}

/// Whether a note can become a skill at all. What the user prefers is no ability.
fn is_learning(note: &Note) -> bool {
    let is_preference = note.tier == Tier::Hot && note.section.as_deref() == Some(markdown::PREFERENCES);
    note.kind != NoteKind::Prose && !matches!(note.tier, Tier::Index | Tier::Cold) && !is_preference
}

/// The candidate that some notes make which all say the same, the most specific first.
fn candidate(places: &[&Note], used: Uses, rule: &Rule) -> Option<SkillCandidate> {
    let note = *places.first()?;
    let mut met = Vec::new();
    let mut judge = |criterion, evidence: Option<String>| {
        met.extend(evidence.map(|evidence| SkillEvidence { criterion, evidence }));
    };
    let done = places.iter().any(|note| read(note, |entry| entry.is_marked(PROMOTED)) == Some(true));
    if done {
        return None;
    }
    judge(SkillCriterion::Recurring, recurring(places, used, rule));
    judge(SkillCriterion::Verified, verified(used, rule));
    judge(SkillCriterion::NonObvious, places.iter().find_map(|note| non_obvious(note, rule)));
    judge(SkillCriterion::Broad, broad(places, used, rule));
    let asks = |note: &&&Note| {
        let text = note.text.to_lowercase();
        ASKS.iter().any(|phrase| text.contains(phrase))
    };
    judge(
        SkillCriterion::Asked,
        places.iter().find(asks).map(|note| format!("its text asks for it, in {}", at(note))),
    );
    let place = |note: &&Note| Place { file: note.file.clone(), line: Some(note.line) };
    (!met.is_empty()).then(|| SkillCandidate {
        note: note.clone(),
        places: places.iter().map(place).collect(),
        met,
        name: name(&note.title),
    })
}

fn recurring(places: &[&Note], used: Uses, rule: &Rule) -> Option<String> {
    let files = places.iter().map(|note| &note.file).collect::<BTreeSet<_>>().len() as u64;
    if used.tasks >= rule.recurring {
        return Some(format!("used in {} tasks", used.tasks));
    }
    (files >= rule.recurring).then(|| format!("noted in {files} files"))
}

fn verified(used: Uses, rule: &Rule) -> Option<String> {
    let works = used.successes >= rule.successes && 2 * used.successes > used.tasks;
    works.then(|| format!("{} of {} tasks that used it succeeded", used.successes, used.tasks))
}

fn non_obvious(note: &Note, rule: &Rule) -> Option<String> {
    let what = match note.kind {
        NoteKind::Error => "an error",
        NoteKind::Gap => "a gap",
        NoteKind::Correction
        | NoteKind::Pattern
        | NoteKind::Line
        | NoteKind::Insight
        | NoteKind::Reflection
        | NoteKind::Prose => return None,
    };
    note.rule.as_ref()?;
    let words = read(note, |entry| entry.situation().split_whitespace().count())?;
    (words >= rule.words).then(|| format!("{what} that took {words} words to tell, in {}", at(note)))
}

fn broad(places: &[&Note], used: Uses, rule: &Rule) -> Option<String> {
    let local = |note: &&&Note| matches!(note.tier, Tier::Local | Tier::Project);
    let projects = places.iter().filter(local).map(|note| &note.file).collect::<BTreeSet<_>>().len() as u64;
    if used.projects >= rule.projects {
        Some(format!("used in {} projects", used.projects))
    } else if projects >= rule.projects {
        Some(format!("noted of {projects} projects"))
    } else {
        places.iter().find(|note| note.tier == Tier::Domain).map(|note| format!("in {}", at(note)))
    }
}

fn at(note: &Note) -> String {
    format!("{}:{}", note.file, note.line)
}

/// What the entry of a note says.
fn read<T>(note: &Note, of: impl FnOnce(&Entry<'_>) -> T) -> Option<T> {
    let blocks = markdown::parse(&note.text);
    markdown::entries(&note.text, &blocks).first().map(of)
}

/// The name of a skill that is about this, if it has a letter or digit that a name may have.
#[must_use]
pub fn name(title: &str) -> Option<String> {
    let lower = title.to_ascii_lowercase().replace(['\'', '\u{2019}'], "");
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = String::new();
    for word in words {
        let longer = if name.is_empty() { word.to_owned() } else { format!("{name}-{word}") };
        if longer.len() > LONGEST {
            break;
        }
        name = longer;
    }
    is_name(&name).then_some(name)
}

/// Whether this can be a skill's name: up to 64 lower-case letters, digits and single hyphens between them.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.len() <= LONGEST && name.split('-').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule { recurring: 3, successes: 2, projects: 2, words: 6 };

    fn note(tier: Tier, kind: NoteKind, file: &str, text: &str) -> Note {
        let blocks = markdown::parse(text);
        let entry = &markdown::entries(text, &blocks)[0];
        Note {
            id: entry.id(),
            file: file.to_owned(),
            line: 5,
            tier,
            kind,
            section: None,
            title: entry.title.clone(),
            date: None,
            rule: entry.rule().map(str::to_owned),
            text: text.to_owned(),
            words: Vec::new(),
        }
    }

    fn learning(kind: &str, situation: &str) -> String {
        format!(
            "### [{kind}] Linking fails\n**Context**: building\n\n{situation}\n\n**Rule**: Link with one job.\n"
        )
    }

    fn met(notes: &[Note], uses: Uses) -> Vec<SkillCriterion> {
        let uses = HashMap::from([(notes[0].id.clone(), uses)]);
        let found = candidates(notes, &uses, &RULE);
        found.first().map_or_else(Vec::new, |one| one.met.iter().map(|met| met.criterion).collect())
    }

    const NONE: Uses = Uses { tasks: 0, successes: 0, projects: 0 };

    #[test]
    fn m12_each_criterion_is_met_by_its_evidence() {
        let short = note(Tier::Local, NoteKind::Error, "a", &learning("error", "It broke."));
        let one = std::slice::from_ref(&short);
        assert_eq!(met(one, NONE), []);
        assert_eq!(met(one, Uses { tasks: 3, ..NONE }), [SkillCriterion::Recurring]);
        assert_eq!(met(one, Uses { tasks: 2, successes: 2, ..NONE }), [SkillCriterion::Verified]);
        let mixed = Uses { tasks: 5, successes: 2, projects: 1 };
        assert_eq!(met(one, mixed), [SkillCriterion::Recurring], "most of its uses failed");
        assert_eq!(met(one, Uses { tasks: 2, projects: 2, ..NONE }), [SkillCriterion::Broad]);
        let long = learning("gap", "The linker wanted more memory than there is.");
        let long = note(Tier::Local, NoteKind::Gap, "a", &long);
        assert_eq!(met(&[long], NONE), [SkillCriterion::NonObvious]);
        let asked = learning("pattern", "The user said: Save this as a skill!");
        assert_eq!(met(&[note(Tier::Local, NoteKind::Pattern, "a", &asked)], NONE), [SkillCriterion::Asked]);
        let other = Note { file: "b".to_owned(), ..short.clone() };
        assert_eq!(met(&[short.clone(), other.clone()], NONE), [SkillCriterion::Broad]);
        let hot = note(Tier::Hot, NoteKind::Line, "memory.md", "- **Link with one job.**");
        assert_eq!(met(&[short, other, hot], NONE), [SkillCriterion::Recurring, SkillCriterion::Broad]);
        let domain = note(Tier::Domain, NoteKind::Line, "code.md", "- Link with one job");
        assert_eq!(met(&[domain], NONE), [SkillCriterion::Broad]);
    }

    #[test]
    fn m12_what_is_a_skill_a_preference_or_archived_is_no_candidate() {
        let uses = Uses { tasks: 9, successes: 9, projects: 9 };
        let line =
            note(Tier::Domain, NoteKind::Line, "code.md", "- Use tabs\n  **Status**: promoted_to_skill");
        let elsewhere = note(Tier::Local, NoteKind::Line, "x", "- Use tabs");
        assert_eq!(met(&[elsewhere, line], uses), []);
        let section = Some("Preferences".to_owned());
        let preference = Note { section, ..note(Tier::Hot, NoteKind::Line, "memory.md", "- Use tabs") };
        assert_eq!(met(&[preference], uses), []);
        assert_eq!(met(&[note(Tier::Cold, NoteKind::Line, "old.md", "- Use tabs")], uses), []);
    }

    #[test]
    fn m12_the_most_specific_of_the_best_comes_first() {
        let line = |tier, text: &str| note(tier, NoteKind::Line, "f", text);
        let notes = [line(Tier::Domain, "- One"), line(Tier::Domain, "- Two"), line(Tier::Project, "- Two")];
        let uses = HashMap::from([(notes[1].id.clone(), Uses { tasks: 4, ..NONE })]);
        let found = candidates(&notes, &uses, &RULE);
        let told: Vec<_> =
            found.iter().map(|one| (one.note.tier, one.note.title.as_str(), one.places.len())).collect();
        assert_eq!(told, [(Tier::Project, "Two", 2), (Tier::Domain, "One", 1)]);
        assert_eq!(found[0].met[0].evidence, "used in 4 tasks");
    }

    #[test]
    fn m12_names_are_lower_case_words() {
        assert_eq!(name("Don't link: USE `one` job!").as_deref(), Some("dont-link-use-one-job"));
        assert_eq!(name("記憶"), None);
        let long = name(&"word ".repeat(30)).unwrap();
        assert!(long.len() <= 64 && long.ends_with("-word"), "{long}");
        for wrong in ["", "-a", "a-", "a--b", "A", "a_b", "../a", "é", &"a".repeat(65)] {
            assert!(!is_name(wrong), "{wrong}");
        }
        assert!(is_name("a") && is_name("a-1-b"));
    }
}
