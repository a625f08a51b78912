//! Text to index terms: words, parts of identifiers, bigrams of scripts without spaces.

use std::borrow::Cow;
use std::collections::HashSet;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::char::{decompose_compatible, is_combining_mark};
use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::stopwords;

/// A longer word is cut to this many bytes; a longer compound is known by its parts only.
const WORD_MAX: usize = 128;

/// A word found in a text, folded: lower case, Latin letters without diacritics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word<'a> {
    /// A word, a part of an identifier or a bigram.
    Part(&'a str),
    /// A whole identifier, path or version whose parts were given before it.
    Compound(&'a str),
}

impl<'a> Word<'a> {
    fn folded(self) -> &'a str {
        match self {
            Self::Part(word) | Self::Compound(word) => word,
        }
    }
}

/// Turns words into the terms that are indexed.
#[derive(Clone, Copy)]
pub(super) struct Terms(Stemmer);

impl Terms {
    pub(super) fn new() -> Self {
        Self(Stemmer::new(Algorithm::English))
    }

    /// The stem of a folded `word`; `None` for a stop word.
    pub(super) fn term(self, word: &str) -> Option<Cow<'_, str>> {
        if stopwords::contains(word) {
            None
        } else if word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'\'') {
            Some(self.0.stem(word))
        } else {
            Some(Cow::Borrowed(word))
        }
    }
}

/// The words of a query that a text has too, in any form, in the query's order and as the query has them.
#[must_use]
pub fn shared(query: &str, text: &str) -> Vec<String> {
    let terms = Terms::new();
    let mut there = HashSet::new();
    words(text, |word| there.extend(terms.term(word.folded()).map(Cow::into_owned)));
    let mut shared: Vec<String> = Vec::new();
    let mut told = HashSet::new();
    words(query, |word| {
        if let Some(term) = terms.term(word.folded())
            && there.contains(&*term)
            && told.insert(term.into_owned())
        {
            shared.push(word.folded().to_owned());
        }
    });
    shared
}

/// Calls `emit` with every word of `text`, in order.
///
/// - `snake_case`, `kebab-case`, `camelCase`, `a/path.rs`, `1.2.3` give their parts, then
///   the whole without `_` and `-`, so that all spellings of a name meet.
/// - Runs of Chinese, Japanese, Korean and South-East Asian characters give overlapping
///   bigrams, or the character if it is alone.
/// - An apostrophe between letters belongs to the word.
pub(super) fn words(text: &str, mut emit: impl FnMut(Word<'_>)) {
    let text =
        if text.is_ascii() || is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) };
    let mut part = String::new();
    let mut whole = String::new();
    let mut rest = &*text;
    while let Some(first) = rest.chars().next() {
        if is_unspaced(first) {
            let end = rest.find(|c| !is_unspaced(c)).unwrap_or(rest.len());
            bigrams(&rest[..end], &mut emit);
            rest = &rest[end..];
        } else if is_word(first) {
            let (end, plain) = chunk_end(rest);
            let chunk = &rest[..end];
            if plain {
                part.clear();
                part.push_str(cut(chunk));
                part.make_ascii_lowercase();
                emit(Word::Part(&part));
            } else {
                compound(chunk, &mut part, &mut whole, &mut emit);
            }
            rest = &rest[end..];
        } else {
            rest = &rest[first.len_utf8()..];
        }
    }
}

/// Where the word or compound at the start of `text` ends, and whether it is one plain
/// ASCII word: nothing to fold but case, no parts.
fn chunk_end(text: &str) -> (usize, bool) {
    let mut plain = true;
    let mut end = 0;
    let mut before = 0_u8;
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(end) {
        let after_start = end > 0;
        match byte {
            b'a'..=b'z' | b'0'..=b'9' => end += 1,
            b'A'..=b'Z' => {
                // "HTTP" and "Http" are plain, "httpServer" and "HTTPServer" are not; a
                // capital after a capital is settled by the lower case that may follow.
                plain &= !after_start || before.is_ascii_uppercase();
                end += 1;
            }
            _ => {
                let joint = joint(&text[end..]);
                let next = text[end + joint..].chars().next();
                match next {
                    Some(c) if joint == 0 && !c.is_ascii() && is_word(c) => {
                        plain = false;
                        end += c.len_utf8();
                    }
                    Some(c) if joint > 0 && is_word(c) => {
                        plain &= byte == b'\'';
                        end += joint;
                    }
                    _ => break,
                }
            }
        }
        if byte.is_ascii_lowercase() && before.is_ascii_uppercase() && end > 2 {
            plain = false;
        }
        before = byte;
    }
    (end, plain)
}

/// The length of the joint between two parts at the start of `text`, 0 for none.
fn joint(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes {
        [b':', b':', ..] => 2,
        [b'_' | b'-' | b'.' | b'/' | b'\\' | b':' | b'@' | b'\'', ..] => 1,
        _ if text.starts_with('\u{2019}') => 3,
        _ => 0,
    }
}

/// Emits the parts of `chunk` and, if there are several, the whole.
fn compound(chunk: &str, part: &mut String, whole: &mut String, emit: &mut impl FnMut(Word<'_>)) {
    part.clear();
    whole.clear();
    let mut parts = 0;
    let mut before = ' ';
    for (at, c) in chunk.char_indices() {
        let joins = !is_word(c);
        if joins && matches!(c, '\'' | '\u{2019}') {
            part.push('\'');
            whole.push('\'');
        } else if joins || (c.is_uppercase() && is_hump(before, &chunk[at + c.len_utf8()..])) {
            if !part.is_empty() {
                emit(Word::Part(cut(part)));
                parts += 1;
            }
            part.clear();
            if joins && !matches!(c, '_' | '-') {
                whole.push(c);
            }
        }
        if !joins {
            let start = part.len();
            fold(c, part);
            whole.push_str(&part[start..]);
        }
        before = c;
    }
    if !part.is_empty() {
        emit(Word::Part(cut(part)));
        parts += 1;
    }
    if parts > 1 && whole.len() <= WORD_MAX {
        emit(Word::Compound(whole));
    }
}

/// Whether an upper-case letter between `before` and `after` starts a part: `fooBar`,
/// and the last capital of `HTTPServer`, but not that of `URLs`.
fn is_hump(before: char, after: &str) -> bool {
    let mut after = after.chars();
    before.is_lowercase()
        || (before.is_uppercase()
            && after.next().is_some_and(char::is_lowercase)
            && after.next().is_some_and(char::is_lowercase))
}

fn bigrams(run: &str, emit: &mut impl FnMut(Word<'_>)) {
    let mut starts = run.char_indices().map(|(at, _)| at).chain([run.len()]);
    let (mut first, mut second) = (starts.next().unwrap_or(0), starts.next().unwrap_or(0));
    let mut alone = true;
    for third in starts {
        emit(Word::Part(&run[first..third]));
        (first, second) = (second, third);
        alone = false;
    }
    if alone {
        emit(Word::Part(&run[first..second]));
    }
}

/// Appends `c` in lower case, a Latin letter without its diacritics.
fn fold(c: char, out: &mut String) {
    match c {
        _ if c.is_ascii() => out.push(c.to_ascii_lowercase()),
        // What is left of these after composition has no composed form.
        '\u{300}'..='\u{36f}' => {}
        'ß' | 'ẞ' => out.push_str("ss"),
        'æ' | 'Æ' => out.push_str("ae"),
        'œ' | 'Œ' => out.push_str("oe"),
        'þ' | 'Þ' => out.push_str("th"),
        'ø' | 'Ø' => out.push('o'),
        'ł' | 'Ł' => out.push('l'),
        'đ' | 'Đ' | 'ð' | 'Ð' => out.push('d'),
        'ı' => out.push('i'),
        'ς' => out.push('σ'),
        _ => {
            let start = out.len();
            let mut latin = None;
            decompose_compatible(c, |piece| {
                if *latin.get_or_insert(piece.is_ascii_alphanumeric()) && piece.is_ascii_alphanumeric() {
                    out.push(piece.to_ascii_lowercase());
                }
            });
            if out.len() == start {
                out.extend(c.to_lowercase());
            }
        }
    }
}

/// The start of `word` that is indexed.
fn cut(word: &str) -> &str {
    &word[..word.floor_char_boundary(WORD_MAX)]
}

fn is_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric()
    } else {
        (c.is_alphanumeric() || is_combining_mark(c)) && !is_unspaced(c)
    }
}

/// Whether `c` belongs to a script that is written without spaces between words, or
/// (Korean) with endings that a space does not set apart.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e01}'..='\u{e4e}' | '\u{e81}'..='\u{ecd}' // Thai, Lao
        | '\u{1000}'..='\u{1049}' | '\u{1780}'..='\u{17d3}' // Burmese, Khmer
        | '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{ac00}'..='\u{d7fb}' // Hangul
        | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ffdc}' // Kana, half-width forms
        | '\u{3005}'..='\u{3007}' | '\u{3105}'..='\u{312f}' | '\u{2e80}'..='\u{2fd5}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' // Han, Bopomofo
    )
}

#[cfg(test)]
mod tests;
