//! Bringing together what two did to a text, line by line.

use std::collections::HashSet;

/// The most pairs of lines that are compared; what would take more is taken as changed altogether.
const MOST: usize = 4_000_000;

/// `ours` with what `theirs` does to `base`. Where both changed the same lines, what both wrote stays, ours first.
#[must_use]
pub fn merge(base: &str, ours: &str, theirs: &str) -> String {
    let [base, ours, theirs] = [base, ours, theirs].map(lines);
    let mut merged = Merged::default();
    let (in_ours, in_theirs) = (places(&base, &ours), places(&base, &theirs));
    let anchors = (0..base.len()).filter_map(|at| Some((at, in_ours[at]?, in_theirs[at]?)));
    let (mut b, mut o, mut t) = (0, 0, 0);
    for (to_b, to_o, to_t) in anchors.chain([(base.len(), ours.len(), theirs.len())]) {
        merged.part(&base[b..to_b], &ours[o..to_o], &theirs[t..to_t]);
        merged.add(base.get(to_b).into_iter());
        (b, o, t) = (to_b + 1, to_o + 1, to_t + 1);
    }
    merged.0
}

/// Every line of both texts, once where they share it.
#[must_use]
pub fn union(ours: &str, theirs: &str) -> String {
    let (one, other) = (lines(ours), lines(theirs));
    let shared: String =
        places(&one, &other).iter().zip(&one).filter_map(|(at, line)| at.map(|_| *line)).collect();
    merge(&shared, ours, theirs)
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[derive(Default)]
struct Merged(String);

impl Merged {
    /// Adds what became of some lines.
    fn part(&mut self, base: &[&str], ours: &[&str], theirs: &[&str]) {
        if base == theirs || ours == theirs {
            self.add(ours.iter());
        } else if base == ours {
            self.add(theirs.iter());
        } else {
            self.add(ours.iter());
            let known: HashSet<&str> = base.iter().chain(ours).copied().collect();
            self.add(theirs.iter().filter(|line| line.trim().is_empty() || !known.contains(**line)));
        }
    }

    fn add<'a>(&mut self, lines: impl Iterator<Item = &'a &'a str>) {
        for line in lines {
            // The last line of a text need not be ended.
            if !self.0.is_empty() && !self.0.ends_with('\n') {
                self.0.push('\n');
            }
            self.0.push_str(line);
        }
    }
}

/// Where each line of one text is in another: the longest lines in the same order that they share.
fn places(one: &[&str], other: &[&str]) -> Vec<Option<usize>> {
    let head = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one_rest, other_rest) = (&one[head..], &other[head..]);
    let tail = one_rest.iter().rev().zip(other_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let mut places: Vec<Option<usize>> = (0..head).map(Some).collect();
    let (a, b) = (&one_rest[..one_rest.len() - tail], &other_rest[..other_rest.len() - tail]);
    places.extend(middle(a, b).into_iter().map(|at| at.map(|at| head + at)));
    places.extend((other.len() - tail..other.len()).map(Some));
    places
}

/// The longest common subsequence of lines.
fn middle(a: &[&str], b: &[&str]) -> Vec<Option<usize>> {
    let mut places = vec![None; a.len()];
    let width = b.len() + 1;
    if (a.len() + 1).saturating_mul(width) > MOST {
        return places;
    }
    let mut longest = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = if a[i] == b[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            places[i] = Some(j);
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_changes_are_made() {
        let base = "# Rules\n- a\n- b\n\n# Preferences\n- c\n";
        let ours = "# Rules\n- a\n\n# Preferences\n- c\n- ours\n";
        let theirs = "# Rules\n- theirs\n- a\n- b\n\n# Preferences\n- c\n- also theirs";
        let both = "# Rules\n- theirs\n- a\n\n# Preferences\n- c\n- ours\n- also theirs";
        assert_eq!(merge(base, ours, theirs), both);
        assert_eq!(merge(base, both, theirs), both);
        assert_eq!(merge(base, both, ours), both);
    }

    #[test]
    fn a_union_has_the_lines_of_both_once() {
        assert_eq!(union("a\nb\nc\n", "a\nx\nc\nd"), "a\nb\nx\nc\nd");
        assert_eq!(union("", "a\n"), "a\n");
        assert_eq!(union("a", ""), "a");
    }

    proptest! {
        #[test]
        fn nothing_that_either_wrote_is_lost(base in texts("abc"), ours in texts("abcx"), theirs in texts("abcy")) {
            let merged = merge(&base, &ours, &theirs);
            for (of, by) in [(&ours, "x"), (&theirs, "y")] {
                let count = |text: &str| text.lines().filter(|line| *line == by).count();
                prop_assert!(count(&merged) >= count(of).min(1), "{merged:?}");
            }
            prop_assert_eq!(merge(&base, &ours, &base), ours.clone());
            prop_assert_eq!(merge(&base, &base, &theirs), theirs.clone());
            prop_assert_eq!(merge(&base, &ours, &ours), ours);
        }
    }

    fn texts(letters: &'static str) -> impl Strategy<Value = String> {
        let line = proptest::sample::select(letters.chars().collect::<Vec<_>>());
        proptest::collection::vec(line, 0..8)
            .prop_map(|lines| lines.into_iter().flat_map(|line| [line, '\n']).collect())
    }
}
