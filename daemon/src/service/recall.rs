//! Recall: learned patterns worth knowing before a task, of the agent's improvements and of the memory tree, in one
//! ranking (spec I10, M3, Q1, Q2).

mod contender;
mod notes;

use std::collections::HashSet;

use memoryd_proto::{Estimator, Fault, Origin, QValue, Recall, Recalled, Scope, Serve};

use self::contender::{Contender, decide};
use super::{App, page};
use crate::domain::intake;
use crate::domain::ranking::{Rules, barred};
use crate::domain::text;
use crate::domain::utility::{self, Evidence, Ledgered};
use crate::error::Error;
use crate::index::cosine;
use crate::ledger::recalls::Receipt;
use crate::ledger::{contexts, outcomes};
use crate::store::listing::{self, Showing, Wanted};
use crate::store::{Candidate, Facts, Found, Past, Search};

/// The longest query, in bytes.
const LONGEST: usize = 64 * 1024;

/// How many of the improvements that fall at a gate whatever the query are considered too, so that they can be
/// explained.
const BARRED: usize = 5;

impl Serve<Recall> for App {
    fn serve(&self, call: Recall) -> Result<Recalled, Fault> {
        Ok(self.recall(&call)?)
    }
}

impl App {
    fn recall(&self, call: &Recall) -> Result<Recalled, Error> {
        let (now, view) = (self.now(), self.view());
        let query = self.entry().text(check(&call.query)?);
        let tags = call.tags.iter().map(|tag| intake::label("tag", tag)).collect::<Result<Vec<_>, _>>()?;
        let limit =
            usize::try_from(page(call.limit.into(), self.config.recall.items.into())).unwrap_or(usize::MAX);
        let site = self.recalled_in(call.project.as_ref())?;
        let project = match &site {
            Some(site) => Some(site.hash.clone()),
            None => super::project(call.project.as_ref())?,
        };
        let scopes: Vec<Scope> = std::iter::once(Scope::Global).chain(project.map(Scope::Project)).collect();
        let context = call.context.clone().unwrap_or_else(|| self.config.recall.context.clone());
        let vector = view.embed(&query)?;

        let showing = Showing::at(now, &self.config);
        let filtered = call.category.is_some() || !tags.is_empty();
        let wanted = Wanted {
            agent: Some(call.agent.clone()),
            category: call.category.clone(),
            tags,
            ..Wanted::default()
        };
        let matching = || {
            let rows = filtered
                .then(|| view.read(|connection| listing::matching_rows(connection, &wanted, &showing)))
                .transpose()?;
            Ok::<_, Error>(rows.map(HashSet::<i64>::from_iter))
        };
        let interactions = view.read(|connection| contexts::interactions(connection, &context))?;
        let rules = self.config.rules(self.config.alpha(interactions));

        let candidates =
            (limit * self.config.recall.overfetch as usize).max(self.config.recall.candidates as usize);
        let search = Search {
            agent: &call.agent,
            scopes: &scopes,
            text: &query,
            vector: vector.as_deref(),
            blend: self.config.blend(),
            limit: candidates,
        };
        let look = self.begin_look(&call.agent, &scopes, vector.as_deref());
        let mut allowed = matching()?;
        let standing = |allowed: Option<&HashSet<i64>>| {
            view.memory.search(&search, |row, facts| stands(facts, &rules) && allows(allowed, row))
        };
        let mut found = standing(allowed.as_ref());
        let seen = self.end_look(look);
        if seen.news {
            allowed = matching()?;
            found = standing(allowed.as_ref());
        }
        let fallen = if found.passed < found.total {
            let barred = Search { limit: BARRED, ..search };
            view.memory.search(&barred, |row, facts| !stands(facts, &rules) && allows(allowed.as_ref(), row))
        } else {
            Found::default()
        };
        let notes = self.recall_notes(call, site, &search, &showing, filtered)?;

        let all: Vec<Candidate> = found.candidates.into_iter().chain(fallen.candidates).collect();
        let mut contenders = self.improvements(&all, &search, &showing)?;
        contenders.extend(notes.found);
        let mut decided = decide(&contenders, notes.hot, &rules, limit);
        let mut skipped = decided.skipped();
        skipped.extend(notes.skipped);
        let receipt = Receipt {
            agent: call.agent.clone(),
            query,
            context: context.clone(),
            alpha: rules.alpha,
            estimator: self.config.learning.estimator,
            gate: rules.gate,
            items: std::mem::take(&mut decided.considered),
            hot: decided
                .hot
                .iter()
                .filter(|rule| rule.relevant || !rule.conflicts.is_empty())
                .cloned()
                .collect(),
            loaded: decided.hot.iter().map(|rule| rule.id.clone()).collect(),
        };
        let recall = self.journal.record(now, &receipt)?;
        Ok(Recalled {
            recall,
            loaded: decided.loaded(),
            hot: decided.hot,
            items: decided.items,
            context: contexts::state(context, interactions, &self.config.learning),
            alpha: rules.alpha,
            searched: found.passed + notes.searched,
            skipped,
            degraded: view.degraded.clone().or(seen.stale),
        })
    }

    /// Reads the candidates' texts, and rescores them with their full vectors.
    fn improvements(
        &self,
        candidates: &[Candidate],
        search: &Search<'_>,
        showing: &Showing,
    ) -> Result<Vec<Contender>, Error> {
        self.view().read(|connection| {
            let mut contenders = Vec::with_capacity(candidates.len());
            for candidate in candidates {
                let Some((improvement, vector)) = listing::at_row(connection, candidate.row, showing)? else {
                    continue;
                };
                let mut signals = candidate.signals;
                if let (Some(query), Some(vector)) = (search.vector, vector) {
                    signals.cosine = cosine(query, &vector);
                    let own = search.blend.own(signals.cosine, signals.lexical, signals.case);
                    signals.similarity = own + signals.neighbours;
                }
                contenders.push(Contender {
                    digest: text::digest(&improvement.document),
                    signals,
                    case: candidate.case.map(|n| outcomes::task(connection, n)).transpose()?,
                    q: self.q(candidate.facts.usage.as_deref(), &candidate.past, showing.today),
                    success_rate: improvement.usage.success_rate,
                    deprecated: improvement.deprecation.is_some(),
                    cross_validated: improvement.cross_validation.is_some(),
                    words: Vec::new(),
                    claim: None,
                    id: improvement.id,
                    source: Origin::Improvement,
                    scope: improvement.scope,
                    document: improvement.document,
                    category: improvement.category,
                    confidence: improvement.confidence,
                });
            }
            Ok::<_, Error>(contenders)
        })
    }

    /// Learned utility for the query, and the weight of the evidence behind it (spec Q7).
    fn q(&self, usage: Option<&Ledgered>, past: &[(Past, f64)], today: i64) -> (f64, f64) {
        match self.config.learning.estimator {
            Estimator::Global => usage.map_or((QValue::START.get(), 0.0), |usage| {
                #[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
                let evidence = usage.usage_count as f64;
                (usage.q_on(today, self.config.learning.decay_factor), evidence)
            }),
            Estimator::Contextual => {
                let evidence = past.iter().map(|(past, cosine)| Evidence {
                    cosine: *cosine,
                    reward: if past.success { 1.0 } else { 0.0 },
                    age_days: u32::try_from((today - past.day).max(0)).unwrap_or(u32::MAX),
                });
                utility::near(evidence, &self.config.kernel())
            }
        }
    }
}

/// Whether an improvement passes every gate that does not depend on the query.
fn stands(facts: &Facts, rules: &Rules) -> bool {
    let rate = facts.usage.as_ref().and_then(|usage| usage.success_rate());
    barred(facts.deprecated, facts.confidence, rate, rules).is_none()
}

/// Whether a row is among those that the caller wants.
fn allows(allowed: Option<&HashSet<i64>>, row: i64) -> bool {
    allowed.is_none_or(|allowed| allowed.contains(&row))
}

fn check(query: &str) -> Result<&str, Fault> {
    let query = query.trim();
    if query.is_empty() {
        return Err(Fault::invalid("There is nothing to recall for", "Describe the task in a sentence."));
    }
    if query.len() > LONGEST {
        return Err(Fault::invalid(
            format!("A query of {} bytes is longer than {LONGEST}", query.len()),
            "Describe the task in a sentence or two.",
        ));
    }
    Ok(query)
}
