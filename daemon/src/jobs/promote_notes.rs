//! Daily: notes that help again and again become rules that are always loaded, and those that help in several projects
//! patterns of their field of work (spec M5).

use memoryd_proto::{Cadence, JobName};

use super::tree::Tree;
use super::{Job, Tending};
use crate::domain::tiers::movement::{Promoting, promote};
use crate::error::Error;
use crate::journal::Plan;

/// The job.
pub struct PromoteNotes;

impl Job for PromoteNotes {
    fn name(&self) -> JobName {
        JobName::PromoteNotes
    }

    fn cadence(&self) -> Cadence {
        Cadence::Daily
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let Some(mut tree) = Tree::read(tending)? else { return Ok(Plan::default()) };
        let rule = &tending.config.tree;
        let memory = tree.draft.root().join("memory.md");
        let promoting = Promoting {
            successes: rule.promote_uses,
            projects: rule.promote_projects,
            lines: rule.hot_lines as usize,
            header: tending.view.vault.seed(&memory),
        };
        let full = tree.edit(tending, |draft, known| promote(draft, known, &promoting));
        if full > 0 {
            tree.notes
                .push(format!("{full} wait until memory.md has room: it may have {} lines", rule.hot_lines));
        }
        Ok(tree.plan(tending, "what helps again and again is loaded more often"))
    }
}
