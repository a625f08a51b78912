//! Compaction: a file that outgrew its cap is brought back within it (spec M7).
//!
//! Near-duplicates become one, then what is not used goes to the archive, then what is verbose is shortened, and if that is
//! not enough, what was used longest ago goes too. The full text of everything is in the archive. At last what users
//! confirmed by corrections makes room, word for word: rules that are always loaded go to where they are loaded on match,
//! others to the archive. Preferences, prose, and what is not understood stay as they are; if that alone exceeds the cap,
//! so does the file.

use std::cmp::Reverse;
use std::path::Path;

use memoryd_proto::NoteKind;

use super::movement::{Demoting, go_home};
use super::{Draft, Item, Known, lines};
use crate::domain::consolidation::Groups;
use crate::domain::markdown::edit;

/// The labels of where and when an entry is from, and of what became of it.
const ORIGINS: [&str; 5] = ["Date", "Project", "From", "Also from", "Status"];

/// How a file is compacted.
#[derive(Clone, Copy)]
pub struct Compacting<'a> {
    /// Lines that it may have.
    pub lines: usize,
    /// Days after its last use after which a note is not used.
    pub days: i64,
    /// Whether two notes say the same.
    pub alike: &'a dyn Fn(&Item, &Item) -> bool,
    /// What a note says, in a sentence; none for its takeaway.
    pub summary: &'a dyn Fn(&Item) -> Option<String>,
    /// How rules are demoted; none in a file whose notes are not always loaded.
    pub demoting: Option<&'a Demoting<'a>>,
}

/// Brings a file within its cap, and returns how many lines it has then.
pub fn compact(draft: &mut Draft, path: &Path, known: &Known<'_>, rule: &Compacting<'_>) -> usize {
    let count = |draft: &Draft| draft.text(path).map_or(0, lines);
    let steps = [merge, archive_unused, shorten, archive_rest, make_room];
    // What kept others apart may go once they went.
    let mut moves = None;
    while count(draft) > rule.lines && moves.replace(draft.moves()) != Some(draft.moves()) {
        for step in steps {
            if count(draft) > rule.lines {
                step(draft, path, known, rule);
            }
        }
    }
    count(draft)
}

/// The notes of a file that may be touched.
fn loose(draft: &Draft, path: &Path) -> Vec<Item> {
    let mut items = draft.items(path);
    items.retain(Item::is_loose);
    items
}

/// Makes one of near-duplicates: the newest stays, with the sources of all.
fn merge(draft: &mut Draft, path: &Path, known: &Known<'_>, rule: &Compacting<'_>) {
    let mut items = loose(draft, path);
    items.sort_by_key(|item| Reverse((item.date, item.span.start)));
    let mut groups = Groups::new(items.len());
    for place in 0..items.len() {
        let alike = |other: &usize| (rule.alike)(&items[place], &items[*other]);
        let near: Vec<usize> = (place + 1..items.len()).filter(alike).collect();
        groups.take(place, near, |_, _| true);
    }
    for group in groups.finish() {
        let mut now = loose(draft, path);
        // Several may be written in the same words.
        let mut is = |place: &usize| {
            let at = now.iter().rposition(|now| items[*place].is(now))?;
            Some(now.remove(at))
        };
        if is(&group[0]).is_none() {
            continue;
        }
        let older: Vec<Item> = group[1..].iter().filter_map(is).collect();
        let older = draft.cut(path, older);
        let newest = loose(draft, path).into_iter().find(|now| items[group[0]].is(now));
        let Some(newest) = newest.filter(|_| !older.is_empty()) else { continue };
        draft.edit(path, &[(&newest, Some(with_sources(&newest, &older)))]);
        let archive = draft.archive(path, &older, &known.month());
        for item in &older {
            let why = format!("merge {:?} into {:?}, which says the same", item.title, newest.title);
            draft.moved(item, Some(&archive), why);
        }
    }
}

/// A note that names the sources of others, too.
fn with_sources(item: &Item, others: &[Item]) -> String {
    let mut sources: Vec<&str> = item.source.split(',').map(str::trim).collect();
    let known = sources.len();
    for source in others.iter().flat_map(|other| other.source.split(',')).map(str::trim) {
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    let added = sources[known..].join(", ");
    if added.is_empty() {
        return item.text.clone();
    }
    if item.kind != NoteKind::Line {
        return edit::mark(&item.text, &(0..item.text.len()), "Also from", &added).trim_end().to_owned();
    }
    let first = item.text.lines().next().unwrap_or_default();
    let origin = first.rfind("(from:").and_then(|at| Some((at, at + first[at..].rfind(')')?)));
    let line = match origin {
        Some((start, end)) => {
            let end = first[start..end].find(", first noted:").map_or(end, |at| start + at);
            format!("{}, {added}{}", first[..end].trim_end(), &first[end..])
        }
        None => format!("{} (from: {})", first.trim_end(), sources.join(", ")),
    };
    format!("{line}{}", &item.text[first.len()..])
}

/// Archives what is not used, longest unused first, until the file is within its cap.
fn archive_unused(draft: &mut Draft, path: &Path, known: &Known<'_>, rule: &Compacting<'_>) {
    let is_unused = |item: &Item| known.unused(item).is_none_or(|days| days >= rule.days);
    archive(draft, path, known, rule, &|item| item.is_loose() && is_unused(item));
}

/// Archives what was used longest ago, until the file is within its cap.
fn archive_rest(draft: &mut Draft, path: &Path, known: &Known<'_>, rule: &Compacting<'_>) {
    archive(draft, path, known, rule, &Item::is_loose);
}

/// Takes out what corrections confirm and nobody wrote under preferences, longest unused first, until the file is within
/// its cap.
fn make_room(draft: &mut Draft, path: &Path, known: &Known<'_>, rule: &Compacting<'_>) {
    let Some(demoting) = rule.demoting else {
        archive(draft, path, known, rule, &Item::may_yield);
        return;
    };
    let mut items = draft.items(path);
    items.retain(Item::may_yield);
    longest_unused_first(&mut items, known);
    for item in items {
        if draft.text(path).is_none_or(|text| lines(text) <= rule.lines) {
            return;
        }
        let why = format!("to keep {} lines: {}", rule.lines, unused(&item, known));
        go_home(draft, &item, known, demoting, &why);
    }
}

/// What nothing is known of comes last.
fn longest_unused_first(items: &mut [Item], known: &Known<'_>) {
    items.sort_by_key(|item| (Reverse(known.idle(item).unwrap_or(i64::MIN)), item.span.start));
}

fn unused(item: &Item, known: &Known<'_>) -> String {
    let days = known.idle(item);
    days.map_or_else(|| "no use is known".to_owned(), |days| format!("unused for {days} days"))
}

/// Archives notes, longest unused first, until the file is within its cap.
fn archive(
    draft: &mut Draft,
    path: &Path,
    known: &Known<'_>,
    rule: &Compacting<'_>,
    wanted: &dyn Fn(&Item) -> bool,
) {
    let cap = rule.lines;
    let mut stuck: Vec<String> = Vec::new();
    loop {
        let mut items = draft.items(path);
        items.retain(|item| wanted(item) && !stuck.contains(&item.text));
        longest_unused_first(&mut items, known);
        let Some(text) = draft.text(path) else { return };
        let left = |count: usize| {
            let spans: Vec<_> = items[..count].iter().map(|item| item.span.clone()).collect();
            lines(&edit::remove(text, &spans))
        };
        // The more are cut out, the fewer lines are left.
        let (mut few, mut enough) = (0, items.len());
        while few < enough {
            let middle = usize::midpoint(few, enough);
            if left(middle) <= cap { enough = middle } else { few = middle + 1 }
        }
        items.truncate(enough);
        let chosen: Vec<String> = items.iter().map(|item| item.text.clone()).collect();
        let gone = draft.cut(path, items);
        if !gone.is_empty() {
            let archive = draft.archive(path, &gone, &known.month());
            for item in &gone {
                let why = format!("archive {:?} to keep {cap} lines: {}", item.title, unused(item, known));
                draft.moved(item, Some(&archive), why);
            }
        }
        if gone.len() == chosen.len() {
            return;
        }
        stuck.extend(chosen.into_iter().filter(|text| gone.iter().all(|item| item.text != *text)));
    }
}

/// Shortens notes to their rules, the longest first, until the file is within its cap.
fn shorten(draft: &mut Draft, path: &Path, known: &Known<'_>, rule: &Compacting<'_>) {
    let Some(mut count) = draft.text(path).map(lines) else { return };
    let mut items = loose(draft, path);
    items.sort_by_key(|item| (Reverse(lines(&item.text)), item.span.start));
    let mut short = Vec::new();
    for item in items {
        let least = shortened(&item, None);
        if count <= rule.lines || lines(&least) >= lines(&item.text) {
            continue;
        }
        let text = (rule.summary)(&item).map_or(least, |said| shortened(&item, Some(&said)));
        count -= lines(&item.text).saturating_sub(lines(&text));
        short.push((text, item));
    }
    let edits: Vec<_> = short.iter().map(|(text, item)| (item, Some(text.clone()))).collect();
    let mut done = draft.edit(path, &edits).into_iter();
    short.retain(|_| done.next().unwrap_or_default());
    if short.is_empty() {
        return;
    }
    let archive = draft.archive(path, short.iter().map(|(_, item)| item), &known.month());
    for (_, item) in &short {
        let why = format!("shorten {:?} to its rule", item.title);
        draft.told(&item.id, &format!("the full text of {}", item.title), path, Some(&archive), why);
    }
}

/// A note without all but its rule, and where and when it is from; in place of the rule stands what is `said`.
fn shortened(item: &Item, said: Option<&str>) -> String {
    let first = item.text.lines().next().unwrap_or_default();
    let said = said.map(|said| said.split_whitespace().collect::<Vec<_>>().join(" "));
    match (item.kind, said) {
        (NoteKind::Line, None) => first.to_owned(),
        (NoteKind::Line, Some(said)) => {
            let noted = item.date.map_or_else(String::new, |day| format!(", first noted: {day}"));
            format!("- **{}** (from: {}{noted})", said.replace("**", ""), item.source)
        }
        // Three lines that cannot do without one another.
        (NoteKind::Reflection, _) => item.text.clone(),
        (_, said) => {
            let mut text = first.to_owned();
            let is_rule = |label: &str| label.eq_ignore_ascii_case("Rule") || label == "Actionable rule";
            for (label, value) in &item.fields {
                if ORIGINS.contains(&label.as_str()) || said.is_none() && is_rule(label) {
                    text = format!("{text}\n**{label}**: {value}");
                }
            }
            said.map_or(text.clone(), |said| format!("{text}\n**Rule**: {said}"))
        }
    }
}
