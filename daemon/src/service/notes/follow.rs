//! Following the files of the memory tree: what they say is searched as it is now, and what is computed of it is kept.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use chrono::TimeDelta;
use memoryd_proto::{Happening, Note, TreeState};
use parking_lot::Mutex;

use crate::domain::rewording::{self, Said, Sketch};
use crate::error::Error;
use crate::events::Bell;
use crate::ledger::note;
use crate::ledger::note::Kept;
use crate::notes::Notes;
use crate::service::App;
use crate::service::notes::fill::Filling;

/// Files of which it is kept at once what they say.
const BATCH: usize = 64;

/// Days for which it is known what a file said, and vectors of texts that are gone.
const DAYS: i64 = 30;

/// How the files of the memory tree are followed.
#[derive(Default)]
pub struct Following {
    how: Mutex<How>,
    /// Rung when it changed which files are to be followed.
    pub moved: Bell,
    /// Rung when there are entries without vectors.
    pub bare: Bell,
    /// Held while it is kept what files say, so that what was read later is kept later.
    keeping: Mutex<()>,
    /// How vectors fill in.
    pub(super) filling: Filling,
}

/// How the files are followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum How {
    /// They are looked at when somebody asks.
    #[default]
    Asked,
    /// They are followed from now on, and are about to be looked at for the first time.
    Begun,
    /// The system tells of every change.
    Watched,
    /// They are looked at again and again, for this reason.
    Polled(String),
}

impl Following {
    /// From now on somebody follows the files.
    pub fn begin(&self) {
        *self.how.lock() = How::Begun;
    }

    /// From now on the system tells of every change, and each is looked at at once.
    pub fn set_watched(&self) {
        *self.how.lock() = How::Watched;
    }

    /// From now on files are looked at again and again, for a reason. It is logged, once.
    pub fn set_polled(&self, why: &str) {
        let how = How::Polled(why.to_owned());
        let mut is = self.how.lock();
        if *is != how {
            tracing::warn!("{why}");
            *is = how;
        }
    }

    fn is_watched(&self) -> bool {
        *self.how.lock() == How::Watched
    }
}

impl App {
    /// The entries of the tree as its files are now: from memory while the system tells of every change, else by a look
    /// at each file. Not to be asked by whoever holds the writer.
    ///
    /// # Errors
    /// When a folder of the tree cannot be read.
    pub(in crate::service) fn fresh_notes(&self) -> Result<&Notes, Error> {
        let view = self.view();
        let roots = view.project_roots()?;
        if self.following.is_watched() && view.notes.are_in_place(&view.vault, &roots) {
            let written = view.vault.take_written();
            if !written.is_empty() {
                self.look_at_notes(&written)?;
            }
        } else {
            self.scan_notes()?;
        }
        if *self.following.how.lock() == How::Asked {
            // Nobody else does.
            self.embed_notes()?;
        }
        Ok(&view.notes)
    }

    /// Looks at every file of the tree.
    ///
    /// # Errors
    /// When a folder of the tree cannot be read.
    pub fn scan_notes(&self) -> Result<(), Error> {
        let view = self.view();
        // What is written from here on is looked at again.
        drop(view.vault.take_written());
        let changed = view.notes.scan(&view.vault, &view.project_roots()?, self.now())?;
        self.keep_notes(changed)
    }

    /// Looks at some paths of the tree.
    ///
    /// # Errors
    /// When a folder of the tree cannot be read.
    pub fn look_at_notes(&self, paths: &[PathBuf]) -> Result<(), Error> {
        let view = self.view();
        let changed = view.notes.look(&view.vault, &view.project_roots()?, paths, self.now())?;
        self.keep_notes(changed)
    }

    /// Keeps what files say now, and which of their entries are others in other words (spec M6).
    fn keep_notes(&self, changed: usize) -> Result<(), Error> {
        let notes = &self.view().notes;
        {
            let _turn = self.following.keeping.lock();
            for files in notes.take_changed().chunks(BATCH) {
                self.keep_files(files)?;
            }
        }
        if changed > 0 {
            let entries = notes.counts().entries as u64;
            self.tell(Happening::NotesRead { files: changed as u64, entries });
            self.following.bare.ring();
        }
        Ok(())
    }

    fn keep_files(&self, files: &[PathBuf]) -> Result<(), Error> {
        let now = self.now();
        let mut turned = Vec::new();
        for file in files {
            let name = file.display().to_string();
            let known = self.view().read(|connection| note::said(connection, &name))?;
            let (come, gone) = self.turned(file, &known);
            if !come.is_empty() || !gone.is_empty() {
                turned.push((name, come, gone, known));
            }
        }
        if turned.is_empty() {
            return Ok(());
        }
        let recently = now - TimeDelta::days(DAYS);
        self.journal.recollect(|connection| {
            for (file, come, gone, known) in &turned {
                for id in gone {
                    note::gone(connection, file, id, now)?;
                }
                // A file that is saved in two steps is empty in between.
                let away = |kept: &&Kept| {
                    gone.contains(&kept.said.id) || kept.gone.is_some_and(|since| since >= recently)
                };
                let mut old: Vec<Said> = Vec::new();
                for Kept { said, .. } in known.iter().filter(away) {
                    if !come.iter().any(|new| new.id == said.id)
                        && !note::is_elsewhere(connection, file, &said.id)?
                    {
                        old.push(said.clone());
                    }
                }
                let mut new: Vec<Said> = Vec::new();
                for said in come {
                    let was_here = known.iter().any(|kept| kept.said.id == said.id);
                    if !old.is_empty() && !was_here && !note::is_elsewhere(connection, file, &said.id)? {
                        new.push(said.clone());
                    }
                }
                for (old, new) in rewording::pairs(&old, &new) {
                    note::reworded(connection, &new.id, &old.id)?;
                }
                come.iter().try_for_each(|said| note::put(connection, file, said, now))?;
            }
            Ok(())
        })
    }

    /// What a file says that it did not, and the ids of what it no longer says.
    fn turned(&self, file: &Path, known: &[Kept]) -> (Vec<Said>, Vec<String>) {
        let notes = self.view().notes.of_file(file);
        let there: HashSet<&str> = notes.iter().map(|note| note.id.as_str()).collect();
        let mut had: HashSet<&str> =
            known.iter().filter(|kept| kept.gone.is_none()).map(|kept| kept.said.id.as_str()).collect();
        let gone = had.iter().filter(|id| !there.contains(*id)).map(|id| (*id).to_owned()).collect();
        let mut come = Vec::new();
        for note in &notes {
            if had.insert(&note.id) {
                come.push(self.said(note));
            }
        }
        (come, gone)
    }

    fn said(&self, note: &Note) -> Said {
        let text = format!("{}\n{}", note.title, note.rule.as_deref().unwrap_or_default());
        // A word of it could be a secret.
        let sketch = Sketch::of(&self.entry().text(&text));
        Said { id: note.id.clone(), kind: note.kind, sketch }
    }

    /// Forgets what is known of entries that are gone for long.
    ///
    /// # Errors
    /// Those of the database.
    pub fn prune_notes(&self) -> Result<(), Error> {
        let now = self.now();
        let there = self.view().notes.digests();
        let before = now - TimeDelta::days(DAYS);
        self.journal
            .recollect(|connection| note::prune(connection, |digest| there.contains(digest), now, before))
    }

    /// How the tree is searched.
    pub(in crate::service) fn tree_state(&self) -> TreeState {
        let counts = self.view().notes.counts();
        let how = self.following.how.lock().clone();
        TreeState {
            files: counts.files as u64,
            entries: counts.entries as u64,
            embedded: counts.vectors as u64,
            left_seconds: self.following.filling.left(counts),
            watched: how == How::Watched,
            polled: if let How::Polled(why) = how { Some(why) } else { None },
        }
    }
}
