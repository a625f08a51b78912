//! Changes of files. They are written before they are recorded, all of an operation or none.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use memoryd_proto::OperationId;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::change::FILE;
use super::{Change, Draft, Edit, Journal, Planning};
use crate::database;
use crate::domain::text;
use crate::error::Error;
use crate::vault::{self, Pen, Vault};

/// How often an operation is planned anew because somebody edited a file meanwhile.
const AGAIN: usize = 4;

/// A file as it is before or after a change: the part that differs, and the digest of the whole. So the journal keeps
/// nothing of what people wrote around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileText {
    /// The file.
    pub path: PathBuf,
    /// The SHA-256 of its text, as hex digits.
    pub digest: String,
    /// Where the part begins, in bytes.
    pub at: usize,
    /// The part.
    pub part: String,
    /// The folder that the file may not lead out of, where that is neither the memory tree nor a project's learnings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<PathBuf>,
}

impl Change {
    /// A file that is written, or removed.
    #[must_use]
    pub fn file(path: &Path, before: Option<&str>, after: Option<&str>) -> Self {
        let (one, other) = (before.unwrap_or_default(), after.unwrap_or_default());
        let whole = before.is_none() || after.is_none();
        let same = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
            pairs.take_while(|(a, b)| !whole && a == b).map(|(a, _)| a.len_utf8()).sum()
        };
        let at = same(&mut one.chars().zip(other.chars()));
        let tail = same(&mut one[at..].chars().rev().zip(other[at..].chars().rev()));
        let file = |text: &str| FileText {
            path: path.to_owned(),
            digest: digest(text),
            at,
            part: text[at..text.len() - tail].to_owned(),
            within: None,
        };
        Self::File(Edit { before: before.map(file), after: after.map(file) })
    }

    /// The change, of a file that is no part of the memory tree: it may not lead out of this folder.
    #[must_use]
    pub fn within(mut self, folder: &Path) -> Self {
        if let Self::File(Edit { before, after }) = &mut self {
            before.iter_mut().chain(after).for_each(|file| file.within = Some(folder.to_owned()));
        }
        self
    }
}

/// When a file got the text that it has, if one of these actors wrote it, and nobody else since.
///
/// # Errors
/// Those of the database.
pub fn wrote(
    connection: &Connection,
    actors: &[String],
    path: &Path,
    text: &str,
) -> Result<Option<DateTime<Utc>>, database::Error> {
    let sql = "SELECT actor, at, body FROM change JOIN operation ON operation = id \
               WHERE item = ?1 AND undone_by IS NULL ORDER BY operation DESC, n DESC LIMIT 1";
    let row = connection
        .prepare_cached(sql)?
        .query_row([format!("{FILE}{}", path.display())], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
        })
        .optional()?;
    let Some((_, at, body)) = row.filter(|(actor, ..)| actors.contains(actor)) else { return Ok(None) };
    let is = |change| matches!(change, Change::File(Edit { after: Some(after), .. }) if after.digest == digest(text));
    Ok(is(database::from_json("change", &body)?).then(|| database::instant(at)))
}

fn digest(text: &str) -> String {
    text::hex(&Sha256::digest(text.as_bytes()))
}

impl Edit<FileText> {
    /// The file that is changed.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.either().map(|file| file.path.as_path())
    }

    /// Whether a text is the one before or the one after.
    pub(super) fn knows(&self, text: &str) -> bool {
        let digest = digest(text);
        self.before.iter().chain(&self.after).any(|file| file.digest == digest)
    }

    /// Whether a file's text is the one before.
    fn is_before(&self, text: Option<&str>) -> bool {
        text.map(digest).as_ref() == self.before.as_ref().map(|file| &file.digest)
    }

    /// What it makes of a file's text; nothing where there is no file.
    ///
    /// # Errors
    /// When the text is not the one before.
    pub fn applied(&self, text: Option<&str>) -> Result<Option<String>, vault::Error> {
        let changed = |file: &FileText| vault::Error::Changed { path: file.path.clone() };
        let (head, tail) = match (&self.before, text) {
            (None, None) => ("", ""),
            (Some(before), Some(text)) if digest(text) == before.digest => {
                let around = text.get(..before.at).zip(text.get(before.at + before.part.len()..));
                around.ok_or_else(|| changed(before))?
            }
            (before, _) => {
                return before.as_ref().or(self.after.as_ref()).map_or(Ok(None), |file| Err(changed(file)));
            }
        };
        Ok(self.after.as_ref().map(|after| [head, &after.part, tail].concat()))
    }
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

/// Writes files back as they were, the last one first. Where somebody edited one since, it stays, and so do those before
/// it: what was taken out of it may be there.
pub(super) fn take_back(pen: &Pen, edits: &[Edit<FileText>]) {
    for edit in edits.iter().rev() {
        if let Err(error) = revert(pen, edit) {
            tracing::warn!(%error, "files keep what an operation wrote that was not recorded");
            return;
        }
    }
}

fn revert(pen: &Pen, edit: &Edit<FileText>) -> Result<(), vault::Error> {
    let Some(path) = edit.path() else { return Ok(()) };
    if edit.is_before(reach(pen, edit).read(path)?.as_deref()) {
        Ok(())
    } else {
        put(pen, &edit.clone().inverse())
    }
}

/// What the file of a change is read from: the memory tree, with the folder that was named for it.
fn reach(pen: &Pen, edit: &Edit<FileText>) -> Vault {
    let named = edit.either().and_then(|file| file.within.as_deref());
    named.map_or_else(|| pen.vault().clone(), |folder| pen.vault().with(folder))
}

fn put(pen: &Pen, edit: &Edit<FileText>) -> Result<(), vault::Error> {
    let Some(path) = edit.path() else { return Ok(()) };
    let vault = reach(pen, edit);
    let is = vault.read(path)?;
    let after = edit.applied(is.as_deref())?;
    pen.write_of(&vault, path, is.as_deref(), after.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_keeps_what_differs_and_goes_there_and_back() {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::new(folder.path().to_owned());
        let (path, pen) =
            (folder.path().join("memory.md"), Pen::new(vault.clone(), folder.path().join("replaced")));
        let texts = [
            None,
            Some(""),
            Some("記憶 aa"),
            Some("記録 aa"),
            Some("記録 aaa"),
            Some("aa"),
            Some("🦀"),
            None,
        ];
        for pair in texts.windows(2) {
            let edits = edits(&[Change::file(&path, pair[0], pair[1])]);
            write(&pen, &edits).unwrap();
            assert_eq!(vault.read(&path).unwrap().as_deref(), pair[1]);
            take_back(&pen, &edits);
            assert_eq!(vault.read(&path).unwrap().as_deref(), pair[0]);
            write(&pen, &edits).unwrap();
        }
        let outside = folder.path().with_extension("md");
        let change = Change::file(&outside, None, Some("x"));
        assert!(write(&pen, &edits(std::slice::from_ref(&change))).is_err(), "nobody named its folder");
        let named = edits(&[change.within(&std::env::temp_dir())]);
        write(&pen, &named).unwrap();
        take_back(&pen, &named);
        assert!(!outside.exists());
        let change = Change::file(&path, Some("a secret, b"), Some("a secret, b, c"));
        assert!(!serde_json::to_string(&change).unwrap().contains("secret"));
    }
}
