//! The report of a task: evaluated, learned from, and counted, in one transaction (spec E1, E2, I6, Q3).

use std::collections::{BTreeSet, HashSet};

use memoryd_proto::{
    Evaluation, EvaluationId, Fault, ImprovementId, Insight, InsightOutcome, ItemOutcome, Learned, QValue,
    RecallOutcome, Report, Scope, Serve,
};
use rusqlite::Connection;

use super::App;
use super::remember::Lesson;
use crate::domain::utility::{Ledgered, Verdict};
use crate::domain::{assessment, decay, judgement, profile, scoping, text};
use crate::embed::Embedding;
use crate::error::Error;
use crate::journal::{Change, Draft, Event, Planning};
use crate::ledger::outcomes::{Outcome, Task};
use crate::ledger::recalls::{self, Receipt};
use crate::ledger::{contexts, note, noted, reports, usage};
use crate::store::listing::{self, Order, Showing, Wanted};

/// A report that is checked and free of secrets, with what was computed before the writer is taken.
struct Prepared {
    report: Report,
    project: Option<memoryd_proto::ProjectHash>,
    /// The insights, the agent's own first; whether they were derived; their vectors.
    insights: Vec<(Insight, bool, Option<Embedding>)>,
    task_vector: Option<Vec<f32>>,
    redacted: Vec<String>,
}

impl Serve<Report> for App {
    fn serve(&self, call: Report) -> Result<Learned, Fault> {
        Ok(self.report(call)?)
    }
}

impl App {
    fn report(&self, report: Report) -> Result<Learned, Error> {
        let prepared = self.prepare(report)?;
        let (_, learned) = self.journal.commit("report", |planning| self.learn(planning, &prepared))?;
        Ok(learned)
    }

    fn prepare(&self, mut report: Report) -> Result<Prepared, Error> {
        let mut entry = self.entry();
        entry.id(&report.id)?;
        report.task = entry.document(&report.task)?;
        report.task_type = entry.label("task type", &report.task_type)?;
        for error in &mut report.errors {
            error.kind = entry.text(&error.kind);
            error.message = entry.text(&error.message);
        }
        for insight in &mut report.insights {
            insight.text = entry.document(&insight.text)?;
            insight.category = entry.label("category", &insight.category)?;
        }
        let comment = report.feedback.iter_mut().map(|feedback| &mut feedback.comment);
        for text in comment.chain(&mut report.optimization).chain(&mut report.notes) {
            *text = entry.text(text);
        }
        let own = report.insights.iter().cloned().map(|insight| (insight, false));
        let derived =
            assessment::insights(&report, &self.config.report.rules).into_iter().map(|one| (one, true));
        let mut seen = HashSet::new();
        let insights: Vec<(Insight, bool)> =
            own.chain(derived).filter(|(insight, _)| seen.insert(text::digest(&insight.text))).collect();
        let texts: Vec<&str> = std::iter::once(report.task.as_str())
            .chain(insights.iter().map(|(insight, _)| insight.text.as_str()))
            .collect();
        let mut embeddings = self.view().embed_all(&texts)?.into_iter();
        let task_vector = embeddings.next().map(|one| one.vector);
        let insights =
            insights.into_iter().map(|(insight, derived)| (insight, derived, embeddings.next())).collect();
        let project = super::project(report.project.as_ref())?;
        report.used = self.used(&report.used, report.recall.is_some())?;
        Ok(Prepared { report, project, insights, task_vector, redacted: entry.redacted })
    }

    /// The ids of some items, with the name that a note had before light edits of it. Without a recall, only notes that
    /// are there can be named.
    fn used(&self, ids: &[ImprovementId], recalled: bool) -> Result<Vec<ImprovementId>, Error> {
        if !ids.iter().any(|id| noted::note(id).is_some()) {
            return Ok(ids.to_vec());
        }
        let there = if recalled { None } else { Some(self.fresh_notes()?) };
        let identified = |connection: &Connection, id: &ImprovementId| {
            let Some(named) = noted::note(id) else { return Ok(id.clone()) };
            let identity = note::identity(connection, named)?;
            if let Some(notes) = there
                && !notes.has(&identity)
                && !note::rewordings(connection, &identity)?.iter().any(|name| notes.has(name))
            {
                return Err(Fault::not_found(
                    format!("No file has a note {named}"),
                    "`memoryctl notes search` shows what there is.",
                )
                .into());
            }
            Ok::<_, Error>(noted::named(&identity))
        };
        self.view().read(|connection| ids.iter().map(|id| identified(connection, id)).collect())
    }

    fn learn(&self, planning: &Planning<'_>, prepared: &Prepared) -> Result<(Draft, Learned), Error> {
        let report = &prepared.report;
        let view = planning.view;
        let before = view.read(|connection| reports::find(connection, &report.agent, &report.id))?;
        if let Some(learned) = before {
            return Ok((Draft::default(), Learned { repeated: true, ..learned }));
        }
        let receipt = receipt(planning, report)?;
        let outcome = if report.success { "succeeded" } else { "failed" };
        let mut draft = Draft {
            reason: format!("a {} task {outcome}", report.task_type),
            agent: Some(report.agent.clone()),
            ..Draft::default()
        };
        let evaluation = evaluation(planning, prepared)?;
        draft.changes.push(Change::evaluated(evaluation.clone()));
        let insights = self.insights(planning, &mut draft, prepared, &evaluation);
        let items = self.items(planning, &mut draft, prepared, receipt.as_ref())?;
        let context = receipt.as_ref().zip(report.recall.as_ref()).map(|(receipt, id)| {
            let known = view.read(|connection| contexts::interactions(connection, &receipt.context))?;
            let state = contexts::state(receipt.context.clone(), known + 1, &self.config.learning);
            draft.events.push(Event::Closed {
                recall: id.clone(),
                context: receipt.context.clone(),
                success: report.success,
            });
            Ok::<_, Error>(state)
        });
        let learned = Learned {
            evaluation,
            insights: insights?,
            items,
            context: context.transpose()?,
            operation: planning.operation,
            repeated: false,
            redacted: prepared.redacted.clone(),
        };
        draft.events.push(Event::Reported {
            agent: report.agent.clone(),
            id: report.id.clone(),
            reply: Box::new(learned.clone()),
        });
        Ok((draft, learned))
    }

    /// Plans to keep the insights of a good result. One that cannot be kept does not keep the report from being taken.
    fn insights(
        &self,
        planning: &Planning<'_>,
        draft: &mut Draft,
        prepared: &Prepared,
        evaluation: &Evaluation,
    ) -> Result<Vec<InsightOutcome>, Error> {
        let mut outcomes = Vec::new();
        for (insight, derived, embedding) in &prepared.insights {
            let lesson = self.lesson(prepared, evaluation, insight, embedding.clone());
            let kept = lesson.map_err(Error::from).and_then(|lesson| self.keep(planning, draft, &lesson));
            let (kept, refused) = match kept {
                Ok(kept) => (Some(kept), None),
                Err(Error::Fault(fault)) => (None, Some(fault.message)),
                Err(error) => return Err(error),
            };
            outcomes.push(InsightOutcome { insight: insight.clone(), derived: *derived, kept, refused });
        }
        Ok(outcomes)
    }

    /// An insight as a lesson to keep; a fault if the result was not good enough to learn from.
    fn lesson(
        &self,
        prepared: &Prepared,
        evaluation: &Evaluation,
        insight: &Insight,
        embedding: Option<Embedding>,
    ) -> Result<Lesson, Fault> {
        let (quality, floor) = (evaluation.quality, self.config.report.insights_from);
        if quality.get() < floor {
            return Err(Fault::invalid(
                format!("the quality {quality} is below {floor}"),
                "Insights of better results are kept.",
            ));
        }
        let table = &self.config.scopes.0;
        let scopes = scoping::scopes(&insight.category, None, prepared.project.as_ref(), table)
            .unwrap_or_else(|_| vec![Scope::Global]);
        let mut lesson = Lesson::new(
            evaluation.agent.clone(),
            insight.text.clone(),
            insight.category.clone(),
            insight.confidence,
            scopes,
        );
        lesson.learned_from = Some(format!("task_{}", evaluation.at.to_rfc3339()));
        lesson.embedding = embedding;
        Ok(lesson)
    }

    /// Plans what the report does to each recalled item: only a used one gets the credit or the blame (spec Q3).
    fn items(
        &self,
        planning: &Planning<'_>,
        draft: &mut Draft,
        prepared: &Prepared,
        receipt: Option<&Receipt>,
    ) -> Result<Vec<ItemOutcome>, Error> {
        let report = &prepared.report;
        let used: BTreeSet<&ImprovementId> = report.used.iter().collect();
        let present: Vec<&ImprovementId> = match receipt {
            // A rule that is always loaded is there whether it helps or not: that it is not used says nothing.
            Some(receipt) => {
                let loaded = receipt.loaded.iter().filter(|id| used.contains(id));
                receipt.returned().map(|item| &item.id).chain(loaded).collect()
            }
            None => used.iter().copied().collect(),
        };
        present.into_iter().map(|id| self.item(planning, draft, prepared, id, used.contains(id))).collect()
    }

    fn item(
        &self,
        planning: &Planning<'_>,
        draft: &mut Draft,
        prepared: &Prepared,
        id: &ImprovementId,
        used: bool,
    ) -> Result<ItemOutcome, Error> {
        let report = &prepared.report;
        let showing = Showing::at(planning.now, &self.config);
        let wanted = Wanted::one(&report.agent, id);
        let (copies, known) = planning.view.read(|connection| {
            let copies =
                listing::improvements(connection, &wanted, Order::Export, (0, super::MOST), &showing)?;
            Ok::<_, Error>((copies, usage::find(connection, &report.agent, id)?))
        })?;
        if copies.is_empty() && noted::note(id).is_none() && report.recall.is_none() {
            return Err(Fault::not_found(
                format!("Agent {} has no improvement {id}", report.agent),
                "Name only improvements that it has.",
            )
            .into());
        }
        let verdict = Verdict { used, success: report.success };
        let today = decay::day(planning.now);
        let mut after = known.unwrap_or_else(|| Ledgered::new(today));
        let q_before = after.q_on(today, self.config.learning.decay_factor);
        after.reported(verdict, planning.now, &self.config.learning());
        draft.events.push(Event::Outcome(Outcome {
            agent: report.agent.clone(),
            id: id.clone(),
            at: planning.now,
            verdict,
            idle_days: 0,
            counted: true,
            project: prepared.project.clone(),
            task: used.then(|| Task { text: report.task.clone(), vector: prepared.task_vector.clone() }),
        }));
        let rule = &self.config.deprecation;
        let shown = after.shown(today, self.config.learning.decay_factor);
        let condemned = rule.enabled && used && judgement::fails(&shown, rule.usage, rule.success_rate);
        let mut deprecated = false;
        for (row, known) in copies {
            if condemned && known.deprecation.is_none() {
                deprecated = true;
                let reason = judgement::FAILING.to_owned();
                let mut after = known.clone();
                after.deprecation = Some(memoryd_proto::Deprecation { reason, at: planning.now });
                draft.changes.push(Change::improvement(Some(row), Some(known), Some(after)));
            }
        }
        Ok(ItemOutcome {
            id: id.clone(),
            used,
            q_before: QValue::clamped(q_before),
            q_after: QValue::clamped(after.q),
            usage_count: after.usage_count,
            success_rate: after.success_rate(),
            deprecated,
        })
    }
}

/// The recall that the report answers. It must be open, and hold what was used.
fn receipt(planning: &Planning<'_>, report: &Report) -> Result<Option<Receipt>, Error> {
    let Some(id) = &report.recall else { return Ok(None) };
    let stored = planning.view.read(|connection| recalls::find(connection, id, planning.now))?;
    let stored = stored.ok_or_else(|| super::explain::unknown(id))?;
    let refuse = |message: String, advice: &str| Err(Fault::conflict(message, advice).into());
    if stored.receipt.agent != report.agent {
        return refuse(
            format!("Recall {id} was made by agent {}, not by {}", stored.receipt.agent, report.agent),
            "Report it under that agent.",
        );
    }
    match stored.outcome {
        RecallOutcome::Open => {}
        RecallOutcome::Succeeded | RecallOutcome::Failed => {
            return refuse(
                format!("Recall {id} was reported already"),
                "One recall has one report. To correct it, undo that report first.",
            );
        }
        RecallOutcome::Expired => {
            return refuse(
                format!("Recall {id} is older than 24 hours and can no longer be reported"),
                "Report the task without the recall.",
            );
        }
    }
    if let Some(stranger) = report.used.iter().find(|used| !stored.receipt.offered(used)) {
        return Err(Fault::invalid(
            format!("Recall {id} did not return {stranger}, so it cannot have been used from it"),
            "Name only items that the recall returned.",
        )
        .into());
    }
    Ok(Some(stored.receipt))
}

/// The assessment that the report comes to.
fn evaluation(planning: &Planning<'_>, prepared: &Prepared) -> Result<Evaluation, Error> {
    let report = &prepared.report;
    let (profile, id) = planning.view.read(|connection| {
        let profile = listing::profile(connection, &report.agent)?;
        let mut millis = planning.now.timestamp_millis();
        while listing::has_evaluation(connection, &report.agent, &format!("eval_{millis}"))? {
            millis += 1;
        }
        Ok::<_, Error>((profile, format!("eval_{millis}").parse::<EvaluationId>()?))
    })?;
    let profile = profile.unwrap_or_else(|| super::profiles::empty(report.agent.clone()));
    let (quality, criteria) = profile::quality(&report.quality, report.success, &profile)?;
    Ok(Evaluation {
        id,
        agent: report.agent.clone(),
        project: prepared.project.clone(),
        task: report.task.clone(),
        task_type: report.task_type.clone(),
        success: report.success,
        quality,
        criteria,
        time_taken_ms: report.time_taken_ms,
        tokens_used: report.tokens_used,
        strengths: assessment::strengths(report),
        weaknesses: assessment::weaknesses(report),
        insights: prepared.insights.iter().map(|(insight, ..)| insight.clone()).collect(),
        recall: report.recall.clone(),
        used: report.used.clone(),
        notes: report.notes.clone(),
        at: planning.now,
    })
}
