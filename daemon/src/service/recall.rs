//! Recall: learned patterns worth knowing before a task (spec I10, Q1, Q2).

use std::collections::HashSet;

use memoryd_proto::{Considered, Estimator, Fault, Item, QValue, Recall, Recalled, Scope, Serve, Verdict};

use super::{App, page};
use crate::domain::intake;
use crate::domain::ranking::{self, Entrant, Rules, barred};
use crate::domain::text;
use crate::domain::utility::{self, Evidence};
use crate::error::Error;
use crate::index::cosine;
use crate::ledger::recalls::Receipt;
use crate::ledger::{contexts, outcomes};
use crate::store::listing::{self, Showing, Wanted};
use crate::store::{Candidate, Facts, Found, Search};

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
        let project = super::project(call.project.as_ref())?;
        self.recalled_in(call.project.as_ref())?;
        let scopes: Vec<Scope> = std::iter::once(Scope::Global).chain(project.map(Scope::Project)).collect();
        let context = call.context.clone().unwrap_or_else(|| self.config.recall.context.clone());
        let vector = view.embed(&query)?;

        let showing = Showing::at(now, &self.config);
        let (interactions, allowed) = view.read(|connection| {
            let interactions = contexts::interactions(connection, &context)?;
            let filtered = call.category.is_some() || !tags.is_empty();
            let wanted = Wanted {
                agent: Some(call.agent.clone()),
                category: call.category.clone(),
                tags,
                ..Wanted::default()
            };
            let allowed =
                filtered.then(|| listing::matching_rows(connection, &wanted, &showing)).transpose()?;
            Ok::<_, Error>((interactions, allowed.map(HashSet::<i64>::from_iter)))
        })?;
        let rules = self.config.rules(self.config.alpha(interactions));

        let allows = |row: i64| allowed.as_ref().is_none_or(|allowed| allowed.contains(&row));
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
        let found = view.memory.search(&search, |row, facts| stands(facts, &rules) && allows(row));
        let fallen = if found.passed < found.total {
            let barred = Search { limit: BARRED, ..search };
            view.memory.search(&barred, |row, facts| !stands(facts, &rules) && allows(row))
        } else {
            Found::default()
        };

        let all: Vec<Candidate> = found.candidates.into_iter().chain(fallen.candidates).collect();
        let considered = self.weigh(&all, &search, &rules, limit, &showing)?;
        let items: Vec<Item> =
            considered.iter().filter(|(one, ..)| one.verdict == Verdict::Returned).map(item).collect();
        let receipt = Receipt {
            agent: call.agent.clone(),
            query,
            context: context.clone(),
            alpha: rules.alpha,
            estimator: self.config.learning.estimator,
            gate: rules.gate,
            items: considered.into_iter().map(|(one, ..)| one).collect(),
        };
        let recall = self.journal.record(now, &receipt)?;
        Ok(Recalled {
            recall,
            items,
            context: contexts::state(context, interactions, &self.config.learning),
            alpha: rules.alpha,
            searched: found.passed,
            degraded: view.degraded.clone(),
        })
    }

    /// Reads the candidates' texts, rescores them with their full vectors and ranks them.
    fn weigh(
        &self,
        candidates: &[Candidate],
        search: &Search<'_>,
        rules: &Rules,
        limit: usize,
        showing: &Showing,
    ) -> Result<Vec<(Considered, String, memoryd_proto::Confidence)>, Error> {
        let read = self.view().read(|connection| {
            let mut read = Vec::with_capacity(candidates.len());
            for candidate in candidates {
                let Some((improvement, vector)) = listing::at_row(connection, candidate.row, showing)? else {
                    continue;
                };
                let case = candidate.case.map(|n| outcomes::task(connection, n)).transpose()?;
                read.push((candidate, improvement, vector, case));
            }
            Ok::<_, Error>(read)
        })?;
        let entrants: Vec<Entrant<'_>> = read
            .iter()
            .map(|(candidate, improvement, vector, case)| {
                let mut signals = candidate.signals;
                if let (Some(query), Some(vector)) = (search.vector, vector) {
                    signals.cosine = cosine(query, vector);
                    let own = search.blend.own(signals.cosine, signals.lexical, signals.case);
                    signals.similarity = own + signals.neighbours;
                }
                Entrant {
                    id: improvement.id.as_str(),
                    digest: text::digest(&improvement.document),
                    project: improvement.scope != Scope::Global,
                    signals,
                    case: case.clone(),
                    q: self.q(candidate, showing.today),
                    confidence: improvement.confidence.get(),
                    success_rate: improvement.usage.success_rate,
                    deprecated: improvement.deprecation.is_some(),
                    cross_validated: improvement.cross_validation.is_some(),
                }
            })
            .collect();
        let ranked = ranking::rank(&entrants, rules, limit);
        Ok(ranked
            .into_iter()
            .map(|(place, why, verdict)| {
                let (_, improvement, ..) = &read[place];
                let considered = Considered {
                    id: improvement.id.clone(),
                    scope: improvement.scope.clone(),
                    document: improvement.document.clone(),
                    words: Vec::new(),
                    why,
                    verdict,
                };
                (considered, improvement.category.clone(), improvement.confidence)
            })
            .collect())
    }

    /// Learned utility of a candidate for the query, and the weight of the evidence behind it (spec Q7).
    fn q(&self, candidate: &Candidate, today: i64) -> (f64, f64) {
        match self.config.learning.estimator {
            Estimator::Global => candidate.facts.usage.as_ref().map_or((QValue::START.get(), 0.0), |usage| {
                #[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
                let evidence = usage.usage_count as f64;
                (usage.q_on(today, self.config.learning.decay_factor), evidence)
            }),
            Estimator::Contextual => {
                let evidence = candidate.past.iter().map(|(past, cosine)| Evidence {
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

fn item((considered, category, confidence): &(Considered, String, memoryd_proto::Confidence)) -> Item {
    Item {
        id: considered.id.clone(),
        scope: considered.scope.clone(),
        document: considered.document.clone(),
        category: category.clone(),
        confidence: *confidence,
        why: considered.why.clone(),
    }
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
