//! Bringing two copies of a record together, value by value (spec D2): ours and the one that others write to in Chroma.
//!
//! Each side is compared with what it held when both last agreed. What only one side changed is taken over by the other.
//! What both changed is as the others have it; but counts are of events, so what both counted is added up.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{DOCUMENT, Value, Written};
use crate::domain::text;

/// Values that count events.
const COUNTS: [&str; 2] = ["usage_count", "success_count"];

/// What both sides held when they last agreed. No text is kept of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    ours: Marks,
    theirs: Marks,
    /// What the server was about to be told. It may have heard it or not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    sent: BTreeMap<String, Option<String>>,
}

/// Tells values apart: counts are themselves, other values are digests.
type Marks = BTreeMap<String, String>;

/// What the server is to be told of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// Its text, where it changed.
    pub document: Option<String>,
    /// Its values that changed; without a value, those that are gone.
    pub metadata: BTreeMap<String, Option<Value>>,
}

impl Base {
    /// What both sides hold once the server has heard of a record that it did not know.
    #[must_use]
    pub fn told(ours: &Written) -> Self {
        let ours = marks(ours);
        Self { theirs: ours.clone(), ours, sent: BTreeMap::new() }
    }

    /// What both sides hold of a record that says the same here and there, in other words perhaps.
    #[must_use]
    pub fn of(ours: &Written, theirs: &Written) -> Self {
        Self { ours: marks(ours), theirs: marks(theirs), sent: BTreeMap::new() }
    }

    /// What the server's record amounts to.
    #[must_use]
    pub fn digest(&self) -> String {
        summed(&self.theirs)
    }

    /// Whether the server's record is as it was.
    #[must_use]
    pub fn is_theirs(&self, theirs: &Written) -> bool {
        self.sent.is_empty() && self.theirs == marks(theirs)
    }

    /// What the server is to be told, as ours is now; nothing if it knows.
    #[must_use]
    pub fn patch(&self, ours: &Written) -> Option<Patch> {
        let now = marks(ours);
        let mut patch = Patch { document: None, metadata: BTreeMap::new() };
        for key in keys(&self.ours, &now) {
            if self.ours.get(key) == now.get(key) && !self.sent.contains_key(key) {
                continue;
            }
            if key == DOCUMENT {
                patch.document.clone_from(&ours.document);
            } else {
                patch.metadata.insert(key.clone(), ours.metadata.get(key).cloned());
            }
        }
        (patch.document.is_some() || !patch.metadata.is_empty()).then_some(patch)
    }

    /// The base while the server is told of `patch`, which makes ours as it is now.
    #[must_use]
    pub fn telling(&self, patch: &Patch, ours: &Written) -> Self {
        let now = marks(ours);
        let text = patch.document.is_some().then(|| DOCUMENT.to_owned());
        let keys = patch.metadata.keys().cloned().chain(text);
        let sent = keys.map(|key| (key.clone(), now.get(&key).cloned())).collect();
        Self { sent, ..self.clone() }
    }

    /// The base once the server has heard all that it was told.
    #[must_use]
    pub fn heard(mut self) -> Self {
        for (key, mark) in std::mem::take(&mut self.sent) {
            put(&mut self.ours, &key, mark.clone());
            put(&mut self.theirs, &key, mark);
        }
        self
    }

    /// The base if the server holds `theirs`: what it was told and has, it has heard.
    fn seen(mut self, theirs: &Marks) -> Self {
        for (key, mark) in std::mem::take(&mut self.sent) {
            if theirs.get(&key) == mark.as_ref() {
                put(&mut self.ours, &key, mark.clone());
                put(&mut self.theirs, &key, mark);
            }
        }
        self
    }
}

/// What ours and theirs lead to.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// The record that both sides should be.
    pub record: Written,
    base: Base,
    /// The values that are as the others have them.
    taken: BTreeSet<String>,
}

impl Agreement {
    /// The base once ours is `ours`.
    #[must_use]
    pub fn base(mut self, ours: &Written) -> Base {
        let now = marks(ours);
        for key in self.taken {
            // The same may be written in another way: that is nothing to tell.
            put(&mut self.base.ours, &key, now.get(&key).cloned());
        }
        self.base
    }

    /// The base while ours stays as it is, since theirs breaks a rule.
    #[must_use]
    pub fn refused(self) -> Base {
        self.base
    }
}

/// Brings ours and theirs together.
#[must_use]
pub fn agree(base: Option<Base>, ours: &Written, theirs: &Written) -> Agreement {
    let (mine, yours) = (marks(ours), marks(theirs));
    let known = base.is_some();
    let base = base.unwrap_or_default().seen(&yours);
    let (mut both, mut told, mut taken) = (ours.clone(), base.ours.clone(), BTreeSet::new());
    for key in keys(&mine, &yours) {
        if base.theirs.get(key) == yours.get(key) {
            continue;
        }
        put(&mut told, key, yours.get(key).cloned());
        let i_did = base.ours.get(key) != mine.get(key);
        if key == DOCUMENT {
            if theirs.document.as_deref().is_some_and(|text| !text.trim().is_empty()) {
                both.document.clone_from(&theirs.document);
                taken.insert(key.clone());
            }
            continue;
        }
        let value = match theirs.metadata.get(key) {
            Some(value) if i_did && COUNTS.contains(&key.as_str()) => {
                let (mine, yours) = (count(mine.get(key)), count(yours.get(key)));
                let before = count(base.theirs.get(key));
                let sum = if known { mine + (yours - before).max(0) } else { mine.max(yours) };
                if sum == yours { Some(value.clone()) } else { Some(Value::Whole(sum)) }
            }
            Some(value) if i_did && key == "last_used" => Some(later(value, ours.metadata.get(key))),
            value => value.cloned(),
        };
        if value.as_ref() == theirs.metadata.get(key) {
            taken.insert(key.clone());
        }
        match value {
            Some(value) => drop(both.metadata.insert(key.clone(), value)),
            None => drop(both.metadata.remove(key)),
        }
    }
    derive_rate(&base, &yours, &mut both);
    if COUNTS
        .iter()
        .any(|key| yours.contains_key(*key) && both.metadata.get(*key) != theirs.metadata.get(*key))
    {
        taken.remove("success_rate");
    }
    Agreement { record: both, base: Base { ours: told, theirs: yours, sent: BTreeMap::new() }, taken }
}

/// Who tells a new rate without the count that it comes from means the rate.
fn derive_rate(base: &Base, theirs: &Marks, both: &mut Written) {
    let changed = |key: &str| base.theirs.get(key) != theirs.get(key);
    if changed("success_rate") && changed("usage_count") && !changed("success_count") {
        both.metadata.remove("success_count");
    }
}

fn later(theirs: &Value, ours: Option<&Value>) -> Value {
    let at = |value: &Value| value.clone().told().parse::<DateTime<Utc>>().ok();
    match ours {
        Some(ours) if at(ours) > at(theirs) => ours.clone(),
        Some(_) | None => theirs.clone(),
    }
}

fn put(marks: &mut Marks, key: &str, mark: Option<String>) {
    match mark {
        Some(mark) => drop(marks.insert(key.to_owned(), mark)),
        None => drop(marks.remove(key)),
    }
}

fn keys<'a>(some: &'a Marks, others: &'a Marks) -> BTreeSet<&'a String> {
    some.keys().chain(others.keys()).collect()
}

fn count(mark: Option<&String>) -> i64 {
    mark.and_then(|mark| mark.parse().ok()).unwrap_or_default()
}

fn marks(written: &Written) -> Marks {
    let text = written.document.iter().map(|text| (DOCUMENT.to_owned(), mark('t', text)));
    let values = written.metadata.iter().map(|(key, value)| {
        let mark = match value {
            Value::Whole(whole) if COUNTS.contains(&key.as_str()) => whole.to_string(),
            Value::Text(text) => mark('t', text),
            #[allow(clippy::cast_precision_loss, reason = "no rule tells such large numbers apart")]
            Value::Whole(whole) => mark('n', &(*whole as f64).to_string()),
            Value::Number(number) => mark('n', &number.to_string()),
            Value::Flag(flag) => mark('f', &flag.to_string()),
            Value::Texts(texts) => mark('l', &texts.join("\n")),
        };
        (key.clone(), mark)
    });
    text.chain(values).collect()
}

/// What a record amounts to.
#[must_use]
pub fn digest(written: &Written) -> String {
    summed(&marks(written))
}

fn summed(marks: &Marks) -> String {
    let lines: Vec<String> = marks.iter().map(|(key, mark)| format!("{key} {mark}")).collect();
    mark('m', &lines.join("\n"))
}

fn mark(kind: char, value: &str) -> String {
    text::hex(&Sha256::digest(format!("{kind}{value}"))[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(document: &str, metadata: &[(&str, Value)]) -> Written {
        let metadata = metadata.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        Written { id: "x".to_owned(), document: Some(document.to_owned()), metadata, ..Written::default() }
    }

    fn with(written: &Written, key: &str, value: Value) -> Written {
        let mut other = written.clone();
        other.metadata.insert(key.to_owned(), value);
        other
    }

    fn start() -> Written {
        written(
            "Ask twice",
            &[
                ("usage_count", Value::Whole(4)),
                ("success_count", Value::Whole(3)),
                ("success_rate", Value::Number(0.75)),
                ("category", Value::Text("a".to_owned())),
            ],
        )
    }

    #[test]
    fn d2_only_what_changed_here_is_told() {
        let base = Base::told(&start());
        assert_eq!(base.patch(&start()), None);
        let patch = base.patch(&with(&start(), "category", Value::Text("b".to_owned()))).unwrap();
        assert_eq!((patch.document, patch.metadata.len()), (None, 1));
        let mut gone = start();
        gone.metadata.remove("category");
        assert_eq!(base.patch(&gone).unwrap().metadata, BTreeMap::from([("category".to_owned(), None)]));
    }

    #[test]
    fn d2_changes_of_both_sides_to_different_values_are_kept() {
        let base = Base::told(&start());
        let ours = with(&start(), "category", Value::Text("b".to_owned()));
        let theirs = with(&start(), "tags", Value::Text("web".to_owned()));
        let agreement = agree(Some(base), &ours, &theirs);
        let record = agreement.record.clone();
        assert_eq!(record.metadata["category"], Value::Text("b".to_owned()));
        assert_eq!(record.metadata["tags"], Value::Text("web".to_owned()));
        let told = agreement.base(&record).patch(&record).unwrap().metadata;
        assert_eq!(told.keys().collect::<Vec<_>>(), ["category"], "theirs is not told back");
    }

    #[test]
    fn d2_what_both_changed_is_as_the_others_have_it() {
        let base = Base::told(&start());
        let mut ours = start();
        ours.document = Some("Ask three times".to_owned());
        let theirs = written("Ask once", &[]);
        let agreement = agree(Some(base), &ours, &theirs);
        assert_eq!(agreement.record.document.as_deref(), Some("Ask once"));
        assert!(!agreement.record.metadata.contains_key("category"), "they removed it");
    }

    #[test]
    fn d2_what_both_counted_is_added_up_once() {
        let base = Base::told(&start());
        let ours = with(&start(), "usage_count", Value::Whole(5));
        let theirs = with(&start(), "usage_count", Value::Whole(6));
        let agreement = agree(Some(base.clone()), &ours, &theirs);
        let both = agreement.record.clone();
        assert_eq!(both.metadata["usage_count"], Value::Whole(7));
        let after = agreement.base(&both);
        assert_eq!(after.patch(&both).unwrap().metadata["usage_count"], Some(Value::Whole(7)));
        // Both counted one task each, and so hold the same number.
        let same = agree(Some(base), &ours, &ours);
        assert_eq!(same.record.metadata["usage_count"], Value::Whole(6));
    }

    #[test]
    fn d3_what_was_told_before_a_crash_does_not_count_twice() {
        let base = Base::told(&start());
        let ours = with(&start(), "usage_count", Value::Whole(5));
        let telling = base.telling(&base.patch(&ours).unwrap(), &ours);
        let heard = agree(Some(telling.clone()), &ours, &ours);
        assert_eq!(heard.record.metadata["usage_count"], Value::Whole(5), "the server heard it");
        let unheard = agree(Some(telling.clone()), &ours, &start());
        assert_eq!(unheard.record.metadata["usage_count"], Value::Whole(5), "it did not");
        assert!(unheard.base(&ours).patch(&ours).is_some(), "so it is told again");
        assert_eq!(telling.heard().patch(&ours), None);
    }

    #[test]
    fn d4_a_rate_without_its_count_is_read_as_the_rate() {
        let base = Base::told(&start());
        let theirs = with(&start(), "usage_count", Value::Whole(10));
        let theirs = with(&theirs, "success_rate", Value::Number(0.9));
        let both = agree(Some(base), &start(), &theirs).record;
        assert!(!both.metadata.contains_key("success_count"));
        assert_eq!(both.metadata["success_rate"], Value::Number(0.9));
    }
}
