//! An embedder that runs an ONNX model.

use std::{
    cmp::Reverse,
    fs,
    num::NonZeroUsize,
    panic,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use sha2::{Digest, Sha256};

use crate::domain::text;

use super::{
    Embed, Embedding, Error,
    lanes::{Lanes, Place},
    network::Network,
    window::{Tokens, Window},
};

const BUNDLED: &str = "all-MiniLM-L6-v2";
const MODEL: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/model/model.onnx"));
const TOKENIZER: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/model/tokenizer.json"));

/// The most tokens in one run of the network, unless one text has more.
///
/// Larger batches are not faster. They only take memory and keep others
/// waiting.
const BATCH_TOKENS: usize = 256;

/// Runs an ONNX text encoder with mean pooling.
///
/// Many threads may embed at the same time. At most as many texts are in
/// computation as there are threads; the other callers wait in line.
pub struct Onnx {
    name: String,
    dimension: usize,
    window: Window,
    network: Network,
    lanes: Lanes,
}

impl Onnx {
    /// Loads the model that is part of the program: all-MiniLM-L6-v2, with 384
    /// dimensions and a window of 256 tokens.
    ///
    /// `threads` is the number of CPU threads to compute with. More threads
    /// embed more texts at a time, but no single text faster.
    ///
    /// # Errors
    ///
    /// Fails only when the program itself is damaged.
    pub fn bundled(threads: NonZeroUsize) -> Result<Self, Error> {
        Self::new(BUNDLED.to_owned(), MODEL, TOKENIZER, threads)
    }

    /// Loads another model from its ONNX file and its `tokenizer.json`.
    ///
    /// The network must take `input_ids`, and may take `attention_mask` and
    /// `token_type_ids`. Its first output must be one vector per token. Texts
    /// are cut to 256 tokens, and the token vectors are averaged.
    ///
    /// The model is named after the file and its content: the file stem, a
    /// hyphen, and the first 12 hexadecimal digits of the SHA-256 sum.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::Read`] when a file cannot be read, with
    /// [`Error::Model`], [`Error::Tokenizer`] or [`Error::Unsuitable`] when it
    /// does not hold what it should, and like [`Embed::embed`] when the model
    /// cannot embed a first text.
    pub fn from_files(model: &Path, tokenizer: &Path, threads: NonZeroUsize) -> Result<Self, Error> {
        let onnx = read(model)?;
        let stem = model.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{stem}-{}", text::hex(&Sha256::digest(&onnx)[..6]));
        Self::new(name, &onnx, &read(tokenizer)?, threads)
    }

    fn new(name: String, onnx: &[u8], tokenizer: &[u8], threads: NonZeroUsize) -> Result<Self, Error> {
        let window =
            Window::new(tokenizer).map_err(|source| Error::Tokenizer { model: name.clone(), source })?;
        let mut onnx = Self {
            network: Network::new(&name, onnx)?,
            name,
            dimension: 0,
            window,
            lanes: Lanes::new(threads),
        };
        // Files do not reliably tell the dimension, and a model that cannot
        // run should fail now.
        onnx.dimension = onnx.embed(&["probe"])?.iter().map(|e| e.vector.len()).sum();
        Ok(onnx)
    }

    /// Runs `batches` on all lanes, and returns vectors with the positions of
    /// their texts.
    fn run(
        &self,
        tokens: &[Tokens],
        batches: &[&[usize]],
        place: Place,
    ) -> Result<Vec<(usize, Vec<f32>)>, Error> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                let texts: Vec<&[i32]> = batch.iter().map(|&i| tokens[i].ids.as_slice()).collect();
                let lane = self.lanes.enter(place);
                let vectors = self.network.run(&texts, lane.pool())?;
                done.extend(batch.iter().copied().zip(vectors));
            }
            Ok(done)
        };
        thread::scope(|scope| {
            let helpers: Vec<_> =
                (1..self.lanes.count().get().min(batches.len())).map(|_| scope.spawn(work)).collect();
            let mut done = work()?;
            for helper in helpers {
                done.extend(helper.join().unwrap_or_else(|e| panic::resume_unwind(e))?);
            }
            Ok(done)
        })
    }

    fn embed_at(&self, texts: &[&str], place: Place) -> Result<Vec<Embedding>, Error> {
        let tokens = texts.iter().map(|text| self.window.tokens(text)).collect::<Result<Vec<_>, _>>()?;
        let length = |&i: &usize| tokens[i].ids.len();

        // Longest first, so that the lanes finish at about the same time.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|i| Reverse(length(i)));
        let batches: Vec<&[usize]> = order
            .chunk_by(|a, b| length(a) == length(b))
            .flat_map(|same| same.chunks((BATCH_TOKENS / length(&same[0])).max(1)))
            .collect();

        let mut vectors = self.run(&tokens, &batches, place)?;
        vectors.sort_unstable_by_key(|(i, _)| *i);
        Ok(vectors
            .into_iter()
            .zip(&tokens)
            .map(|((_, vector), tokens)| Embedding { vector, truncated: tokens.truncated })
            .collect())
    }
}

impl Embed for Onnx {
    fn model(&self) -> &str {
        &self.name
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, Error> {
        self.embed_at(texts, Place::Ahead)
    }

    fn embed_behind(&self, texts: &[&str]) -> Result<Vec<Embedding>, Error> {
        self.embed_at(texts, Place::Behind)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}
