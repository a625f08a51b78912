//! The exact best documents by the weighted sum of both scores.
//!
//! One array of a number per slot goes through all steps: BM25, then the score, with
//! [`OUT`] for slots that are empty or filtered out. What a hit shows beside its score
//! is computed again, by the same operations, for the few hits alone.

use std::sync::PoisonError;
use std::time::Instant;

use super::top::{Ranked, Top};
use super::vectors::{BLOCK, Probe, Rows};
use super::{Hit, Hits, Index, Query, Slot, Timings, WrongDimension, parallel};
use crate::domain::ranking::{Blend, Signals};

/// The score of a slot that is not to be found.
const OUT: f32 = f32::NEG_INFINITY;

/// Slots that one task ranks: few tasks, as each has a list to merge.
const RANK_BLOCK: usize = 16 * BLOCK;

/// The arrays a search works in, kept for the next one.
#[derive(Default)]
pub(super) struct Scratch {
    scores: Vec<f32>,
    cases: Vec<f32>,
}

impl Index {
    /// The best `query.limit` documents among those that pass `filter`, best first, of
    /// equals the lower slot first.
    ///
    /// The filter is asked once for each document, on any thread. Large indexes are
    /// searched on the threads of the current rayon pool.
    ///
    /// # Errors
    /// If the query's vector has not the dimension of the index.
    pub fn search(
        &self,
        query: &Query<'_>,
        filter: impl Fn(Slot) -> bool + Sync,
    ) -> Result<Hits, WrongDimension> {
        let probe = match query.vector {
            Some(vector) => self.vectors.probe(self.checked(vector)?),
            None => None,
        };
        let mut scratch = self.borrow_scratch();
        let Scratch { scores, cases } = &mut scratch;
        scores.resize(self.lexical.slots(), 0.0);

        let start = Instant::now();
        let plan = self.lexical.plan(query.text);
        let passed = parallel::map_mut(scores, BLOCK, |base, scores| {
            scores.fill(0.0);
            self.lexical.accumulate(&plan, slot_at(base, 0), scores);
            self.sift(&filter, base, scores)
        });
        let norm = if plan.ceiling > 0.0 { plan.ceiling.recip() } else { 0.0 };

        let lexical_done = Instant::now();
        let counting = probe.as_ref().filter(|_| query.blend.case_margin.is_some());
        let cases = match counting {
            Some(probe) if !self.cases.is_empty() => {
                let wanted = |slot: u32| scores.get(slot as usize).is_some_and(|&score| score > OUT);
                self.cases.scan(probe, wanted, cases);
                &cases[..]
            }
            _ => &[],
        };
        parallel::map_mut(scores, BLOCK, |base, scores| {
            self.weigh(query.blend, probe.as_ref(), cases, norm, base, scores);
        });

        let vector_done = Instant::now();
        let pulls = query.blend.neighbour > 0.0 && !self.links.is_empty();
        let blend = pulls.then_some(query.blend);
        let list = self
            .rank(query.limit, blend, scores)
            .map(|ranked| {
                let mut bm25 = [0.0];
                self.lexical.accumulate(&plan, ranked.slot, &mut bm25);
                let (cosine, nearest) = match &probe {
                    Some(probe) => (
                        self.vectors.cosine(probe, ranked.slot as usize),
                        self.cases.nearest(probe, ranked.slot),
                    ),
                    None => (0.0, None),
                };
                let lexical = bm25[0] * norm;
                let own = scores[ranked.slot as usize];
                let case = nearest.filter(|_| own > query.blend.own(cosine, lexical, None));
                Hit {
                    slot: Slot(ranked.slot),
                    signals: Signals {
                        cosine,
                        lexical,
                        case: case.map(|(cosine, _)| cosine),
                        neighbours: ranked.score - own,
                        similarity: ranked.score,
                    },
                    case: case.map(|(_, case)| case),
                }
            })
            .collect();
        let hits = Hits {
            list,
            scanned: self.lexical.count(),
            passed: passed.iter().sum(),
            timings: Timings {
                lexical: lexical_done - start,
                vector: vector_done - lexical_done,
                rank: vector_done.elapsed(),
            },
        };
        self.return_scratch(scratch);
        Ok(hits)
    }

    /// Takes out the slots of a block that are empty or do not pass; how many pass.
    fn sift(&self, filter: &impl Fn(Slot) -> bool, base: usize, scores: &mut [f32]) -> usize {
        let mut passed = 0;
        for (at, score) in scores.iter_mut().enumerate() {
            let slot = slot_at(base, at);
            if self.lexical.contains(slot) && filter(Slot(slot)) {
                passed += 1;
            } else {
                *score = OUT;
            }
        }
        passed
    }

    /// Makes similarities of the BM25 values of a block.
    fn weigh(
        &self,
        blend: Blend,
        probe: Option<&Probe>,
        cases: &[f32],
        norm: f32,
        base: usize,
        scores: &mut [f32],
    ) {
        let rows = Rows::select(scores.len(), |at| scores[at] > OUT);
        let mut weigh = |at: usize, cosine: f32| {
            let case = match cases {
                [] => None,
                _ => self.cases.best_of(slot_at(base, at), cases),
            };
            scores[at] = blend.own(cosine, scores[at] * norm, case);
        };
        match probe {
            Some(probe) => self.vectors.cosines(probe, base / BLOCK, &rows, weigh),
            None => rows.iter().for_each(|at| weigh(at, 0.0)),
        }
    }

    /// The best documents, each with what it gains from its neighbours if `blend` is given.
    fn rank(&self, limit: usize, blend: Option<Blend>, scores: &[f32]) -> impl Iterator<Item = Ranked> {
        parallel::map(scores, RANK_BLOCK, |base, block| {
            let mut top = Top::new(limit);
            let mut floor = top.floor();
            for (at, &score) in block.iter().enumerate() {
                let slot = slot_at(base, at);
                let score = score + blend.map_or(0.0, |blend| self.pull(blend, scores, slot));
                if score > floor {
                    top.push(Ranked { score, slot });
                    floor = top.floor();
                }
            }
            top
        })
        .into_iter()
        .fold(Top::new(limit), Top::merge)
        .into_sorted()
    }

    /// What the best of the neighbours of `slot` that pass adds to its similarity.
    fn pull(&self, blend: Blend, scores: &[f32], slot: u32) -> f32 {
        let own = scores[slot as usize];
        let around = self.links.around(slot).filter_map(|slot| scores.get(slot as usize));
        let best = around.copied().fold(OUT, f32::max);
        if own > OUT && best > own { blend.pull(own, best) } else { 0.0 }
    }

    fn borrow_scratch(&self) -> Scratch {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn return_scratch(&self, scratch: Scratch) {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    }
}

#[allow(clippy::cast_possible_truncation, reason = "slots are numbered by u32")]
fn slot_at(base: usize, at: usize) -> u32 {
    (base + at) as u32
}
