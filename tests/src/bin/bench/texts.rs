//! Texts to remember and to ask for: as many as are wanted, all different, the same in every run.

use std::path::Path;

use crate::jsonl;
use crate::random::Random;

/// Words that carry grammar. Real texts are half made of them.
const SMALL: &[&str] = &[
    "the", "of", "and", "to", "a", "in", "is", "it", "that", "was", "for", "on", "with", "as", "be", "at",
    "by", "this", "had", "not", "are", "but", "from", "or", "have", "an", "they", "which", "one", "you",
    "were", "her", "all", "she", "there", "would", "their", "we", "him", "been", "has", "when", "who",
    "will", "more", "no", "if", "out", "so", "what",
];

/// Different words in synthetic texts.
const WORDS: f64 = 50_000.0;

/// A source of texts.
pub enum Texts {
    /// Made of syllables; the frequencies of words follow Zipf's law.
    Synthetic,
    /// Real ones. When they do not suffice, halves of them are put together anew.
    Real {
        /// To remember.
        memories: Vec<String>,
        /// To ask.
        questions: Vec<String>,
    },
}

impl Texts {
    /// The texts of a folder with conversations, or synthetic ones.
    pub fn from(dir: Option<&Path>) -> anyhow::Result<Self> {
        let Some(dir) = dir else { return Ok(Self::Synthetic) };
        let conversations = jsonl::conversations(dir)?;
        let memories =
            conversations.iter().flat_map(|one| &one.memories).map(|one| one.text.clone()).collect();
        let questions =
            conversations.iter().flat_map(|one| &one.questions).map(|one| one.text.clone()).collect();
        Ok(Self::Real { memories, questions })
    }

    /// The text with this number to remember.
    pub fn memory(&self, number: usize) -> String {
        match self {
            Self::Synthetic => synthetic(&mut Random::new(number as u64), 8..=20),
            Self::Real { memories, .. } => mixed(memories, number),
        }
    }

    /// The text with this number to ask.
    pub fn question(&self, number: usize) -> String {
        match self {
            Self::Synthetic => synthetic(&mut Random::new(u64::MAX - number as u64), 6..=12),
            Self::Real { questions, .. } => mixed(questions, number),
        }
    }
}

/// The text with this number; beyond the last, the first half of one text and the second half of another.
fn mixed(texts: &[String], number: usize) -> String {
    if let Some(text) = texts.get(number) {
        return text.clone();
    }
    let mut random = Random::new(number as u64);
    let mut half = |first: bool| {
        let words: Vec<&str> = texts[random.below(texts.len())].split_whitespace().collect();
        let (one, other) = words.split_at(words.len() / 2);
        if first { one.join(" ") } else { other.join(" ") }
    };
    format!("{} {}", half(true), half(false))
}

fn synthetic(random: &mut Random, length: std::ops::RangeInclusive<usize>) -> String {
    let words = length.start() + random.below(length.end() - length.start() + 1);
    (0..words).map(|_| word(rank(random))).collect::<Vec<_>>().join(" ")
}

/// The rank of a word, by Zipf's law: its logarithm is evenly spread.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 0 to below the number of words"
)]
fn rank(random: &mut Random) -> usize {
    WORDS.powf(random.share()) as usize - 1
}

/// The word of this rank.
fn word(rank: usize) -> String {
    const HEADS: &[u8] = b"bdfgklmnprstvz";
    const TAILS: &[u8] = b"aeiou";
    if let Some(small) = SMALL.get(rank) {
        return (*small).to_owned();
    }
    let mut word = String::new();
    let mut left = rank;
    while left > 0 || word.len() < 4 {
        let syllable = left % (HEADS.len() * TAILS.len());
        word.push(char::from(HEADS[syllable / TAILS.len()]));
        word.push(char::from(TAILS[syllable % TAILS.len()]));
        left /= HEADS.len() * TAILS.len();
    }
    word
}
