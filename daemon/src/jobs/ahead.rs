//! What jobs that were only planned are about to do, so that the plans of later jobs take it into account.

use std::collections::BTreeMap;

use memoryd_proto::{Improvement, ImprovementId, Scope};

use crate::domain::utility::Ledgered;
use crate::journal::{Change, Edit, FileText, Plan};
use crate::notes::{Reading, Sheet};
use crate::store::listing::Showing;
use crate::vault::Vault;

/// Changes that are planned and not yet made.
#[derive(Debug, Default)]
pub struct Ahead {
    improvements: BTreeMap<(String, Scope, ImprovementId), Planned>,
    usage: BTreeMap<(String, ImprovementId), Option<Ledgered>>,
    files: Vec<Edit<FileText>>,
}

/// The row of an improvement, if it has one, and what becomes of it.
type Planned = (Option<i64>, Option<Improvement>);

impl Ahead {
    /// Takes in a plan that comes before.
    pub fn absorb(&mut self, plan: &Plan) {
        for change in plan.steps.iter().flat_map(|step| &step.changes) {
            if let Change::Improvement { row, edit } = change {
                let Some(either) = edit.after.as_ref().or(edit.before.as_ref()) else { continue };
                let key = (either.agent.key(), either.scope.clone(), either.id.clone());
                self.improvements.insert(key, (*row, edit.after.clone()));
            } else if let Change::Usage { agent, id, edit } = change {
                self.usage.insert((agent.key(), id.clone()), edit.after.clone());
            } else if let Change::File(edit) = change {
                self.files.push(edit.clone());
            }
        }
    }

    /// Files that were read, as they will be. One that was edited since it was planned stays as it is.
    pub(super) fn written(&self, mut reading: Reading, vault: &Vault) -> Reading {
        for (path, edit) in self.files.iter().filter_map(|edit| Some((edit.path()?, edit))) {
            let at = reading.sheets.iter().position(|sheet| sheet.leaf.path == path);
            let text = at.map(|at| reading.sheets[at].text.as_str());
            match (edit.applied(text), at) {
                (Ok(Some(text)), Some(at)) => reading.sheets[at].text = text,
                (Ok(Some(text)), None) => {
                    reading.sheets.extend(vault.leaf(path).map(|leaf| Sheet { leaf, text }));
                }
                (Ok(None), Some(at)) => drop(reading.sheets.remove(at)),
                (Ok(None), None) | (Err(_), _) => {}
            }
        }
        let order = |sheet: &Sheet| (sheet.leaf.tier, sheet.leaf.path.clone());
        reading.sheets.sort_by_cached_key(order);
        reading
    }

    /// Improvements that were found, as they will be, and those that are touched and were not found.
    pub(super) fn applied(
        &self,
        found: Vec<(i64, Improvement)>,
        showing: &Showing,
    ) -> Vec<(Option<i64>, Improvement)> {
        if self.improvements.is_empty() && self.usage.is_empty() {
            return found.into_iter().map(|(row, one)| (Some(row), one)).collect();
        }
        let key = |one: &Improvement| (one.agent.key(), one.scope.clone(), one.id.clone());
        let untouched = found.into_iter().filter(|(_, one)| !self.improvements.contains_key(&key(one)));
        let touched = self.improvements.values().filter_map(|(row, after)| Some((*row, after.clone()?)));
        let mut all: Vec<_> = untouched.map(|(row, one)| (Some(row), one)).chain(touched).collect();
        for (_, one) in &mut all {
            if let Some(usage) = self.usage.get(&(one.agent.key(), one.id.clone())) {
                one.usage = usage
                    .as_ref()
                    .map_or_else(Default::default, |usage| usage.shown(showing.today, showing.decay));
            }
        }
        all.sort_by(|(_, a), (_, b)| {
            (a.agent.key(), a.created_at, &a.id, &a.scope).cmp(&(
                b.agent.key(),
                b.created_at,
                &b.id,
                &b.scope,
            ))
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::journal::Step;

    #[test]
    fn s3_files_are_as_the_jobs_before_leave_them() {
        let vault = Vault::new("/tree".into());
        let (hot, warm, cold) =
            (Path::new("/tree/memory.md"), Path::new("/tree/domains/a.md"), Path::new("/tree/archive/a.md"));
        let sheet =
            |path: &Path, text: &str| Sheet { leaf: vault.leaf(path).unwrap(), text: text.to_owned() };
        let mut ahead = Ahead::default();
        for changes in [
            vec![Change::file(cold, None, Some("a\n")), Change::file(warm, Some("a\nb\n"), Some("b\n"))],
            vec![Change::file(cold, Some("a\n"), Some("a\nb\n")), Change::file(warm, Some("b\n"), None)],
            vec![Change::file(hot, Some("as planned"), Some("otherwise"))],
        ] {
            let steps = vec![Step { changes, ..Step::default() }];
            ahead.absorb(&Plan { steps, ..Plan::default() });
        }
        let sheets = vec![sheet(warm, "a\nb\n"), sheet(hot, "edited")];
        let reading = ahead.written(Reading { sheets, unread: Vec::new() }, &vault);
        assert_eq!(reading.sheets, [sheet(hot, "edited"), sheet(cold, "a\nb\n")]);
    }
}
