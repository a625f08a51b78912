//! Promotion and demotion: notes go where they are loaded as often as they are used (spec M5, M6).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use memoryd_proto::{NoteKind, Tier};

use super::{Draft, Item, Known, lines};
use crate::domain::markdown::{self, PREFERENCES, RULES, edit};

/// The section of `memory.md` for patterns.
const PATTERNS: &str = "Patterns";

/// The field of work of what names none.
const GENERAL: &str = "general";

/// The label under which an entry says what became of it.
const STATUS: &str = "Status";

/// When a note is promoted.
#[derive(Clone, Copy, Debug)]
pub struct Promoting<'a> {
    /// Recent successes from which a note is a rule that is always loaded.
    pub successes: u64,
    /// Projects from which a project's note is one of a field of work.
    pub projects: u64,
    /// Lines that `memory.md` may have.
    pub lines: usize,
    /// What is in a new `memory.md`.
    pub header: &'a str,
}

/// When a note is demoted.
#[derive(Clone, Copy, Debug)]
pub struct Demoting<'a> {
    /// Days without use after which a note is no longer always loaded.
    pub hot: i64,
    /// Days without use after which it goes to the archive.
    pub warm: i64,
    /// The names of projects that are known.
    pub projects: &'a BTreeSet<String>,
    /// Projects from which a note is one of a field of work.
    pub useful_in: u64,
}

/// Makes rules of what succeeds again and again, and patterns of a field of work of what is useful in several projects.
/// Returns how many rules there was no room for: they stay where they are.
///
/// A line of a file in `projects/` or `domains/` is moved, because a line says nothing but its rule, and two would have
/// to be kept alike. An entry with a heading says more, so it stays, and is marked. A project's own learnings stay as
/// they are but for the mark. A preference stays where it is, and is one where it goes, too.
pub fn promote(draft: &mut Draft, known: &Known<'_>, rule: &Promoting<'_>) -> usize {
    let memory = draft.root().join("memory.md");
    let tiers = [Tier::Local, Tier::Project, Tier::Domain, Tier::Shared, Tier::Corrections];
    let mut notes = newest(draft, &tiers);
    notes.sort_by_key(|item| {
        let used = known.of(&item.id);
        (std::cmp::Reverse((used.recent_successes, used.last_used)), item.id.clone())
    });
    let (mut full, mut promoted) = (0, BTreeSet::new());
    for item in &notes {
        let successes = known.of(&item.id).recent_successes;
        if successes < rule.successes || item.fixed {
            continue;
        }
        let line = as_line(item, known.today);
        if draft.says(&memory, &id(&line)) {
            promoted.insert(item.id.clone());
            continue;
        }
        let section = section(item, if item.kind == NoteKind::Pattern { PATTERNS } else { RULES });
        let Some(text) = draft.with(&memory, rule.header, Some(section), &line) else { continue };
        if lines(&text) > rule.lines {
            full += 1;
            continue;
        }
        draft.write(&memory, Tier::Hot, text);
        let why = format!("promote {:?} to memory.md: it helped {successes} tasks lately", item.title);
        leave(draft, item, &memory, why);
        promoted.insert(item.id.clone());
    }
    for item in newest(draft, &[Tier::Local, Tier::Project]) {
        let projects = known.of(&item.id).projects;
        if projects < rule.projects || item.fixed || promoted.contains(&item.id) {
            continue;
        }
        let domain = domain(draft, item.section.as_deref());
        let line = as_line(&item, known.today);
        let there = id(&line);
        let domains: Vec<PathBuf> = draft.of(Tier::Domain).map(|(path, _)| path.to_owned()).collect();
        if draft.says(&memory, &there) || domains.iter().any(|domain| draft.says(domain, &there)) {
            continue;
        }
        let Some(text) = draft.with(&domain, &header(&domain), Some(section(&item, PATTERNS)), &line) else {
            continue;
        };
        draft.write(&domain, Tier::Domain, text);
        let name = draft.name(&domain).display().to_string();
        let why = format!("promote {:?} to {name}: it is useful in {projects} projects", item.title);
        leave(draft, &item, &domain, why);
    }
    full
}

/// Moves what is no longer used where it is loaded less often, and at last to the archive.
pub fn demote(draft: &mut Draft, known: &Known<'_>, rule: &Demoting<'_>) {
    let files = |draft: &Draft, tier| draft.of(tier).map(|(path, _)| path.to_owned()).collect::<Vec<_>>();
    let paths: Vec<PathBuf> =
        [Tier::Hot, Tier::Project, Tier::Domain].into_iter().flat_map(|tier| files(draft, tier)).collect();
    for path in paths {
        // What kept others apart may go once they went.
        let mut moves = None;
        while moves.replace(draft.moves()) != Some(draft.moves()) {
            demote_of(draft, known, rule, &path);
        }
    }
}

fn demote_of(draft: &mut Draft, known: &Known<'_>, rule: &Demoting<'_>, path: &Path) {
    let hot = draft.of(Tier::Hot).any(|(hot, _)| hot == path);
    let idle = |item: &Item, days: i64| known.idle(item).is_some_and(|idle| idle >= days);
    let mut items = draft.items(path);
    items.retain(|item| item.is_loose() && idle(item, if hot { rule.hot } else { rule.warm }));
    let (gone, kept): (Vec<Item>, Vec<Item>) = items.into_iter().partition(|item| idle(item, rule.warm));
    let unused = |item: &Item| format!("unused for {} days", known.idle(item).unwrap_or_default());
    let gone = draft.cut(path, gone);
    if !gone.is_empty() {
        let archive = draft.archive(path, &gone, &known.month());
        for item in &gone {
            draft.moved(item, Some(&archive), format!("archive {:?}: {}", item.title, unused(item)));
        }
        unmark(draft, path, &gone);
    }
    for item in kept {
        go_home(draft, &item, known, rule, &unused(&item));
    }
}

/// Moves a rule that is no longer always loaded to where it is loaded on match.
pub(super) fn go_home(draft: &mut Draft, item: &Item, known: &Known<'_>, rule: &Demoting<'_>, why: &str) {
    let path = &item.path;
    let (target, tier) = home(draft, item, known, rule);
    let section = item.section.as_deref().or(Some(RULES));
    let text = match draft.text(&target) {
        Some(text) if draft.says(&target, &item.id) => Some(text.to_owned()),
        Some(_) | None => draft.with(&target, &header(&target), section, &item.text),
    };
    // What went before moved it.
    let now = draft.items(path).into_iter().find(|now| item.is(now));
    let (Some(text), Some(now)) = (text, now) else { return };
    for item in draft.cut(path, vec![now]) {
        draft.write(&target, tier, text.clone());
        let name = draft.name(&target).display().to_string();
        draft.moved(&item, Some(&target), format!("move {:?} to {name}: {why}", item.title));
        unmark(draft, path, &[item]);
    }
}

/// One note for each id of some tiers: the newest, and of those the one in the first tier.
fn newest(draft: &Draft, tiers: &[Tier]) -> Vec<Item> {
    let mut newest: BTreeMap<String, Item> = BTreeMap::new();
    for tier in tiers {
        let paths: Vec<&Path> = draft.of(*tier).map(|(path, _)| path).collect();
        for item in paths.into_iter().flat_map(|path| draft.items(path)) {
            if newest.get(&item.id).is_none_or(|known| known.date < item.date) {
                newest.insert(item.id.clone(), item);
            }
        }
    }
    newest.into_values().collect()
}

/// The section that a promoted note goes to: that of preferences, or another.
fn section(item: &Item, other: &'static str) -> &'static str {
    if item.confirmed && item.kind == NoteKind::Line { PREFERENCES } else { other }
}

/// A note as a line. It says when it was first noted, or else was promoted.
fn as_line(item: &Item, today: NaiveDate) -> String {
    markdown::hot_line(item.date.unwrap_or(today), &item.source, &item.takeaway)
}

/// The id of a line.
fn id(line: &str) -> String {
    markdown::entries(line, &markdown::parse(line)).first().map_or_else(String::new, markdown::Entry::id)
}

/// What is left of a note where it was promoted from.
fn leave(draft: &mut Draft, item: &Item, to: &Path, why: String) {
    // The file may have been changed for another note.
    if let Some(now) = draft.items(&item.path).into_iter().find(|now| item.is(now)) {
        let is_line = item.kind == NoteKind::Line;
        if is_line && !item.confirmed && matches!(item.tier, Tier::Project | Tier::Domain) {
            let _ = draft.cut(&item.path, vec![now]);
        } else if !is_line && item.kind != NoteKind::Reflection {
            let name = draft.name(to).display().to_string();
            mark(draft, &now, &format!("promoted to {name}"));
        }
    }
    draft.moved(item, Some(to), why);
}

/// Says in an entry what became of it, in place of what it said before.
fn mark(draft: &mut Draft, item: &Item, status: &str) {
    let Some(text) = draft.text(&item.path) else { return };
    let label = format!("**{STATUS}**:");
    let said = text[item.span.clone()].lines().find(|line| line.starts_with(&label)).map(str::to_owned);
    let text = match said {
        Some(said) => {
            let own = text[item.span.clone()].replacen(&said, &format!("{label} {status}"), 1);
            [&text[..item.span.start], &own, &text[item.span.end..]].concat()
        }
        None => edit::mark(text, &item.span, STATUS, status),
    };
    draft.write(&item.path.clone(), item.tier, text);
}

/// Entries that say they were promoted to a file say that they no longer are in it.
fn unmark(draft: &mut Draft, from: &Path, gone: &[Item]) {
    let promoted = format!("**{STATUS}**: promoted to {}", draft.name(from).display());
    let demoted = format!("demoted from {}", draft.name(from).display());
    let tiers = [Tier::Local, Tier::Project, Tier::Domain, Tier::Shared, Tier::Corrections];
    let paths: Vec<PathBuf> =
        tiers.iter().flat_map(|tier| draft.of(*tier)).map(|(path, _)| path.to_owned()).collect();
    for path in paths {
        let is_marked = |item: &Item| {
            gone.iter().any(|one| one.id == item.id) && item.text.lines().any(|line| line.trim() == promoted)
        };
        while let Some(item) = draft.items(&path).into_iter().find(is_marked) {
            mark(draft, &item, &demoted);
            draft.tie(from, &path);
        }
    }
}

/// Where a rule goes that is no longer always loaded: to the project that it comes from, unless it is useful in others,
/// else to its field of work.
fn home(draft: &Draft, item: &Item, known: &Known<'_>, rule: &Demoting<'_>) -> (PathBuf, Tier) {
    let named = item.source.split(['/', ',']).next().unwrap_or_default().trim();
    let project = draft.root().join(format!("projects/{named}.md"));
    let domain_file = draft.root().join(format!("domains/{named}.md"));
    let is_name = !named.is_empty() && !named.starts_with('.') && !named.contains('\\');
    let is_one = is_name && known.of(&item.id).projects < rule.useful_in;
    if is_one && (draft.text(&project).is_some() || rule.projects.contains(named)) {
        (project, Tier::Project)
    } else if is_name && draft.text(&domain_file).is_some() {
        (domain_file, Tier::Domain)
    } else {
        (domain(draft, item.section.as_deref()), Tier::Domain)
    }
}

/// The file of a field of work: the one that is named as the section of a note, if there is one.
fn domain(draft: &Draft, section: Option<&str>) -> PathBuf {
    let file = |name: &str| draft.root().join(format!("domains/{name}.md"));
    let named = section.map(|section| file(&markdown::slug(section)));
    named.filter(|path| draft.text(path).is_some()).unwrap_or_else(|| file(GENERAL))
}

/// What is in a new file of a project or a field of work.
fn header(path: &Path) -> String {
    format!("# {}\n", path.file_stem().unwrap_or_default().to_string_lossy())
}
