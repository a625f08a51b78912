//! When two texts say the same (spec I5).

use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

/// A text without what does not change its meaning: case, white space, compatibility forms and punctuation at its
/// ends.
#[must_use]
pub fn normalise(text: &str) -> String {
    let folded: String = text.nfkc().flat_map(char::to_lowercase).collect();
    let words = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    words.trim_matches(|c: char| c.is_ascii_punctuation() || c.is_whitespace()).to_owned()
}

/// Sixteen bytes that two texts share when they are the same once normalised.
#[must_use]
pub fn digest(text: &str) -> [u8; 16] {
    let hash = Sha256::digest(normalise(text).as_bytes());
    let mut short = [0; 16];
    short.copy_from_slice(&hash[..16]);
    short
}

/// Bytes as hex digits in lower case.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |four: u8| char::from(DIGITS[usize::from(four)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes of hex digits, if that is what they are.
#[must_use]
pub fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digit = |of: u8| char::from(of).to_digit(16).and_then(|four| u8::try_from(four).ok());
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

/// The beginning of a text, for a person to see which it is: one line of at most `length` characters.
#[must_use]
pub fn excerpt(text: &str, length: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// Whether two texts with nearly the same vector can mean the same.
///
/// Embeddings hardly see negation and numbers: "always retry 3 times" and "never retry 5 times" are neighbours. So
/// texts that differ in a number or in a word that turns a meaning around are kept apart, however close their vectors;
/// and so are texts that share words in another order, like "prefer tabs over spaces" and "prefer spaces over tabs".
#[must_use]
pub fn may_mean_the_same(one: &str, other: &str) -> bool {
    Wording::of(one).may_mean_the_same(&Wording::of(other))
}

/// What there is to compare in a text, for those who compare it with many.
#[derive(Clone, Debug)]
pub struct Wording {
    words: Vec<String>,
    /// Numbers, code-like words and words that turn a meaning around, sorted.
    telling: Vec<String>,
}

impl Wording {
    /// The wording of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let normal = normalise(text);
        let words = normal
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        Self { words, telling: telling(&normal) }
    }

    /// See [`may_mean_the_same`].
    #[must_use]
    pub fn may_mean_the_same(&self, other: &Self) -> bool {
        self.telling == other.telling && self.shared(other).eq(other.shared(self))
    }

    /// Whether two texts have the same words, articles aside.
    #[must_use]
    pub fn is_worded_like(&self, other: &Self) -> bool {
        let words = |one: &Self| {
            let mut words = one.words.clone();
            words.retain(|word| !["a", "an", "the"].contains(&word.as_str()));
            words
        };
        words(self) == words(other)
    }

    /// Whether two texts with similar vectors can say the same, each in its own words: they have the same numbers, both
    /// or neither forbid something, and if they share most words, they mean the same by these.
    #[must_use]
    pub fn may_agree(&self, other: &Self) -> bool {
        let most = |one: &Self, other: &Self| 4 * one.shared(other).count() >= 3 * one.words.len();
        let worded_alike = most(self, other) && most(other, self);
        self.forbids() == other.forbids()
            && self.numbers().eq(other.numbers())
            && (!worded_alike || self.may_mean_the_same(other))
    }

    /// The words that the other has too, in order.
    fn shared<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a String> {
        self.words.iter().filter(|word| other.words.contains(word))
    }

    fn numbers(&self) -> impl Iterator<Item = &String> {
        self.telling.iter().filter(|word| word.chars().any(char::is_numeric))
    }

    fn forbids(&self) -> bool {
        const FORBIDDING: &[&str] = &[
            "not", "no", "never", "none", "without", "cannot", "avoid", "except", "unless", "stop",
            "disable", "deny", "decrease", "less", "false",
        ];
        self.telling.iter().any(|word| FORBIDDING.contains(&word.as_str()) || is_contraction(word))
    }
}

/// The words of a normalised text that decide between neighbours, sorted.
fn telling(normal: &str) -> Vec<String> {
    const TURNING: &[&str] = &[
        "not", "no", "never", "none", "without", "cannot", "always", "only", "avoid", "dont", "before",
        "after", "except", "unless", "instead", "stop", "enable", "disable", "allow", "deny", "increase",
        "decrease", "more", "less", "first", "last", "true", "false", "on", "off", "left", "right", "up",
        "down", "with",
    ];
    let normal = normal.replace(['\'', '\u{2019}'], "");
    let mut words: Vec<String> = normal
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| {
            TURNING.contains(word)
                || word.ends_with("nt") && is_contraction(word)
                || word.chars().any(|c| c.is_numeric() || c == '_')
        })
        .map(str::to_owned)
        .collect();
    words.sort();
    words
}

fn is_contraction(word: &str) -> bool {
    [
        "dont", "doesnt", "didnt", "isnt", "arent", "wasnt", "werent", "cant", "wont", "shouldnt", "mustnt",
        "neednt",
    ]
    .contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_space_and_end_punctuation_do_not_matter() {
        assert_eq!(digest("  Use  the index.\n"), digest("use the INDEX"));
        assert_ne!(digest("Use the index"), digest("Use an index"));
    }

    #[test]
    fn numbers_and_negations_keep_texts_apart() {
        assert!(!may_mean_the_same("Always retry 3 times", "Always retry 5 times"));
        assert!(!may_mean_the_same("Always use tabs", "Never use tabs"));
        assert!(!may_mean_the_same("Do use the cache", "Don't use the cache"));
        assert!(!may_mean_the_same("Prefer tabs over spaces", "Prefer spaces over tabs"));
        assert!(may_mean_the_same("Use the cache for reads", "Use a cache for all reads"));
    }

    #[test]
    fn other_words_agree_unless_numbers_or_negation_differ() {
        let may_agree = |one, other| Wording::of(one).may_agree(&Wording::of(other));
        assert!(may_agree("Retry a failed download with backoff", "Back off before you retry downloads"));
        assert!(may_agree("Never log a token", "Avoid writing tokens to the log"));
        assert!(may_agree("Retry failed calls with a delay", "When a call fails, retry it after a delay"));
        assert!(!may_agree("Prefer tabs over spaces in code", "In code, prefer spaces over tabs"));
        assert!(!may_agree("Log every request", "Don't log each request"));
        assert!(!may_agree("Wait 3 seconds before a retry", "Wait 30 seconds, then retry"));
    }
}
