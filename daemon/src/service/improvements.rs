//! Looking at improvements and changing them (spec I1, I7).

use std::collections::HashSet;

use memoryd_proto::{
    ArchiveKind, Consolidatable, DeleteImprovement, Deleted, Deprecate, Deprecation, Edit, Edited, Fault,
    FindImprovement, Improvement, ImprovementPage, Improvements, Restore, Serve,
};

use super::{App, Found, PAGE, page};
use crate::domain::text;
use crate::error::Error;
use crate::journal::{self, Change, Draft, Planning};
use crate::ledger::usage;
use crate::store::listing::{self, Order, Wanted};

impl Serve<Improvements> for App {
    fn serve(&self, call: Improvements) -> Result<ImprovementPage, Fault> {
        let project = super::project(call.project.as_ref())?;
        let wanted = Wanted {
            agent: call.agent,
            project: project.map(Some),
            standing: call.standing,
            category: call.category,
            tags: call.tag.into_iter().collect(),
            since: call.since,
            ..Wanted::default()
        };
        Ok(self.list(&wanted, call.offset, page(call.limit, PAGE))?)
    }
}

impl Serve<Consolidatable> for App {
    fn serve(&self, call: Consolidatable) -> Result<ImprovementPage, Fault> {
        let wanted = Wanted { agent: Some(call.agent), ..Wanted::default() };
        let mut page = self.list(&wanted, 0, u64::MAX >> 1)?;
        page.improvements.retain(|one| one.consolidation_eligible && one.deprecation.is_none());
        page.total = page.improvements.len() as u64;
        Ok(page)
    }
}

impl Serve<FindImprovement> for App {
    fn serve(&self, call: FindImprovement) -> Result<Improvement, Fault> {
        let mut found = self.find(call.agent.as_ref(), &call.id)?;
        Ok(found.swap_remove(0).1)
    }
}

impl Serve<Edit> for App {
    fn serve(&self, call: Edit) -> Result<Edited, Fault> {
        let mut entry = self.entry();
        let document = call.document.as_deref().map(|given| entry.document(given)).transpose()?;
        let category = call.category.as_deref().map(|given| entry.label("category", given)).transpose()?;
        let tags = call.tags.as_deref().map(|given| entry.labels("tag", given)).transpose()?;
        let context_tags =
            call.context_tags.as_deref().map(|given| entry.labels("context tag", given)).transpose()?;
        let embedding = match &document {
            Some(document) => self.view().embed(document)?,
            None => None,
        };
        let mut edited =
            self.change("edit", "edited", call.agent.as_ref(), &call.id, |planning, draft, before| {
                let mut after = before.clone();
                if let Some(document) = &document {
                    self.refuse_copy(planning, before, document)?;
                    draft.vectors.extend(embedding.clone().map(|vector| (document.clone(), vector)));
                    after.document.clone_from(document);
                }
                after.category = category.clone().unwrap_or(after.category);
                after.confidence = call.confidence.unwrap_or(after.confidence);
                after.tags = tags.clone().unwrap_or(after.tags);
                after.context_tags = context_tags.clone().unwrap_or(after.context_tags);
                Ok(after)
            })?;
        edited.redacted = entry.redacted;
        Ok(edited)
    }
}

impl Serve<Deprecate> for App {
    fn serve(&self, call: Deprecate) -> Result<Edited, Fault> {
        let reason = self.entry().text(call.reason.trim());
        let reason = if reason.is_empty() { "deprecated by hand".to_owned() } else { reason };
        let edited =
            self.change("deprecate", &reason, call.agent.as_ref(), &call.id, |planning, _, before| {
                let deprecation = Deprecation { reason: reason.clone(), at: planning.now };
                let deprecation = before.deprecation.clone().or(Some(deprecation));
                Ok(Improvement { deprecation, ..before.clone() })
            });
        Ok(edited?)
    }
}

impl Serve<Restore> for App {
    fn serve(&self, call: Restore) -> Result<Edited, Fault> {
        Ok(self.restore(&call)?)
    }
}

impl Serve<DeleteImprovement> for App {
    fn serve(&self, call: DeleteImprovement) -> Result<Deleted, Fault> {
        Ok(self.delete(&call)?)
    }
}

impl App {
    fn list(&self, wanted: &Wanted, offset: u64, limit: u64) -> Result<ImprovementPage, Error> {
        let showing = self.showing();
        self.view().read(|connection| {
            let total = listing::count(connection, wanted, &showing)?;
            let found = listing::improvements(connection, wanted, Order::Newest, (offset, limit), &showing)?;
            Ok::<_, Error>(ImprovementPage {
                improvements: found.into_iter().map(|(_, one)| one).collect(),
                total,
            })
        })
    }

    /// Changes every copy of an improvement.
    pub(super) fn change(
        &self,
        actor: &str,
        reason: &str,
        agent: Option<&memoryd_proto::AgentName>,
        id: &memoryd_proto::ImprovementId,
        change: impl Fn(&Planning<'_>, &mut Draft, &Improvement) -> Result<Improvement, Error>,
    ) -> Result<Edited, Error> {
        let (operation, improvement) = self.journal.commit(actor, |planning| {
            let copies = self.find(agent, id)?;
            let mut draft = Draft {
                reason: reason.to_owned(),
                agent: copies.first().map(|(_, first)| first.agent.clone()),
                ..Draft::default()
            };
            let mut shown = None;
            for (row, before) in copies {
                let after = change(planning, &mut draft, &before)?;
                shown.get_or_insert_with(|| after.clone());
                if after != before {
                    draft.changes.push(Change::improvement(Some(row), Some(before), Some(after)));
                }
            }
            Ok((draft, shown))
        })?;
        let improvement = match improvement {
            Some(improvement) => improvement,
            None => self.find(agent, id)?.swap_remove(0).1,
        };
        Ok(Edited { improvement, operation, redacted: Vec::new() })
    }

    /// No text is stored twice in a scope (spec I5), not even by an edit.
    fn refuse_copy(
        &self,
        planning: &Planning<'_>,
        edited: &Improvement,
        document: &str,
    ) -> Result<(), Error> {
        let digest = text::digest(document);
        let showing = self.showing();
        let other = planning.view.read(|connection| {
            let row = listing::with_digest(connection, &edited.agent, &edited.scope, &digest)?;
            row.map(|row| listing::at_row(connection, row, &showing)).transpose()
        })?;
        match other.flatten() {
            Some((other, _)) if other.id != edited.id => Err(Fault::conflict(
                format!("Improvement {} already says that", other.id),
                format!("Delete {} instead, and keep that one.", edited.id),
            )
            .into()),
            _ => Ok(()),
        }
    }

    fn delete(&self, call: &DeleteImprovement) -> Result<Deleted, Error> {
        let (operation, (improvement, archive)) = self.journal.commit("delete", |planning| {
            let copies = self.find(call.agent.as_ref(), &call.id)?;
            let first = copies[0].1.clone();
            let remove = |(row, before): Found| Change::improvement(Some(row), Some(before), None);
            let draft = Draft {
                reason: "deleted by hand".to_owned(),
                agent: Some(first.agent.clone()),
                changes: copies.into_iter().map(remove).collect(),
                ..Draft::default()
            };
            let archive = planning.view.archive.file(ArchiveKind::Improvements, planning.now);
            Ok((draft, (first, archive.display().to_string())))
        })?;
        let operation = operation.ok_or_else(|| {
            Fault::not_found(format!("There is no improvement {}", call.id), "There was nothing to delete.")
        })?;
        Ok(Deleted { improvement, operation, archive })
    }

    fn restore(&self, call: &Restore) -> Result<Edited, Error> {
        let missing = match self.find(call.agent.as_ref(), &call.id) {
            Ok(_) => {
                return self.change(
                    "restore",
                    "restored by hand",
                    call.agent.as_ref(),
                    &call.id,
                    |_, _, before| Ok(Improvement { deprecation: None, ..before.clone() }),
                );
            }
            Err(Error::Fault(fault)) => fault,
            Err(error) => return Err(error),
        };
        let ours = |one: &Improvement| {
            one.id == call.id && call.agent.as_ref().is_none_or(|agent| *agent == one.agent)
        };
        // The copies that went together: of one agent, one for each scope.
        let (mut scopes, mut whose) = (HashSet::new(), None);
        let found = self.view().archive.find(ArchiveKind::Improvements, ours)?.into_iter();
        let together = |one: &Improvement| {
            *whose.get_or_insert_with(|| one.agent.clone()) == one.agent && scopes.insert(one.scope.clone())
        };
        let mut archived: Vec<Improvement> = found.take_while(together).collect();
        archived.reverse();
        let Some(first) = archived.first() else {
            return Err(Fault::not_found(missing.message, "The archive does not hold it either.").into());
        };
        let agent = first.agent.clone();
        let (operation, ()) = self.journal.commit("restore", |planning| {
            let mut draft = Draft {
                reason: "restored from the archive".to_owned(),
                agent: Some(agent.clone()),
                ..Draft::default()
            };
            for one in archived {
                self.refuse_copy(planning, &one, &one.document)?;
                let one = Improvement { deprecation: None, ..one };
                draft.changes.push(Change::improvement(None, None, Some(one)));
            }
            let known = planning.view.read(|connection| usage::find(connection, &agent, &call.id))?;
            let archived = match known {
                Some(_) => None,
                None => journal::archived_usage(&planning.view.archive, &agent, &call.id)?,
            };
            draft.changes.extend(archived.map(|usage| Change::Usage {
                agent: agent.clone(),
                id: call.id.clone(),
                edit: journal::Edit { before: None, after: Some(usage) },
            }));
            Ok((draft, ()))
        })?;
        let improvement = self.find(Some(&agent), &call.id)?.swap_remove(0).1;
        Ok(Edited { improvement, operation, redacted: Vec::new() })
    }
}
