//! Daily: rules that are not used leave `memory.md`, and notes that are not used for longer go to the archive (spec M6).
//! What users prefer stays.

use memoryd_proto::{Cadence, JobName};

use super::tree::{Tree, demoting};
use super::{Job, Tending};
use crate::domain::tiers::movement::demote;
use crate::error::Error;
use crate::journal::Plan;

/// The job.
pub struct DemoteNotes;

impl Job for DemoteNotes {
    fn name(&self) -> JobName {
        JobName::DemoteNotes
    }

    fn cadence(&self) -> Cadence {
        Cadence::Daily
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let Some(mut tree) = Tree::read(tending)? else { return Ok(Plan::default()) };
        let projects = std::mem::take(&mut tree.projects);
        let demoting = demoting(&tending.config.tree, &projects);
        tree.edit(tending, |draft, known| demote(draft, known, &demoting));
        Ok(tree.plan(tending, "what is not used is loaded less often"))
    }
}
