//! Making a project's learning a rule of its `CLAUDE.md`, or of another file of the project (spec M11).

use std::path::{Component, Path, PathBuf};

use memoryd_proto::{
    AddedLines, Distilled, Fault, Note, NoteKind, Place, PromoteLearning, Serve, Tier, Written,
};

use super::log::line_of;
use super::share::name;
use super::{App, Reading, Site};
use crate::domain::markdown::{self, edit};
use crate::error::Error;
use crate::index;
use crate::journal::{Change, Draft};
use crate::notes::Sheet;
use crate::vault::{self, Leaf, Vault};

/// Where a rule goes when the caller does not say.
const CONVENTIONS: &str = "CLAUDE.md";

/// The fewest digits of an id that name a note.
const PREFIX: usize = 4;

/// How many notes are named when several are meant.
const NAMED: usize = 5;

impl Serve<PromoteLearning> for App {
    fn serve(&self, call: PromoteLearning) -> Result<Distilled, Fault> {
        Ok(self.promote_learning(&call)?)
    }
}

/// A file that is written anew, which only adds lines to it.
pub(super) struct Rewrite {
    /// The file.
    pub path: PathBuf,
    /// The folder that it may not lead out of, where that is neither the tree nor a project's learnings.
    pub within: Option<PathBuf>,
    /// What is in it.
    pub before: Option<String>,
    /// What is to be in it.
    pub after: String,
}

/// What becomes of a note.
pub(super) struct Distilling {
    /// The files that are written; none when all is there already.
    pub rewrites: Vec<Rewrite>,
    /// Where it is then.
    pub place: Place,
    /// Why, in a line.
    pub reason: String,
    /// The kinds of secrets that were redacted.
    pub redacted: Vec<String>,
}

impl Rewrite {
    fn change(&self) -> Change {
        let change = Change::file(&self.path, self.before.as_deref(), Some(&self.after));
        match &self.within {
            Some(folder) => change.within(folder),
            None => change,
        }
    }

    fn added(&self) -> AddedLines {
        let (line, lines) = edit::added(self.before.as_deref().unwrap_or_default(), &self.after);
        AddedLines {
            file: self.path.display().to_string(),
            line: line as u64,
            lines: lines.into_iter().map(str::to_owned).collect(),
        }
    }
}

impl App {
    fn promote_learning(&self, call: &PromoteLearning) -> Result<Distilled, Error> {
        let Some(folder) = &call.project else {
            return Err(Fault::invalid(
                "To promote a learning, say of which project",
                "The rule is written to a file of that project.",
            )
            .into());
        };
        let site = Self::site(folder)?;
        let target = target(&site, call.to.as_deref())?;
        let status = format!("promoted to {}", target.strip_prefix(&site.root).unwrap_or(&target).display());
        self.distil("promote-learning", call.dry_run, |vault| {
            let mut entry = self.entry();
            let (sheet, line) = self.meant(&Self::learnings(vault, &site)?, &call.note)?;
            let entries = sheet.entries();
            let learning = entries.iter().find(|entry| entry.line as u64 == line).ok_or_else(gone)?;
            let own = learning.rule().unwrap_or(&learning.title);
            let said = entry.document(call.rule.as_deref().unwrap_or(own))?;
            let rule = markdown::rule(&said);
            let before = vault.with(&site.root).read(&target)?;
            let there = before.as_deref().and_then(|text| line_of(text, &rule));
            let mut rewrites = Vec::new();
            let line = there.unwrap_or_else(|| {
                let text = before.clone().unwrap_or_default();
                let (after, line) = edit::append(&text, Some(markdown::LEARNED), &rule);
                rewrites.push(Rewrite {
                    path: target.clone(),
                    within: Some(site.root.clone()),
                    before,
                    after,
                });
                line as u64
            });
            rewrites.extend(marked(&sheet, learning, &status));
            let place = Place { file: target.display().to_string(), line: Some(line) };
            Ok(Distilling { rewrites, place, reason: format!("promote {said:?}"), redacted: entry.redacted })
        })
    }

    /// What is known of a project: its learnings, and its file in `projects/`.
    pub(super) fn learnings(vault: &Vault, site: &Site) -> Result<Reading, Error> {
        let leaves =
            [Leaf::learnings(&site.root), Leaf { path: vault.project(&site.name), tier: Tier::Project }];
        let mut reading = Reading::default();
        for leaf in leaves {
            if let Some(text) = vault.read(&leaf.path)? {
                reading.sheets.push(Sheet { leaf, text });
            }
        }
        Ok(reading)
    }

    /// The note that is meant: by its id, by the beginning of its id, or by words that it alone has. What is noted in
    /// several places with the same words is one note; the most specific place is taken.
    pub(super) fn meant(&self, reading: &Reading, named: &str) -> Result<(Sheet, u64), Error> {
        let is_id = named.len() >= PREFIX && named.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mut found: Vec<(&Sheet, Note)> = reading
            .sheets
            .iter()
            .filter(|sheet| sheet.leaf.tier != Tier::Cold)
            .flat_map(|sheet| sheet.notes().into_iter().map(move |note| (sheet, note)))
            .filter(|(_, note)| note.kind != NoteKind::Prose)
            .collect();
        let with_id = |note: &Note| is_id && note.id.starts_with(&named.to_ascii_lowercase());
        if found.iter().any(|(_, note)| with_id(note)) {
            found.retain(|(_, note)| with_id(note));
        } else {
            let wanted = index::shared(named, named).len();
            let has_all = |note: &Note| wanted > 0 && index::shared(named, &note.text).len() == wanted;
            found.retain(|(_, note)| has_all(note));
        }
        found.sort_by_key(|(sheet, note)| (sheet.leaf.tier, sheet.leaf.path.clone(), note.line));
        let Some((sheet, first)) = found.first() else {
            return Err(Fault::not_found(
                format!("No learning is meant by {named:?}"),
                "Name it by its id, or by words that it has; `memoryctl notes search` finds it.",
            )
            .into());
        };
        let mut others: Vec<&Note> = Vec::new();
        for (_, note) in &found {
            if note.id != first.id && others.iter().all(|other| other.id != note.id) {
                others.push(note);
            }
        }
        if !others.is_empty() {
            let mut told: Vec<Note> =
                std::iter::once(first).chain(others.iter().copied()).take(NAMED).cloned().collect();
            self.redact(&mut told);
            let list: Vec<String> = told
                .iter()
                .map(|note| {
                    format!(
                        "{}  {}  ({}:{})",
                        &note.id[..12.min(note.id.len())],
                        note.title,
                        note.file,
                        note.line
                    )
                })
                .collect();
            return Err(Fault::invalid(
                format!("{} learnings are meant by {named:?}", others.len() + 1),
                format!("Name one by its id:\n{}", list.join("\n")),
            )
            .into());
        }
        Ok(((*sheet).clone(), first.line))
    }

    /// Writes what a plan makes of a note, or only says what would be written. Returns it with the place that the plan
    /// names.
    pub(super) fn distil(
        &self,
        actor: &str,
        dry_run: bool,
        plan: impl Fn(&Vault) -> Result<Distilling, Error>,
    ) -> Result<Distilled, Error> {
        let (operation, mut done) = self.journal.commit_files(actor, |planning| {
            let Distilling { rewrites, place, reason, redacted } = plan(&planning.view.vault)?;
            let additions = rewrites.iter().map(Rewrite::added).collect();
            let changes = if dry_run { Vec::new() } else { rewrites.iter().map(Rewrite::change).collect() };
            let written = Written { places: vec![place], redacted, operation: None };
            Ok((Draft { reason, changes, ..Draft::default() }, Distilled { written, additions }))
        })?;
        done.written.operation = operation;
        Ok(done)
    }
}

/// Marks a note with a status, unless it is marked so.
pub(super) fn marked(sheet: &Sheet, note: &markdown::Entry<'_>, status: &str) -> Option<Rewrite> {
    (!note.is_marked(status)).then(|| Rewrite {
        path: sheet.leaf.path.clone(),
        within: None,
        before: Some(sheet.text.clone()),
        after: edit::mark(&sheet.text, &note.span, markdown::STATUS, status),
    })
}

pub(super) fn gone() -> Fault {
    Fault::conflict("The learning is no longer there", "Somebody edited its file meanwhile. Try again.")
}

/// The file that a rule goes to: one in the project, by its path from the project's root.
fn target(site: &Site, to: Option<&Path>) -> Result<PathBuf, Error> {
    let given = to.unwrap_or(Path::new(CONVENTIONS));
    let target = site.root.join(given);
    let refuse = |why: &str, advice: &str| Err(Error::from(Fault::invalid(why, advice)));
    let inner = target.strip_prefix(&site.root).unwrap_or(Path::new(""));
    let is_plain = inner.components().all(|part| matches!(part, Component::Normal(_)));
    if !target.starts_with(&site.root) || !is_plain || inner.as_os_str().is_empty() {
        return refuse(
            &format!("{} is no file of the project in {}", given.display(), site.root.display()),
            "Give its path from the project's root, such as AGENTS.md.",
        );
    }
    let extension = inner.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !["md", "mdc", "markdown"].contains(&extension) || inner.starts_with(".git") {
        return refuse(
            &format!("{} is no markdown file", given.display()),
            "A rule is a line of markdown: name a file that ends in .md.",
        );
    }
    if target == vault::learnings(&site.root) {
        return refuse(
            &format!("The learning is in {} already", name(&target)),
            "Name the file that is to have its rule, such as CLAUDE.md.",
        );
    }
    if !target.parent().is_some_and(Path::is_dir) {
        return refuse(
            &format!("There is no folder for {}", target.display()),
            "Only the file is made, not its folder. Make the folder first.",
        );
    }
    Ok(target)
}
