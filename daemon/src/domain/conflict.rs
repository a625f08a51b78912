//! Notes that say the opposite of each other: which of them stands (spec M8).
//!
//! What is sought is the same sentence with another sense: few words differ, and one of them forbids, is another number,
//! or the two sides of a comparison change places. Whatever differs more is about something else, and stands.

use std::cmp::Ordering;

use chrono::NaiveDate;
use memoryd_proto::Tier;

use super::text;

/// Words of which one says the opposite of the other, beside those that forbid.
const OPPOSITES: [[&str; 2]; 5] =
    [["before", "after"], ["first", "last"], ["on", "off"], ["left", "right"], ["up", "down"]];

/// Words whose two sides are not the same when they change places.
const COMPARING: [&str; 5] = ["over", "before", "after", "instead", "than"];

/// The fewest words that two notes about the same thing share.
const SHARED: usize = 2;

/// How far a note reaches. The innermost wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// It was put aside.
    Archived,
    Global,
    Domain,
    Project,
}

/// What a note claims.
#[derive(Clone, Debug)]
pub struct Claim {
    words: Vec<String>,
    /// Those that say what it is about, sorted.
    about: Vec<String>,
    numbers: Vec<String>,
    forbidding: usize,
    reach: Reach,
    date: Option<NaiveDate>,
}

/// What becomes of a claim among others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ruling {
    /// Whether another one takes its place.
    pub overruled: bool,
    /// The claims that it contradicts: those that overrule it, or those that it leaves open.
    pub against: Vec<usize>,
}

impl Claim {
    /// What a note of this tier and date says in `text`.
    #[must_use]
    pub fn new(text: &str, tier: Tier, date: Option<NaiveDate>) -> Self {
        let words = text::words(&text::normalise(text));
        let is_number = |word: &&String| word.chars().any(char::is_numeric);
        let mut about: Vec<String> =
            words.iter().filter(|word| !is_number(word) && !text::turns(word)).cloned().collect();
        about.sort();
        about.dedup();
        let reach = match tier {
            Tier::Local | Tier::Project => Reach::Project,
            Tier::Domain => Reach::Domain,
            Tier::Shared | Tier::Hot | Tier::Corrections | Tier::Index => Reach::Global,
            Tier::Cold => Reach::Archived,
        };
        let numbers = words.iter().filter(is_number).cloned().collect();
        let forbidding = words.iter().filter(|word| text::forbids(word)).count();
        Self { words, about, numbers, forbidding, reach, date }
    }

    /// Whether both are about the same thing, and cannot both be followed.
    #[must_use]
    pub fn contradicts(&self, other: &Self) -> bool {
        match (self.forbidding.min(other.forbidding), self.forbidding.max(other.forbidding)) {
            // Two words that forbid make one that allows, or belong to different things.
            (0, 1) => self.numbers == other.numbers && self.is_about(other),
            (few, many) if few != many => false,
            _ => self.is_reworded(other),
        }
    }

    /// Whether they share most of what they are about.
    fn is_about(&self, other: &Self) -> bool {
        let shared = self.about.iter().filter(|word| other.about.binary_search(word).is_ok()).count();
        shared >= SHARED && 4 * shared >= 3 * self.about.len().max(other.about.len())
    }

    /// Whether one becomes the other by another number, an opposite, or by changing the sides of a comparison.
    fn is_reworded(&self, other: &Self) -> bool {
        if self.words.len() != other.words.len() {
            return false;
        }
        let differ: Vec<usize> =
            (0..self.words.len()).filter(|&at| self.words[at] != other.words[at]).collect();
        let word = |at: usize| (self.words[at].as_str(), other.words[at].as_str());
        match *differ {
            [at] => {
                let (one, another) = word(at);
                let numbers = self.numbers.len() == other.numbers.len() && self.numbers != other.numbers;
                let opposite = OPPOSITES.iter().any(|pair| pair.contains(&one) && pair.contains(&another));
                (numbers || opposite) && self.about.len() >= SHARED
            }
            [first, last] => {
                let (one, another) = word(first);
                let compared = self.words[first..last].iter().any(|word| COMPARING.contains(&word.as_str()));
                compared && word(last) == (another, one)
            }
            _ => false,
        }
    }

    /// Which of two stands: the most specific, then the most recent. Equal where neither is.
    fn precedence(&self, other: &Self) -> Ordering {
        let date = self.date.zip(other.date).map_or(Ordering::Equal, |(one, another)| one.cmp(&another));
        self.reach.cmp(&other.reach).then(date)
    }
}

/// What becomes of each claim. One that is overruled overrules none itself.
#[must_use]
pub fn rule(claims: &[Claim]) -> Vec<Ruling> {
    let mut rulings = vec![Ruling::default(); claims.len()];
    let mut order: Vec<usize> = (0..claims.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse((claims[at].reach, claims[at].date)));
    for (place, &at) in order.iter().enumerate() {
        let opposed = order[..place].iter().copied();
        let opposed =
            opposed.filter(|&other| !rulings[other].overruled && claims[at].contradicts(&claims[other]));
        let (above, beside): (Vec<usize>, Vec<usize>) =
            opposed.partition(|&other| claims[other].precedence(&claims[at]) == Ordering::Greater);
        if above.is_empty() {
            for &other in &beside {
                rulings[other].against.push(at);
            }
            rulings[at].against = beside;
        } else {
            rulings[at] = Ruling { overruled: true, against: above };
        }
    }
    rulings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(text: &str, tier: Tier, date: &str) -> Claim {
        Claim::new(text, tier, date.parse().ok())
    }

    fn opposed(one: &str, other: &str) -> bool {
        let (one, other) = (claim(one, Tier::Hot, ""), claim(other, Tier::Hot, ""));
        assert_eq!(one.contradicts(&other), other.contradicts(&one), "it goes both ways");
        one.contradicts(&other)
    }

    #[test]
    fn m8_another_sense_of_the_same_sentence_is_a_contradiction() {
        assert!(opposed("Always use tabs in makefiles", "Never use tabs in makefiles"));
        assert!(opposed("Do squash the commits", "Don't squash the commits."));
        assert!(opposed("Retry a failed download 3 times", "Retry a failed download 5 times"));
        assert!(opposed("Prefer tabs over spaces", "Prefer spaces over tabs"));
        assert!(opposed("Run the tests before the commit", "Run the tests after the commit"));
        assert!(opposed("Enable the cache in tests", "Disable the cache in tests"));
    }

    #[test]
    fn m8_what_is_about_something_else_is_none() {
        assert!(!opposed("Always use tabs in makefiles", "Use tabs in makefiles"));
        assert!(!opposed("Use tabs in makefiles", "Never log a token"));
        assert!(!opposed("Check pump 3 before opening valve 3", "Check pump 5 before opening valve 5"));
        assert!(!opposed("Never deploy without tests", "Always deploy with tests"));
        assert!(!opposed("Retry a failed download", "Retry a failed download 5 times"));
        assert!(!opposed("Use apples and pears", "Use pears and apples"));
        assert!(!opposed("Commit", "Never commit"));
    }

    #[test]
    fn m8_the_most_specific_stands_then_the_most_recent() {
        let all = [
            claim("Never use tabs in makefiles", Tier::Domain, "2026-01-03"),
            claim("Always use tabs in makefiles", Tier::Project, "2026-01-01"),
            claim("Do not use tabs in makefiles", Tier::Hot, "2026-01-09"),
        ];
        let overruled = |by: usize| Ruling { overruled: true, against: vec![by] };
        assert_eq!(rule(&all), [overruled(1), Ruling::default(), overruled(1)]);
        let recent = [
            claim("Retry a download 3 times", Tier::Corrections, "2026-01-03"),
            claim("Retry a download 5 times", Tier::Hot, "2026-01-04"),
        ];
        assert_eq!(rule(&recent), [overruled(1), Ruling::default()]);
    }

    #[test]
    fn m8_what_stays_open_is_flagged_on_both() {
        let all = [
            claim("Retry a download 3 times", Tier::Hot, ""),
            claim("Write short sentences", Tier::Hot, ""),
            claim("Retry a download 5 times", Tier::Hot, "2026-01-04"),
        ];
        let open = |with: usize| Ruling { overruled: false, against: vec![with] };
        assert_eq!(rule(&all), [open(2), Ruling::default(), open(0)]);
    }

    #[test]
    fn m8_who_is_overruled_overrules_none() {
        let all = [
            claim("Always use tabs in makefiles", Tier::Project, ""),
            claim("Never use tabs in makefiles", Tier::Domain, ""),
            claim("Always use tabs in makefiles", Tier::Hot, ""),
        ];
        let overruled: Vec<bool> = rule(&all).iter().map(|one| one.overruled).collect();
        assert_eq!(overruled, [false, true, false]);
    }
}
