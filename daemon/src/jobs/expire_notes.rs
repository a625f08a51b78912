//! Daily: old corrections and shared insights go to the archive, and insights leave that again, unless somebody else wrote
//! them there (spec M4).

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use memoryd_proto::{Cadence, JobName, NoteKind, Tier};

use super::tree::Tree;
use super::{Job, Tending, actor};
use crate::config;
use crate::domain::tiers::{Draft, expiry};
use crate::error::Error;
use crate::journal::{self, Plan};

/// The job.
pub struct ExpireNotes;

impl Job for ExpireNotes {
    fn name(&self) -> JobName {
        JobName::ExpireNotes
    }

    fn cadence(&self) -> Cadence {
        Cadence::Daily
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let Some(mut tree) = Tree::read(tending)? else { return Ok(Plan::default()) };
        let rule = &tending.config.tree;
        let days = i64::from(rule.archived_shared_days);
        let archived = archived(tending, &tree.draft)?;
        tree.edit(tending, |draft, known| {
            for (path, at) in &archived {
                if (tending.now - *at).num_days() >= days {
                    expiry::gone(draft, path, days);
                }
            }
            expiry::corrections(draft, known, rule.corrections as usize);
            expiry::shared(draft, known, rule.shared_days.into(), rule.shared_files as usize);
        });
        let health = health(&tree.draft, rule);
        tree.notes.push(health);
        Ok(tree.plan(tending, "what was noted in passing goes to the archive"))
    }
}

/// The shared insights in the archive that the daemon moved there, and that are as they were then.
fn archived(tending: &Tending<'_>, draft: &Draft) -> Result<Vec<(PathBuf, DateTime<Utc>)>, Error> {
    let actors = [actor(JobName::ExpireNotes), "consume".to_owned()];
    let folder = draft.root().join("archive/shared");
    tending.view.read(|connection| {
        let mut archived = Vec::new();
        for (path, text) in draft.of(Tier::Cold).filter(|(path, _)| path.starts_with(&folder)) {
            let wrote = journal::wrote(connection, &actors, path, text)?;
            archived.extend(wrote.map(|at| (path.to_owned(), at)));
        }
        Ok::<_, Error>(archived)
    })
}

/// How full what has a cap is.
fn health(draft: &Draft, rule: &config::Tree) -> String {
    let corrections: usize = draft
        .of(Tier::Corrections)
        .map(|(path, _)| draft.items(path).iter().filter(|item| item.kind == NoteKind::Correction).count())
        .sum();
    let shared = draft.of(Tier::Shared).count();
    format!(
        "{corrections} of {} corrections, {shared} of {} shared insights",
        rule.corrections, rule.shared_files
    )
}
