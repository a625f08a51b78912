//! Markdown as blocks that keep their exact source text (spec M2).
//!
//! The blocks of a document are consecutive pieces of its text, so printing them one after the other gives the text
//! back, byte for byte, whatever it is. Within them [entries] are recognised, and [edits](edit) insert or cut
//! bytes at the borders of blocks and touch no others.

pub mod edit;
mod entry;
mod format;
mod lines;

#[cfg(test)]
mod tests;

pub use entry::{Entry, STATUS, entries};
pub use format::{
    LEARNED, PREFERENCES, RULES, Skill, correction, hot_line, insight, learning, reflection, rule, skill,
    slug,
};

use lines::{Line, fence, heading, indent, is_break, item, lines};

/// What a block is. Whatever is not told apart is [`Text`](Kind::Text).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// YAML between two lines of `---`, at the start.
    FrontMatter,
    /// A heading.
    Heading {
        /// From 1 to 6.
        level: usize,
        /// Its words.
        title: &'a str,
    },
    /// A line of `---`, `***` or `___`.
    Break,
    /// Empty lines.
    Blank,
    /// A code fence or a comment. One that is not closed reaches to the end.
    Opaque {
        /// Whether it is closed.
        closed: bool,
    },
    /// A list item with all that belongs to it.
    Item,
    /// A paragraph, a table, HTML, or anything else.
    Text,
}

/// A piece of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// What it is.
    pub kind: Kind<'a>,
    /// Its exact source, with line endings.
    pub text: &'a str,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Its first line, from 1.
    pub line: usize,
}

impl Block<'_> {
    /// Where it ends, in bytes.
    #[must_use]
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The blocks of a text, in order. Their texts, put together, are the text.
#[must_use]
pub fn parse(source: &str) -> Vec<Block<'_>> {
    let lines = lines(source);
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let (kind, count) = block(&lines[at..], at == 0);
        let last = &lines[at + count - 1];
        let start = lines[at].start;
        blocks.push(Block { kind, text: &source[start..last.start + last.text.len()], start, line: at + 1 });
        at += count;
    }
    blocks
}

/// The block at the start of some lines, and how many of them it has.
fn block<'a>(lines: &[Line<'a>], first: bool) -> (Kind<'a>, usize) {
    let bare = lines[0].bare;
    if first && let Some(count) = front_matter(lines) {
        return (Kind::FrontMatter, count);
    }
    if lines[0].is_blank() {
        return (Kind::Blank, lines.iter().take_while(|line| line.is_blank()).count());
    }
    if let Some((level, title)) = heading(bare) {
        return (Kind::Heading { level, title }, 1);
    }
    if is_break(bare) {
        return (Kind::Break, 1);
    }
    if let Some((mark, length)) = fence(bare) {
        let closes = |line: &Line<'_>| {
            let tail = line.bare.trim();
            indent(line.bare) <= 3 && tail.len() >= length && tail.chars().all(|c| c == mark)
        };
        return opaque(lines, closes, 1);
    }
    if is_comment(bare) {
        let begins_and_ends = bare.split_once("<!--").is_some_and(|(_, rest)| rest.contains("-->"));
        return opaque(lines, |line| line.bare.contains("-->"), usize::from(!begins_and_ends));
    }
    if let Some(item) = item(bare) {
        return (Kind::Item, item_lines(lines, item.content));
    }
    let interrupts = |line: &Line<'_>| {
        line.is_blank() || starts_block(line.bare) || item(line.bare).is_some_and(|item| item.interrupts)
    };
    (Kind::Text, 1 + lines[1..].iter().take_while(|line| !interrupts(line)).count())
}

fn front_matter(lines: &[Line<'_>]) -> Option<usize> {
    let opens = lines[0].bare.trim_end() == "---" && lines.get(1).is_some_and(|line| !line.is_blank());
    let closes = |line: &Line<'_>| matches!(line.bare.trim_end(), "---" | "...");
    let inner = lines[1..].iter().position(closes)?;
    opens.then_some(inner + 2)
}

fn is_comment(bare: &str) -> bool {
    indent(bare) <= 3 && bare.trim_start().starts_with("<!--")
}

fn starts_block(bare: &str) -> bool {
    heading(bare).is_some() || is_break(bare) || fence(bare).is_some() || is_comment(bare)
}

/// Lines up to the first that closes, of those after the first `skip`.
fn opaque<'a>(lines: &[Line<'a>], closes: impl Fn(&Line<'a>) -> bool, skip: usize) -> (Kind<'a>, usize) {
    match lines[skip..].iter().position(closes) {
        Some(at) => (Kind::Opaque { closed: true }, skip + at + 1),
        None => (Kind::Opaque { closed: false }, lines.len()),
    }
}

/// How many lines an item has whose content begins at column `content`: what is indented so far, also after empty
/// lines, and paragraphs that go on without indentation.
fn item_lines(lines: &[Line<'_>], content: usize) -> usize {
    let (mut count, mut at, mut after_blank) = (1, 1, false);
    while let Some(line) = lines.get(at) {
        let belongs = if line.is_blank() {
            after_blank = true;
            at += 1;
            continue;
        } else if indent(line.bare) >= content {
            true
        } else {
            !after_blank && !starts_block(line.bare) && item(line.bare).is_none()
        };
        if !belongs {
            break;
        }
        after_blank = false;
        at += 1;
        count = at;
    }
    count
}
