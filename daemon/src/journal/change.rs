//! A change carries what was there before and what is there after, so that it can be shown, journalled and undone.

use std::path::PathBuf;

use chrono::NaiveDate;
use memoryd_proto::{
    AgentName, ContextName, Evaluation, Improvement, ImprovementId, OperationId, Profile, Review, Scope,
    Snapshot, Usage,
};
use serde::{Deserialize, Serialize};

use super::files::FileText;
use crate::archive::Place;
use crate::domain::utility::Ledgered;

/// Names the journal itself, among the items that changes touch.
pub(super) const JOURNAL: &str = "journal";

/// What the names of files begin with, among the items that changes touch.
pub(super) const FILE: &str = "file:";

/// One reversible change of one item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "changes live in short lists, and most are of the large kind")]
pub enum Change {
    /// An improvement, without its usage.
    Improvement {
        /// Its row, once it has one. A restored improvement gets its row back, and so its place in a sequence.
        row: Option<i64>,
        /// The change.
        edit: Edit<Improvement>,
    },
    /// An evaluation.
    Evaluation {
        /// Its row, once it has one.
        #[serde(default)]
        row: Option<i64>,
        /// The change.
        #[serde(flatten)]
        edit: Edit<Evaluation>,
    },
    /// An agent's performance on a day.
    Snapshot(Edit<Snapshot>),
    /// The copy of the database for a day.
    Backup(Edit<DailyCopy>),
    /// A file of the memory tree, or of a project's learnings.
    File(Edit<FileText>),
    /// A note that went from one file of the memory tree to another. The files are changes of their own; this one says
    /// which note it was, so that the journal shows it, and what a person took back is left alone.
    Note {
        /// Names what it says.
        id: String,
        /// What it is about, in a line.
        title: String,
        /// The file it was in, and the one it is in; absent where it was in none.
        edit: Edit<PathBuf>,
    },
    /// The review of a week.
    Review(Edit<Review>),
    /// A profile.
    Profile(Edit<Profile>),
    /// Usage that is imported for an improvement.
    Usage {
        /// Whose improvement.
        agent: AgentName,
        /// Which.
        id: ImprovementId,
        /// The change.
        edit: Edit<Ledgered>,
    },
    /// Interactions that are imported for a context.
    Context {
        /// Which.
        name: ContextName,
        /// The change.
        edit: Edit<u64>,
    },
    /// Old operations, which are in the database before and only in the archive after.
    Journal(Edit<Span>),
}

/// The copy of the database for a day: a file that is made before the change is recorded. Done again after it was
/// undone, it is made afresh under the same name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DailyCopy {
    /// The day, in local time.
    pub day: NaiveDate,
    /// The name of the copy.
    pub name: String,
    /// Older copies that go for it, and do not come back when it goes.
    pub replaces: Vec<String>,
}

/// Before and after; absent where the item does not exist.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit<T> {
    /// As it was.
    pub before: Option<T>,
    /// As it is now.
    pub after: Option<T>,
}

impl<T> Edit<T> {
    pub(super) fn inverse(self) -> Self {
        Self { before: self.after, after: self.before }
    }

    /// Whichever exists, the later first.
    pub(super) fn either(&self) -> Option<&T> {
        self.after.as_ref().or(self.before.as_ref())
    }

    fn verb(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "added",
            (Some(_), Some(_)) => "changed",
            (Some(_), None) => "removed",
        }
    }
}

/// Rows that leave together, about.
pub(super) const ROWS: usize = 500;

/// Operations in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The number after the last one of the span before.
    pub first: OperationId,
    /// The last.
    pub last: OperationId,
    /// How many there are.
    pub operations: u64,
    /// Where they lie in the archive, once they do.
    pub place: Option<Place>,
}

impl Span {
    pub(super) fn bounds(&self) -> (u64, u64) {
        (self.first.0, self.last.0)
    }

    /// In words.
    #[must_use]
    pub fn told(&self) -> String {
        if self.operations == 1 {
            format!("operation {}", self.last)
        } else {
            format!("operations {} to {}", self.first, self.last)
        }
    }
}

impl Change {
    /// A change of an improvement. Usage is left out: the ledger has it.
    #[must_use]
    pub fn improvement(row: Option<i64>, before: Option<Improvement>, after: Option<Improvement>) -> Self {
        let bare = |improvement: Improvement| Improvement { usage: Usage::default(), ..improvement };
        Self::Improvement { row, edit: Edit { before: before.map(bare), after: after.map(bare) } }
    }

    /// An evaluation that is added.
    #[must_use]
    pub fn evaluated(evaluation: Evaluation) -> Self {
        Self::Evaluation { row: None, edit: Edit { before: None, after: Some(evaluation) } }
    }

    /// An evaluation that leaves its row for the archive.
    #[must_use]
    pub fn archived(row: i64, evaluation: Evaluation) -> Self {
        Self::Evaluation { row: Some(row), edit: Edit { before: Some(evaluation), after: None } }
    }

    /// The change that takes this one back.
    #[must_use]
    pub fn inverse(self) -> Self {
        match self {
            Self::Improvement { row, edit } => Self::Improvement { row, edit: edit.inverse() },
            Self::Evaluation { row, edit } => Self::Evaluation { row, edit: edit.inverse() },
            Self::Snapshot(edit) => Self::Snapshot(edit.inverse()),
            Self::Backup(edit) => Self::Backup(edit.inverse()),
            Self::File(edit) => Self::File(edit.inverse()),
            Self::Note { id, title, edit } => Self::Note { id, title, edit: edit.inverse() },
            Self::Review(edit) => Self::Review(edit.inverse()),
            Self::Profile(edit) => Self::Profile(edit.inverse()),
            Self::Usage { agent, id, edit } => Self::Usage { agent, id, edit: edit.inverse() },
            Self::Context { name, edit } => Self::Context { name, edit: edit.inverse() },
            Self::Journal(edit) => Self::Journal(edit.inverse()),
        }
    }

    /// How many rows it touches, about.
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Self::Journal(_) => ROWS,
            Self::Improvement { .. }
            | Self::Evaluation { .. }
            | Self::Snapshot(_)
            | Self::Backup(_)
            | Self::File(_)
            | Self::Note { .. }
            | Self::Review(_)
            | Self::Profile(_)
            | Self::Usage { .. }
            | Self::Context { .. } => 1,
        }
    }

    /// Names the item that is changed.
    #[must_use]
    pub fn item(&self) -> String {
        match self {
            Self::Improvement { edit, .. } => edit.either().map_or_else(String::new, |improvement| {
                let project = crate::store::rows::project(&improvement.scope);
                format!("improvement:{}:{project}:{}", improvement.agent.key(), improvement.id)
            }),
            Self::Evaluation { edit, .. } => edit.either().map_or_else(String::new, |evaluation| {
                format!("evaluation:{}:{}", evaluation.agent.key(), evaluation.id)
            }),
            Self::Snapshot(edit) => edit.either().map_or_else(String::new, |snapshot| {
                format!("snapshot:{}:{}", snapshot.agent.key(), snapshot.day)
            }),
            Self::Backup(edit) => {
                edit.either().map_or_else(String::new, |copy| format!("backup:{}", copy.day))
            }
            Self::File(edit) => {
                edit.either().map_or_else(String::new, |file| format!("{FILE}{}", file.path.display()))
            }
            Self::Note { id, .. } => format!("note:{id}"),
            Self::Review(edit) => {
                edit.either().map_or_else(String::new, |review| format!("review:{}", review.week))
            }
            Self::Profile(edit) => {
                edit.either().map_or_else(String::new, |profile| format!("profile:{}", profile.agent.key()))
            }
            Self::Usage { agent, id, .. } => format!("usage:{}:{id}", agent.key()),
            Self::Context { name, .. } => format!("context:{name}"),
            Self::Journal(_) => JOURNAL.to_owned(),
        }
    }

    /// Says what is changed, in one line.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Improvement { edit, .. } => {
                let scope = match edit.either().map(|improvement| &improvement.scope) {
                    Some(Scope::Project(hash)) => format!(" of project {hash}"),
                    Some(Scope::Global) | None => String::new(),
                };
                let id = edit.either().map_or("", |improvement| improvement.id.as_str());
                format!("{} improvement {id}{scope}{}", edit.verb(), differences(edit))
            }
            Self::Evaluation { edit, .. } => {
                format!("{} evaluation {}", edit.verb(), edit.either().map_or("", |one| one.id.as_str()))
            }
            Self::Snapshot(edit) => edit.either().map_or_else(String::new, |snapshot| {
                format!("{} the snapshot of {} for {}", edit.verb(), snapshot.agent, snapshot.day)
            }),
            Self::Backup(edit) => edit.either().map_or_else(String::new, |copy| {
                format!("{} the copy {} of the database for {}", edit.verb(), copy.name, copy.day)
            }),
            Self::File(edit) => edit
                .either()
                .map_or_else(String::new, |file| format!("{} {}", edit.verb(), file.path.display())),
            Self::Note { title, edit, .. } => {
                let file = |path: &PathBuf| path.display().to_string();
                match (&edit.before, &edit.after) {
                    (Some(from), Some(to)) => {
                        format!("moved {title:?} from {} to {}", file(from), file(to))
                    }
                    (Some(from), None) => format!("took {title:?} out of {}", file(from)),
                    (None, to) => {
                        format!("put {title:?} into {}", to.as_ref().map_or_else(String::new, file))
                    }
                }
            }
            Self::Review(edit) => edit
                .either()
                .map_or_else(String::new, |review| format!("{} the review of {}", edit.verb(), review.week)),
            Self::Profile(edit) => {
                format!(
                    "{} the profile of {}",
                    edit.verb(),
                    edit.either().map_or("", |one| one.agent.as_str())
                )
            }
            Self::Usage { id, edit, .. } => format!("{} the usage of improvement {id}", edit.verb()),
            Self::Context { name, edit } => format!("{} the interactions of context {name}", edit.verb()),
            Self::Journal(edit) => {
                let whither = if edit.after.is_some() { "back from" } else { "to" };
                format!("moved {} {whither} the archive", edit.either().map_or_else(String::new, Span::told))
            }
        }
    }
}

/// The fields that differ between before and after, for a person.
fn differences(edit: &Edit<Improvement>) -> String {
    let (Some(before), Some(after)) = (&edit.before, &edit.after) else { return String::new() };
    let differ = [
        ("text", before.document != after.document),
        ("category", before.category != after.category),
        ("tags", before.tags != after.tags || before.context_tags != after.context_tags),
        ("deprecation", before.deprecation != after.deprecation),
        ("promotion", before.promotion != after.promotion),
        ("cross-validation", before.cross_validation != after.cross_validation),
        ("evidence", before.evidence != after.evidence),
    ];
    let mut told: Vec<String> =
        differ.iter().filter(|(_, differs)| *differs).map(|(name, _)| (*name).to_owned()).collect();
    if before.confidence != after.confidence {
        told.push(format!("confidence {:.2} to {:.2}", before.confidence.get(), after.confidence.get()));
    }
    if told.is_empty() { String::new() } else { format!(": {}", told.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_the_inverse_is_the_change() {
        let change = Change::Context {
            name: "coding".parse().unwrap(),
            edit: Edit { before: Some(3), after: Some(7) },
        };
        assert_eq!(change.clone().inverse().inverse(), change);
        assert_ne!(change.clone().inverse(), change);
        assert_eq!(change.item(), change.inverse().item());
    }
}
