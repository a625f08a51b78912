//! The notes that take part in a recall: HOT whatever the query, WARM on match, COLD on request (spec M3).

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::Path;

use chrono::{Days, NaiveDate};
use memoryd_proto::{
    Confidence, ImprovementId, Note, NoteKind, Origin, Project, QValue, Recall, Scope, Tier,
};
use rusqlite::Connection;

use super::Contender;
use crate::domain::conflict::Claim;
use crate::domain::decay;
use crate::domain::ranking::Signals;
use crate::domain::text;
use crate::error::Error;
use crate::index::{self, cosine};
use crate::ledger::projects::{self, Known};
use crate::ledger::{note, noted, outcomes, usage};
use crate::notes::{self, Notes};
use crate::service::App;
use crate::service::notes::Site;
use crate::store::listing::Showing;
use crate::store::{Past, Search};
use crate::vault;

/// The notes that take part.
#[derive(Default)]
pub(super) struct Noted {
    /// Those that are loaded whatever the query, in the order of their lines.
    pub(super) hot: Vec<Contender>,
    /// The nearest others.
    pub(super) found: Vec<Contender>,
    /// How many could have been found.
    pub(super) searched: u64,
    /// What could not be read, or is left out for space.
    pub(super) skipped: Vec<String>,
}

/// The files that a recall may take notes from, beside those of everybody.
struct Reach {
    /// The project's own learnings, and its file in the tree.
    project: Option<(String, String)>,
    /// The first day whose shared insights are told.
    shared_from: NaiveDate,
    archive: bool,
}

impl App {
    /// The notes that take part in a recall, in the project `site` if it was named by a folder. None when there is no
    /// memory tree.
    pub(super) fn recall_notes(
        &self,
        call: &Recall,
        site: Option<Site>,
        search: &Search<'_>,
        showing: &Showing,
        filtered: bool,
    ) -> Result<Noted, Error> {
        if !self.view().vault.exists() {
            return Ok(Noted::default());
        }
        let notes = self.fresh_notes()?;
        let site = match site {
            Some(site) => Some(site),
            None => self.known_site(call.project.as_ref())?,
        };
        let reach = self.reach(site.as_ref(), call.archive);
        let (hot, left_out) = self.hot(notes);
        let mut skipped = notes.unread();
        skipped.extend(left_out);
        let wanted = notes::Search {
            text: search.text,
            vector: search.vector,
            blend: search.blend,
            limit: search.limit + hot.len(),
        };
        let (near, searched) =
            notes.search(&wanted, |note| note.tier == Tier::Hot || !filtered && reach.has(note));
        let (near_hot, mut near): (Vec<_>, Vec<_>) =
            near.into_iter().partition(|(note, _)| note.tier == Tier::Hot);
        // The same note in several files is told once: of the most specific file, there of the newest entry.
        near.sort_by(|(a, _), (b, _)| {
            (a.tier, Reverse(a.date), &a.file, a.line).cmp(&(b.tier, Reverse(b.date), &b.file, b.line))
        });
        self.view().read(|connection| {
            let (mut hot_rules, mut found, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
            for note in hot {
                let id = noted::named(&note::identity(connection, &note.id)?);
                if seen.insert(id.clone()) {
                    let signals = near_hot.iter().find(|(near, _)| near.id == note.id);
                    let signals = signals.map_or_else(Signals::default, |(_, signals)| *signals);
                    hot_rules.push(self.contender(id, &note, signals, Scope::Global));
                }
            }
            for (note, signals) in near {
                let id = noted::named(&note::identity(connection, &note.id)?);
                if seen.insert(id.clone()) {
                    let mut contender = self.contender(id, &note, signals, scope(&note, site.as_ref()));
                    contender.words = index::shared(search.text, &notes::searched(&note));
                    self.judge(connection, search, &mut contender, showing)?;
                    found.push(contender);
                }
            }
            Ok::<_, Error>(Noted { hot: hot_rules, found, searched, skipped })
        })
    }

    /// The project that is named by its hash, as far as its folder is known.
    fn known_site(&self, project: Option<&Project>) -> Result<Option<Site>, Error> {
        let Some(Project::Hash(hash)) = project else { return Ok(None) };
        let known = self.view().read(projects::all)?;
        let known = known.into_iter().find(|known| known.hash == *hash);
        Ok(known.map(|Known { hash, name, root, .. }| Site { hash, name, root }))
    }

    fn reach(&self, site: Option<&Site>, archive: bool) -> Reach {
        let vault = &self.view().vault;
        let shown = |path: &Path| path.display().to_string();
        let project =
            site.map(|site| (shown(&vault::learnings(&site.root)), shown(&vault.project(&site.name))));
        let days = Days::new(self.config.tree.shared_days.into());
        let today = self.now().date_naive();
        Reach { project, shared_from: today.checked_sub_days(days).unwrap_or(today), archive }
    }

    /// The notes of `memory.md` that are loaded whatever the query, and what is left out for space.
    fn hot(&self, notes: &Notes) -> (Vec<Note>, Option<String>) {
        let mut hot = notes.of(Tier::Hot);
        let (mut lines, most) = (0, self.config.tree.hot_lines as usize);
        let fits = hot.iter().take_while(|note| {
            lines += note.text.lines().count();
            lines <= most
        });
        let left_out = hot.split_off(fits.count());
        let beyond = left_out.first().map(|first| {
            let count = left_out.len();
            format!(
                "{}:{}: {count} left out from here on, as {most} lines are always loaded",
                first.file, first.line
            )
        });
        (hot, beyond)
    }

    /// A note as it takes part, before anything is known of its use.
    fn contender(&self, id: ImprovementId, note: &Note, signals: Signals, scope: Scope) -> Contender {
        let mut entry = self.entry();
        let said = note.rule.as_deref().unwrap_or(&note.title);
        Contender {
            id,
            source: Origin::Note {
                file: note.file.clone(),
                line: note.line,
                tier: note.tier,
                kind: note.kind,
            },
            scope,
            document: entry.text(&document(note)),
            category: note.section.as_deref().map_or_else(String::new, |section| entry.text(section)),
            confidence: Confidence::clamped(1.0),
            words: Vec::new(),
            digest: text::digest(&said.replace(['*', '`'], "")),
            signals,
            case: None,
            q: (QValue::START.get(), 0.0),
            success_rate: None,
            deprecated: false,
            cross_validated: false,
            claim: Some(Claim::new(said, note.tier, note.date)),
        }
    }

    /// Adds what became of a note in the agent's tasks: its utility, and the task in which it helped that is closest.
    fn judge(
        &self,
        connection: &Connection,
        search: &Search<'_>,
        contender: &mut Contender,
        showing: &Showing,
    ) -> Result<(), Error> {
        let Some(usage) = usage::find(connection, search.agent, &contender.id)? else { return Ok(()) };
        let mut past: Vec<(Past, f64)> = Vec::new();
        let mut best: Option<(f32, i64)> = None;
        let item = Some((search.agent, &contender.id));
        outcomes::each_used(connection, item, self.config.learning().outcomes, |used| {
            let task = search.vector.zip(used.vector.as_deref());
            let near = task.map_or(0.0, |(query, task)| cosine(query, task));
            if used.success && best.is_none_or(|(other, _)| near > other) {
                best = Some((near, used.n));
            }
            let day = decay::day(crate::database::instant(used.at));
            past.push((Past { n: used.n, day, success: used.success }, near.into()));
            Ok(())
        })?;
        let signals = &mut contender.signals;
        if let Some((case, n)) = best {
            let own = search.blend.own(signals.cosine, signals.lexical, Some(case));
            if own > signals.similarity {
                (signals.case, signals.similarity) = (Some(case), own);
                contender.case = Some(outcomes::task(connection, n)?);
            }
        }
        contender.q = self.q(Some(&usage), &past, showing.today);
        contender.success_rate = usage.success_rate();
        Ok(())
    }
}

impl Reach {
    /// Whether a note can be recalled.
    fn has(&self, note: &Note) -> bool {
        match note.tier {
            Tier::Local => self.project.as_ref().is_some_and(|(learnings, _)| note.file == *learnings),
            Tier::Project => self.project.as_ref().is_some_and(|(_, own)| note.file == *own),
            Tier::Domain | Tier::Hot | Tier::Corrections => true,
            Tier::Shared => note.date.is_none_or(|date| date >= self.shared_from),
            Tier::Index => false,
            Tier::Cold => self.archive,
        }
    }
}

/// Where a note applies.
fn scope(note: &Note, site: Option<&Site>) -> Scope {
    match (note.tier, site) {
        (Tier::Local | Tier::Project, Some(site)) => Scope::Project(site.hash.clone()),
        _ => Scope::Global,
    }
}

/// What a note says, without its markup where that is but a frame.
fn document(note: &Note) -> String {
    match (&note.rule, note.kind) {
        (Some(rule), _) => format!("{}\n{rule}", note.title).trim().to_owned(),
        (None, NoteKind::Line) if note.text.lines().count() == 1 => note.title.clone(),
        (None, _) => note.text.clone(),
    }
}
