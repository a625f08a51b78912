//! What the memory tree has of the week: insights that sessions shared, and learnings that are worth being a skill.

use std::cmp::Reverse;

use memoryd_proto::{NoteKind, Place, SharedInsight, SkillCandidate, SkillIdea, Tier};

use super::Asked;
use crate::domain::secrets::Redactor;
use crate::domain::skills;
use crate::error::Error;
use crate::ledger::noted;
use crate::notes::Sheet;
use crate::view::View;

/// Shared insights that are shown.
const SHARED: usize = 10;

/// Skills that are shown.
const SKILLS: usize = 5;

/// What the tree has of a week.
#[derive(Default)]
pub struct Noted {
    pub shared: Vec<SharedInsight>,
    pub skills: Vec<SkillIdea>,
}

/// What the tree has of a week; nothing while there is no tree. A file that cannot be read is left out.
pub fn of(asked: &Asked<'_>, view: &View, redactor: &Redactor) -> Result<Noted, Error> {
    if !view.vault.exists() {
        return Ok(Noted::default());
    }
    let sheets = view.reading()?.sheets;
    let clean = |text: &str| redactor.redact(text).text.into_owned();

    let (first, last) = (asked.week.monday(), asked.week.day(6));
    let mut shared: Vec<SharedInsight> = Vec::new();
    for sheet in sheets.iter().filter(|sheet| sheet.leaf.tier == Tier::Shared) {
        for insight in sheet.entries().iter().filter(|entry| entry.kind == NoteKind::Insight) {
            let Some(day) = insight.date().filter(|day| (first..=last).contains(day)) else { continue };
            let name = sheet.leaf.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            shared.push(SharedInsight {
                title: clean(&insight.title),
                rule: insight.rule().map(clean),
                name,
                day,
            });
        }
    }
    shared.sort_by(|one, other| (Reverse(one.day), &one.name).cmp(&(Reverse(other.day), &other.name)));
    shared.truncate(SHARED);

    let notes: Vec<_> = sheets.iter().flat_map(Sheet::notes).collect();
    let idea = |SkillCandidate { note, met, .. }| SkillIdea {
        title: clean(&note.title),
        rule: note.rule.as_deref().map(clean),
        place: Place { file: note.file, line: Some(note.line) },
        note: note.id,
        met,
    };
    let candidates = skills::candidates(&notes, &view.read(noted::tallies)?, &asked.config.skills);
    Ok(Noted { shared, skills: candidates.into_iter().take(SKILLS).map(idea).collect() })
}
