//! Keeps credentials and sensitive personal data out of everything that is stored.
//!
//! The rules are data (`secrets.toml`). A single keyword scan decides which of them a text needs, so
//! that an ordinary sentence costs a few microseconds.

use std::{
    borrow::Cow,
    ops::Range,
    sync::{LazyLock, OnceLock},
};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};

const BUILTIN: &str = include_str!("secrets.toml");

/// The longest name of a kind, in bytes.
const MAX_KIND: usize = 40;

/// What earlier redactions left. Kinds are limited to this alphabet so that nobody can shield a
/// credential by dressing it up as a marker.
static MARKER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[redacted: [a-z][a-z -]{0,39}\]").expect("a constant pattern"));

/// One way to recognise a secret.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What the secret is called in `[redacted: …]`: lower-case letters, spaces and hyphens.
    pub kind: String,
    /// The pattern is tried only on texts with one of these (in any case), or on all if there are none.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// A regular expression. The first capture group that took part is redacted, else the whole match.
    pub pattern: String,
    /// Secrets that match this regular expression are left alone: placeholders, code, plain words.
    pub except: Option<String>,
    /// The least Shannon entropy of a secret, in bits per byte.
    pub entropy: Option<f64>,
    /// A checksum the secret has to pass.
    pub check: Option<Check>,
}

/// A checksum that tells a number from a look-alike.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// The check digit of payment cards.
    Luhn,
    /// ISO 7064 mod 97-10, as in bank account numbers.
    Iban,
}

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text, with a marker in place of each secret.
    pub text: Cow<'a, str>,
    /// The kinds that were redacted, in order of appearance; a secret that shows only once its
    /// neighbour is gone comes last.
    pub found: Vec<String>,
}

/// Why a set of rules is unusable.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file of rules does not parse.
    #[error("the redaction rules do not parse: {0}")]
    Parse(#[from] toml::de::Error),
    /// The name of a kind could not be told from a secret inside a marker.
    #[error("redaction rule {0:?}: a kind is 1 to 40 lower-case letters, spaces and hyphens, a letter first")]
    Kind(String),
    /// An empty keyword would be found in every text.
    #[error("redaction rule {0:?}: a keyword is empty")]
    Keyword(String),
    /// A regular expression is invalid or too large.
    #[error("redaction rule {kind:?}: {source}")]
    Pattern {
        /// The kind of the rule.
        kind: String,
        /// What is wrong with the expression.
        source: Box<regex::Error>,
    },
    /// The keywords do not fit into one automaton.
    #[error("the keywords of the redaction rules: {0}")]
    Keywords(#[from] aho_corasick::BuildError),
}

impl Rule {
    fn check_names(&self) -> Result<(), Error> {
        let kind_is_plain = self.kind.len() <= MAX_KIND
            && self.kind.starts_with(|c: char| c.is_ascii_lowercase())
            && self.kind.chars().all(|c| matches!(c, 'a'..='z' | ' ' | '-'));
        if !kind_is_plain {
            return Err(Error::Kind(self.kind.clone()));
        }
        if self.keywords.iter().any(String::is_empty) {
            return Err(Error::Keyword(self.kind.clone()));
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    placeholder: String,
    rule: Vec<Rule>,
}

/// Finds secrets and replaces them by markers such as `[redacted: github token]`.
pub struct Redactor {
    /// In order of precedence: where secrets overlap, the first rule names the kind.
    matchers: Vec<Matcher>,
    keywords: AhoCorasick,
    /// For each keyword the matcher it belongs to.
    keyword_matcher: Vec<usize>,
    /// Which matchers run on a text without any keyword.
    unconditional: Vec<bool>,
    /// What stands in for a secret, whatever its kind.
    placeholder: Regex,
}

impl Redactor {
    /// Prepares the built-in rules, with `extra` ones that take precedence over them.
    ///
    /// # Errors
    ///
    /// If a rule has a malformed kind, keyword or regular expression.
    pub fn new(extra: &[Rule]) -> Result<Self, Error> {
        let RuleFile { placeholder, rule } = toml::from_str(BUILTIN)?;
        for rule in extra {
            Regexes::compile(rule)?;
        }
        Self::with_rules(&placeholder, extra.iter().cloned().chain(rule).collect())
    }

    fn with_rules(placeholder: &str, rules: Vec<Rule>) -> Result<Self, Error> {
        let mut keywords = Vec::new();
        let mut keyword_matcher = Vec::new();
        for (matcher, rule) in rules.iter().enumerate() {
            rule.check_names()?;
            keywords.extend(&rule.keywords);
            keyword_matcher.resize(keywords.len(), matcher);
        }
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(keywords)?;
        Ok(Self {
            keywords,
            keyword_matcher,
            unconditional: rules.iter().map(|rule| rule.keywords.is_empty()).collect(),
            placeholder: compile_regex("placeholder", placeholder)?,
            matchers: rules.into_iter().map(Matcher::new).collect(),
        })
    }

    /// Replaces every secret of `text` by a marker. Redacting the result again changes nothing.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> Redacted<'a> {
        let mut text = Cow::Borrowed(text);
        let mut found = Vec::new();
        // A marker changes what surrounds it, which can uncover another secret.
        while let Some(less) = self.round(&text, &mut found) {
            text = Cow::Owned(less);
        }
        Redacted { text, found }
    }

    /// `text` with its secrets replaced. Markers are never replaced, so that rounds come to an end.
    fn round(&self, text: &str, found: &mut Vec<String>) -> Option<String> {
        let secrets = self.secrets(text);
        if secrets.is_empty() {
            return None;
        }
        let mut less = String::with_capacity(text.len());
        let mut end = 0;
        for Secret { range, matcher } in secrets {
            let kind = &self.matchers[matcher].rule.kind;
            less.push_str(&text[end..range.start]);
            less.push_str("[redacted: ");
            less.push_str(kind);
            less.push(']');
            end = range.end;
            found.push(kind.clone());
        }
        less.push_str(&text[end..]);
        Some(less)
    }

    /// The secrets of `text` outside its markers: in order, without overlaps.
    fn secrets(&self, text: &str) -> Vec<Secret> {
        let mut due = self.unconditional.clone();
        for keyword in self.keywords.find_overlapping_iter(text) {
            due[self.keyword_matcher[keyword.pattern().as_usize()]] = true;
        }
        let markers: Vec<Range<usize>> = MARKER.find_iter(text).map(|marker| marker.range()).collect();
        let mut secrets: Vec<Secret> = self
            .matchers
            .iter()
            .enumerate()
            .filter(|&(index, _)| due[index])
            .flat_map(|(index, matcher)| {
                matcher.find(text, &markers).map(move |range| Secret { range, matcher: index })
            })
            .filter(|secret| !self.placeholder.is_match(&text[secret.range.clone()]))
            .map(|secret| secret.with_rest_of_word(text))
            .collect();
        secrets.sort_by_key(|secret| secret.range.start);
        merge(secrets).into_iter().flat_map(|secret| secret.without(&markers)).collect()
    }
}

fn compile_regex(kind: &str, pattern: &str) -> Result<Regex, Error> {
    Regex::new(pattern).map_err(|error| Error::Pattern { kind: kind.to_owned(), source: Box::new(error) })
}

/// A rule whose regular expressions are compiled once a text needs them, which few rules ever are.
struct Matcher {
    rule: Rule,
    regexes: OnceLock<Regexes>,
}

struct Regexes {
    pattern: Regex,
    except: Option<Regex>,
}

impl Regexes {
    fn compile(rule: &Rule) -> Result<Self, Error> {
        let compile = |regex: &str| compile_regex(&rule.kind, regex);
        Ok(Self {
            pattern: compile(&rule.pattern)?,
            except: rule.except.as_deref().map(compile).transpose()?,
        })
    }
}

impl Matcher {
    fn new(rule: Rule) -> Self {
        Self { rule, regexes: OnceLock::new() }
    }

    fn find<'t>(
        &'t self,
        text: &'t str,
        markers: &'t [Range<usize>],
    ) -> impl Iterator<Item = Range<usize>> + 't {
        let regexes = self.regexes.get_or_init(|| {
            Regexes::compile(&self.rule)
                .expect("further rules are compiled by `new`, built-in ones by a test")
        });
        regexes
            .pattern
            .captures_iter(text)
            .filter_map(|captures| self.secret(&captures, regexes.except.as_ref(), markers))
    }

    fn secret(
        &self,
        captures: &Captures,
        except: Option<&Regex>,
        markers: &[Range<usize>],
    ) -> Option<Range<usize>> {
        let Rule { check, entropy: least, .. } = self.rule;
        let whole = captures.get(0)?;
        let group = captures.iter().skip(1).flatten().next().unwrap_or(whole);
        // The words of a marker are no evidence for what follows it.
        let marker = markers.get(markers.partition_point(|marker| marker.end <= whole.start()));
        if marker.is_some_and(|marker| marker.start <= group.start()) {
            return None;
        }
        let secret = check.map_or(Some(group.as_str()), |check| check.valid_prefix(group.as_str()))?;
        let innocent = secret.is_empty()
            || except.is_some_and(|except| except.is_match(secret))
            || least.is_some_and(|least| entropy(secret) < least);
        (!innocent).then(|| group.start()..group.start() + secret.len())
    }
}

/// Where a matcher found a secret.
struct Secret {
    range: Range<usize>,
    matcher: usize,
}

impl Secret {
    /// Extends a secret to the end of its word: no part of a longer one stays, and no rule that starts
    /// at a word boundary finds a new one behind the marker.
    fn with_rest_of_word(mut self, text: &str) -> Self {
        let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let (secret, rest) = text.as_bytes().split_at(self.range.end);
        if secret.last().is_some_and(in_word) {
            self.range.end += rest.iter().take_while(|byte| in_word(byte)).count();
        }
        self
    }

    /// What is left to redact between the markers of earlier redactions.
    fn without(self, markers: &[Range<usize>]) -> Vec<Secret> {
        let Range { mut start, end } = self.range;
        let first = markers.partition_point(|marker| marker.end <= start);
        let mut rest = Vec::new();
        for marker in markers[first..].iter().take_while(|marker| marker.start < end) {
            rest.push(start..marker.start);
            start = marker.end;
        }
        rest.push(start..end);
        rest.into_iter()
            .filter(|range| !range.is_empty())
            .map(|range| Secret { range, matcher: self.matcher })
            .collect()
    }
}

/// Joins overlapping secrets, which have to be sorted by their start.
fn merge(secrets: Vec<Secret>) -> Vec<Secret> {
    let mut merged: Vec<Secret> = Vec::with_capacity(secrets.len());
    for secret in secrets {
        match merged.last_mut() {
            Some(last) if secret.range.start < last.range.end => {
                last.range.end = last.range.end.max(secret.range.end);
                last.matcher = last.matcher.min(secret.matcher);
            }
            _ => merged.push(secret),
        }
    }
    merged
}

impl Check {
    /// The longest prefix of whole groups that passes: a pattern cannot tell the last group of a
    /// number from a capitalised word behind it.
    fn valid_prefix(self, number: &str) -> Option<&str> {
        let ends = number.char_indices().rev().filter(|&(_, c)| c == ' ').map(|(end, _)| end);
        std::iter::once(number.len()).chain(ends).map(|end| &number[..end]).find(|prefix| self.passes(prefix))
    }

    fn passes(self, number: &str) -> bool {
        match self {
            Self::Luhn => luhn(number),
            Self::Iban => iban(number),
        }
    }
}

fn luhn(number: &str) -> bool {
    let digits: Vec<u32> = number.chars().filter_map(|c| c.to_digit(10)).collect();
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, &digit)| match place % 2 {
            0 => digit,
            _ => digit * 2 / 10 + digit * 2 % 10,
        })
        .sum();
    digits.len() >= 13 && sum.is_multiple_of(10)
}

fn iban(number: &str) -> bool {
    let compact: Vec<u32> = number.chars().filter_map(|c| c.to_digit(36)).collect();
    if compact.len() < 15 {
        return false;
    }
    let (head, account) = compact.split_at(4);
    let remainder = account.iter().chain(head).fold(0, |remainder, &value| {
        let shift = if value < 10 { 10 } else { 100 };
        (remainder * shift + value) % 97
    });
    remainder == 1
}

/// Shannon entropy in bits per byte.
#[expect(clippy::cast_precision_loss, reason = "texts are far shorter than 2^52 bytes")]
fn entropy(text: &str) -> f64 {
    let mut counts = [0_usize; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = text.len() as f64;
    counts
        .into_iter()
        .filter(|&count| count > 0)
        .map(|count| count as f64 / total)
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
mod tests;
