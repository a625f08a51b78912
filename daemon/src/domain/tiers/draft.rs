//! The files of the memory tree as they are, and as they are to be.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use memoryd_proto::{NoteKind, Tier};

use crate::domain::markdown::{self, Block, Entry, Kind, PREFERENCES, edit};

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its tier.
    pub tier: Tier,
    /// What is written in it; absent where there is none.
    pub before: Option<String>,
    /// What is to be written in it; absent where there is to be none.
    pub after: Option<String>,
}

/// An entry of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The file.
    pub path: PathBuf,
    /// The file's tier.
    pub tier: Tier,
    /// Names what it says.
    pub id: String,
    /// What kind of entry it is.
    pub kind: NoteKind,
    /// What it is about, in a line.
    pub title: String,
    /// The heading that it stands under.
    pub section: Option<String>,
    /// The takeaway, in a sentence.
    pub takeaway: String,
    /// Where it comes from: a project, a task; else its file.
    pub source: String,
    /// Its labelled values, in order.
    pub fields: Vec<(String, String)>,
    /// When it was noted, if it says so.
    pub date: Option<NaiveDate>,
    /// Its exact source, without empty lines after it.
    pub text: String,
    /// Where that is, in bytes.
    pub span: Range<usize>,
    /// Whether it stands under preferences.
    pub preferred: bool,
    /// Whether a user confirmed it: it stands under preferences, or is a correction, or says what a correction says.
    pub confirmed: bool,
    /// Whether it is to stay as it is: a person took back what was done with it, or where it ends is not sure.
    pub fixed: bool,
}

impl Item {
    /// Whether rules may take it from where it is.
    #[must_use]
    pub fn is_loose(&self) -> bool {
        !self.confirmed && !self.fixed
    }

    /// Whether it may be taken from where it is when there is no room for it.
    #[must_use]
    pub fn may_yield(&self) -> bool {
        !self.preferred && !self.fixed
    }

    /// Whether this is the entry as it is now in a text that may have changed since. Another may be written in the same
    /// words, and be preferred.
    #[must_use]
    pub fn is(&self, now: &Self) -> bool {
        (&self.id, &self.text, self.preferred, self.confirmed)
            == (&now.id, &now.text, now.preferred, now.confirmed)
    }
}

/// A note that went from one file to another, or whose full text did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Names what it says.
    pub id: String,
    /// What it is about, in a line.
    pub title: String,
    /// The file that it was in.
    pub from: PathBuf,
    /// The file that it is in; absent when it is in none.
    pub to: Option<PathBuf>,
    /// What is done, and why, in one line.
    pub why: String,
}

/// Files that change together: no other group touches them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The files, those first that take something in.
    pub files: Vec<(PathBuf, Page)>,
    /// The notes.
    pub moves: Vec<Move>,
}

/// The files as they are, and as they are to be.
#[derive(Clone, Debug)]
pub struct Draft {
    root: PathBuf,
    pages: BTreeMap<PathBuf, Page>,
    moves: Vec<Move>,
    ties: Vec<(PathBuf, PathBuf)>,
    /// The ids of corrections.
    confirmed: HashSet<String>,
    taken_back: HashSet<String>,
}

impl Draft {
    /// The files of the tree in the folder `root`, and others, as they are. Notes of the ids `taken_back` stay as they
    /// are.
    #[must_use]
    pub fn new(
        root: PathBuf,
        files: impl IntoIterator<Item = (PathBuf, Tier, String)>,
        taken_back: HashSet<String>,
    ) -> Self {
        let page = |(path, tier, text): (PathBuf, Tier, String)| {
            (path, Page { tier, before: Some(text.clone()), after: Some(text) })
        };
        let pages: BTreeMap<PathBuf, Page> = files.into_iter().map(page).collect();
        let mut confirmed = HashSet::new();
        for text in pages.values().filter_map(|page| page.before.as_deref()) {
            let entries = markdown::entries(text, &markdown::parse(text));
            confirmed
                .extend(entries.iter().filter(|entry| entry.kind == NoteKind::Correction).map(Entry::id));
        }
        Self { root, pages, moves: Vec::new(), ties: Vec::new(), confirmed, taken_back }
    }

    /// The folder of the tree.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The files of a tier that are to be there, in the order of their names.
    pub fn of(&self, tier: Tier) -> impl Iterator<Item = (&Path, &str)> {
        self.pages
            .iter()
            .filter(move |(_, page)| page.tier == tier)
            .filter_map(|(path, page)| Some((path.as_path(), page.after.as_deref()?)))
    }

    /// What is to be written in a file.
    #[must_use]
    pub fn text(&self, path: &Path) -> Option<&str> {
        self.pages.get(path)?.after.as_deref()
    }

    /// A file's path within the tree.
    #[must_use]
    pub fn name<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// The entries of a file, as they are to be, prose left out.
    #[must_use]
    pub fn items(&self, path: &Path) -> Vec<Item> {
        let Some(page) = self.pages.get(path) else { return Vec::new() };
        let Some(text) = page.after.as_deref() else { return Vec::new() };
        let blocks = markdown::parse(text);
        let preferred = preferred(&blocks);
        let mut entries = markdown::entries(text, &blocks);
        entries.retain(|entry| entry.kind != NoteKind::Prose);
        entries.iter().map(|entry| self.item(path, page.tier, entry, &preferred)).collect()
    }

    fn item(&self, path: &Path, tier: Tier, entry: &Entry<'_>, preferred: &[Range<usize>]) -> Item {
        let id = entry.id();
        let file = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let source = ["from", "Project"].iter().find_map(|label| entry.field(label));
        let is_open = |block: &Block<'_>| block.kind == Kind::Opaque { closed: false };
        let preferred = preferred.iter().any(|range| range.contains(&entry.span.start));
        Item {
            path: path.to_owned(),
            tier,
            kind: entry.kind,
            title: entry.title.clone(),
            section: entry.section.map(str::to_owned),
            takeaway: entry.rule().unwrap_or(&entry.title).to_owned(),
            fields: entry.fields.clone(),
            source: source.filter(|source| !source.is_empty()).map_or(file, str::to_owned),
            date: entry.date(),
            text: entry.text.to_owned(),
            span: entry.span.clone(),
            preferred,
            confirmed: preferred || self.confirmed.contains(&id),
            fixed: self.taken_back.contains(&id)
                || entry.kind == NoteKind::Insight && !matches!(tier, Tier::Shared | Tier::Cold)
                || markdown::parse(entry.text).iter().any(is_open),
            id,
        }
    }

    /// Whether a file has an entry of this id.
    #[must_use]
    pub fn says(&self, path: &Path, id: &str) -> bool {
        let text = self.text(path).unwrap_or_default();
        markdown::entries(text, &markdown::parse(text)).iter().any(|entry| entry.id() == id)
    }

    /// Writes a file, whose tier is `tier` if it is new.
    pub fn write(&mut self, path: &Path, tier: Tier, text: String) {
        let page = self.pages.entry(path.to_owned()).or_insert(Page { tier, before: None, after: None });
        page.after = Some(text);
    }

    /// A file's text with an entry at the end of a section. A file that is new begins with `header`. None when the entry
    /// would be part of another one there.
    #[must_use]
    pub fn with(&self, path: &Path, header: &str, section: Option<&str>, entry: &str) -> Option<String> {
        let base = self.text(path).unwrap_or(header);
        // Line endings become those of the file.
        let text = edit::append(base, section, &entry.replace("\r\n", "\n")).0;
        let expected = [texts(base), texts(entry)].concat();
        same(texts(&text), expected).then_some(text)
    }

    /// Puts texts in the place of entries of a file, and cuts those out that get none. One that keeps others apart, which
    /// would become part of one another without it, stays. Returns which were done.
    pub fn edit(&mut self, path: &Path, edits: &[(&Item, Option<String>)]) -> Vec<bool> {
        let Some(mut text) = self.text(path).map(str::to_owned) else { return vec![false; edits.len()] };
        let mut order: Vec<usize> = (0..edits.len()).collect();
        // From the end, so that the others stay where they are.
        order.sort_by_key(|at| Reverse(edits[*at].0.span.start));
        let all: Vec<_> = order.iter().map(|at| &edits[*at]).collect();
        let mut done = vec![true; edits.len()];
        if let Some(edited) = edited(&text, &all) {
            text = edited;
        } else {
            for at in order {
                match edited(&text, &[&edits[at]]) {
                    Some(edited) => text = edited,
                    None => done[at] = false,
                }
            }
        }
        if let Some(page) = self.pages.get_mut(path) {
            page.after = Some(text);
        }
        done
    }

    /// Cuts entries out of their file, and returns those that were, like [`edit`](Self::edit).
    #[must_use]
    pub fn cut(&mut self, path: &Path, items: Vec<Item>) -> Vec<Item> {
        let edits: Vec<_> = items.iter().map(|item| (item, None)).collect();
        let done = self.edit(path, &edits);
        items.into_iter().zip(done).filter(|(_, done)| *done).map(|(item, _)| item).collect()
    }

    /// How many notes go somewhere so far.
    #[must_use]
    pub fn moves(&self) -> usize {
        self.moves.len()
    }

    /// Keeps that a note goes somewhere, or that its full text does.
    pub fn moved(&mut self, item: &Item, to: Option<&Path>, why: String) {
        self.told(&item.id, &item.title, &item.path, to, why);
    }

    /// Keeps that something goes somewhere.
    pub fn told(&mut self, id: &str, title: &str, from: &Path, to: Option<&Path>, why: String) {
        let (id, title, to) = (id.to_owned(), title.to_owned(), to.map(Path::to_owned));
        self.moves.push(Move { id, title, from: from.to_owned(), to, why });
    }

    /// Files that are to change together.
    pub fn tie(&mut self, one: &Path, other: &Path) {
        self.ties.push((one.to_owned(), other.to_owned()));
    }

    /// Copies entries of one file to its file of the archive for a month, and returns that. What is there already is
    /// not copied again.
    pub fn archive<'a>(
        &mut self,
        path: &Path,
        items: impl IntoIterator<Item = &'a Item>,
        month: &str,
    ) -> PathBuf {
        let name = self.name(path).with_extension("");
        let archive = self.root.join(format!("archive/{}-{month}.md", name.display()));
        let from = self.name(path).display().to_string();
        let header = format!("# Archived from {from} in {month}\n\n---\n");
        let mut kept = self.text(&archive).unwrap_or(&header).to_owned();
        let there: HashSet<String> =
            self.items(&archive).into_iter().map(|item| item.text.replace("\r\n", "\n")).collect();
        for item in items {
            let text = item.text.replace("\r\n", "\n");
            if !there.contains(&text) {
                kept = edit::append(&kept, None, &archived(&from, item.section.as_deref(), &text)).0;
            }
        }
        self.write(&archive, Tier::Cold, kept);
        archive
    }

    /// Moves a file as a whole.
    pub fn rename(&mut self, from: &Path, to: &Path, tier: Tier) {
        let Some(text) = self.pages.get_mut(from).and_then(|page| page.after.take()) else { return };
        self.write(to, tier, text);
        self.tie(from, to);
    }

    /// Removes a file.
    pub fn remove(&mut self, path: &Path) {
        if let Some(page) = self.pages.get_mut(path) {
            page.after = None;
        }
    }

    /// The first of `STEM.md`, `STEM-2.md`, … that is not there.
    #[must_use]
    pub fn free(&self, stem: &Path) -> PathBuf {
        let path = |n: u32| match n {
            1 => PathBuf::from(format!("{}.md", stem.display())),
            n => PathBuf::from(format!("{}-{n}.md", stem.display())),
        };
        let there = |path: &PathBuf| {
            self.pages.get(path).is_some_and(|page| page.before.is_some() || page.after.is_some())
        };
        let mut n = 1;
        while there(&path(n)) {
            n += 1;
        }
        path(n)
    }

    /// What changes, by files that change together.
    #[must_use]
    pub fn groups(self) -> Vec<Group> {
        let changed: Vec<(PathBuf, Page)> =
            self.pages.into_iter().filter(|(_, page)| page.before != page.after).collect();
        let place = |path: &Path| changed.binary_search_by(|(known, _)| known.as_path().cmp(path)).ok();
        let mut group: Vec<usize> = (0..changed.len()).collect();
        let moves = self.moves.iter().filter_map(|one| Some((one.from.as_path(), one.to.as_deref()?)));
        let ties = self.ties.iter().map(|(one, other)| (one.as_path(), other.as_path()));
        for (one, other) in ties.chain(moves) {
            let (Some(one), Some(other)) = (place(one), place(other)) else { continue };
            let (from, to) = (group[one].max(group[other]), group[one].min(group[other]));
            group.iter_mut().filter(|of| **of == from).for_each(|of| *of = to);
        }
        let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
        for one in self.moves {
            let at = place(&one.from).or_else(|| place(one.to.as_deref()?));
            if let Some(at) = at {
                groups.entry(group[at]).or_default().moves.push(one);
            }
        }
        for (at, file) in changed.into_iter().enumerate() {
            groups.entry(group[at]).or_default().files.push(file);
        }
        let mut groups: Vec<Group> = groups.into_values().collect();
        for Group { files, moves } in &mut groups {
            // What leaves a file is in another one before it is gone.
            let takes = |path: &Path| moves.iter().any(|one| one.to.as_deref() == Some(path));
            files.sort_by_key(|(path, page)| (page.tier != Tier::Cold || page.after.is_none(), !takes(path)));
        }
        groups
    }
}

/// An entry as it stands in the archive: under where it is from. A heading of the first level ends every entry before it.
#[must_use]
pub fn archived(file: &str, section: Option<&str>, text: &str) -> String {
    let section = section.map_or_else(String::new, |section| format!(", {section}"));
    format!("# From {file}{section}\n\n{text}")
}

/// A text with others in the place of entries, the last first; none when that changes other entries.
fn edited(text: &str, edits: &[&(&Item, Option<String>)]) -> Option<String> {
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let (mut edited, mut expected) = (text.to_owned(), texts(text));
    for (item, put) in edits {
        let at = expected.iter().position(|text| *text == item.text.replace("\r\n", "\n"))?;
        expected.remove(at);
        match put {
            Some(put) => {
                expected.extend(texts(put));
                edited.replace_range(item.span.clone(), &put.replace("\r\n", "\n").replace('\n', eol));
            }
            None => edited = edit::remove(&edited, std::slice::from_ref(&item.span)),
        }
    }
    same(texts(&edited), expected).then_some(edited)
}

/// The entries of a text, whatever its line endings.
fn texts(text: &str) -> Vec<String> {
    let entries = markdown::entries(text, &markdown::parse(text));
    entries.iter().map(|entry| entry.text.replace("\r\n", "\n")).collect()
}

fn same(mut one: Vec<String>, mut other: Vec<String>) -> bool {
    one.sort();
    other.sort();
    one == other
}

/// Where preferences stand: under a heading that names them, and the headings below it.
fn preferred(blocks: &[Block<'_>]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    for block in blocks {
        let Kind::Heading { level, title } = block.kind else { continue };
        if let Some((start, _)) = open.filter(|(_, outer)| level <= *outer) {
            ranges.push(start..block.start);
            open = None;
        }
        let names = |word: &str| word.eq_ignore_ascii_case(PREFERENCES);
        if open.is_none() && title.split(|c: char| !c.is_alphanumeric()).any(names) {
            open = Some((block.start, level));
        }
    }
    ranges.extend(open.map(|(start, _)| start..usize::MAX));
    ranges
}
