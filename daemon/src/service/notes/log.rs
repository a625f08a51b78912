//! Writing entries to the memory tree (spec M1, M2, M14).

use std::path::{Path, PathBuf};

use memoryd_proto::{Fault, LearningKind, LogNote, NewNote, Place, Serve, Written};

use super::{App, Site};
use crate::domain::markdown::{self, edit};
use crate::error::Error;
use crate::journal::{Change, Draft};
use crate::ledger::projects;
use crate::service::Entry;
use crate::vault;

/// An entry, and where it goes.
struct Addition {
    file: PathBuf,
    /// What is in the file at first.
    header: String,
    section: Option<&'static str>,
    text: String,
    reason: &'static str,
}

impl Serve<LogNote> for App {
    fn serve(&self, call: LogNote) -> Result<Written, Fault> {
        let known = |text: &str, entry: &str| match &call.entry {
            NewNote::Preference { .. } => line_of(text, entry),
            NewNote::Correction { .. } | NewNote::Learning { .. } | NewNote::Reflection { .. } => None,
        };
        Ok(self.write_note("log", &call.entry, call.project.as_deref(), known)?)
    }
}

impl App {
    /// Writes what was captured. An agent may come upon the same thing many times: what the file says already is written
    /// again on another day at the earliest, and a preference never.
    pub(in crate::service) fn note_captured(
        &self,
        actor: &str,
        note: &NewNote,
        project: Option<&Path>,
    ) -> Result<Written, Error> {
        let today = Some(self.tender.zone.day(self.now()));
        self.write_note(actor, note, project, |text, entry| match note {
            NewNote::Preference { .. } => line_of(text, entry),
            NewNote::Correction { .. } | NewNote::Learning { .. } | NewNote::Reflection { .. } => {
                said_in(text, entry, |entry| entry.date() == today)
            }
        })
    }

    /// Writes an entry, unless `known` finds in the file's text where it is already.
    fn write_note(
        &self,
        actor: &str,
        note: &NewNote,
        project: Option<&Path>,
        known: impl Fn(&str, &str) -> Option<u64>,
    ) -> Result<Written, Error> {
        let mut entry = self.entry();
        let site = project.map(Self::site).transpose()?;
        let addition = self.addition(note, site.as_ref(), &mut entry)?;
        let (operation, place) = self.journal.commit_files(actor, |planning| {
            let before = planning.view.vault.read(&addition.file)?;
            let mut draft = Draft { reason: addition.reason.to_owned(), ..Draft::default() };
            let file = addition.file.display().to_string();
            if let Some(line) = before.as_deref().and_then(|text| known(text, &addition.text)) {
                return Ok((draft, Place { file, line: Some(line) }));
            }
            let base = before.as_deref().unwrap_or(&addition.header);
            let (after, line) = edit::append(base, addition.section, &addition.text);
            draft.changes.push(Change::file(&addition.file, before.as_deref(), Some(&after)));
            Ok((draft, Place { file, line: Some(line as u64) }))
        })?;
        if let Some(site) = &site {
            self.register(site)?;
        }
        Ok(Written { places: vec![place], redacted: entry.redacted, operation })
    }

    /// Keeps a project, from its first entry on.
    pub(super) fn register(&self, site: &Site) -> Result<(), Error> {
        let now = self.now();
        self.journal
            .note(|connection| projects::put(connection, &site.hash, (&site.name, &site.root), now))?;
        self.following.moved.ring();
        Ok(())
    }

    fn addition(
        &self,
        note: &NewNote,
        site: Option<&Site>,
        entry: &mut Entry<'_>,
    ) -> Result<Addition, Error> {
        let day = self.tender.zone.day(self.now());
        let name = site.map_or("general", |site| site.name.as_str());
        let of_tree = |inner: &str, section, text, reason| {
            let vault = self.tree()?;
            let file = vault.root().join(inner);
            let header = vault.seed(&file).to_owned();
            Ok::<_, Error>(Addition { file, header, section, text, reason })
        };
        let of_project = |site: &Site, text, reason| Addition {
            file: vault::learnings(&site.root),
            header: vault::learnings_header(&site.name),
            section: None,
            text,
            reason,
        };
        match note {
            NewNote::Correction { summary, context, correction, rule } => {
                let texts = texts(entry, [summary, context, correction, rule])?;
                let text = markdown::correction(day, name, texts.each_ref().map(String::as_str));
                of_tree("corrections.md", None, text, "a correction")
            }
            NewNote::Learning { kind, summary, context, situation, rule } => {
                let (kind, reason) = match kind {
                    LearningKind::Error => ("error", "an error"),
                    LearningKind::Pattern => ("pattern", "a pattern"),
                    LearningKind::Gap => ("gap", "a gap"),
                };
                let Some(site) = site else {
                    return Err(Fault::invalid(
                        format!("To log {reason}, say in which project"),
                        "Its learnings are kept with the project.",
                    )
                    .into());
                };
                let texts = texts(entry, [summary, context, situation, rule])?;
                let text = markdown::learning(day, kind, texts.each_ref().map(String::as_str));
                Ok(of_project(site, text, reason))
            }
            NewNote::Preference { rule } => {
                let text = markdown::hot_line(day, name, &entry.document(rule)?);
                of_tree("memory.md", Some(markdown::PREFERENCES), text, "a preference")
            }
            NewNote::Reflection { context, reflection, lesson } => {
                let texts = texts(entry, [context, reflection, lesson])?;
                let text = markdown::reflection(texts.each_ref().map(String::as_str));
                if let Some(site) = site {
                    return Ok(of_project(site, text, "a reflection"));
                }
                let addition = of_tree("domains/reflections.md", None, text, "a reflection")?;
                Ok(Addition { header: "# Reflections\n\n---\n".to_owned(), ..addition })
            }
        }
    }
}

/// The texts of an entry, none of which may be missing.
fn texts<const N: usize>(entry: &mut Entry<'_>, texts: [&String; N]) -> Result<[String; N], Fault> {
    let mut taken = std::array::from_fn(|_| String::new());
    for (taken, text) in taken.iter_mut().zip(texts) {
        *taken = entry.document(text)?;
    }
    Ok(taken)
}

/// Where a text says already what an entry says.
pub(super) fn line_of(text: &str, entry: &str) -> Option<u64> {
    said_in(text, entry, |_| true)
}

/// Where one of the entries of a text that count says what an entry says.
fn said_in(text: &str, entry: &str, counts: impl Fn(&markdown::Entry<'_>) -> bool) -> Option<u64> {
    let id = |text: &str| markdown::entries(text, &markdown::parse(text)).first().map(markdown::Entry::id);
    let said = id(entry)?;
    let entries = markdown::entries(text, &markdown::parse(text));
    entries.iter().find(|entry| entry.id() == said && counts(entry)).map(|entry| entry.line as u64)
}
