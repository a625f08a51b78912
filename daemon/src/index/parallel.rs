//! Work on blocks of slots, on several threads when that pays.

use rayon::prelude::*;

/// Fewer items than this are worked on by the calling thread alone.
const PAYS: usize = 1 << 15;

/// What `work` returns for each block of `items` and the place where the block starts.
pub(super) fn map<T: Send>(items: &[f32], size: usize, work: impl Fn(usize, &[f32]) -> T + Sync) -> Vec<T> {
    let work = |(number, block): (usize, &[f32])| work(number * size, block);
    if items.len() > PAYS {
        items.par_chunks(size).enumerate().map(work).collect()
    } else {
        items.chunks(size).enumerate().map(work).collect()
    }
}

/// Like [`map`], with blocks that `work` may change.
pub(super) fn map_mut<T: Send>(
    items: &mut [f32],
    size: usize,
    work: impl Fn(usize, &mut [f32]) -> T + Sync,
) -> Vec<T> {
    let work = |(number, block): (usize, &mut [f32])| work(number * size, block);
    if items.len() > PAYS {
        items.par_chunks_mut(size).enumerate().map(work).collect()
    } else {
        items.chunks_mut(size).enumerate().map(work).collect()
    }
}
