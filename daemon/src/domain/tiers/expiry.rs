//! Caps of what is noted in passing: old corrections and shared insights go to the archive (spec M4).

use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use memoryd_proto::{NoteKind, Tier};

use super::{Draft, Item, Known};
use crate::domain::text;

/// Keeps the newest corrections; those before go to the archive. One without a date is as old as the one above it.
pub fn corrections(draft: &mut Draft, known: &Known<'_>, keep: usize) {
    let paths: Vec<PathBuf> = draft.of(Tier::Corrections).map(|(path, _)| path.to_owned()).collect();
    for path in paths {
        let mut date = None;
        let mut dated: Vec<(Option<NaiveDate>, Item)> = Vec::new();
        for item in draft.items(&path).into_iter().filter(|item| item.kind == NoteKind::Correction) {
            date = item.date.or(date);
            dated.push((date, item));
        }
        dated.sort_by_key(|(date, _)| *date);
        dated.truncate(dated.len().saturating_sub(keep));
        let old: Vec<Item> = dated.into_iter().map(|(_, item)| item).filter(|item| !item.fixed).collect();
        let old = draft.cut(&path, old);
        if old.is_empty() {
            continue;
        }
        let archive = draft.archive(&path, &old, &known.month());
        for item in &old {
            let why = format!("archive {:?}: {keep} corrections are newer", item.title);
            draft.moved(item, Some(&archive), why);
        }
    }
}

/// Moves shared insights to the archive that are older than `days`, and the oldest beyond `most`. One without a date is
/// the oldest, and has no age.
pub fn shared(draft: &mut Draft, known: &Known<'_>, days: i64, most: usize) {
    let mut files: Vec<(Option<NaiveDate>, PathBuf)> =
        draft.of(Tier::Shared).map(|(path, _)| (day(draft, path), path.to_owned())).collect();
    files.sort();
    let beyond = files.len().saturating_sub(most);
    for (n, (day, path)) in files.into_iter().enumerate() {
        let age = day.map(|day| (known.today - day).num_days());
        let why = match age {
            Some(age) if age > days => format!("archive {}: shared {age} days ago", file(&path)),
            _ if n < beyond => format!("archive {}: {most} shared insights are newer", file(&path)),
            _ => continue,
        };
        let items = draft.items(&path);
        if items.iter().any(|item| item.fixed) {
            continue;
        }
        let stem = draft.root().join("archive").join(draft.name(&path)).with_extension("");
        let to = draft.free(&stem);
        draft.rename(&path, &to, Tier::Cold);
        told(draft, &path, &items, Some(&to), &why);
    }
}

/// Removes insights that have been in the archive for long enough.
pub fn gone(draft: &mut Draft, path: &Path, days: i64) {
    let items = draft.items(path);
    if items.iter().any(|item| item.fixed) {
        return;
    }
    draft.remove(path);
    told(draft, path, &items, None, &format!("remove {}: archived {days} days ago", file(path)));
}

/// Keeps what becomes of the notes of a file; of the file itself when it has none.
fn told(draft: &mut Draft, from: &Path, items: &[Item], to: Option<&Path>, why: &str) {
    for item in items {
        draft.moved(item, to, why.to_owned());
    }
    if items.is_empty() {
        draft.told(&text::hex(&text::digest(&file(from))), &file(from), from, to, why.to_owned());
    }
}

/// The day that a file's name begins with, else that its insight has.
fn day(draft: &Draft, path: &Path) -> Option<NaiveDate> {
    let named = file(path).get(..10).and_then(|day| day.parse().ok());
    named.or_else(|| draft.items(path).iter().find_map(|item| item.date))
}

fn file(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
