//! Edits of a document. Each inserts bytes in one place or cuts whole entries out; every other byte stays as it is.

use std::ops::Range;

use super::{Block, Kind, parse};

/// Puts an entry at the end of a section, or of the document, and returns the text and the entry's line. A section that
/// is missing is added at the end.
#[must_use]
pub fn append(source: &str, section: Option<&str>, entry: &str) -> (String, usize) {
    let blocks = parse(source);
    // What stands in a fence or comment that is not closed would be no entry.
    let open = blocks.iter().position(|block| block.kind == Kind::Opaque { closed: false });
    let blocks = &blocks[..open.unwrap_or(blocks.len())];
    let is_item = parse(entry).first().is_some_and(|block| block.kind == Kind::Item);
    let found = section.and_then(|section| Some((section, end_of_section(blocks, section, is_item)?)));
    let last = found
        .map_or_else(|| blocks.iter().rposition(|block| block.kind != Kind::Blank), |(_, last)| Some(last));
    // A byte order mark stays first.
    let first = source.len() - source.trim_start_matches('\u{feff}').len();
    let at = last.map_or(first, |last| blocks[last].start + content_length(&blocks[last]));
    let mut insert = String::new();
    if at > first && !source[..at].ends_with('\n') {
        insert.push('\n');
    }
    let joins = last.is_some_and(|last| blocks[last].kind == Kind::Item)
        && is_item
        && (section.is_none() || found.is_some());
    if at > first && !joins {
        insert.push('\n');
    }
    if let (Some(section), None) = (section, found) {
        insert.push_str("## ");
        insert.push_str(section);
        insert.push_str("\n\n");
    }
    let line = 1 + source[..at].matches('\n').count() + insert.matches('\n').count();
    insert.push_str(entry.trim_end());
    insert.push('\n');
    let after = &source[at..];
    let follows_close = after.lines().next().is_some_and(|line| !line.trim().is_empty());
    if follows_close {
        insert.push('\n');
    }
    if ends_lines_by_crlf(source) {
        insert = insert.replace('\n', "\r\n");
    }
    ([&source[..at], &insert, after].concat(), line)
}

/// Cuts entries out, each with the empty lines after it.
#[must_use]
pub fn remove(source: &str, spans: &[Range<usize>]) -> String {
    let mut kept = String::with_capacity(source.len());
    let mut at = 0;
    let mut sorted: Vec<_> = spans.iter().filter(|span| span.start < span.end).collect();
    sorted.sort_by_key(|span| span.start);
    for span in sorted {
        if span.start < at {
            continue;
        }
        kept.push_str(&source[at..span.start]);
        at = span.end;
        // The rest of its last line, and empty lines. Between list items there are none to take.
        while let Some(line) = source[at..].split_inclusive('\n').next().filter(|line| line.trim().is_empty())
        {
            at += line.len();
        }
    }
    kept.push_str(&source[at..]);
    kept
}

/// Adds a labelled value to the entry that has this span: after its other ones, or below its heading; to a list item or
/// a reflection below its words.
#[must_use]
pub fn mark(source: &str, span: &Range<usize>, label: &str, value: &str) -> String {
    let blocks = parse(source);
    let eol = if ends_lines_by_crlf(source) { "\r\n" } else { "\n" };
    let mut own = blocks.iter().filter(|block| span.contains(&block.start));
    let Some(first) = own.next() else { return source.to_owned() };
    let below = |line: &str| [&source[..span.end], eol, line, &source[span.end..]].concat();
    match first.kind {
        Kind::Item => return below(&format!("  **{label}**: {value}")),
        Kind::Text => return below(&format!("**{label}**: {value}")),
        Kind::FrontMatter | Kind::Heading { .. } | Kind::Break | Kind::Blank | Kind::Opaque { .. } => {}
    }
    let next = own.next().filter(|block| block.kind == Kind::Text);
    let fields = next.filter(|block| block.text.starts_with("**"));
    let at = fields.unwrap_or(first).end();
    let missing = if source[..at].ends_with('\n') { "" } else { eol };
    // Text that follows closely would be part of the value.
    let gap = if fields.is_none() && next.is_some() { eol } else { "" };
    format!("{}{missing}**{label}**: {value}{eol}{gap}{}", &source[..at], &source[at..])
}

/// The lines that a text has and an earlier one has not, all in one place, and the first one's number.
#[must_use]
pub fn added<'a>(before: &str, after: &'a str) -> (usize, Vec<&'a str>) {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
    (head + 1, new[..new.len() - tail].to_vec())
}

/// The last block of a section that is not empty; with `own` the last before the headings below its own. A list item
/// would belong to the entry of such a heading.
fn end_of_section(blocks: &[Block<'_>], section: &str, own: bool) -> Option<usize> {
    let titled = |block: &Block<'_>| {
        let Kind::Heading { level, title } = block.kind else { return None };
        title.eq_ignore_ascii_case(section).then_some(level)
    };
    let (at, level) = blocks.iter().enumerate().find_map(|(at, block)| Some((at, titled(block)?)))?;
    let ends = |block: &Block<'_>| {
        block.kind == Kind::Break
            || matches!(block.kind, Kind::Heading { level: next, .. } if own || next <= level)
    };
    let end = blocks[at + 1..].iter().position(ends).map_or(blocks.len(), |count| at + 1 + count);
    blocks[at..end].iter().rposition(|block| block.kind != Kind::Blank).map(|last| at + last)
}

/// The bytes of a block up to the end of its last line that is not empty.
fn content_length(block: &Block<'_>) -> usize {
    let words = block.text.trim_end().len();
    block.text[words..].find('\n').map_or(block.text.len(), |end| words + end + 1)
}

fn ends_lines_by_crlf(source: &str) -> bool {
    source.find('\n').is_some_and(|at| source[..at].ends_with('\r'))
}
