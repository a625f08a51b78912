//! How well capture decides on sentences whose answers are known (spec M9).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use memoryd::domain::capture::Detector;
use memoryd_proto::Signal;

/// A sentence, and what it is.
#[derive(Clone, Debug)]
pub struct Sentence {
    /// What was said.
    pub text: String,
    /// What it is; any of these will do, and nothing when there is none.
    pub is: Vec<Signal>,
}

/// What was made of a sentence.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The sentence.
    pub sentence: Sentence,
    /// What it was taken for.
    pub taken_for: Option<Signal>,
    /// The pattern that decided, or the veto that took the last match back.
    pub by: String,
}

impl Judged {
    /// Whether that is right.
    #[must_use]
    pub fn right(&self) -> bool {
        match self.taken_for {
            None => self.sentence.is.is_empty(),
            Some(signal) => self.sentence.is.contains(&signal),
        }
    }
}

/// What was made of many sentences.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// Each of them.
    pub judged: Vec<Judged>,
}

impl Score {
    /// Judges sentences by the built-in patterns.
    #[must_use]
    pub fn of(sentences: Vec<Sentence>) -> Self {
        let detector = Detector::new(&[]).unwrap();
        let judge = |sentence: Sentence| {
            let decision = detector.decide(&sentence.text);
            let veto = decision.vetoed.last().map(|vetoed| format!("{} by {}", vetoed.pattern, vetoed.veto));
            let by = decision.finding.as_ref().map(|finding| finding.pattern.clone()).or(veto);
            let taken_for = decision.finding.map(|finding| finding.signal);
            Judged { sentence, taken_for, by: by.unwrap_or_default() }
        };
        Self { judged: sentences.into_iter().map(judge).collect() }
    }

    /// How many of what was captured are what they were taken for, from 0 to 1.
    #[must_use]
    pub fn precision(&self) -> f64 {
        share(self.hits(), self.judged.iter().filter(|one| one.taken_for.is_some()).count())
    }

    /// How many of what was to be captured were captured as what they are, from 0 to 1.
    #[must_use]
    pub fn recall(&self) -> f64 {
        share(self.hits(), self.judged.iter().filter(|one| !one.sentence.is.is_empty()).count())
    }

    /// For each signal: how many sentences are it, were taken for it, and rightly so. A sentence that may be either of
    /// two counts for the first.
    #[must_use]
    pub fn by_signal(&self) -> BTreeMap<Signal, [usize; 3]> {
        let count = |holds: &dyn Fn(&Judged) -> bool| self.judged.iter().filter(|one| holds(one)).count();
        let counts = |signal: Signal| {
            [
                count(&|one| one.sentence.is.first() == Some(&signal)),
                count(&|one| one.taken_for == Some(signal)),
                count(&|one| one.taken_for == Some(signal) && one.right()),
            ]
        };
        Signal::ALL.into_iter().map(|signal| (signal, counts(signal))).collect()
    }

    /// What was decided wrongly.
    pub fn wrong(&self) -> impl Iterator<Item = &Judged> {
        self.judged.iter().filter(|one| !one.right())
    }

    fn hits(&self) -> usize {
        self.judged.iter().filter(|one| one.taken_for.is_some() && one.right()).count()
    }
}

#[allow(clippy::cast_precision_loss, reason = "the counts are small")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// The file of that name among the test data.
#[must_use]
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

/// Reads sentences: a line each, what it is (`none`, or signals joined by `|`), a tab, and the sentence, in which `\n`
/// is a new line. A line that begins with `#` is a remark.
///
/// # Panics
/// When a line is not of that form.
#[must_use]
pub fn read(path: &Path) -> Vec<Sentence> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let (is, text) = line.split_once('\t').unwrap_or_else(|| panic!("no tab in {line:?}"));
            let signal = |name: &str| {
                let found = Signal::ALL.into_iter().find(|signal| signal.as_str() == name);
                found.unwrap_or_else(|| panic!("no signal is called {name:?}"))
            };
            let is = if is == "none" { Vec::new() } else { is.split('|').map(signal).collect() };
            Sentence { text: text.replace("\\n", "\n"), is }
        })
        .collect()
}
