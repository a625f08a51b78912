//! Vectors fill in behind the words of the memory tree: what is known is taken, the rest is computed where nobody waits
//! for it, and kept, so that it is computed once.

use std::collections::{HashMap, HashSet};

use chrono::TimeDelta;
use memoryd_proto::Happening;
use parking_lot::Mutex;

use crate::error::Error;
use crate::ledger::note::{self, Digest};
use crate::notes::{Bare, Counts};
use crate::service::App;
use crate::service::maintenance::apart;

/// Entries whose vectors are looked up at once.
const KNOWN: usize = 512;

/// Bytes of text that are embedded before their vectors are kept: about a second's work, which is all that is lost when
/// the daemon is killed.
const KEPT: usize = 8 * 1024;

/// How much the last round counts for the pace.
const NEWEST: f64 = 0.1;

/// How vectors fill in.
#[derive(Default)]
pub struct Filling {
    /// The last hundredth of the vectors that was told.
    told: Mutex<Option<u64>>,
    /// Seconds that an entry takes.
    pace: Mutex<Option<f64>>,
}

impl Filling {
    #[allow(clippy::cast_precision_loss, reason = "entries stay far below 2^52")]
    fn took(&self, entries: usize, took: TimeDelta) {
        let each = took.as_seconds_f64() / entries.max(1) as f64;
        let mut pace = self.pace.lock();
        *pace = Some(pace.map_or(each, |pace| pace + (each - pace) * NEWEST));
    }

    /// About how many seconds it takes until all entries have vectors; none when they have, or nobody knows.
    #[allow(clippy::cast_precision_loss, reason = "entries stay far below 2^52")]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and not many")]
    pub(super) fn left(&self, counts: Counts) -> Option<u64> {
        let pace = (*self.pace.lock()).filter(|_| counts.bare() > 0)?;
        Some((pace * counts.bare() as f64).ceil() as u64)
    }
}

impl App {
    /// Gives some entries their vectors: those that are known, else those of a few are computed, on threads that give
    /// way to everybody. Returns whether there are more.
    ///
    /// # Errors
    /// Those of the database.
    pub fn embed_notes(&self) -> Result<bool, Error> {
        let view = self.view();
        let bare = view.notes.bare(KNOWN);
        if bare.is_empty() || view.degraded.is_some() {
            return Ok(false);
        }
        apart::run_behind(|| {
            let began = self.now();
            let known =
                view.read(|connection| note::vectors(connection, bare.iter().map(|one| one.digest)))?;
            let are_new = known.is_empty();
            let vectors = if are_new {
                self.make_vectors(&bare)?
            } else {
                known.into_iter().map(|(digest, vector)| (digest, Some(vector))).collect()
            };
            let clothed: Vec<_> =
                bare.iter().filter_map(|one| Some((one, vectors.get(&one.digest)?.as_deref()))).collect();
            view.notes.clothe(&clothed);
            if are_new {
                self.following.filling.took(clothed.len(), self.now() - began);
            }
            self.tell_embedded();
            Ok(!self.counters.stop.is_cancelled() && view.notes.counts().bare() > 0)
        })
    }

    /// Computes and keeps the vectors of the first entries, of equal ones once; none of what cannot be embedded.
    fn make_vectors(&self, bare: &[Bare]) -> Result<HashMap<Digest, Option<Vec<f32>>>, Error> {
        let (mut seen, mut bytes) = (HashSet::new(), 0);
        let (digests, texts): (Vec<Digest>, Vec<&str>) = bare
            .iter()
            .filter(|one| seen.insert(one.digest))
            .map(|one| (one.digest, one.text.as_str()))
            .take_while(|(_, text)| {
                let has_room = bytes < KEPT;
                bytes += text.len();
                has_room
            })
            .unzip();
        let vectors = self.vectors_behind(&texts);
        self.journal.recollect(|connection| {
            let made = digests.iter().zip(&vectors);
            made.into_iter().try_for_each(|(digest, vector)| match vector {
                Some(vector) => note::put_vector(connection, digest, vector),
                None => Ok(()),
            })
        })?;
        Ok(digests.into_iter().zip(vectors).collect())
    }

    fn vectors_behind(&self, texts: &[&str]) -> Vec<Option<Vec<f32>>> {
        let embedder = &self.view().embedder;
        match embedder.embed_behind(texts) {
            Ok(all) => all.into_iter().map(|one| Some(one.vector)).collect(),
            Err(error) if texts.len() == 1 => {
                tracing::warn!(%error, "an entry of the memory tree is found by its words only");
                vec![None]
            }
            Err(_) => texts.iter().flat_map(|text| self.vectors_behind(&[text])).collect(),
        }
    }

    /// Tells those who watch how many entries have vectors, once for each hundredth.
    fn tell_embedded(&self) {
        let (counts, filling) = (self.view().notes.counts(), &self.following.filling);
        let (done, of) = (counts.vectors as u64, counts.entries as u64);
        let hundredth = Some(done * 100 / of.max(1));
        let mut told = filling.told.lock();
        if *told != hundredth || done == of {
            *told = hundredth;
            self.tell(Happening::NotesEmbedded { done, of, left_seconds: filling.left(counts) });
        }
    }
}
