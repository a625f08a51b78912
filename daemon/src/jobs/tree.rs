//! What the jobs of the memory tree share: the files as they find them, and the plan of what they make of them.

use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::{NaiveDate, TimeDelta};

use super::Tending;
use crate::config;
use crate::domain::secrets::Redactor;
use crate::domain::tiers::draft::Group;
use crate::domain::tiers::movement::Demoting;
use crate::domain::tiers::{Draft, Known, Use};
use crate::error::Error;
use crate::journal::{Change, Edit, Plan, Step};
use crate::ledger::{noted, projects};

/// How rules are demoted, by the configuration and the names of projects.
pub(super) fn demoting<'a>(rule: &config::Tree, projects: &'a BTreeSet<String>) -> Demoting<'a> {
    Demoting {
        hot: rule.demote_days.into(),
        warm: rule.archive_days.into(),
        projects,
        useful_in: rule.promote_projects,
    }
}

/// The memory tree, as a job finds it.
pub(super) struct Tree {
    /// Its files.
    pub draft: Draft,
    /// What is known of the use of notes.
    uses: HashMap<String, Use>,
    /// The names of projects that are known.
    pub projects: BTreeSet<String>,
    /// What else there is to say.
    pub notes: Vec<String>,
    today: NaiveDate,
}

impl Tree {
    /// Reads the tree; nothing when there is none.
    pub fn read(tending: &Tending<'_>) -> Result<Option<Self>, Error> {
        let vault = &tending.view.vault;
        if !vault.exists() {
            return Ok(None);
        }
        let reading = tending.sheets()?;
        let files = reading.sheets.into_iter().map(|sheet| (sheet.leaf.path, sheet.leaf.tier, sheet.text));
        let ids = tending.taken_back.iter().filter_map(|item| item.strip_prefix("note:"));
        let taken_back: HashSet<String> = ids.map(str::to_owned).collect();
        let since = tending.now - TimeDelta::days(tending.config.tree.promote_days.into());
        let (uses, known) = tending.view.read(|connection| {
            Ok::<_, Error>((noted::uses(connection, since)?, projects::all(connection)?))
        })?;
        Ok(Some(Self {
            draft: Draft::new(vault.root().to_owned(), files, taken_back),
            uses,
            projects: known.into_iter().map(|project| project.name).collect(),
            notes: reading.unread,
            today: tending.zone.day(tending.now),
        }))
    }

    /// Lets a rule edit the files, by what is known of the use of notes.
    pub fn edit<T>(&mut self, tending: &Tending<'_>, rule: impl FnOnce(&mut Draft, &Known<'_>) -> T) -> T {
        rule(&mut self.draft, &Known { uses: &self.uses, now: tending.now, today: self.today })
    }

    /// The plan: a step for each group of files that change together.
    pub fn plan(self, tending: &Tending<'_>, reason: &str) -> Plan {
        let groups = self.draft.groups().into_iter();
        let steps = groups.map(|group| step(&group, reason, tending.redactor)).collect();
        Plan { reason: reason.to_owned(), steps, notes: self.notes }
    }
}

/// A step. What people wrote in their files may be secret, and is told here.
fn step(group: &Group, reason: &str, redactor: &Redactor) -> Step {
    let clean = |text: &str| redactor.redact(text).text.into_owned();
    let why = group.moves.first().map_or_else(|| reason.to_owned(), |first| clean(&first.why));
    let more = group.moves.len().saturating_sub(1);
    let why = if more == 0 { why } else { format!("{why}; and {more} more") };
    let files = group
        .files
        .iter()
        .map(|(path, page)| Change::file(path, page.before.as_deref(), page.after.as_deref()));
    let notes = group.moves.iter().map(|one| Change::Note {
        id: one.id.clone(),
        title: clean(&one.title),
        edit: Edit { before: Some(one.from.clone()), after: one.to.clone() },
    });
    Step { why, changes: files.chain(notes).collect(), ..Step::default() }
}
