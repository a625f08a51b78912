//! What a line of markdown is by itself.

/// A line of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// Its exact source, with its ending.
    pub(super) text: &'a str,
    /// Without its ending, and without a byte order mark.
    pub(super) bare: &'a str,
}

impl Line<'_> {
    pub(super) fn is_blank(&self) -> bool {
        self.bare.trim().is_empty()
    }
}

pub(super) fn lines(source: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    source
        .split_inclusive('\n')
        .map(|text| {
            let bare = text.trim_end_matches('\n').trim_end_matches('\r');
            let bare = if start == 0 { bare.trim_start_matches('\u{feff}') } else { bare };
            let line = Line { start, text, bare };
            start += text.len();
            line
        })
        .collect()
}

/// The column at which a line's text begins; a tab reaches to the next multiple of four.
pub(super) fn indent(bare: &str) -> usize {
    let mut column = 0;
    for c in bare.chars() {
        match c {
            ' ' => column += 1,
            '\t' => column += 4 - column % 4,
            _ => break,
        }
    }
    column
}

/// The level and the words of a heading.
pub(super) fn heading(bare: &str) -> Option<(usize, &str)> {
    let text = bare.trim_start_matches(' ');
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &text[level..];
    let is_heading =
        indent(bare) <= 3 && (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| {
        let title = rest.trim();
        let open = title.trim_end_matches('#');
        let closed = open.len() < title.len() && (open.is_empty() || open.ends_with([' ', '\t']));
        (level, if closed { open.trim_end() } else { title })
    })
}

/// Whether a line is a thematic break.
pub(super) fn is_break(bare: &str) -> bool {
    let mut marks = bare.chars().filter(|c| !matches!(c, ' ' | '\t'));
    let Some(mark @ ('-' | '*' | '_')) = marks.next() else { return false };
    let mut count = 1;
    marks.all(|c| {
        count += 1;
        c == mark
    }) && count >= 3
        && indent(bare) <= 3
}

/// The mark and the length of the fence that a line opens.
pub(super) fn fence(bare: &str) -> Option<(char, usize)> {
    let text = bare.trim_start_matches(' ');
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = text.chars().take_while(|c| *c == mark).count();
    let opens = indent(bare) <= 3 && length >= 3 && !(mark == '`' && text[length..].contains('`'));
    opens.then_some((mark, length))
}

/// A list item's first line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    /// The column at which its content begins.
    pub(super) content: usize,
    /// Its words on this line.
    pub(super) text: &'a str,
    /// Whether it may follow a paragraph without an empty line.
    pub(super) interrupts: bool,
}

/// The list item that a line begins.
pub(super) fn item(bare: &str) -> Option<Item<'_>> {
    let lead = indent(bare);
    let text = bare.trim_start_matches(' ');
    if lead > 3 || text.starts_with('\t') {
        return None;
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (marker, interrupts) = match text[digits..].chars().next()? {
        '-' | '*' | '+' if digits == 0 => (1, true),
        '.' | ')' if (1..=9).contains(&digits) => (digits + 1, &text[..digits] == "1"),
        _ => return None,
    };
    let rest = &text[marker..];
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let gap = indent(rest);
    let gap = if rest.trim().is_empty() || gap > 4 { 1 } else { gap };
    Some(Item {
        content: lead + marker + gap,
        text: rest.trim(),
        interrupts: interrupts && !rest.trim().is_empty(),
    })
}
