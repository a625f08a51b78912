//! Unit vectors as 8-bit codes, compared exactly with every row.

use rayon::prelude::*;

use super::kernel::{Kernel, LANES};

/// Rows per block: the unit of allocation and of parallel work.
pub(super) const BLOCK: usize = 4096;

/// Rows per call of a kernel, so that the sums stay in a small buffer.
const BATCH: usize = 64;

/// The largest magnitude of a row's code.
const CODE_MAX: f32 = 127.0;

/// Adding this to a small float leaves its nearest integer in the low mantissa bits.
const ROUND: f32 = 12_582_912.0;

/// A table of vectors of one dimension, by row. Rows without a vector have cosine 0.
pub(super) struct Vectors {
    dimension: usize,
    /// The dimension, padded with zeros to what the kernels take.
    stride: usize,
    kernel: Kernel,
    blocks: Vec<Block>,
}

struct Block {
    /// `BLOCK` rows of `stride` codes.
    codes: Box<[i8]>,
    /// By row: one over the norm of its codes, 0 for no vector.
    scales: Box<[f32]>,
}

/// Some rows of a block, by their places in it.
pub(super) struct Rows {
    places: [u16; BLOCK],
    count: usize,
}

/// A query vector made ready for comparison.
pub(super) struct Probe {
    codes: Vec<i16>,
    scale: f32,
}

impl Vectors {
    /// An empty table for vectors of `dimension` components.
    pub(super) fn new(dimension: usize) -> Self {
        Self {
            dimension,
            stride: dimension.max(1).next_multiple_of(LANES),
            kernel: Kernel::detect(),
            blocks: Vec::new(),
        }
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Stores `vector`, of any length but zero, at `row`.
    pub(super) fn set(&mut self, row: usize, vector: &[f32]) {
        self.reserve(row);
        self.blocks[row / BLOCK].set(row % BLOCK, self.stride, vector);
    }

    /// Leaves `row` without a vector.
    pub(super) fn clear(&mut self, row: usize) {
        if let Some(block) = self.blocks.get_mut(row / BLOCK) {
            block.scales[row % BLOCK] = 0.0;
        }
    }

    /// Stores many vectors at once, given in ascending order of their rows.
    pub(super) fn fill(&mut self, vectors: &[(usize, &[f32])]) {
        let Some(&(last, _)) = vectors.last() else {
            return;
        };
        self.reserve(last);
        let stride = self.stride;
        self.blocks.par_iter_mut().enumerate().for_each(|(number, block)| {
            let base = number * BLOCK;
            let start = vectors.partition_point(|&(row, _)| row < base);
            for &(row, vector) in &vectors[start..] {
                if row >= base + BLOCK {
                    break;
                }
                block.set(row - base, stride, vector);
            }
        });
    }

    /// Prepares a query; `None` if it has no direction (zero or not finite).
    pub(super) fn probe(&self, vector: &[f32]) -> Option<Probe> {
        Probe::new(vector, self.stride)
    }

    /// Calls `each` with the rows of one block and their cosines.
    pub(super) fn cosines(&self, probe: &Probe, block: usize, rows: &Rows, mut each: impl FnMut(usize, f32)) {
        let Some(block) = self.blocks.get(block) else {
            rows.iter().for_each(|row| each(row, 0.0));
            return;
        };
        let mut sums = [0; BATCH];
        for rows in rows.list().chunks(BATCH) {
            let sums = &mut sums[..rows.len()];
            self.kernel.dots(&probe.codes, &block.codes, rows, sums);
            for (&row, &sum) in rows.iter().zip(&*sums) {
                let row = usize::from(row);
                each(row, to_f32(sum) * probe.scale * block.scales[row]);
            }
        }
    }

    /// The cosine of one row.
    pub(super) fn cosine(&self, probe: &Probe, row: usize) -> f32 {
        let Some(block) = self.blocks.get(row / BLOCK) else {
            return 0.0;
        };
        let row = row % BLOCK;
        let mut sums = [0];
        self.kernel.dots(&probe.codes, &block.codes, &[to_u16(row)], &mut sums);
        to_f32(sums[0]) * probe.scale * block.scales[row]
    }

    /// How far the direction of `row` is from that of `vector`, which it stores: an upper bound of the error in any
    /// cosine of the row.
    pub(super) fn deviation(&self, row: usize, vector: &[f32]) -> f32 {
        let block = &self.blocks[row / BLOCK];
        let row = row % BLOCK;
        let codes = block.codes[row * self.stride..].iter().map(|&code| f32::from(code));
        deviation(codes, block.scales[row], vector)
    }

    fn reserve(&mut self, row: usize) {
        let stride = self.stride;
        if row / BLOCK >= self.blocks.len() {
            self.blocks.resize_with(row / BLOCK + 1, || Block {
                codes: vec![0; BLOCK * stride].into_boxed_slice(),
                scales: vec![0.0; BLOCK].into_boxed_slice(),
            });
        }
    }
}

impl Block {
    fn set(&mut self, row: usize, stride: usize, vector: &[f32]) {
        let codes = &mut self.codes[row * stride..][..vector.len()];
        let factor = CODE_MAX / largest(vector);
        for (code, value) in codes.iter_mut().zip(vector) {
            *code = nearest(value * factor);
        }
        // The norm of the codes, not of the vector: the stored row then is a unit vector.
        let square: i32 = codes.iter().map(|&code| i32::from(code) * i32::from(code)).sum();
        self.scales[row] = if square == 0 { 0.0 } else { to_f32(square).sqrt().recip() };
    }
}

impl Rows {
    /// The `wanted` ones among the first `count` rows, at most a block.
    pub(super) fn select(count: usize, wanted: impl Fn(usize) -> bool) -> Self {
        let mut rows = Self { places: [0; BLOCK], count: 0 };
        // Without a branch: which rows are wanted cannot be predicted.
        for row in 0..count {
            rows.places[rows.count] = to_u16(row);
            rows.count += usize::from(wanted(row));
        }
        rows
    }

    /// The rows of a block from place `from` up to, not including, `to`.
    pub(super) fn range(from: usize, to: usize) -> Self {
        let mut rows = Self { places: [0; BLOCK], count: to - from };
        for (place, row) in rows.places.iter_mut().zip(from..to) {
            *place = to_u16(row);
        }
        rows
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.list().iter().map(|&row| usize::from(row))
    }

    fn list(&self) -> &[u16] {
        &self.places[..self.count]
    }
}

impl Probe {
    fn new(vector: &[f32], stride: usize) -> Option<Self> {
        let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        if !norm.is_normal() {
            return None;
        }
        // Any partial sum of a product is at most the product of the norms (Cauchy and
        // Schwarz): this bound keeps it within i32, with a margin for rounding.
        let bound = 2_100_000_000.0 / (CODE_MAX * length_to_f32(stride).sqrt());
        let factor = (32_767.0 / largest(vector)).min(bound / norm);
        let mut codes: Vec<i16> = vector.iter().map(|value| to_i16(value * factor)).collect();
        codes.resize(stride, 0);
        let square: f32 = codes.iter().map(|&code| f32::from(code) * f32::from(code)).sum();
        (square > 0.0).then(|| Self { codes, scale: square.sqrt().recip() })
    }

    /// How far its direction is from that of `vector`, which it was made of.
    pub(super) fn deviation(&self, vector: &[f32]) -> f32 {
        deviation(self.codes.iter().map(|&code| f32::from(code)), self.scale, vector)
    }
}

/// The distance of two unit vectors: the codes at their scale, and the vector.
fn deviation(codes: impl Iterator<Item = f32>, scale: f32, vector: &[f32]) -> f32 {
    let inverse = vector.iter().map(|value| value * value).sum::<f32>().sqrt().recip();
    let differences = codes.zip(vector).map(|(code, value)| code * scale - value * inverse);
    differences.map(|difference| difference * difference).sum::<f32>().sqrt()
}

/// The largest magnitude, over lanes so that it vectorises.
fn largest(vector: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 16];
    for values in vector.chunks(16) {
        for (lane, value) in lanes.iter_mut().zip(values) {
            let value = value.abs();
            *lane = if value > *lane { value } else { *lane };
        }
    }
    lanes.into_iter().fold(0.0, f32::max)
}

#[allow(clippy::cast_possible_truncation, reason = "a place in a block")]
fn to_u16(row: usize) -> u16 {
    row as u16
}

#[allow(clippy::cast_possible_truncation, reason = "the low byte is the rounded code")]
fn nearest(value: f32) -> i8 {
    (value + ROUND).to_bits() as i8
}

#[allow(clippy::cast_possible_truncation, reason = "the caller scales to the range of i16")]
fn to_i16(value: f32) -> i16 {
    value.round() as i16
}

#[allow(clippy::cast_precision_loss, reason = "24 bits are more than the codes hold")]
fn to_f32(sum: i32) -> f32 {
    sum as f32
}

#[allow(clippy::cast_precision_loss, reason = "dimensions are small")]
fn length_to_f32(length: usize) -> f32 {
    length as f32
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{BLOCK, Vectors};

    fn cosine(a: &[f32], b: &[f32]) -> f64 {
        let dot = |a: &[f32], b: &[f32]| -> f64 {
            a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
        };
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    proptest! {
        #[test]
        fn a_stored_vector_keeps_its_cosine(
            (row, query) in (1..200_usize)
                .prop_flat_map(|n| (vec(-1.0..1.0_f32, n), vec(-1.0..1.0_f32, n)))
        ) {
            prop_assume!(cosine(&row, &query).is_finite());
            let mut vectors = Vectors::new(row.len());
            vectors.set(5, &row);
            let Some(probe) = vectors.probe(&query) else { return Ok(()) };
            let got = f64::from(vectors.cosine(&probe, 5));
            prop_assert!((got - cosine(&row, &query)).abs() < 0.01);
            prop_assert!(vectors.cosine(&probe, 4) == 0.0 && vectors.cosine(&probe, BLOCK) == 0.0);
            let own = vectors.probe(&row).map(|probe| vectors.cosine(&probe, 5));
            prop_assert!(own.is_some_and(|own| (own - 1.0).abs() < 1e-4 + 0.01));
        }
    }

    #[test]
    fn a_vector_without_direction_is_no_vector() {
        let mut vectors = Vectors::new(4);
        for bad in [[0.0; 4], [f32::NAN; 4], [f32::INFINITY, 0.0, 0.0, 1.0]] {
            vectors.set(0, &bad);
            let Some(probe) = vectors.probe(&[1.0, 0.0, 0.0, 0.0]) else { panic!("unit vector") };
            assert!(vectors.cosine(&probe, 0) == 0.0, "{bad:?}");
            assert!(vectors.probe(&bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn bulk_and_single_writes_agree() {
        let rows: Vec<(usize, Vec<f32>)> =
            (0..9_u8).map(|i| (usize::from(i) * 1500, vec![f32::from(i), 1.0, -0.5])).collect();
        let mut bulk = Vectors::new(3);
        bulk.fill(&rows.iter().map(|(row, vector)| (*row, &vector[..])).collect::<Vec<_>>());
        let mut single = Vectors::new(3);
        for (row, vector) in &rows {
            single.set(*row, vector);
        }
        let Some(probe) = bulk.probe(&[0.3, -0.2, 0.9]) else { panic!("a direction") };
        for row in 0..13_000 {
            let cosines = [&bulk, &single].map(|vectors| vectors.cosine(&probe, row).to_bits());
            assert_eq!(cosines[0], cosines[1]);
        }
    }
}
