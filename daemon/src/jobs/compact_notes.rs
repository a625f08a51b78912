//! Daily, since caps are to hold every day: a file that outgrew its cap is brought back within it (spec M7).

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use memoryd_proto::{Cadence, JobName, Tier};

use super::summary::Summariser;
use super::tree::{Tree, demoting};
use super::{Job, Tending};
use crate::domain::text::Wording;
use crate::domain::tiers::compaction::{Compacting, compact};
use crate::domain::tiers::{Item, lines};
use crate::error::Error;
use crate::index::cosine;
use crate::journal::Plan;

/// The job.
pub struct CompactNotes;

impl Job for CompactNotes {
    fn name(&self) -> JobName {
        JobName::CompactNotes
    }

    fn cadence(&self) -> Cadence {
        Cadence::Daily
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let Some(mut tree) = Tree::read(tending)? else { return Ok(Plan::default()) };
        let rule = &tending.config.tree;
        let summariser = Summariser::new(&rule.summariser, tending.redactor);
        let projects = std::mem::take(&mut tree.projects);
        let demoting = demoting(rule, &projects);
        for (tier, most, days) in [
            (Tier::Hot, rule.hot_lines as usize, rule.demote_days),
            (Tier::Project, rule.warm_lines as usize, rule.archive_days),
            (Tier::Domain, rule.warm_lines as usize, rule.archive_days),
        ] {
            let is_long = |(path, text): (&Path, &str)| (lines(text) > most).then(|| path.to_owned());
            let long: Vec<PathBuf> = tree.draft.of(tier).filter_map(is_long).collect();
            for path in long {
                let alike = Alike::of(tending, tree.draft.items(&path))?;
                let compacting = Compacting {
                    lines: most,
                    days: days.into(),
                    alike: &|one, other| alike.are(one, other),
                    summary: &|item| summariser.summary(&item.text),
                    demoting: (tier == Tier::Hot).then_some(&demoting),
                };
                let left = tree.edit(tending, |draft, known| compact(draft, &path, known, &compacting));
                if left > most {
                    let name = tree.draft.name(&path).display();
                    tree.notes.push(format!(
                        "{name} has {left} lines, more than {most}: preferences, and what is no note, are not touched"
                    ));
                }
            }
        }
        tree.notes.extend(summariser.failure());
        for (path, text) in tree.draft.of(Tier::Hot) {
            let name = tree.draft.name(path).display();
            tree.notes.push(format!("{name} has {} of {} lines", lines(text), rule.hot_lines));
        }
        Ok(tree.plan(tending, "files of the memory tree keep within their caps"))
    }
}

/// What notes say the same.
struct Alike {
    same_from: f32,
    /// The vectors of those that may mean the same as others, by their takeaways.
    vectors: HashMap<String, Vec<f32>>,
}

impl Alike {
    fn of(tending: &Tending<'_>, mut items: Vec<Item>) -> Result<Self, Error> {
        items.retain(Item::is_loose);
        let said: BTreeSet<&str> = items.iter().map(|item| item.takeaway.as_str()).collect();
        let worded: Vec<(&str, Wording)> = said.into_iter().map(|said| (said, Wording::of(said))).collect();
        let may_be_said_twice = |(said, wording): &&(&str, Wording)| {
            worded.iter().any(|(other, another)| said != other && wording.may_mean_the_same(another))
        };
        let said: Vec<&str> = worded.iter().filter(may_be_said_twice).map(|(said, _)| *said).collect();
        let vectors = tending.view.embed_all(&said)?.into_iter().map(|embedding| embedding.vector);
        #[allow(clippy::cast_possible_truncation, reason = "vectors are as short")]
        let same_from = tending.config.intake.same_from as f32;
        Ok(Self { same_from, vectors: said.into_iter().map(str::to_owned).zip(vectors).collect() })
    }

    fn are(&self, one: &Item, other: &Item) -> bool {
        let vector = |item: &Item| self.vectors.get(&item.takeaway);
        let near = vector(one).zip(vector(other)).is_some_and(|(a, b)| cosine(a, b) >= self.same_from);
        let [one, other] = [one, other].map(|item| Wording::of(&item.takeaway));
        one.is_worded_like(&other) || near && one.may_mean_the_same(&other)
    }
}
