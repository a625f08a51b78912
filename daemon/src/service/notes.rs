//! What the memory tree says (spec M3, M8, M13, M15).

mod distil;
mod files;
mod fill;
mod follow;
mod forget;
mod improve;
mod log;
mod share;
mod skills;
mod stats;

pub use follow::Following;

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use memoryd_proto::{
    Fault, KnownProject, LearnedNotes, Note, NoteKind, NotePage, Project, ProjectHash, ProjectList,
    ProjectNotes, Projects, SearchNotes, Serve, Tier,
};

use super::{App, page};
use crate::error::Error;
use crate::ledger::projects::{self, Known};
use crate::notes::{Reading, Sheet};
use crate::vault::{self, Vault};
use crate::{index, project};

/// How many notes a search returns when the caller does not say.
const FOUND: u64 = 20;

/// How many corrections are recent when the caller does not say.
const RECENT: u64 = 10;

/// A project in which something is logged.
pub(super) struct Site {
    pub(super) hash: ProjectHash,
    pub(super) name: String,
    pub(super) root: PathBuf,
}

impl Serve<SearchNotes> for App {
    fn serve(&self, call: SearchNotes) -> Result<NotePage, Fault> {
        Ok(self.search_notes(&call)?)
    }
}

impl Serve<LearnedNotes> for App {
    fn serve(&self, call: LearnedNotes) -> Result<NotePage, Fault> {
        Ok(self.learned_notes(&call)?)
    }
}

impl Serve<ProjectNotes> for App {
    fn serve(&self, call: ProjectNotes) -> Result<NotePage, Fault> {
        Ok(self.project_notes(&call.project)?)
    }
}

impl Serve<Projects> for App {
    fn serve(&self, _: Projects) -> Result<ProjectList, Fault> {
        let known = self.view().read(projects::all)?;
        let projects = known.into_iter().map(|known| KnownProject {
            present: known.root.is_dir(),
            hash: known.hash,
            name: known.name,
            root: known.root.display().to_string(),
            since: known.since,
        });
        Ok(ProjectList { projects: projects.collect() })
    }
}

impl App {
    /// The tree, if it was created.
    fn tree(&self) -> Result<&Vault, Error> {
        let vault = &self.view().vault;
        if vault.exists() {
            return Ok(vault);
        }
        Err(Fault::not_found(
            format!("There is no memory tree in {}", vault.root().display()),
            "`memoryctl init` creates it; tree.root in the configuration names another folder.",
        )
        .into())
    }

    /// The project that a folder belongs to.
    pub(super) fn site(folder: &Path) -> Result<Site, Error> {
        let root = project::root(folder)?;
        let name =
            root.file_name().map_or_else(|| "root".to_owned(), |name| name.to_string_lossy().into_owned());
        Ok(Site { hash: project::hash(&root), name, root })
    }

    /// Keeps the project of a folder from the first recall on that finds learnings in it. Nothing is written there, and
    /// a project without learnings is known once something is logged in it. Returns the project of the folder.
    pub(super) fn recalled_in(&self, project: Option<&Project>) -> Result<Option<Site>, Error> {
        let Some(Project::Folder(folder)) = project else { return Ok(None) };
        let site = Self::site(folder)?;
        let is_known = || self.view().read(|connection| projects::is_known(connection, &site.hash));
        if vault::learnings(&site.root).is_file() && !is_known()? {
            self.register(&site)?;
        }
        Ok(Some(site))
    }

    /// Reads every file of the tree, and the learnings of every project that is there.
    fn reading(&self) -> Result<Reading, Error> {
        self.tree()?;
        self.view().reading()
    }

    /// Notes as they are answered.
    fn told(&self, reading: &Reading, mut notes: Vec<Note>) -> NotePage {
        let total = notes.len() as u64;
        self.redact(&mut notes);
        NotePage { notes, total, files: reading.sheets.len() as u64, unread: reading.unread.clone() }
    }

    /// Takes out what people wrote that nobody is to be told (spec M14). Their files stay as they are.
    fn redact(&self, notes: &mut [Note]) {
        let mut entry = self.entry();
        for note in notes {
            note.text = entry.text(&note.text);
            note.title = entry.text(&note.title);
            note.rule = note.rule.take().map(|rule| entry.text(&rule));
            note.section = note.section.take().map(|section| entry.text(&section));
        }
    }

    fn search_notes(&self, call: &SearchNotes) -> Result<NotePage, Error> {
        self.tree()?;
        searchable(&call.words)?;
        let notes = self.fresh_notes()?;
        // What the index says, the files say.
        let wanted = |tier: Tier| tier != Tier::Index && (call.archive || tier != Tier::Cold);
        let limit = usize::try_from(page(call.limit, FOUND)).unwrap_or(usize::MAX);
        let mut found = notes.sharing(&call.words, limit, |note| wanted(note.tier));
        self.redact(&mut found.notes);
        Ok(NotePage {
            notes: found.notes,
            total: found.total as u64,
            files: notes.files(wanted) as u64,
            unread: notes.unread(),
        })
    }

    fn learned_notes(&self, call: &LearnedNotes) -> Result<NotePage, Error> {
        let reading = self.reading()?.only(|leaf| matches!(leaf.tier, Tier::Corrections | Tier::Hot));
        let notes = reading.notes();
        let of = |kind| notes.iter().filter(move |note| note.kind == kind);
        let mut corrections: Vec<&Note> = of(NoteKind::Correction).collect();
        corrections.sort_by_key(|note| Reverse((note.date, note.line)));
        corrections.truncate(usize::try_from(page(call.corrections, RECENT)).unwrap_or(usize::MAX));
        let rules = of(NoteKind::Line).filter(|note| note.tier == Tier::Hot);
        let notes: Vec<Note> = corrections.into_iter().chain(rules).cloned().collect();
        Ok(self.told(&reading, notes))
    }

    fn project_notes(&self, named: &str) -> Result<NotePage, Error> {
        let known = self.view().read(projects::all)?;
        let site = if named.starts_with('/') { Some(Self::site(Path::new(named))?) } else { None };
        let name = site.as_ref().map_or(named, |site| &site.name);
        let own = self.tree()?.project(name);
        let is_its =
            |known: &&Known| site.as_ref().map_or(known.name == name, |site| known.hash == site.hash);
        let learnings: Vec<PathBuf> =
            known.iter().filter(is_its).map(|known| vault::learnings(&known.root)).collect();
        let reading = self.reading()?.only(|leaf| leaf.path == own || learnings.contains(&leaf.path));
        if reading.sheets.is_empty() && reading.unread.is_empty() {
            return Err(Fault::not_found(
                format!("Nothing is noted of a project {name}"),
                "`memoryctl projects` lists the projects that something was logged in.",
            )
            .into());
        }
        let notes = reading.notes();
        Ok(self.told(&reading, notes))
    }
}

/// Refuses a query that has no word to search for.
fn searchable(query: &str) -> Result<(), Fault> {
    if index::shared(query, query).is_empty() {
        return Err(Fault::invalid("There is no word to search for", "Give words that the notes may have."));
    }
    Ok(())
}
