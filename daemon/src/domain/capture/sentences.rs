//! The sentences of a text: what the user said, without what is pasted or quoted.

use std::sync::LazyLock;

use regex::Regex;

/// The longest sentence that is looked at, in characters. What is longer was not said, but pasted.
const LONGEST: usize = 600;

/// A sentence.
pub(super) struct Sentence {
    /// As it is.
    pub(super) text: String,
    /// With `_` in the place of what is quoted, byte for byte as long.
    pub(super) said: String,
}

static FENCED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)```.*?(?:```|\z)").expect("a constant pattern"));

/// Lines that somebody else wrote: quoted mail, logs, traces, diffs, prompts, code.
static PASTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x) ^\s*(?: > | [$%\#]\s+\S | at\s+\S+\( | File\s" | \d{4}-\d\d-\d\d[T\s]\d | \[?\d\d:\d\d:\d\d | \[(?i:error|warn|info|debug)
        | (?:ERROR|WARN|INFO|DEBUG|FATAL|TRACE)\b | \+\+\+\s | ---\s\S+/ | @@\s | [-+]\s*(?:const|let|def|return|import)\b
        | (?:const|let|var|fn|def|class|import|return|SELECT|public|private|\#include)\s.*[;{(:=] | // | /\* | <[a-zA-Z!/] | \S+:\d+:\d+ ) | [;{]\s*$"#,
    )
    .expect("a constant pattern")
});

static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""([^"\n]{2,})"|`([^`\n]+)`|«([^»\n]+)»|(?:^|[\s(:])'([^'\n]{4,})'(?:[\s,.;:?!)]|$)"#)
        .expect("a constant pattern")
});

static END: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[.!?]+[)\x22']?\s+|\n").expect("a constant pattern"));

static DENIAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:(?:no|nope|nah|still wrong|wrong|incorrect|not quite|sorry|ugh|hm+)\b\W*)+$")
        .expect("a constant pattern")
});

/// What the user said in a text.
pub(super) fn said(text: &str) -> Vec<Sentence> {
    let text = plain(text);
    let text = FENCED.replace_all(&text, "\n");
    let lines = text.lines().filter(|line| !PASTED.is_match(line));
    lines.flat_map(split).filter_map(sentence).collect()
}

/// Every line of a text, whoever wrote it.
pub(super) fn lines(text: &str) -> Vec<Sentence> {
    let whole = |text: &str| Sentence { text: text.to_owned(), said: masked(text) };
    plain(text).lines().map(str::trim).filter(|line| !line.is_empty()).map(whole).collect()
}

/// The text with typewriter quotes.
fn plain(text: &str) -> String {
    text.replace(['\u{2018}', '\u{2019}', '\u{b4}'], "'").replace(['\u{201c}', '\u{201d}', '\u{201e}'], "\"")
}

/// The sentences of a line. A bare "No." belongs to what follows it.
fn split(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for end in END.find_iter(line).filter(|end| !DENIAL.is_match(&line[..end.start()])) {
        parts.push(&line[start..end.end()]);
        start = end.end();
    }
    parts.push(&line[start..]);
    parts
}

fn sentence(text: &str) -> Option<Sentence> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_start_matches(['-', '*', '•', ' ']).to_owned();
    let fits = !text.is_empty() && text.chars().count() <= LONGEST;
    fits.then(|| Sentence { said: masked(&text), text })
}

/// The text with `_` in the place of what is quoted.
fn masked(text: &str) -> String {
    let mut said = text.to_owned();
    for quoted in QUOTED.captures_iter(text) {
        if let Some(inside) = quoted.iter().skip(1).flatten().next() {
            said.replace_range(inside.range(), &"_".repeat(inside.len()));
        }
    }
    said
}
