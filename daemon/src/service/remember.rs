//! Keeping learned patterns (spec I4, I5, I9, M14).

use std::collections::{BTreeMap, HashSet};

use chrono::{DateTime, Utc};
use memoryd_proto::{
    AgentName, Confidence, Fault, Improvement, ImprovementId, Keeping, Kept, Remember, Remembered, Scope,
    Serve, Source, Usage,
};

use super::App;
use crate::domain::intake::{self, Intake};
use crate::domain::ranking::Blend;
use crate::domain::{consolidation, corroboration, profile, scoping, text};
use crate::embed::Embedding;
use crate::error::Error;
use crate::journal::{Change, Draft, Planning};
use crate::store::Search;
use crate::store::listing::{self, Showing};

/// A pattern that is to be kept, checked and free of secrets.
#[derive(Clone, Debug)]
pub(super) struct Lesson {
    pub(super) agent: AgentName,
    pub(super) document: String,
    pub(super) category: String,
    pub(super) confidence: Confidence,
    pub(super) scopes: Vec<Scope>,
    pub(super) learned_from: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) context_tags: Vec<String>,
    pub(super) attributes: BTreeMap<String, String>,
    pub(super) id: Option<ImprovementId>,
    pub(super) created_at: Option<DateTime<Utc>>,
    /// Where it comes from, if it is a principle.
    pub(super) principle: Option<ImprovementId>,
    pub(super) embedding: Option<Embedding>,
}

impl Lesson {
    /// A lesson with nothing but the essentials.
    pub(super) fn new(
        agent: AgentName,
        document: String,
        category: String,
        confidence: Confidence,
        scopes: Vec<Scope>,
    ) -> Self {
        Self {
            agent,
            document,
            category,
            confidence,
            scopes,
            learned_from: None,
            tags: Vec::new(),
            context_tags: Vec::new(),
            attributes: BTreeMap::new(),
            id: None,
            created_at: None,
            principle: None,
            embedding: None,
        }
    }
}

impl Serve<Remember> for App {
    fn serve(&self, call: Remember) -> Result<Remembered, Fault> {
        Ok(self.remember("remember", call)?)
    }
}

impl App {
    /// Keeps a learned pattern on behalf of `actor`.
    pub(super) fn remember(&self, actor: &str, call: Remember) -> Result<Remembered, Error> {
        let mut entry = self.entry();
        let project = super::project(call.project.as_ref())?;
        let category = entry.label("category", &call.category)?;
        call.id.iter().try_for_each(|id| entry.id(id))?;
        let mut lesson = Lesson {
            scopes: scoping::scopes(&category, call.scope, project.as_ref(), &self.config.scopes.0)?,
            agent: call.agent,
            document: entry.document(&call.document)?,
            category,
            confidence: call.confidence,
            learned_from: call.learned_from.map(|from| entry.text(&from)),
            tags: entry.labels("tag", &call.tags)?,
            context_tags: entry.labels("context tag", &call.context_tags)?,
            attributes: entry.attributes(&call.attributes),
            id: call.id,
            created_at: call.created_at,
            principle: None,
            embedding: None,
        };
        lesson.embedding = self.view().embed_all(&[&lesson.document])?.pop();
        self.keep_alone(actor, &lesson, entry.redacted)
    }

    /// Keeps one lesson, as an operation of its own.
    pub(super) fn keep_alone(
        &self,
        actor: &str,
        lesson: &Lesson,
        redacted: Vec<String>,
    ) -> Result<Remembered, Error> {
        let reason = format!("a lesson on {}", lesson.category);
        let agent = Some(lesson.agent.clone());
        let (operation, mut remembered) = self.journal.commit(actor, |planning| {
            let mut draft = Draft { reason, agent, ..Draft::default() };
            let remembered = self.keep(planning, &mut draft, lesson)?;
            Ok((draft, remembered))
        })?;
        remembered.operation = operation;
        remembered.redacted = redacted;
        Ok(remembered)
    }

    /// Plans to keep a lesson in each of its scopes: stored, or counted for the improvement that says the same.
    pub(super) fn keep(
        &self,
        planning: &Planning<'_>,
        draft: &mut Draft,
        lesson: &Lesson,
    ) -> Result<Remembered, Error> {
        let intake = intake::admit(lesson.confidence, self.config.thresholds())?;
        let showing = Showing::at(planning.now, &self.config);
        let known = planning.view.read(|connection| listing::profile(connection, &lesson.agent))?;
        let known = known.map(|profile| profile::lacks(&profile, &lesson.category));
        let (vector, truncated) =
            lesson.embedding.as_ref().map_or((None, false), |one| (Some(one.vector.clone()), one.truncated));
        if let Some(vector) = &vector {
            draft.vectors.insert(lesson.document.clone(), vector.clone());
        }
        let same: Vec<Option<(i64, Improvement)>> = lesson
            .scopes
            .iter()
            .map(|scope| self.same(planning, lesson, scope, vector.as_deref(), &showing))
            .collect::<Result<_, _>>()?;
        let id = match same.iter().flatten().next() {
            Some((_, known)) => known.id.clone(),
            None => self.new_id(planning, draft, lesson)?,
        };
        let mut kept = Vec::new();
        for (scope, same) in lesson.scopes.iter().zip(same) {
            kept.push(match same {
                Some((row, known)) => self.corroborate(draft, row, known, lesson),
                None => store(planning.now, draft, lesson, scope, id.clone(), intake),
            });
        }
        Ok(Remembered {
            kept,
            operation: None,
            redacted: Vec::new(),
            truncated,
            unknown_category: known.unwrap_or(false),
        })
    }

    /// The improvement of a scope that says the same, if there is one (spec I5).
    fn same(
        &self,
        planning: &Planning<'_>,
        lesson: &Lesson,
        scope: &Scope,
        vector: Option<&[f32]>,
        showing: &Showing,
    ) -> Result<Option<(i64, Improvement)>, Error> {
        let view = planning.view;
        let digest = text::digest(&lesson.document);
        let row = view.read(|connection| listing::with_digest(connection, &lesson.agent, scope, &digest))?;
        let nearest = || {
            let search = Search {
                agent: &lesson.agent,
                scopes: std::slice::from_ref(scope),
                text: "",
                vector,
                blend: Blend::COSINE,
                limit: 3,
            };
            let close = |similarity: f32| f64::from(similarity) >= self.config.intake.same_from;
            let found = view.memory.search(&search, |_, _| true).candidates;
            found
                .into_iter()
                .filter(|one| close(one.signals.similarity))
                .map(|one| one.row)
                .collect::<Vec<_>>()
        };
        let exact = row.is_some();
        for row in row.map_or_else(nearest, |row| vec![row]) {
            let found = view.read(|connection| listing::at_row(connection, row, showing))?;
            let Some((known, _)) = found else { continue };
            let close = text::may_mean_the_same(&known.document, &lesson.document);
            if exact || close && consolidation::agree(&known.attributes, &lesson.attributes) {
                return Ok(Some((row, known)));
            }
        }
        Ok(None)
    }

    fn corroborate(&self, draft: &mut Draft, row: i64, known: Improvement, lesson: &Lesson) -> Kept {
        let cap = self.config.intake.corroborated_cap;
        let from = lesson.learned_from.as_deref();
        let after = corroboration::corroborate(&known, from, lesson.confidence, cap);
        let waited = known.confidence.get() < self.config.intake.store_from;
        let (how, confidence) = match &after {
            None => (Keeping::Known, known.confidence),
            Some(after) if waited && after.confidence.get() >= self.config.intake.store_from => {
                (Keeping::Confirmed, after.confidence)
            }
            Some(after) => (Keeping::Corroborated, after.confidence),
        };
        let kept = Kept { id: known.id.clone(), scope: known.scope.clone(), how, confidence };
        if let Some(after) = after {
            draft.changes.push(Change::improvement(Some(row), Some(known), Some(after)));
        }
        kept
    }

    /// The caller's id, or a new one in the seed's form that the agent does not use yet.
    fn new_id(
        &self,
        planning: &Planning<'_>,
        draft: &Draft,
        lesson: &Lesson,
    ) -> Result<ImprovementId, Error> {
        let planned: HashSet<&str> = draft
            .changes
            .iter()
            .filter_map(|change| {
                let Change::Improvement { edit, .. } = change else { return None };
                edit.after.as_ref().map(|after| after.id.as_str())
            })
            .collect();
        let taken = |id: &ImprovementId| -> Result<bool, Error> {
            let wanted = listing::Wanted::one(&lesson.agent, id);
            let showing = Showing::at(planning.now, &self.config);
            let count = planning.view.read(|connection| listing::count(connection, &wanted, &showing))?;
            Ok(count > 0 || planned.contains(id.as_str()))
        };
        if let Some(id) = &lesson.id {
            if taken(id)? {
                return Err(Fault::conflict(
                    format!(
                        "Agent {} already has an improvement {id} that says something else",
                        lesson.agent
                    ),
                    "Leave the id out, or edit that improvement.",
                )
                .into());
            }
            return Ok(id.clone());
        }
        let mut millis = planning.now.timestamp_millis();
        loop {
            let id = match &lesson.principle {
                Some(original) => consolidation::transferred(original, millis),
                None => format!("improvement_{}_{millis}", lesson.agent),
            };
            let id = id.parse()?;
            if !taken(&id)? {
                return Ok(id);
            }
            millis += 1;
        }
    }
}

/// Plans to store a lesson in a scope.
fn store(
    now: DateTime<Utc>,
    draft: &mut Draft,
    lesson: &Lesson,
    scope: &Scope,
    id: ImprovementId,
    intake: Intake,
) -> Kept {
    let own = Improvement {
        id: id.clone(),
        agent: lesson.agent.clone(),
        scope: scope.clone(),
        category: lesson.category.clone(),
        document: lesson.document.clone(),
        learned_from: lesson.learned_from.clone(),
        confidence: lesson.confidence,
        created_at: chrono::SubsecRound::trunc_subsecs(lesson.created_at.unwrap_or(now), 6),
        tags: lesson.tags.clone(),
        context_tags: lesson.context_tags.clone(),
        source: Source::Own,
        original_id: None,
        corroborations: 0,
        evidence: vec![corroboration::source(lesson.learned_from.as_deref())],
        cross_validation: None,
        consolidation_eligible: true,
        deprecation: None,
        promotion: None,
        attributes: lesson.attributes.clone(),
        usage: Usage::default(),
    };
    let improvement = match &lesson.principle {
        Some(original) => consolidation::principle(own, original.clone(), Vec::new(), now),
        None => own,
    };
    draft.changes.push(Change::improvement(None, None, Some(improvement)));
    let how = match intake {
        Intake::Store => Keeping::Stored,
        Intake::Candidate => Keeping::Candidate,
    };
    Kept { id, scope: scope.clone(), how, confidence: lesson.confidence }
}
