//! Everything in and out, record by record (spec D4).

mod chroma;

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use memoryd_proto::{
    Deprecation, Export, ExportPage, Fault, Import, Imported, Improvement, Record, Refused, Serve, Snapshot,
    Usage,
};

use super::entry::Entry;
use super::{App, MOST};
use crate::domain::utility::{Ledgered, Verdict};
use crate::domain::{decay, profile, text};
use crate::error::Error;
use crate::journal::{Change, Draft, Edit, Event, Planning};
use crate::ledger::outcomes::{self, Outcome, Task};
use crate::ledger::{contexts, usage};
use crate::store::listing;
use crate::store::{export, performance, reviews, rows};

impl Serve<Export> for App {
    fn serve(&self, call: Export) -> Result<ExportPage, Fault> {
        let showing = self.showing();
        Ok(self.view().read(|connection| {
            export::page(connection, call.agent.as_ref(), call.after.as_deref(), &showing)
        })?)
    }
}

impl Serve<Import> for App {
    fn serve(&self, call: Import) -> Result<Imported, Fault> {
        Ok(self.import(call)?)
    }
}

impl App {
    fn import(&self, call: Import) -> Result<Imported, Error> {
        self.import_as("import", "an import", call)
    }

    /// Takes in records, in the name of `actor` and for a reason.
    pub(super) fn import_as(&self, actor: &str, reason: &str, call: Import) -> Result<Imported, Error> {
        if call.records.len() as u64 > MOST {
            return Err(Fault::invalid(
                format!("{} records are too many for one import", call.records.len()),
                format!("Send at most {MOST} at once."),
            )
            .into());
        }
        let mut imported = Imported::default();
        let (mut entry, mut records) = (self.entry(), Vec::new());
        for (index, record) in (0..).zip(call.records) {
            match clean(record, &mut entry) {
                Ok(record) => records.push((index, record)),
                Err(fault) => imported.refused.push(Refused { index, reason: fault.message }),
            }
        }
        let vectors = if call.dry_run { HashMap::new() } else { self.vectors(&records)? };
        let plan = |planning: &Planning<'_>| {
            let mut draft = Draft { reason: reason.to_owned(), vectors, ..Draft::default() };
            let mut planned = Planned::default();
            for (index, record) in &records {
                match take(planning, &mut draft, &mut planned, record) {
                    Ok(true) => imported.added += 1,
                    Ok(false) => imported.known += 1,
                    Err(Error::Fault(fault)) => {
                        imported.refused.push(Refused { index: *index, reason: fault.message });
                    }
                    Err(error) => return Err(error),
                }
            }
            Ok((if call.dry_run { Draft::default() } else { draft }, ()))
        };
        let (operation, ()) = self.journal.commit(actor, plan)?;
        imported.redacted = entry.redacted;
        imported.operation = operation;
        Ok(imported)
    }

    /// The vectors of the texts that are to be stored. What is stored already is not embedded again.
    fn vectors(&self, records: &[(u64, Record)]) -> Result<HashMap<String, Vec<f32>>, Error> {
        let texts = self.view().read(|connection| {
            let mut texts = Vec::new();
            for (_, record) in records {
                match record {
                    Record::Improvement(one) => {
                        let row = rows::find(connection, &one.agent, &one.scope, &one.id)?;
                        texts.extend(row.is_none().then_some(one.document.as_str()));
                    }
                    Record::Outcome(one) => {
                        let known = outcomes::known(connection, one)?;
                        texts.extend((!known).then_some(one.task.as_str()));
                    }
                    Record::Evaluation(_)
                    | Record::Profile(_)
                    | Record::Snapshot(_)
                    | Record::Review(_)
                    | Record::Context(_) => {}
                }
            }
            Ok::<_, Error>(texts)
        })?;
        let vectors = self.view().embed_all(&texts)?.into_iter().map(|one| one.vector);
        Ok(texts.into_iter().map(str::to_owned).zip(vectors).collect())
    }
}

/// The record, checked and free of secrets.
pub(super) fn clean(record: Record, entry: &mut Entry<'_>) -> Result<Record, Fault> {
    match &record {
        Record::Improvement(one) => {
            entry.id(&one.id)?;
            one.original_id.iter().try_for_each(|id| entry.id(id))?;
        }
        Record::Evaluation(one) => entry.id(&one.id)?,
        Record::Outcome(one) => entry.id(&one.improvement)?,
        Record::Profile(_) | Record::Snapshot(_) | Record::Review(_) | Record::Context(_) => {}
    }
    Ok(match record {
        Record::Improvement(one) => Record::Improvement(cleaned(one, entry)?),
        Record::Evaluation(mut one) => {
            one.task = entry.document(&one.task)?;
            one.task_type = entry.label("task type", &one.task_type)?;
            for insight in &mut one.insights {
                insight.text = entry.document(&insight.text)?;
                insight.category = entry.label("category", &insight.category)?;
            }
            for score in &mut one.criteria {
                score.criterion = entry.label("criterion", &score.criterion)?;
            }
            for text in one.strengths.iter_mut().chain(&mut one.weaknesses).chain(&mut one.notes) {
                *text = entry.text(text);
            }
            one.at = micros(one.at);
            Record::Evaluation(one)
        }
        Record::Profile(mut one) => {
            for criterion in &mut one.criteria {
                criterion.name = entry.label("criterion", &criterion.name)?;
            }
            for category in &mut one.categories {
                category.name = entry.label("category", &category.name)?;
                category.description = entry.text(&category.description);
            }
            profile::check(&one)?;
            Record::Profile(one)
        }
        Record::Outcome(mut one) => {
            one.task = entry.document(&one.task)?;
            one.at = micros(one.at);
            Record::Outcome(one)
        }
        Record::Snapshot(one) => Record::Snapshot(Snapshot { at: micros(one.at), ..one }),
        Record::Review(mut one) => {
            for lesson in one.best.iter_mut().chain(&mut one.worst) {
                lesson.improvement = cleaned(lesson.improvement.clone(), entry)?;
                for task in &mut lesson.tasks {
                    task.task = entry.document(&task.task)?;
                }
            }
            for criterion in &mut one.criteria {
                criterion.rule = entry.text(&criterion.rule);
                criterion.figure = entry.text(&criterion.figure);
            }
            Record::Review(one)
        }
        Record::Context(one) => Record::Context(one),
    })
}

fn cleaned(one: Improvement, entry: &mut Entry<'_>) -> Result<Improvement, Fault> {
    Ok(Improvement {
        document: entry.document(&one.document)?,
        category: entry.label("category", &one.category)?,
        learned_from: one.learned_from.map(|from| entry.text(&from)),
        tags: entry.labels("tag", &one.tags)?,
        context_tags: entry.labels("context tag", &one.context_tags)?,
        evidence: one.evidence.iter().map(|source| entry.text(source)).collect(),
        attributes: entry.attributes(&one.attributes),
        deprecation: one.deprecation.map(|known| Deprecation { reason: entry.text(&known.reason), ..known }),
        created_at: micros(one.created_at),
        ..one
    })
}

/// Plans to take a record; whether it is new here.
fn take(
    planning: &Planning<'_>,
    draft: &mut Draft,
    planned: &mut Planned,
    record: &Record,
) -> Result<bool, Error> {
    if !planned.items.insert(key(record)) {
        return Ok(false);
    }
    let view = planning.view;
    let new = match record {
        Record::Improvement(one) => take_improvement(planning, draft, planned, one)?,
        Record::Evaluation(one) => {
            let known =
                view.read(|connection| listing::has_evaluation(connection, &one.agent, one.id.as_str()))?;
            if !known {
                draft.changes.push(Change::evaluated(one.clone()));
            }
            !known
        }
        Record::Profile(one) => {
            let known = view.read(|connection| listing::profile(connection, &one.agent))?;
            if known.is_none() {
                draft.changes.push(Change::Profile(Edit { before: None, after: Some(one.clone()) }));
            }
            known.is_none()
        }
        Record::Snapshot(one) => {
            let known = view.read(|connection| performance::find(connection, &one.agent, one.day))?;
            if known.is_none() {
                draft.changes.push(Change::Snapshot(Edit { before: None, after: Some(one.clone()) }));
            }
            known.is_none()
        }
        Record::Review(one) => {
            let known = view.read(|connection| reviews::find(connection, one.week))?;
            if known.is_none() {
                draft.changes.push(Change::Review(Edit { before: None, after: Some(one.clone()) }));
            }
            known.is_none()
        }
        Record::Outcome(one) => {
            let known = view.read(|connection| outcomes::known(connection, one))?;
            if !known {
                let vector = draft.vectors.get(&one.task).cloned();
                draft.events.push(Event::Outcome(Outcome {
                    agent: one.agent.clone(),
                    id: one.improvement.clone(),
                    at: one.at,
                    verdict: Verdict { used: true, success: one.success },
                    idle_days: 0,
                    counted: false,
                    project: None,
                    task: Some(Task { text: one.task.clone(), vector }),
                }));
            }
            !known
        }
        Record::Context(one) => {
            let known = view.read(|connection| contexts::interactions(connection, &one.context))?;
            let new = known < one.interactions;
            if new {
                let edit = Edit { before: Some(known), after: Some(one.interactions) };
                draft.changes.push(Change::Context { name: one.context.clone(), edit });
            }
            new
        }
    };
    Ok(new)
}

/// Plans to take an improvement, with its usage; whether it is new here.
fn take_improvement(
    planning: &Planning<'_>,
    draft: &mut Draft,
    planned: &mut Planned,
    one: &Improvement,
) -> Result<bool, Error> {
    let digest = text::digest(&one.document);
    let place = (one.agent.key(), rows::project(&one.scope).to_owned(), digest);
    let (row, copy, known) = planning.view.read(|connection| {
        Ok::<_, Error>((
            rows::find(connection, &one.agent, &one.scope, &one.id)?,
            listing::with_digest(connection, &one.agent, &one.scope, &digest)?,
            usage::find(connection, &one.agent, &one.id)?,
        ))
    })?;
    if row.is_some() || copy.is_some() || !planned.texts.insert(place) {
        return Ok(false);
    }
    draft.changes.push(Change::improvement(None, None, Some(one.clone())));
    let usage_key = format!("usage:{}:{}", one.agent.key(), one.id);
    if known.is_none() && one.usage != Usage::default() && planned.items.insert(usage_key) {
        draft.changes.push(Change::Usage {
            agent: one.agent.clone(),
            id: one.id.clone(),
            edit: Edit { before: None, after: Some(Ledgered::adopted(&one.usage, decay::day(planning.now))) },
        });
    }
    Ok(true)
}

/// What an import has planned so far.
#[derive(Default)]
struct Planned {
    items: HashSet<String>,
    texts: HashSet<(String, String, [u8; 16])>,
}

/// Names the item that a record stands for.
fn key(record: &Record) -> String {
    match record {
        Record::Improvement(one) => {
            format!("improvement:{}:{}:{}", one.agent.key(), rows::project(&one.scope), one.id)
        }
        Record::Evaluation(one) => format!("evaluation:{}:{}", one.agent.key(), one.id),
        Record::Profile(one) => format!("profile:{}", one.agent.key()),
        Record::Snapshot(one) => format!("snapshot:{}:{}", one.agent.key(), one.day),
        Record::Review(one) => format!("review:{}", one.week),
        Record::Outcome(one) => {
            format!(
                "outcome:{}:{}:{}:{}",
                one.agent.key(),
                one.improvement,
                one.at.timestamp_micros(),
                one.task
            )
        }
        Record::Context(one) => format!("context:{}", one.context),
    }
}

fn micros(at: DateTime<Utc>) -> DateTime<Utc> {
    chrono::SubsecRound::trunc_subsecs(at, 6)
}
