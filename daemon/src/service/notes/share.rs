//! Sharing insights with other sessions (spec M10).

use std::path::{Path, PathBuf};

use chrono::{NaiveDate, TimeDelta};
use memoryd_proto::{
    ConsumeNote, Fault, NoteKind, NotePage, Place, PromoteNote, Serve, ShareNote, SharedNotes, Tier, Written,
};

use super::log::line_of;
use super::{App, Reading, Sheet};
use crate::database;
use crate::domain::markdown::{self, edit};
use crate::error::Error;
use crate::journal::{Change, Draft};

/// Days that shared insights are listed for when the caller does not say.
const DAYS: u32 = 3;

/// Where it is kept which files were there when shared insights were last listed.
pub(super) const SEEN: &str = "shared_notes_seen";

impl Serve<ShareNote> for App {
    fn serve(&self, call: ShareNote) -> Result<Written, Fault> {
        Ok(self.share_note(&call)?)
    }
}

impl Serve<SharedNotes> for App {
    fn serve(&self, call: SharedNotes) -> Result<NotePage, Fault> {
        Ok(self.shared_notes(call.days)?)
    }
}

impl Serve<ConsumeNote> for App {
    fn serve(&self, call: ConsumeNote) -> Result<Written, Fault> {
        Ok(self.consume_note(&call.name)?)
    }
}

impl Serve<PromoteNote> for App {
    fn serve(&self, call: PromoteNote) -> Result<Written, Fault> {
        Ok(self.promote_note(&call)?)
    }
}

impl App {
    fn share_note(&self, call: &ShareNote) -> Result<Written, Error> {
        let folder = self.tree()?.root().join("shared");
        let mut entry = self.entry();
        let title = entry.document(&call.title)?;
        let (from, relevance) = (entry.document(&call.from)?, entry.document(&call.relevance)?);
        let (insight, rule) = (entry.document(&call.insight)?, entry.document(&call.rule)?);
        let at = self.tender.zone.local(self.now()).naive_local();
        let text = markdown::insight(at, [&title, &from, &relevance, &insight, &rule]);
        let stem = format!("{}-{}", at.date(), markdown::slug(&title));
        let (operation, path) = self.journal.commit_files("share", |planning| {
            let path = free(&folder, &stem, |path| Ok(planning.view.vault.read(path)?.is_some()))?;
            let changes = vec![Change::file(&path, None, Some(&text))];
            Ok((Draft { reason: "a shared insight".to_owned(), changes, ..Draft::default() }, path))
        })?;
        let place = Place { file: path.display().to_string(), line: Some(1) };
        Ok(Written { places: vec![place], redacted: entry.redacted, operation })
    }

    /// What is in `shared/`.
    fn shared_reading(&self) -> Result<Reading, Error> {
        Ok(self.reading()?.only(|leaf| leaf.tier == Tier::Shared))
    }

    fn shared_notes(&self, days: u32) -> Result<NotePage, Error> {
        let days = if days == 0 { DAYS } else { days };
        let since = self.tender.zone.day(self.now()) - TimeDelta::days(days.into());
        let insights = self.shared_reading()?;
        let seen: Vec<String> = insights.sheets.iter().map(|sheet| name(&sheet.leaf.path)).collect();
        let seen = database::to_json("list", &seen)?;
        self.journal.note(|connection| database::set_meta(connection, SEEN, &seen))?;
        let recent = |sheet: &&Sheet| day(&sheet.leaf.path).is_none_or(|day| day >= since);
        let sheets: Vec<&Sheet> = insights.sheets.iter().filter(recent).collect();
        let notes: Vec<_> = sheets.iter().rev().flat_map(|sheet| sheet.notes()).collect();
        Ok(NotePage { files: sheets.len() as u64, ..self.told(&insights, notes) })
    }

    /// The file of a shared insight.
    fn shared_sheet(&self, named: &str) -> Result<Sheet, Error> {
        let is_it = |sheet: &Sheet| {
            let name = name(&sheet.leaf.path);
            name == named || name.strip_suffix(".md") == Some(named)
        };
        self.shared_reading()?.sheets.into_iter().find(is_it).ok_or_else(|| {
            Fault::not_found(
                format!("No shared insight is named {named}"),
                "`memoryctl share list` shows what there is.",
            )
            .into()
        })
    }

    fn consume_note(&self, named: &str) -> Result<Written, Error> {
        let folder = self.tree()?.root().join("archive/shared");
        let (operation, path) = self.journal.commit_files("consume", |planning| {
            let Sheet { leaf, text } = self.shared_sheet(named)?;
            let stem = name(&leaf.path).trim_end_matches(".md").to_owned();
            let path = free(&folder, &stem, |path| Ok(planning.view.vault.read(path)?.is_some()))?;
            let changes =
                vec![Change::file(&path, None, Some(&text)), Change::file(&leaf.path, Some(&text), None)];
            Ok((Draft { reason: format!("{stem} was applied"), changes, ..Draft::default() }, path))
        })?;
        let place = Place { file: path.display().to_string(), line: None };
        Ok(Written { places: vec![place], redacted: Vec::new(), operation })
    }

    fn promote_note(&self, call: &PromoteNote) -> Result<Written, Error> {
        let vault = self.tree()?;
        let (target, header, actor) = match &call.domain {
            None => {
                let memory = vault.root().join("memory.md");
                let header = vault.seed(&memory).to_owned();
                (memory, header, "promote-hot")
            }
            Some(domain) if is_name(domain) => {
                let file = vault.root().join(format!("domains/{domain}.md"));
                (file, format!("# {domain}\n"), "promote-warm")
            }
            Some(domain) => {
                return Err(Fault::invalid(
                    format!("{domain:?} is no name for a domain"),
                    "Use letters, digits, - and _.",
                )
                .into());
            }
        };
        let day = self.tender.zone.day(self.now());
        let mut entry = self.entry();
        let (operation, line) = self.journal.commit_files(actor, |planning| {
            let Sheet { leaf, text } = self.shared_sheet(&call.name)?;
            let blocks = markdown::parse(&text);
            let entries = markdown::entries(&text, &blocks);
            let Some(insight) = entries.iter().find(|entry| entry.kind == NoteKind::Insight) else {
                return Err(Fault::invalid(
                    format!("{} is not written as an insight", leaf.path.display()),
                    "It needs a title, **From** and an **Actionable rule**.",
                )
                .into());
            };
            let rule = entry.text(insight.rule().unwrap_or(&insight.title));
            let rule = markdown::hot_line(day, &entry.text(insight.field("From").unwrap_or("shared")), &rule);
            let mut draft = Draft { reason: format!("promote {}", name(&leaf.path)), ..Draft::default() };
            let before = planning.view.vault.read(&target)?;
            if let Some(line) = before.as_deref().and_then(|text| line_of(text, &rule)) {
                return Ok((draft, line));
            }
            let (after, line) =
                edit::append(before.as_deref().unwrap_or(&header), Some(markdown::RULES), &rule);
            let status = format!("promoted to {}", name(&target));
            let marked = edit::mark(&text, &insight.span, markdown::STATUS, &status);
            draft.changes.push(Change::file(&target, before.as_deref(), Some(&after)));
            draft.changes.push(Change::file(&leaf.path, Some(&text), Some(&marked)));
            Ok((draft, line as u64))
        })?;
        let place = Place { file: target.display().to_string(), line: Some(line) };
        Ok(Written { places: vec![place], redacted: entry.redacted, operation })
    }
}

/// The first of `STEM.md`, `STEM-2.md`, … that is not taken.
fn free(folder: &Path, stem: &str, taken: impl Fn(&Path) -> Result<bool, Error>) -> Result<PathBuf, Error> {
    let mut path = folder.join(format!("{stem}.md"));
    let mut n = 1;
    while taken(&path)? {
        n += 1;
        path = folder.join(format!("{stem}-{n}.md"));
    }
    Ok(path)
}

/// The day that a file's name begins with.
fn day(path: &Path) -> Option<NaiveDate> {
    name(path).get(..10)?.parse().ok()
}

pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}
