//! What of the things said to an agent is worth keeping (spec M9).
//!
//! The patterns are data (`capture.toml`). A pattern finds a cue in a sentence; a veto takes it back where the sentence
//! is something else after all: a question, a hypothetical, an order for this once. What is quoted or pasted is not
//! said by the user, so only errors are looked for in it. A wrong finding costs more than a missed one.

mod sentences;

use std::sync::OnceLock;

use memoryd_proto::{Confidence, Finding, Signal, ToolOutcome, Vetoed};
use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};

use crate::domain::text;
use sentences::Sentence;

const BUILTIN: &str = include_str!("capture.toml");

/// How much of an answer's words is shown, in characters.
const SHOWN: usize = 200;

/// One way to recognise what is worth keeping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// Its name in answers.
    pub id: String,
    /// What a sentence that it matches is.
    pub signal: Signal,
    /// A regular expression, in any case.
    pub pattern: String,
    /// Sentences that this matches are something else.
    pub except: Option<String>,
    /// How sure a match is, 0 to 1. The surest match decides.
    pub confidence: f64,
    /// The rule that follows; `$rule` stands for the group of that name.
    pub rule: Option<String>,
}

/// A reason why a match does not count.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Veto {
    id: String,
    because: String,
    pattern: String,
    /// What it does not speak against.
    #[serde(default)]
    spares: Vec<Signal>,
    /// Whether it speaks against the whole text, not only against its own sentence.
    #[serde(default)]
    whole: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    veto: Vec<Veto>,
    pattern: Vec<Pattern>,
}

/// Why a set of patterns is unusable.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file of patterns does not parse.
    #[error("the capture patterns do not parse: {0}")]
    Parse(#[from] toml::de::Error),
    /// A pattern has no name.
    #[error("a capture pattern has no id")]
    Id,
    /// A confidence is out of its range.
    #[error("capture pattern {0:?}: confidence must be a number from 0 to 1")]
    Confidence(String),
    /// A rule refers to a group that the pattern does not have.
    #[error("capture pattern {0:?}: its rule needs a group (?<rule>…) in the pattern")]
    Rule(String),
    /// A regular expression is invalid or too large.
    #[error("capture pattern {id:?}: {source}")]
    Regex {
        /// The pattern.
        id: String,
        /// What is wrong with the expression.
        source: Box<regex::Error>,
    },
}

/// What was decided on a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// What is worth keeping, if anything is.
    pub finding: Option<Finding>,
    /// The patterns that matched and do not count.
    pub vetoed: Vec<Vetoed>,
}

/// Decides what is worth keeping.
pub struct Detector {
    extra: Vec<Pattern>,
    /// Compiled for the first text, as most daemons never see one and it takes a tenth of a second.
    rules: OnceLock<Rules>,
}

struct Rules {
    patterns: Vec<Matcher>,
    vetoes: Vec<(Veto, Regex)>,
}

struct Matcher {
    pattern: Pattern,
    cue: Regex,
    except: Option<Regex>,
}

fn compile(id: &str, pattern: &str) -> Result<Regex, Error> {
    Regex::new(&format!("(?i){pattern}"))
        .map_err(|error| Error::Regex { id: id.to_owned(), source: Box::new(error) })
}

impl Matcher {
    fn new(pattern: Pattern) -> Result<Self, Error> {
        let Pattern { id, confidence, .. } = &pattern;
        if id.is_empty() {
            return Err(Error::Id);
        }
        if !(0.0..=1.0).contains(confidence) {
            return Err(Error::Confidence(id.clone()));
        }
        let cue = compile(id, &pattern.pattern)?;
        let named = cue.capture_names().flatten().any(|name| name == "rule");
        if pattern.rule.as_ref().is_some_and(|rule| rule.contains("$rule")) && !named {
            return Err(Error::Rule(id.clone()));
        }
        let except = pattern.except.as_deref().map(|except| compile(id, except)).transpose()?;
        Ok(Self { pattern, cue, except })
    }

    fn find<'t>(&self, said: &'t str) -> Option<Captures<'t>> {
        let captures = self.cue.captures(said)?;
        let other = self.except.as_ref().is_some_and(|except| except.is_match(said));
        (!other).then_some(captures)
    }

    fn finding(&self, sentence: &Sentence, captures: &Captures) -> Finding {
        let rule = self.pattern.rule.as_deref().map(|rule| {
            let words = captures.name("rule").map_or("", |group| &sentence.text[group.range()]);
            capitalised(
                rule.replace("$rule", words).trim_matches(|c: char| c.is_whitespace() || ".,;:!".contains(c)),
            )
        });
        Finding {
            signal: self.pattern.signal,
            confidence: Confidence::clamped(self.pattern.confidence),
            pattern: self.pattern.id.clone(),
            words: matched(sentence, captures),
            sentence: sentence.text.clone(),
            rule,
        }
    }
}

/// The words that a pattern matched.
fn matched(sentence: &Sentence, captures: &Captures) -> String {
    let words = captures.get(0).map_or("", |whole| &sentence.text[whole.range()]);
    text::excerpt(words.trim_matches(|c: char| c.is_whitespace() || c == ','), SHOWN)
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Checks patterns of a configuration.
///
/// # Errors
/// When one has no id, a confidence out of range, a rule without its group, or an invalid regular expression.
pub fn check(patterns: &[Pattern]) -> Result<(), Error> {
    patterns.iter().cloned().try_for_each(|pattern| Matcher::new(pattern).map(drop))
}

impl Rules {
    fn new(extra: &[Pattern]) -> Result<Self, Error> {
        let File { veto, pattern } = toml::from_str(BUILTIN)?;
        let patterns = extra.iter().cloned().chain(pattern).map(Matcher::new);
        let vetoes = veto.into_iter().map(|veto| {
            let regex = compile(&veto.id, &veto.pattern)?;
            Ok((veto, regex))
        });
        Ok(Self {
            patterns: patterns.collect::<Result<_, _>>()?,
            vetoes: vetoes.collect::<Result<_, Error>>()?,
        })
    }
}

impl Detector {
    /// Takes the built-in patterns, with `extra` ones that come before them.
    ///
    /// # Errors
    /// When a pattern is unusable, see [`check`].
    pub fn new(extra: &[Pattern]) -> Result<Self, Error> {
        check(extra)?;
        Ok(Self { extra: extra.to_vec(), rules: OnceLock::new() })
    }

    fn rules(&self) -> &Rules {
        self.rules.get_or_init(|| {
            Rules::new(&self.extra).expect("further patterns are checked by `new`, built-in ones by a test")
        })
    }

    /// What is worth keeping of what a user said: the surest match, of equals the first.
    #[must_use]
    pub fn decide(&self, text: &str) -> Decision {
        let said = sentences::said(text);
        let whole: String = said.iter().map(|sentence| sentence.said.as_str()).collect::<Vec<_>>().join("\n");
        let mut decision = Decision::default();
        for sentence in &said {
            self.weigh(sentence, &whole, |signal| signal != Signal::Error, &mut decision);
        }
        for line in &sentences::lines(text) {
            self.weigh(line, &whole, |signal| signal == Signal::Error, &mut decision);
        }
        decision
    }

    /// What is worth keeping of how a tool ended and what it said: that it failed, unless it failed without a word, as
    /// a search that finds nothing does.
    #[must_use]
    pub fn decide_on_tool(&self, tool: &ToolOutcome, output: &str) -> Decision {
        let mut decision = Decision::default();
        let lines = sentences::lines(output);
        for line in &lines {
            self.weigh(line, "", |signal| signal == Signal::Error, &mut decision);
        }
        let failed = tool.failed || tool.exit_code.is_some_and(|code| code != 0);
        // A tool that knows that it succeeded only mentions errors.
        if tool.exit_code == Some(0) && !tool.failed || !failed && decision.finding.is_none() {
            return Decision { finding: None, ..decision };
        }
        let Some(line) = lines.last() else { return decision };
        let how = match tool.exit_code {
            Some(code) => format!("{} failed with exit code {code}", tool.name),
            None => format!("{} failed", tool.name),
        };
        let said = decision.finding.take().map_or_else(|| line.text.clone(), |finding| finding.sentence);
        decision.finding = Some(Finding {
            signal: Signal::Error,
            confidence: Confidence::clamped(if failed { 0.9 } else { 0.8 }),
            pattern: "tool".to_owned(),
            words: how.clone(),
            sentence: format!("{how}: {}", text::excerpt(&said, SHOWN)),
            rule: None,
        });
        decision
    }

    fn weigh(
        &self,
        sentence: &Sentence,
        whole: &str,
        wanted: impl Fn(Signal) -> bool,
        decision: &mut Decision,
    ) {
        for matcher in self.rules().patterns.iter().filter(|matcher| wanted(matcher.pattern.signal)) {
            let Some(captures) = matcher.find(&sentence.said) else { continue };
            let signal = matcher.pattern.signal;
            let against = self.rules().vetoes.iter().find(|(veto, regex)| {
                !veto.spares.contains(&signal)
                    && regex.is_match(if veto.whole { whole } else { &sentence.said })
            });
            if let Some((veto, _)) = against {
                decision.vetoed.push(Vetoed {
                    pattern: matcher.pattern.id.clone(),
                    words: matched(sentence, &captures),
                    veto: veto.id.clone(),
                    because: veto.because.clone(),
                });
                continue;
            }
            let surest = decision.finding.as_ref().map_or(-1.0, |finding| finding.confidence.get());
            if matcher.pattern.confidence > surest {
                decision.finding = Some(matcher.finding(sentence, &captures));
            }
        }
    }
}

#[cfg(test)]
mod tests;
