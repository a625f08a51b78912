//! Daily: `index.md` says which files say something of which topic (spec M1). Lines that people write there stay.

use memoryd_proto::{Cadence, JobName};

use super::tree::Tree;
use super::{Job, Tending};
use crate::domain::tiers::topics;
use crate::error::Error;
use crate::journal::Plan;

/// The job.
pub struct IndexNotes;

impl Job for IndexNotes {
    fn name(&self) -> JobName {
        JobName::IndexNotes
    }

    fn cadence(&self) -> Cadence {
        Cadence::Daily
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let Some(mut tree) = Tree::read(tending)? else { return Ok(Plan::default()) };
        if !topics::index(&mut tree.draft) {
            tree.notes.push("index.md is left alone: the marks around its topics are broken".to_owned());
        }
        Ok(tree.plan(tending, "the index knows the topics of the memory tree"))
    }
}
