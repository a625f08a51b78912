//! Further vectors of a document: the tasks in which it helped.

use super::vectors::{BLOCK, Probe, Rows, Vectors};
use super::{CaseId, parallel};

/// Marks the end of a list and a row without a case.
const NONE: u32 = u32::MAX;

/// The cases of all documents: a table of vectors, chained by document.
pub(super) struct Cases {
    vectors: Vectors,
    rows: Vec<Row>,
    /// By slot: the first row of its chain. Not longer than the highest slot with cases.
    heads: Vec<u32>,
    free: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Row {
    owner: u32,
    id: CaseId,
    next: u32,
    /// Whether a query finds the document by it.
    finds: bool,
}

impl Cases {
    pub(super) fn new(dimension: usize) -> Self {
        Self { vectors: Vectors::new(dimension), rows: Vec::new(), heads: Vec::new(), free: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() == self.free.len()
    }

    /// Adds a case to `slot`, or gives the one with this `id` another vector.
    pub(super) fn add(&mut self, slot: u32, id: CaseId, vector: &[f32], finds: bool) {
        let known = self.rows(slot).find(|&row| self.rows[row as usize].id == id);
        let row = known.unwrap_or_else(|| {
            if self.heads.len() <= slot as usize {
                self.heads.resize(slot as usize + 1, NONE);
            }
            let head = &mut self.heads[slot as usize];
            let case = Row { owner: slot, id, next: *head, finds };
            *head = if let Some(row) = self.free.pop() {
                self.rows[row as usize] = case;
                row
            } else {
                self.rows.push(case);
                u32::try_from(self.rows.len() - 1).unwrap_or(NONE)
            };
            *head
        });
        self.rows[row as usize].finds = finds;
        self.vectors.set(row as usize, vector);
    }

    /// Removes one case of `slot`; whether it was there.
    pub(super) fn remove(&mut self, slot: u32, id: CaseId) -> bool {
        let mut before = NONE;
        let mut row = self.head(slot);
        while row != NONE {
            let case = self.rows[row as usize];
            if case.id == id {
                if before == NONE {
                    self.heads[slot as usize] = case.next;
                } else {
                    self.rows[before as usize].next = case.next;
                }
                self.release(row);
                return true;
            }
            (before, row) = (row, case.next);
        }
        false
    }

    /// Removes every case of `slot`.
    pub(super) fn clear(&mut self, slot: u32) {
        let mut row = self.head(slot);
        if row != NONE {
            self.heads[slot as usize] = NONE;
        }
        while row != NONE {
            let next = self.rows[row as usize].next;
            self.release(row);
            row = next;
        }
    }

    /// Writes the cosine of each row whose document is `wanted` to `cosines`.
    pub(super) fn scan(&self, probe: &Probe, wanted: impl Fn(u32) -> bool + Sync, cosines: &mut Vec<f32>) {
        cosines.resize(self.rows.len(), 0.0);
        parallel::map_mut(cosines, BLOCK, |base, cosines| {
            let rows = &self.rows[base..][..cosines.len()];
            let rows = Rows::select(cosines.len(), |at| {
                rows[at].finds && rows[at].owner != NONE && wanted(rows[at].owner)
            });
            self.vectors.cosines(probe, base / BLOCK, &rows, |at, cosine| {
                cosines[at] = cosine;
            });
        });
    }

    /// The highest of the `cosines` of the cases that find `slot`.
    pub(super) fn best_of(&self, slot: u32, cosines: &[f32]) -> Option<f32> {
        self.finding(slot).map(|row| cosines[row as usize]).reduce(f32::max)
    }

    /// The cosine of every case of `slot`.
    pub(super) fn cosines(&self, probe: &Probe, slot: u32) -> Vec<(CaseId, f32)> {
        self.rows(slot)
            .map(|row| (self.rows[row as usize].id, self.vectors.cosine(probe, row as usize)))
            .collect()
    }

    /// The case nearest to `probe` of those that find `slot`, of equals the one with the lowest id.
    pub(super) fn nearest(&self, probe: &Probe, slot: u32) -> Option<(f32, CaseId)> {
        self.finding(slot)
            .map(|row| (self.vectors.cosine(probe, row as usize), self.rows[row as usize].id))
            .reduce(
                |best, other| {
                    if other.0 > best.0 || (other.0 >= best.0 && other.1 < best.1) { other } else { best }
                },
            )
    }

    fn finding(&self, slot: u32) -> impl Iterator<Item = u32> {
        self.rows(slot).filter(|&row| self.rows[row as usize].finds)
    }

    fn head(&self, slot: u32) -> u32 {
        self.heads.get(slot as usize).copied().unwrap_or(NONE)
    }

    fn rows(&self, slot: u32) -> impl Iterator<Item = u32> {
        let present = |row| (row != NONE).then_some(row);
        std::iter::successors(present(self.head(slot)), move |&row| present(self.rows[row as usize].next))
    }

    fn release(&mut self, row: u32) {
        self.rows[row as usize].owner = NONE;
        self.vectors.clear(row as usize);
        self.free.push(row);
    }
}
