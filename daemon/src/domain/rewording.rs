//! When a note is another one in slightly other words (spec M6).

use memoryd_proto::NoteKind;
use sha2::{Digest, Sha256};

use super::text::Wording;

/// The words of a text in order, each as a number that it cannot be told from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch(Vec<u32>);

/// What an entry says, without its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Names what it says.
    pub id: String,
    /// What kind of entry it is.
    pub kind: NoteKind,
    /// Its words.
    pub sketch: Sketch,
}

impl Sketch {
    /// The sketch of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let wording = Wording::of(text);
        let number = |word: &String| {
            let [one, two, three, four, ..]: [u8; 32] = Sha256::digest(word.as_bytes()).into();
            let tells = u32::from(wording.telling().contains(word));
            u32::from_le_bytes([one, two, three, four]) & !1 | tells
        };
        Self(wording.words().iter().map(number).collect())
    }

    /// As bytes, for a column.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// The sketch that a column holds.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let word = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        Self(bytes.chunks_exact(4).map(word).collect())
    }

    /// How many words both have, if that is three quarters of each at least, and both have the same numbers and the same
    /// words that turn a meaning around.
    fn alike(&self, other: &Self) -> Option<usize> {
        let telling = |one: &Self| {
            let mut words: Vec<u32> = one.0.iter().copied().filter(|word| word & 1 == 1).collect();
            words.sort_unstable();
            words
        };
        let shared = |one: &Self, other: &Self| one.0.iter().filter(|word| other.0.contains(word)).count();
        let both = shared(self, other).min(shared(other, self));
        let most = 4 * both >= 3 * self.0.len().max(other.0.len());
        (both > 0 && most && telling(self) == telling(other)).then_some(both)
    }
}

/// Pairs entries that went with those that came in their place, reworded: of the same kind, and alike. Those that share
/// most words are paired first, of equals those that came before.
#[must_use]
pub fn pairs<'a>(gone: &'a [Said], come: &'a [Said]) -> Vec<(&'a Said, &'a Said)> {
    let mut likely = Vec::new();
    for (i, old) in gone.iter().enumerate() {
        for (j, new) in come.iter().enumerate().filter(|(_, new)| new.kind == old.kind) {
            likely.extend(old.sketch.alike(&new.sketch).map(|words| (words, i, j)));
        }
    }
    likely.sort_by_key(|&(words, i, j)| (std::cmp::Reverse(words), i, j));
    let (mut old_taken, mut new_taken) = (vec![false; gone.len()], vec![false; come.len()]);
    likely.retain(|&(_, i, j)| {
        let free = !old_taken[i] && !new_taken[j];
        if free {
            (old_taken[i], new_taken[j]) = (true, true);
        }
        free
    });
    likely.into_iter().map(|(_, i, j)| (&gone[i], &come[j])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Said {
        Said { id: text.to_owned(), kind: NoteKind::Line, sketch: Sketch::of(text) }
    }

    fn paired<'a>(gone: &[&'a str], come: &[&'a str]) -> Vec<(String, String)> {
        let all = |texts: &[&str]| texts.iter().map(|text| said(text)).collect::<Vec<_>>();
        let (gone, come) = (all(gone), all(come));
        pairs(&gone, &come).into_iter().map(|(old, new)| (old.id.clone(), new.id.clone())).collect()
    }

    #[test]
    fn m6_a_light_edit_is_the_same_note() {
        let (old, new) = ("Use tabs in makefiles of the project", "Use tabs in all makefiles of the project");
        assert_eq!(paired(&[old], &[new]), [(old.to_owned(), new.to_owned())]);
        let bytes = Sketch::of(old).bytes();
        assert_eq!(Sketch::from_bytes(&bytes), Sketch::of(old));
    }

    #[test]
    fn m6_another_meaning_is_another_note() {
        for (old, new) in [
            ("Always use tabs in the makefiles here", "Never use tabs in the makefiles here"),
            ("Retry a failed download 3 times", "Retry a failed download 5 times"),
            ("Use tabs", "Use spaces"),
            ("", ""),
        ] {
            assert_eq!(paired(&[old], &[new]), [], "{old} / {new}");
        }
        let (one, mut other) = (said("Link with one job"), said("Link with one job"));
        other.kind = NoteKind::Error;
        assert_eq!(pairs(&[one], &[other]), []);
    }

    #[test]
    fn m6_each_is_paired_once_and_the_closest_first() {
        let gone = ["Keep the build green at all times", "Keep the build green at night"];
        let come = ["Keep the build green at all hours", "Keep the main build green at all times"];
        let pairs = paired(&gone, &come);
        assert_eq!(pairs[0], (gone[0].to_owned(), come[1].to_owned()));
        assert!(pairs.iter().skip(1).all(|(old, new)| old == gone[1] && new == come[0]));
    }
}
