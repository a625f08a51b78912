//! Integer dot products of one query with many rows: the only unsafe code of the index.
//!
//! A row is `i8`, the query `i16`, the sum `i32`. The sums are exact integers, so every
//! kernel gives the same result as [`Kernel::Portable`], on every machine.

#![allow(unsafe_code, reason = "vector loads and calls into functions compiled for optional CPU features")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_shuffle_epi32, _mm256_add_epi32, _mm256_castsi256_si128,
    _mm256_cvtepi8_epi16, _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_madd_epi16,
    _mm256_setzero_si256, _mm512_add_epi32, _mm512_cvtepi8_epi16, _mm512_dpwssd_epi32, _mm512_loadu_si512,
    _mm512_reduce_add_epi32, _mm512_setzero_si512,
};

/// Row and query lengths are multiples of this many components.
pub(super) const LANES: usize = 64;

/// An implementation of the dot product that this CPU can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    /// AVX-512 with VNNI; built only by [`Kernel::available`].
    #[cfg(target_arch = "x86_64")]
    Avx512(Detected),
    /// AVX2; built only by [`Kernel::available`].
    #[cfg(target_arch = "x86_64")]
    Avx2(Detected),
    /// Plain Rust, which the compiler vectorises for the target's baseline (SSE2, NEON).
    Portable,
}

/// Proof that the CPU has the features of the kernel that carries it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Detected(());

impl Kernel {
    /// The fastest kernel of this CPU.
    pub(super) fn detect() -> Self {
        Self::available().next().unwrap_or(Self::Portable)
    }

    /// Every kernel this CPU can run, fastest first.
    pub(super) fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let special = {
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vnni");
            let avx2 = is_x86_feature_detected!("avx2");
            [avx512.then_some(Self::Avx512(Detected(()))), avx2.then_some(Self::Avx2(Detected(())))]
        };
        #[cfg(not(target_arch = "x86_64"))]
        let special: [Option<Self>; 0] = [];
        special.into_iter().flatten().chain([Self::Portable])
    }

    /// Writes to `sums[i]` the dot product of `query` and row `rows[i]` of `codes`.
    ///
    /// The caller bounds the norms of query and rows so that no partial sum leaves `i32`.
    ///
    /// # Panics
    /// If the query's length is zero or no multiple of [`LANES`], or a row is not there.
    pub(super) fn dots(self, query: &[i16], codes: &[i8], rows: &[u16], sums: &mut [i32]) {
        assert!(!query.is_empty() && query.len().is_multiple_of(LANES));
        match self {
            // SAFETY: a value with `Detected` exists only on a CPU with the features.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => unsafe { dots_avx512(query, codes, rows, sums) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => unsafe { dots_avx2(query, codes, rows, sums) },
            Self::Portable => {
                for (&row, sum) in rows.iter().zip(sums) {
                    *sum = dot_portable(query, row_of(codes, row, query.len()));
                }
            }
        }
    }
}

#[inline]
fn row_of(codes: &[i8], row: u16, length: usize) -> &[i8] {
    &codes[usize::from(row) * length..][..length]
}

fn dot_portable(query: &[i16], row: &[i8]) -> i32 {
    query.iter().zip(row).map(|(&q, &r)| i32::from(q) * i32::from(r)).sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn dots_avx512(query: &[i16], codes: &[i8], rows: &[u16], sums: &mut [i32]) {
    for (&row, sum) in rows.iter().zip(sums) {
        let row = row_of(codes, row, query.len());
        let (mut even, mut odd) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for (q, r) in query.chunks_exact(64).zip(row.chunks_exact(64)) {
            // SAFETY: `q` is 64 readable i16 (two registers), `r` 64 readable i8 (two
            // half registers); unaligned loads.
            let (q0, q1, r0, r1) = unsafe {
                (
                    _mm512_loadu_si512(q.as_ptr().cast()),
                    _mm512_loadu_si512(q.as_ptr().add(32).cast()),
                    _mm256_loadu_si256(r.as_ptr().cast()),
                    _mm256_loadu_si256(r.as_ptr().add(32).cast()),
                )
            };
            even = _mm512_dpwssd_epi32(even, q0, _mm512_cvtepi8_epi16(r0));
            odd = _mm512_dpwssd_epi32(odd, q1, _mm512_cvtepi8_epi16(r1));
        }
        *sum = _mm512_reduce_add_epi32(_mm512_add_epi32(even, odd));
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dots_avx2(query: &[i16], codes: &[i8], rows: &[u16], sums: &mut [i32]) {
    for (&row, sum) in rows.iter().zip(sums) {
        let row = row_of(codes, row, query.len());
        let (mut even, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for (q, r) in query.chunks_exact(32).zip(row.chunks_exact(32)) {
            // SAFETY: `q` is 32 readable i16 (two registers), `r` 32 readable i8 (one
            // register); unaligned loads.
            let (q0, q1, r) = unsafe {
                (
                    _mm256_loadu_si256(q.as_ptr().cast()),
                    _mm256_loadu_si256(q.as_ptr().add(16).cast()),
                    _mm256_loadu_si256(r.as_ptr().cast()),
                )
            };
            let r0 = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(r));
            let r1 = _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(r));
            even = _mm256_add_epi32(even, _mm256_madd_epi16(q0, r0));
            odd = _mm256_add_epi32(odd, _mm256_madd_epi16(q1, r1));
        }
        *sum = sum_avx2(_mm256_add_epi32(even, odd));
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_avx2(lanes: __m256i) -> i32 {
    let half = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    let pair = _mm_add_epi32(half, _mm_shuffle_epi32::<0b01_00_11_10>(half));
    _mm_cvtsi128_si32(_mm_add_epi32(pair, _mm_shuffle_epi32::<0b10_11_00_01>(pair)))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{Kernel, LANES};

    fn query_codes_and_rows() -> impl Strategy<Value = (Vec<i16>, Vec<i8>, Vec<u16>)> {
        (1..8_usize, 1..6_u16).prop_flat_map(|(chunks, rows)| {
            let length = chunks * LANES;
            (
                vec(-9000..=9000_i16, length),
                vec(-127..=127_i8, length * usize::from(rows)),
                vec(0..rows, 0..9),
            )
        })
    }

    proptest! {
        #[test]
        fn every_kernel_equals_the_definition((query, codes, rows) in query_codes_and_rows()) {
            let dot = |row: &[i8]| -> i64 {
                query.iter().zip(row).map(|(&q, &r)| i64::from(q) * i64::from(r)).sum()
            };
            let expected: Vec<i64> = rows
                .iter()
                .map(|&row| dot(&codes[usize::from(row) * query.len()..][..query.len()]))
                .collect();
            for kernel in Kernel::available() {
                let mut sums = vec![0; expected.len()];
                kernel.dots(&query, &codes, &rows, &mut sums);
                let sums: Vec<i64> = sums.into_iter().map(i64::from).collect();
                prop_assert_eq!(&sums, &expected, "{:?}", kernel);
            }
        }
    }

    #[test]
    fn the_extremes_do_not_overflow() {
        let query = [i16::MIN; LANES];
        let codes = [i8::MIN; LANES];
        for kernel in Kernel::available() {
            let mut sum = [0];
            kernel.dots(&query, &codes, &[0], &mut sum);
            assert_eq!(sum, [64 * 128 * 32768], "{kernel:?}");
        }
    }
}
