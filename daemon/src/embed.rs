//! Turns text into vectors whose angles follow the meaning of the text.
//!
//! The model runs in this process, on the CPU, and never touches the network.

mod cached;
mod lanes;
mod lookup;
mod network;
mod onnx;
mod window;

#[cfg(test)]
mod tests;

use std::{io, path::PathBuf};

pub use cached::Cached;
pub use onnx::Onnx;

/// Turns text into vectors.
///
/// The same text always gives the same vector, bit for bit, whatever other
/// texts come with it and however many threads are at work.
pub trait Embed: Send + Sync {
    /// The stable name of the model.
    ///
    /// Vectors can be compared only when the same model made them, so the name
    /// is stored with the data.
    fn model(&self) -> &str;

    /// The number of elements in every vector.
    fn dimension(&self) -> usize;

    /// Embeds `texts` and returns one embedding per text, in order.
    ///
    /// Any text is allowed, even an empty one.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::Tokenise`], [`Error::Run`], [`Error::Output`] or
    /// [`Error::Direction`] when the model cannot handle a text. No embedding
    /// is returned then.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, Error>;

    /// Embeds texts that nobody waits for, to the same bits. This gives way to
    /// [`Embed::embed`], and leaves what is remembered of it alone.
    ///
    /// # Errors
    ///
    /// Like [`Embed::embed`].
    fn embed_behind(&self, texts: &[&str]) -> Result<Vec<Embedding>, Error>;
}

/// The vector of one text.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// A vector of length 1, so that a dot product is a cosine.
    pub vector: Vec<f32>,
    /// Whether the text was longer than the model's window. The vector then
    /// stands for the beginning of the text only.
    pub truncated: bool,
}

/// Why a model could not be loaded or a text not be embedded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the model could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// The model file is damaged, or uses what the runtime does not support.
    #[error("cannot load the model {model}")]
    Model {
        /// The name of the model.
        model: String,
        /// What went wrong.
        source: rten::LoadError,
    },
    /// The tokenizer file is damaged or not a tokenizer.
    #[error("cannot load the tokenizer of the model {model}")]
    Tokenizer {
        /// The name of the model.
        model: String,
        /// What went wrong.
        source: tokenizers::Error,
    },
    /// The model file is not an ONNX model, or not one that takes token ids.
    #[error("the model {model} is no text encoder: {reason}")]
    Unsuitable {
        /// The name of the model.
        model: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A text could not be split into tokens.
    #[error("cannot split the text into tokens")]
    Tokenise(#[source] tokenizers::Error),
    /// The model failed on a text.
    #[error("cannot run the model")]
    Run(#[source] rten::RunError),
    /// The model's first output is not one vector of floats per token.
    #[error("the model does not give one vector per token")]
    Output(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The model gave a vector of zeros, or one that is not finite.
    #[error("the model gave a vector without a direction")]
    Direction,
}
