//! Which of many vectors are near one another: every pair from a cosine on, and no pair missed.
//!
//! 8-bit codes rule out most pairs; what they leave is compared exactly. The codes are directions of their own, each at a
//! known distance from that of its vector, and a cosine is off by no more than both distances (Cauchy and Schwarz). One
//! thread does the work, in tiles that stay in its cache: who joins is not in a hurry, and others are.

use super::vectors::{BLOCK, Probe, Rows, Vectors};

/// Probes that are compared with a tile before the next tile is fetched.
const PROBES: usize = 64;

/// Rows of a tile; a block has a whole number of them.
const TILE: usize = 256;

/// More than all rounding in single precision can make.
const ROUNDING: f32 = 1e-4;

/// Vectors that others are compared with.
pub struct Join<'a> {
    vectors: &'a [&'a [f32]],
    codes: Vectors,
    /// By vector: one over its norm, and how far its codes may be off.
    rows: Vec<(f32, f32)>,
}

/// A vector that is near a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// Its place among the vectors.
    pub place: usize,
    /// The cosine.
    pub cosine: f32,
}

/// A vector that is compared with those of the join.
struct Probing<'a> {
    vector: &'a [f32],
    probe: Probe,
    inverse: f32,
    deviation: f32,
    /// The first place it is compared with.
    from: usize,
}

impl<'a> Join<'a> {
    /// Takes in vectors of one dimension. One without a direction is near to none.
    #[must_use]
    pub fn new(vectors: &'a [&'a [f32]]) -> Self {
        let mut codes = Vectors::new(vectors.first().map_or(0, |first| first.len()));
        let mut rows = Vec::with_capacity(vectors.len());
        for (row, vector) in vectors.iter().enumerate() {
            codes.set(row, vector);
            rows.push((inverse(vector), codes.deviation(row, vector)));
        }
        Self { vectors, codes, rows }
    }

    /// Calls `each` with every vector, in order, and those after it whose cosine to it is `floor` or more.
    pub fn pairs(&self, floor: f64, each: impl FnMut(usize, &[Near])) {
        self.near((1..).zip(self.vectors).map(|(next, vector)| (*vector, next)), floor, each);
    }

    /// Calls `each` with the number of each probe, in order, and all vectors whose cosine to it is `floor` or more.
    pub fn matches(&self, probes: &[&[f32]], floor: f64, each: impl FnMut(usize, &[Near])) {
        self.near(probes.iter().map(|vector| (*vector, 0)), floor, each);
    }

    /// Probes come with the first place that they are compared with.
    fn near<'p>(
        &self,
        probes: impl Iterator<Item = (&'p [f32], usize)>,
        floor: f64,
        mut each: impl FnMut(usize, &[Near]),
    ) {
        let mut probes = probes.map(|(vector, from)| self.probing(vector, from));
        let mut number = 0;
        loop {
            let group: Vec<Option<Probing<'_>>> = probes.by_ref().take(PROBES).collect();
            if group.is_empty() {
                return;
            }
            for found in self.group(&group, floor) {
                each(number, &found);
                number += 1;
            }
        }
    }

    fn probing<'p>(&self, vector: &'p [f32], from: usize) -> Option<Probing<'p>> {
        let probe = self.codes.probe(vector)?;
        let deviation = probe.deviation(vector);
        Some(Probing { vector, probe, inverse: inverse(vector), deviation, from })
    }

    /// What is near each of a few probes.
    fn group(&self, group: &[Option<Probing<'_>>], floor: f64) -> Vec<Vec<Near>> {
        let mut found = vec![Vec::new(); group.len()];
        let first = group.iter().flatten().map(|probing| probing.from).min().unwrap_or(usize::MAX);
        let tiles = (0..self.vectors.len()).step_by(TILE).filter(|tile| tile + TILE > first);
        for tile in tiles {
            let (block, base) = (tile / BLOCK, tile / BLOCK * BLOCK);
            let end = (tile + TILE).min(self.vectors.len());
            let rows = Rows::range(tile - base, end - base);
            for (probing, found) in group.iter().zip(&mut found) {
                let Some(probing) = probing.as_ref().filter(|probing| probing.from < end) else { continue };
                self.codes.cosines(&probing.probe, block, &rows, |row, coarse| {
                    let place = base + row;
                    let (inverse, deviation) = self.rows[place];
                    let possible = coarse + probing.deviation + deviation + ROUNDING;
                    if place < probing.from || f64::from(possible) < floor {
                        return;
                    }
                    let cosine = dot(probing.vector, self.vectors[place]) * probing.inverse * inverse;
                    if f64::from(cosine) >= floor {
                        found.push(Near { place, cosine });
                    }
                });
            }
        }
        found
    }
}

/// The cosine of two vectors of one dimension, as a join computes it.
#[must_use]
pub fn exact(one: &[f32], other: &[f32]) -> f32 {
    dot(one, other) * inverse(one) * inverse(other)
}

/// One over the norm; not a number for a vector without a direction, so that it compares with nothing.
fn inverse(vector: &[f32]) -> f32 {
    let inverse = dot(vector, vector).sqrt().recip();
    if inverse.is_normal() { inverse } else { f32::NAN }
}

/// The dot product, over lanes so that it vectorises.
fn dot(one: &[f32], other: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 16];
    for (one, other) in one.chunks(16).zip(other.chunks(16)) {
        for ((lane, a), b) in lanes.iter_mut().zip(one).zip(other) {
            *lane += a * b;
        }
    }
    lanes.into_iter().sum()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Every pair, compared one by one.
    fn by_hand(vectors: &[&[f32]], floor: f64) -> Vec<(usize, usize, f32)> {
        let mut pairs = Vec::new();
        for (i, one) in vectors.iter().enumerate() {
            for (j, other) in vectors.iter().enumerate().skip(i + 1) {
                let cosine = exact(one, other);
                if f64::from(cosine) >= floor {
                    pairs.push((i, j, cosine));
                }
            }
        }
        pairs
    }

    fn joined(vectors: &[&[f32]], floor: f64) -> Vec<(usize, usize, f32)> {
        let (mut pairs, mut calls) = (Vec::new(), 0);
        Join::new(vectors).pairs(floor, |one, near| {
            assert_eq!(one, calls, "each vector once, in order");
            calls += 1;
            pairs.extend(near.iter().map(|near| (one, near.place, near.cosine)));
        });
        assert_eq!(calls, vectors.len());
        pairs
    }

    /// Vectors around a few centres, so that there are pairs at every cosine.
    fn clouds() -> impl Strategy<Value = Vec<Vec<f32>>> {
        (1..40_usize, 1..5_usize).prop_flat_map(|(dimension, centres)| {
            let around = (0..centres, 0.0..1.0_f32, vec(-1.0..1.0_f32, dimension));
            (vec(vec(-1.0..1.0_f32, dimension), centres), vec(around, 0..90)).prop_map(|(centres, around)| {
                let near = |(centre, width, noise): (usize, f32, Vec<f32>)| {
                    let centre: &Vec<f32> = &centres[centre];
                    centre.iter().zip(noise).map(|(value, noise)| value + width * noise).collect()
                };
                around.into_iter().map(near).collect()
            })
        })
    }

    proptest! {
        #[test]
        fn no_pair_is_missed_and_none_is_made_up(
            vectors in clouds(),
            floor in prop::sample::select(vec![-1.0, 0.0, 0.5, 0.85, 0.95, 0.999]),
        ) {
            let vectors: Vec<&[f32]> = vectors.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(joined(&vectors, floor), by_hand(&vectors, floor));
        }

        #[test]
        fn a_floor_on_a_cosine_itself_keeps_the_pair(vectors in clouds()) {
            let vectors: Vec<&[f32]> = vectors.iter().map(Vec::as_slice).collect();
            if let Some(&(.., floor)) = by_hand(&vectors, 0.8).first() {
                let floor = f64::from(floor);
                prop_assert_eq!(joined(&vectors, floor), by_hand(&vectors, floor));
            }
        }
    }

    #[test]
    fn tiles_and_blocks_join_without_a_seam() {
        // Each has its like 1,500 places on, in another tile, and now and then in another block.
        let vectors: Vec<[f32; 3]> = (0..4500_u16)
            .map(|n| {
                let angle = f32::from(n % 1500) * 0.004;
                [angle.cos(), angle.sin(), 0.0]
            })
            .collect();
        let vectors: Vec<&[f32]> = vectors.iter().map(<[f32; 3]>::as_slice).collect();
        let mut missing = 0;
        Join::new(&vectors).pairs(0.999_999, |one, near| {
            let like = |place: usize| near.iter().any(|near| near.place == place);
            missing +=
                usize::from(one < 3000 && !like(one + 1500)) + usize::from(one < 1500 && !like(one + 3000));
        });
        assert_eq!(missing, 0);
    }

    #[test]
    fn probes_are_matched_with_all_and_what_has_no_direction_with_none() {
        let vectors: Vec<&[f32]> = vec![&[1.0, 0.0], &[0.0, 0.0], &[f32::NAN, 1.0], &[0.8, 0.6]];
        let mut found = Vec::new();
        Join::new(&vectors).matches(&[&[2.0, 0.0], &[0.0, 0.0]], 0.7, |probe, near| {
            found.push((probe, near.iter().map(|near| near.place).collect::<Vec<_>>()));
        });
        assert_eq!(found, [(0, vec![0, 3]), (1, vec![])]);
    }
}
