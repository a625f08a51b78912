//! The best few of many.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A document with its score; greater is better, of equals the lower slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranked {
    pub(super) score: f32,
    pub(super) slot: u32,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.slot.cmp(&self.slot))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

/// Keeps the best `limit` of what is pushed, whatever the order.
pub(super) struct Top {
    limit: usize,
    heap: BinaryHeap<Reverse<Ranked>>,
}

impl Top {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::new() }
    }

    pub(super) fn push(&mut self, ranked: Ranked) {
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(ranked));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && ranked > worst.0
        {
            worst.0 = ranked;
        }
    }

    /// What a score must exceed to be kept, if its slot is higher than those pushed.
    pub(super) fn floor(&self) -> f32 {
        if self.heap.len() < self.limit {
            f32::NEG_INFINITY
        } else {
            self.heap.peek().map_or(f32::INFINITY, |worst| worst.0.score)
        }
    }

    pub(super) fn merge(mut self, mut other: Self) -> Self {
        if self.heap.len() < other.heap.len() {
            std::mem::swap(&mut self, &mut other);
        }
        for Reverse(ranked) in other.heap {
            self.push(ranked);
        }
        self
    }

    /// Best first.
    pub(super) fn into_sorted(self) -> impl Iterator<Item = Ranked> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse(ranked)| ranked)
    }
}
