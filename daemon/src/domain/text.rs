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

/// Whether two texts with nearly the same vector can mean the same.
///
/// Embeddings hardly see negation and numbers: "always retry 3 times" and "never retry 5 times" are neighbours. So
/// texts that differ in a number or in a word that turns a meaning around are kept apart, however close their vectors;
/// and so are texts that share words in another order, like "prefer tabs over spaces" and "prefer spaces over tabs".
#[must_use]
pub fn may_mean_the_same(one: &str, other: &str) -> bool {
    telling(one) == telling(other) && shared(one, other) == shared(other, one)
}

/// The words of `one` that `other` has too, in order.
fn shared(one: &str, other: &str) -> Vec<String> {
    let of = |text: &str| -> Vec<String> {
        normalise(text)
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let others = of(other);
    of(one).into_iter().filter(|word| others.contains(word)).collect()
}

/// The words that decide between neighbours: numbers, code-like words and words that turn a meaning around, sorted.
fn telling(text: &str) -> Vec<String> {
    const TURNING: &[&str] = &[
        "not", "no", "never", "none", "without", "cannot", "always", "only", "avoid", "dont", "before",
        "after", "except", "unless", "instead", "stop", "enable", "disable", "allow", "deny", "increase",
        "decrease", "more", "less", "first", "last", "true", "false", "on", "off", "left", "right", "up",
        "down", "with",
    ];
    let normal = normalise(text).replace(['\'', '\u{2019}'], "");
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
}
