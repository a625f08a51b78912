//! What takes part in a recall, and what becomes of it.

use std::collections::BTreeMap;

use memoryd_proto::{Confidence, Considered, HotRule, ImprovementId, Item, Loaded, Origin, Scope, Verdict};

use crate::domain::conflict::{self, Claim};
use crate::domain::ranking::{self, Entrant, Rules, Signals};

/// What takes part in a recall.
pub(super) struct Contender {
    pub(super) id: ImprovementId,
    pub(super) source: Origin,
    pub(super) scope: Scope,
    pub(super) document: String,
    pub(super) category: String,
    pub(super) confidence: Confidence,
    /// The words of the query that it has, where they are not all in the document.
    pub(super) words: Vec<String>,
    /// What it says, normalised.
    pub(super) digest: [u8; 16],
    pub(super) signals: Signals,
    /// The task whose words matched better than its own, if one did.
    pub(super) case: Option<String>,
    /// Learned utility for the query, and the weight of the evidence behind it.
    pub(super) q: (f64, f64),
    pub(super) success_rate: Option<f64>,
    pub(super) deprecated: bool,
    pub(super) cross_validated: bool,
    /// What it claims against other notes.
    pub(super) claim: Option<Claim>,
}

/// What became of the contenders.
pub(super) struct Decided {
    /// The rules that are loaded.
    pub(super) hot: Vec<HotRule>,
    /// Those that are returned, best first.
    pub(super) items: Vec<Item>,
    /// All: first those that are returned, best first.
    pub(super) considered: Vec<Considered>,
}

impl Contender {
    fn entrant(&self) -> Entrant<'_> {
        Entrant {
            id: self.id.as_str(),
            digest: self.digest,
            project: self.scope != Scope::Global,
            signals: self.signals,
            case: self.case.clone(),
            q: self.q,
            confidence: self.confidence.get(),
            success_rate: self.success_rate,
            deprecated: self.deprecated,
            cross_validated: self.cross_validated,
        }
    }

    fn considered(
        &self,
        why: memoryd_proto::Why,
        verdict: Verdict,
        conflicts: Vec<ImprovementId>,
    ) -> Considered {
        Considered {
            id: self.id.clone(),
            source: self.source.clone(),
            scope: self.scope.clone(),
            document: self.document.clone(),
            words: self.words.clone(),
            conflicts,
            why,
            verdict,
        }
    }

    /// Whether it is close enough to the query.
    fn is_relevant(&self, rules: &Rules) -> bool {
        ranking::relevance(f64::from(self.signals.similarity), rules) >= rules.gate
    }
}

/// Ranks the contenders, settles what contradicts each other among them and the `hot` ones, which are loaded whatever the
/// query, and cuts to `limit`.
pub(super) fn decide(contenders: &[Contender], hot: Vec<Contender>, rules: &Rules, limit: usize) -> Decided {
    let entrants: Vec<Entrant<'_>> = contenders.iter().map(Contender::entrant).collect();
    let loaded: Vec<[u8; 16]> = hot.iter().map(|rule| rule.digest).collect();
    let mut ranked = ranking::rank(&entrants, rules, &loaded);

    let standing = ranked.iter().filter(|(_, _, verdict)| *verdict == Verdict::Returned);
    let claimants: Vec<&Contender> =
        hot.iter().chain(standing.map(|(place, ..)| &contenders[*place])).collect();
    let mut rulings = settle(&claimants);
    for (place, _, verdict) in &mut ranked {
        if rulings.get(&contenders[*place].id).is_some_and(|ruling| ruling.overruled) {
            *verdict = Verdict::Overruled;
        }
    }
    ranking::cut(&mut ranked, limit);

    let mut decided = Decided { hot: Vec::new(), items: Vec::new(), considered: Vec::new() };
    for (place, why, verdict) in ranked {
        let one = &contenders[place];
        let conflicts = rulings.remove(&one.id).unwrap_or_default().against;
        if verdict == Verdict::Returned {
            decided.items.push(Item {
                id: one.id.clone(),
                source: one.source.clone(),
                scope: one.scope.clone(),
                document: one.document.clone(),
                category: one.category.clone(),
                confidence: one.confidence,
                conflicts: conflicts.clone(),
                why: why.clone(),
            });
        }
        decided.considered.push(one.considered(why, verdict, conflicts));
    }
    for rule in hot {
        let ruling = rulings.remove(&rule.id).unwrap_or_default();
        if ruling.overruled {
            let why = ranking::weigh(&rule.entrant(), rules);
            decided.considered.push(rule.considered(why, Verdict::Overruled, ruling.against));
        } else {
            decided.hot.push(HotRule {
                relevant: rule.is_relevant(rules),
                id: rule.id,
                source: rule.source,
                document: rule.document,
                section: Some(rule.category).filter(|section| !section.is_empty()),
                conflicts: ruling.against,
            });
        }
    }
    decided
}

/// What becomes of a note among others.
#[derive(Default)]
struct Ruling {
    overruled: bool,
    against: Vec<ImprovementId>,
}

/// Settles what contradicts each other (spec M8).
fn settle(claimants: &[&Contender]) -> BTreeMap<ImprovementId, Ruling> {
    let (ids, claims): (Vec<&ImprovementId>, Vec<Claim>) =
        claimants.iter().filter_map(|one| Some((&one.id, one.claim.clone()?))).unzip();
    let named = |ruling: conflict::Ruling| Ruling {
        overruled: ruling.overruled,
        against: ruling.against.into_iter().map(|other| ids[other].clone()).collect(),
    };
    conflict::rule(&claims).into_iter().zip(&ids).map(|(ruling, id)| ((*id).clone(), named(ruling))).collect()
}

impl Decided {
    /// The files that notes were taken from, in the order of their tiers and names.
    pub(super) fn loaded(&self) -> Vec<Loaded> {
        let mut loaded: BTreeMap<_, u64> = BTreeMap::new();
        let sources = self.hot.iter().map(|rule| &rule.source);
        for source in sources.chain(self.items.iter().map(|item| &item.source)) {
            if let Origin::Note { file, tier, .. } = source {
                *loaded.entry((*tier, file)).or_default() += 1;
            }
        }
        let told = |((tier, file), notes): ((_, &String), u64)| Loaded { file: file.clone(), tier, notes };
        loaded.into_iter().map(told).collect()
    }

    /// What was relevant and is left out (spec M15).
    pub(super) fn skipped(&self) -> Vec<String> {
        let mut skipped = Vec::new();
        let outranked = self.considered.iter().filter(|one| one.verdict == Verdict::Outranked).count();
        if outranked > 0 {
            skipped.push(format!("{outranked} more that others rank above"));
        }
        for one in self.considered.iter().filter(|one| one.verdict == Verdict::Overruled) {
            let above = one.conflicts.iter().map(|id| self.cited(id)).collect::<Vec<_>>().join(", ");
            skipped.push(format!("{}: overruled by {above}", cited(&one.source, &one.id)));
        }
        skipped
    }

    fn cited(&self, id: &ImprovementId) -> String {
        let rule = self.hot.iter().find(|rule| rule.id == *id).map(|rule| &rule.source);
        let other = || self.considered.iter().find(|one| one.id == *id).map(|one| &one.source);
        rule.or_else(other).map_or_else(|| id.to_string(), |source| cited(source, id))
    }
}

fn cited(source: &Origin, id: &ImprovementId) -> String {
    match source {
        Origin::Improvement => id.to_string(),
        Origin::Note { file, line, .. } => format!("{file}:{line}"),
    }
}
