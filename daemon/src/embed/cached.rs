//! An embedder that remembers.

use std::{
    num::NonZeroUsize,
    sync::{Mutex, MutexGuard, PoisonError},
};

use lru::LruCache;
use sha2::{Digest, Sha256};

use super::{Embed, Embedding, Error};

/// Stands for a text, so that a long text takes no more memory than a short
/// one.
type Key = [u8; 32];

/// Remembers the embeddings of the texts used last.
///
/// Two threads that ask for the same new text at the same time both compute
/// it.
pub struct Cached<E> {
    inner: E,
    known: Mutex<LruCache<Key, Embedding>>,
}

impl<E: Embed> Cached<E> {
    /// Remembers up to `capacity` embeddings of `inner`.
    ///
    /// One embedding takes about four bytes per dimension.
    pub fn new(inner: E, capacity: NonZeroUsize) -> Self {
        Self { inner, known: Mutex::new(LruCache::new(capacity)) }
    }

    fn known(&self) -> MutexGuard<'_, LruCache<Key, Embedding>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Embed> Embed for Cached<E> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, Error> {
        let keys: Vec<Key> = texts.iter().map(|text| Sha256::digest(text).into()).collect();
        let mut found: Vec<Option<Embedding>> = {
            let mut known = self.known();
            keys.iter().map(|key| known.get(key).cloned()).collect()
        };
        let missing: Vec<usize> = (0..texts.len()).filter(|&i| found[i].is_none()).collect();
        if !missing.is_empty() {
            let fresh = self.inner.embed(&missing.iter().map(|&i| texts[i]).collect::<Vec<_>>())?;
            let mut known = self.known();
            for (i, embedding) in missing.into_iter().zip(fresh) {
                known.put(keys[i], embedding.clone());
                found[i] = Some(embedding);
            }
        }
        Ok(found.into_iter().flatten().collect())
    }

    fn embed_behind(&self, texts: &[&str]) -> Result<Vec<Embedding>, Error> {
        self.inner.embed_behind(texts)
    }
}
