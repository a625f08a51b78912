//! Entries: what people and agents noted, recognised within the blocks of a document by their form (spec M2).

use std::ops::Range;

use chrono::NaiveDate;
use memoryd_proto::NoteKind;

use super::lines::item;
use super::{Block, Kind};
use crate::domain::text;

/// An entry of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<'a> {
    /// What kind of entry it is.
    pub kind: NoteKind,
    /// The heading that it stands under.
    pub section: Option<&'a str>,
    /// What it is about, in a line.
    pub title: String,
    /// Its labelled values, in order.
    pub fields: Vec<(String, String)>,
    /// Its exact source, without empty lines after it.
    pub text: &'a str,
    /// Where that is, in bytes.
    pub span: Range<usize>,
    /// Its first line, from 1.
    pub line: usize,
    /// What stands in the brackets of its heading.
    tag: Option<&'a str>,
}

/// The labels of takeaways.
const TAKEAWAYS: [&str; 3] = ["Rule", "Actionable rule", "LESSON"];

/// The labels of reflections, in order.
const REFLECTION: [&str; 3] = ["CONTEXT", "REFLECTION", "LESSON"];

/// The label of what became of an entry.
pub const STATUS: &str = "Status";

/// What the seed writes above what happened.
const LEADS: [&str; 2] = ["What went wrong / what was learned:", "What was learned or discovered:"];

impl Entry<'_> {
    /// The last value of a label, if there is one.
    #[must_use]
    pub fn field(&self, label: &str) -> Option<&str> {
        let named = |(name, _): &&(String, String)| name.eq_ignore_ascii_case(label);
        self.fields.iter().rev().find(named).map(|(_, value)| value.as_str())
    }

    /// The takeaway, if it has one apart from its title.
    #[must_use]
    pub fn rule(&self) -> Option<&str> {
        TAKEAWAYS.iter().find_map(|label| self.field(label))
    }

    /// Whether it was marked with this status.
    #[must_use]
    pub fn is_marked(&self, status: &str) -> bool {
        self.fields.iter().any(|(label, value)| label.eq_ignore_ascii_case(STATUS) && value == status)
    }

    /// What happened, as it was told: the paragraphs that are neither its heading nor labelled values; of a correction,
    /// what the user said, and of a reflection, what was noticed.
    #[must_use]
    pub fn situation(&self) -> String {
        let told = [self.field("Correction"), self.field("REFLECTION")].into_iter().flatten().next();
        if let Some(told) = told {
            return told.to_owned();
        }
        let heads = matches!(
            self.kind,
            NoteKind::Correction | NoteKind::Error | NoteKind::Pattern | NoteKind::Gap | NoteKind::Insight
        );
        let blocks = super::parse(self.text);
        let told =
            blocks.iter().skip(usize::from(heads)).filter(|block| bold(first_line(block.text)).is_none());
        let text: String = if heads { told.map(|block| block.text).collect() } else { String::new() };
        let text = text.trim();
        LEADS.iter().find_map(|lead| text.strip_prefix(lead)).unwrap_or(text).trim_start().to_owned()
    }

    /// When it was noted, if it says so.
    #[must_use]
    pub fn date(&self) -> Option<NaiveDate> {
        let written = [self.field("Date"), self.field("first noted"), self.tag];
        written.into_iter().flatten().find_map(|text| text.trim().get(..10)?.parse().ok())
    }

    /// Names what it says: its takeaway, else its title, as 32 hex digits. Two entries that say the same have the same
    /// name, so it survives that an entry is moved to another line, section or file, and that its case, spacing,
    /// emphasis, punctuation, date or context is edited. It changes when the takeaway gets other words.
    #[must_use]
    pub fn id(&self) -> String {
        let said = self.rule().unwrap_or(&self.title).replace(['*', '`'], "");
        let words =
            said.split_whitespace().map(|word| word.trim_matches([',', ';', ':', '.', '!', '?', '"', '\'']));
        text::hex(&text::digest(&words.collect::<Vec<_>>().join(" ")))
    }
}

/// The entries of a document, in order.
#[must_use]
pub fn entries<'a>(source: &'a str, blocks: &[Block<'a>]) -> Vec<Entry<'a>> {
    let mut entries = Vec::new();
    let (mut at, mut section) = (0, None);
    while let Some(block) = blocks.get(at) {
        let rest = &blocks[at..];
        let mut count = 1;
        let mut entry = |kind, title: String, tag, until: usize| {
            count = until;
            let last =
                rest[..until].iter().rev().find(|block| !matches!(block.kind, Kind::Blank | Kind::Break));
            // A byte order mark belongs to the file.
            let start = block.end() - block.text.trim_start_matches('\u{feff}').len();
            let end = last.map_or(start, |last| last.start + last.text.trim_end().len()).max(start);
            let fields = fields(&rest[..until], kind);
            let (text, span) = (&source[start..end], start..end);
            entries.push(Entry { kind, section, title, fields, text, span, line: block.line, tag });
        };
        match block.kind {
            Kind::Heading { level: 3, title } if tagged(title).is_some() => {
                let (tag, summary) = tagged(title).unwrap_or_default();
                entry(tag_kind(tag), summary.to_owned(), Some(tag), up_to_heading(rest, 3));
            }
            Kind::Heading { level: 1, title } if is_insight(rest) => {
                entry(NoteKind::Insight, title.to_owned(), None, up_to_heading(rest, 1));
            }
            Kind::Item => entry(NoteKind::Line, line_title(block.text), None, 1),
            Kind::Text if label(block.text, &REFLECTION[..1]).is_some() => {
                let title = label(block.text, &REFLECTION[..1]).unwrap_or_default().1.to_owned();
                entry(NoteKind::Reflection, title, None, reflection_blocks(rest));
            }
            Kind::Text => {
                let title = block.text.lines().next().unwrap_or_default().trim().to_owned();
                entry(NoteKind::Prose, title, None, 1);
            }
            Kind::Heading { title, .. } => section = Some(title),
            Kind::FrontMatter | Kind::Break | Kind::Blank | Kind::Opaque { .. } => {}
        }
        at += count;
    }
    entries
}

/// `[tag] summary`
fn tagged(title: &str) -> Option<(&str, &str)> {
    let (tag, summary) = title.strip_prefix('[')?.split_once(']')?;
    Some((tag.trim(), summary.trim()))
}

/// Of a learning the tag is its kind, and of a correction its date.
fn tag_kind(tag: &str) -> NoteKind {
    match tag.to_ascii_lowercase().as_str() {
        "error" => NoteKind::Error,
        "pattern" => NoteKind::Pattern,
        "gap" => NoteKind::Gap,
        _ => NoteKind::Correction,
    }
}

/// How many blocks there are before the next heading of this level or above, or the next reflection.
fn up_to_heading(blocks: &[Block<'_>], most: usize) -> usize {
    let ends = |block: &Block<'_>| match block.kind {
        Kind::Heading { level, .. } => level <= most,
        Kind::Text => is_reflection(block.text),
        Kind::FrontMatter | Kind::Break | Kind::Blank | Kind::Opaque { .. } | Kind::Item => false,
    };
    blocks[1..].iter().position(ends).map_or(blocks.len(), |count| count + 1)
}

/// Whether a paragraph is a whole reflection, which belongs to no entry before it.
pub(super) fn is_reflection(text: &str) -> bool {
    label(text, &REFLECTION[..1]).is_some()
        && text.lines().any(|line| label(line, &REFLECTION[2..]).is_some())
}

/// Whether a heading's first paragraph says whom an insight is from.
fn is_insight(blocks: &[Block<'_>]) -> bool {
    let next = blocks[1..].iter().find(|block| block.kind != Kind::Blank);
    next.is_some_and(|next| {
        next.kind == Kind::Text
            && next.text.lines().any(|line| bold(line).is_some_and(|(label, _)| label == "From"))
    })
}

/// How many blocks a reflection has: the paragraphs that go on with its labels.
fn reflection_blocks(blocks: &[Block<'_>]) -> usize {
    let mut count = 1;
    for (at, block) in blocks.iter().enumerate().skip(1) {
        if block.kind == Kind::Text && label(block.text, &REFLECTION[1..]).is_some() {
            count = at + 1;
        } else if block.kind != Kind::Blank {
            break;
        }
    }
    count
}

/// The rule of a list item: what is emphasised in it, else its words, without where it comes from.
fn line_title(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let words = item(first.trim_start_matches('\u{feff}')).map_or(first, |item| item.text);
    let words = origin(words).map_or(words, |(before, _)| before).trim();
    let strong = words.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    strong.unwrap_or(words).to_owned()
}

/// What stands before `(from: …)` at the end of a list item's first line, and in it.
fn origin(line: &str) -> Option<(&str, &str)> {
    let (before, inner) = line.rsplit_once("(from:")?;
    let (inner, _) = inner.rsplit_once(')')?;
    Some((before.trim_end(), inner))
}

/// The labelled values of an entry's blocks.
fn fields(blocks: &[Block<'_>], kind: NoteKind) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    if kind == NoteKind::Line {
        let first = blocks[0].text.lines().next().unwrap_or_default();
        if let Some((_, inner)) = origin(first) {
            let (from, noted) = inner.split_once(", first noted:").unwrap_or((inner, ""));
            fields.push(("from".to_owned(), from.trim().to_owned()));
            fields.push(("first noted".to_owned(), noted.trim().to_owned()));
        }
        let below = blocks[0].text.lines().skip(1).filter_map(bold);
        let status = below.filter(|(label, _)| label.eq_ignore_ascii_case(STATUS));
        fields.extend(status.map(|(label, value)| (label.to_owned(), value.to_owned())));
        return fields;
    }
    for block in blocks.iter().filter(|block| block.kind == Kind::Text) {
        let mut open = false;
        for line in block.text.lines() {
            let own = if kind == NoteKind::Reflection { label(line, &REFLECTION) } else { None };
            let labelled = own.or_else(|| bold(line));
            if let Some((label, value)) = labelled {
                fields.push((label.to_owned(), value.to_owned()));
                open = true;
            } else if open && let Some((_, value)) = fields.last_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
        }
    }
    fields
}

/// `**Label**: value`, or `**Label:** value`.
fn bold(line: &str) -> Option<(&str, &str)> {
    let (label, rest) = line.trim().strip_prefix("**")?.split_once("**")?;
    match (label.strip_suffix(':'), rest.strip_prefix(':')) {
        (Some(label), _) => Some((label.trim(), rest.trim())),
        (None, Some(value)) => Some((label.trim(), value.trim())),
        (None, None) => None,
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// `LABEL: value`, for one of some labels.
fn label<'a>(text: &'a str, labels: &[&str]) -> Option<(&'a str, &'a str)> {
    let (label, value) = text.lines().next()?.trim().split_once(':')?;
    labels.contains(&label).then_some((label, value.trim()))
}
