//! What a recall returns, and in which order (spec I10, Q1, Q2).
//!
//! One similarity serves gate and rank. It is absolute: it depends on the query and the text, never on what else was
//! found, so memory with nothing to say returns nothing.

use std::cmp::Ordering;
use std::collections::HashSet;

use memoryd_proto::{Verdict, Why};

/// How the signals make one similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    /// Weight of the cosine.
    pub dense: f32,
    /// Weight of the lexical score.
    pub lexical: f32,
    /// What a cosine loses when it speaks alone. A text that says the same in other words passes on it.
    pub margin: f32,
    /// What the cosine of a task in which the memory helped loses; none if such tasks do not count (spec Q8).
    pub case_margin: Option<f32>,
    /// How far a text is pulled up towards the best of its neighbours in a sequence, 0 to 1.
    pub neighbour: f32,
}

impl Blend {
    /// The cosine of the text alone.
    pub const COSINE: Self =
        Self { dense: 1.0, lexical: 0.0, margin: 4.0, case_margin: None, neighbour: 0.0 };

    /// The similarity of a text by itself. `lexical` is BM25 as a share of the most that any text could reach, `case`
    /// the cosine of the closest task in which it helped.
    #[must_use]
    pub fn own(&self, cosine: f32, lexical: f32, case: Option<f32>) -> f32 {
        let text = (self.dense * cosine + self.lexical * lexical).max(cosine - self.margin);
        case.zip(self.case_margin).map_or(text, |(case, margin)| text.max(case - margin))
    }

    /// What a text gains from the best of its neighbours.
    #[must_use]
    pub fn pull(&self, own: f32, neighbour: f32) -> f32 {
        self.neighbour * (neighbour - own).max(0.0)
    }
}

/// How well a text matches a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals {
    /// Cosine of the query and the text.
    pub cosine: f32,
    /// BM25 as a share of the most that any text could reach.
    pub lexical: f32,
    /// Cosine of the query and the closest task in which it helped, if that counts for more than the text.
    pub case: Option<f32>,
    /// What it gains from its neighbours.
    pub neighbours: f32,
    /// All together.
    pub similarity: f32,
}

/// The numbers of a ranking.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The relevance that an item must reach (seed: 0.6).
    pub gate: f64,
    /// The similarity whose relevance is the gate's.
    pub threshold: f64,
    /// How fast relevance rises with similarity.
    pub slope: f64,
    /// The confidence that an item must have.
    pub confidence: f64,
    /// The success rate that a used item must have.
    pub success_rate: f64,
    /// What the score of an item that other agents confirmed is multiplied by.
    pub cross_validated: f64,
    /// The weight of learned utility: 0 in a cold context.
    pub alpha: f64,
}

/// The chance that a text of this similarity has to do with the query, from 0 to 1: a logistic curve that crosses the
/// gate at the threshold.
#[must_use]
pub fn relevance(similarity: f64, rules: &Rules) -> f64 {
    let at_gate = (rules.gate / (1.0 - rules.gate)).ln();
    1.0 / (1.0 + (-(rules.slope * (similarity - rules.threshold) + at_gate)).exp())
}

/// `((1 − α) · relevance + α · q) · multiplier` (QAVR; spec Q1, I10). Relevance is similarity on the scale of a
/// Q-value, so that the two can be mixed.
#[must_use]
pub fn score(relevance: f64, q: f64, alpha: f64, multiplier: f64) -> f64 {
    ((1.0 - alpha) * relevance + alpha * q) * multiplier
}

/// An item to be ranked.
#[derive(Clone, Debug)]
pub struct Entrant<'a> {
    /// Its id.
    pub id: &'a str,
    /// What its text says, normalised.
    pub digest: [u8; 16],
    /// Whether it belongs to the project.
    pub project: bool,
    /// How well it matches.
    pub signals: Signals,
    /// The task whose words matched better than its own, if one did.
    pub case: Option<String>,
    /// Learned utility for this query, and the weight of the evidence behind it.
    pub q: (f64, f64),
    /// How sure the agent is of it.
    pub confidence: f64,
    /// Its success rate; none while untested.
    pub success_rate: Option<f64>,
    /// Whether it is no longer recalled.
    pub deprecated: bool,
    /// Whether other agents confirmed it.
    pub cross_validated: bool,
}

/// The gate at which an improvement falls whatever the query, if any.
#[must_use]
pub fn barred(
    deprecated: bool,
    confidence: f64,
    success_rate: Option<f64>,
    rules: &Rules,
) -> Option<Verdict> {
    if deprecated {
        Some(Verdict::Deprecated)
    } else if confidence < rules.confidence {
        Some(Verdict::Candidate)
    } else if success_rate.is_some_and(|rate| rate < rules.success_rate) {
        Some(Verdict::LowSuccess)
    } else {
        None
    }
}

/// The place of an entrant among the others, why it stands where it stands, and its verdict.
pub type Ranked = (usize, Why, Verdict);

/// Ranks entrants: first those that can be returned, best first, then those that fell, most relevant first. One that says
/// the same as one before it, or what is `loaded` anyway, is a duplicate.
#[must_use]
pub fn rank(entrants: &[Entrant<'_>], rules: &Rules, loaded: &[[u8; 16]]) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = entrants
        .iter()
        .enumerate()
        .map(|(place, entrant)| {
            let why = weigh(entrant, rules);
            let bar = barred(entrant.deprecated, entrant.confidence, entrant.success_rate, rules);
            let irrelevant = (why.relevance < rules.gate).then_some(Verdict::Irrelevant);
            (place, why, bar.or(irrelevant).unwrap_or(Verdict::Returned))
        })
        .collect();
    ranked.sort_by(|(a, why_a, verdict_a), (b, why_b, verdict_b)| {
        let stands = |verdict| verdict == Verdict::Returned;
        let by = |why: &Why, verdict| if stands(verdict) { why.score } else { why.relevance };
        stands(*verdict_b)
            .cmp(&stands(*verdict_a))
            .then(by(why_b, *verdict_b).total_cmp(&by(why_a, *verdict_a)))
            .then_with(|| tie(&entrants[*a], &entrants[*b]))
    });
    let mut seen: HashSet<[u8; 16]> = loaded.iter().copied().collect();
    for (place, _, verdict) in &mut ranked {
        if *verdict == Verdict::Returned && !seen.insert(entrants[*place].digest) {
            *verdict = Verdict::Duplicate;
        }
    }
    ranked
}

/// Leaves `limit` to be returned, and puts them first.
pub fn cut(ranked: &mut [Ranked], limit: usize) {
    let returned = ranked.iter_mut().filter(|(_, _, verdict)| *verdict == Verdict::Returned);
    returned.skip(limit).for_each(|(_, _, verdict)| *verdict = Verdict::Outranked);
    ranked.sort_by_key(|(_, _, verdict)| *verdict != Verdict::Returned);
}

/// At equal rank the project's goes first, then the lower id.
fn tie(a: &Entrant<'_>, b: &Entrant<'_>) -> Ordering {
    b.project.cmp(&a.project).then(a.id.cmp(b.id))
}

/// How an entrant comes to its place.
#[must_use]
pub fn weigh(entrant: &Entrant<'_>, rules: &Rules) -> Why {
    let similarity = f64::from(entrant.signals.similarity);
    let relevance = relevance(similarity, rules);
    let (q, evidence) = entrant.q;
    let multiplier = if entrant.cross_validated { rules.cross_validated } else { 1.0 };
    Why {
        cosine: f64::from(entrant.signals.cosine),
        case: entrant.case.clone(),
        case_cosine: entrant.signals.case.map(f64::from),
        lexical: f64::from(entrant.signals.lexical),
        neighbours: f64::from(entrant.signals.neighbours),
        similarity,
        relevance,
        q,
        alpha: rules.alpha,
        multiplier,
        score: score(relevance, q, rules.alpha, multiplier),
        evidence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        gate: 0.6,
        threshold: 0.25,
        slope: 8.0,
        confidence: 0.7,
        success_rate: 0.6,
        cross_validated: 1.2,
        alpha: 0.0,
    };

    fn entrant(id: &str, similarity: f32) -> Entrant<'_> {
        let mut digest = [0; 16];
        digest[..id.len()].copy_from_slice(id.as_bytes());
        Entrant {
            id,
            digest,
            project: false,
            signals: Signals { similarity, ..Signals::default() },
            case: None,
            q: (0.5, 0.0),
            confidence: 0.8,
            success_rate: None,
            deprecated: false,
            cross_validated: false,
        }
    }

    fn order(entrants: &[Entrant<'_>], rules: &Rules, limit: usize) -> Vec<(String, Verdict)> {
        let mut ranked = rank(entrants, rules, &[]);
        cut(&mut ranked, limit);
        ranked.into_iter().map(|(place, _, verdict)| (entrants[place].id.to_owned(), verdict)).collect()
    }

    #[test]
    fn the_gate_sits_at_the_threshold() {
        assert!((relevance(0.25, &RULES) - 0.6).abs() < 1e-12);
        assert!(relevance(0.24, &RULES) < 0.6);
    }

    #[test]
    fn i10_gates_and_the_limit() {
        let deprecated = Entrant { deprecated: true, ..entrant("dep", 0.9) };
        let candidate = Entrant { confidence: 0.6, ..entrant("cand", 0.9) };
        let failing = Entrant { success_rate: Some(0.5), ..entrant("fail", 0.9) };
        let all = [entrant("a", 0.5), deprecated, candidate, failing, entrant("b", 0.6), entrant("far", 0.1)];
        let verdicts = order(&all, &RULES, 1);
        assert_eq!(verdicts[0], ("b".to_owned(), Verdict::Returned));
        assert_eq!(verdicts[1], ("a".to_owned(), Verdict::Outranked));
        let fallen: Vec<Verdict> = verdicts[2..].iter().map(|(_, verdict)| *verdict).collect();
        assert_eq!(
            fallen,
            [Verdict::Candidate, Verdict::Deprecated, Verdict::LowSuccess, Verdict::Irrelevant]
        );
    }

    #[test]
    fn i10_duplicates_fold_and_the_project_goes_first() {
        let global = entrant("a", 0.5);
        let project = Entrant { project: true, ..entrant("a", 0.5) };
        let ranked = rank(&[global.clone(), project], &RULES, &[]);
        assert_eq!((ranked[0].0, ranked[0].2), (1, Verdict::Returned));
        assert_eq!((ranked[1].0, ranked[1].2), (0, Verdict::Duplicate));
        let loaded = [global.digest];
        assert_eq!(rank(&[global], &RULES, &loaded)[0].2, Verdict::Duplicate, "it is loaded anyway");
    }

    #[test]
    fn q1_utility_counts_only_when_warm() {
        let proven = Entrant { q: (0.95, 5.0), ..entrant("proven", 0.4) };
        let all = [entrant("near", 0.5), proven];
        assert_eq!(order(&all, &RULES, 5)[0].0, "near");
        assert_eq!(order(&all, &Rules { alpha: 0.3, ..RULES }, 5)[0].0, "proven");
    }

    #[test]
    fn i10_confirmed_items_weigh_more() {
        let confirmed = Entrant { cross_validated: true, ..entrant("confirmed", 0.4) };
        assert_eq!(order(&[entrant("plain", 0.5), confirmed], &RULES, 5)[0].0, "confirmed");
    }
}
