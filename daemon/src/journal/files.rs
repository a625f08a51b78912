//! Changes of files. They are written before they are recorded, all of an operation or none.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Change, Draft, Edit, Journal, Planning};
use crate::error::Error;
use crate::vault::{self, Pen};
use memoryd_proto::OperationId;

/// How often an operation is planned anew because somebody edited a file meanwhile.
const AGAIN: usize = 4;

/// A file with what is written in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileText {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

impl Journal {
    /// Like [`commit`](Journal::commit), for plans that change files: when somebody edits one between being read and
    /// being written, the operation is planned again on the new text.
    ///
    /// # Errors
    /// Those of `plan`, of the database and of the vault; the latter also when files are edited all the time. Nothing was
    /// changed then.
    pub fn commit_files<T>(
        &self,
        actor: &str,
        mut plan: impl FnMut(&Planning<'_>) -> Result<(Draft, T), Error>,
    ) -> Result<(Option<OperationId>, T), Error> {
        for _ in 0..AGAIN {
            match self.commit(actor, &mut plan) {
                Err(Error::Vault(vault::Error::Changed { .. })) => {}
                done => return done,
            }
        }
        self.commit(actor, plan)
    }
}

/// The changes of files among some changes.
pub(super) fn edits(changes: &[Change]) -> Vec<Edit<FileText>> {
    let file = |change: &Change| if let Change::File(edit) = change { Some(edit.clone()) } else { None };
    changes.iter().filter_map(file).collect()
}

/// Writes files. When one cannot be written, those before it are as they were.
pub(super) fn write(pen: &Pen, edits: &[Edit<FileText>]) -> Result<(), vault::Error> {
    for (at, edit) in edits.iter().enumerate() {
        if let Err(error) = put(pen, edit) {
            take_back(pen, &edits[..at]);
            return Err(error);
        }
    }
    Ok(())
}

/// Writes files back as they were, where nobody edited them since.
pub(super) fn take_back(pen: &Pen, edits: &[Edit<FileText>]) {
    for edit in edits.iter().rev() {
        if let Err(error) = put(pen, &edit.clone().inverse()) {
            tracing::warn!(%error, "a file keeps what an operation wrote that failed");
        }
    }
}

fn put(pen: &Pen, edit: &Edit<FileText>) -> Result<(), vault::Error> {
    let text = |side: &Option<FileText>| side.as_ref().map(|file| file.text.clone());
    let Some(either) = edit.either() else { return Ok(()) };
    pen.write(&either.path, text(&edit.before).as_deref(), text(&edit.after).as_deref())
}
