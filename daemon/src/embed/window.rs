//! The part of a text that the model sees.

use tokenizers::{Tokenizer, TruncationParams};

use super::Error;

/// The most tokens that are kept of a text, markers included.
const TOKENS: usize = 256;

/// The most bytes that are given to the tokenizer.
///
/// It reads its whole input before it truncates, which takes seconds for
/// megabytes. Prose has four to six bytes in a token.
const BYTES: usize = TOKENS * 32;

/// Cuts texts to a fixed number of tokens.
pub(super) struct Window {
    tokenizer: Tokenizer,
}

/// The tokens of one text.
pub(super) struct Tokens {
    /// What the model reads; never empty.
    pub(super) ids: Vec<i32>,
    /// Whether part of the text was left out.
    pub(super) truncated: bool,
}

impl Window {
    /// Reads a tokenizer in JSON. Its own truncation and padding are ignored.
    pub(super) fn new(json: &[u8]) -> Result<Self, tokenizers::Error> {
        let mut tokenizer = Tokenizer::from_bytes(json)?;
        tokenizer
            .with_padding(None)
            .with_truncation(Some(TruncationParams { max_length: TOKENS, ..TruncationParams::default() }))?;
        Ok(Self { tokenizer })
    }

    /// Splits `text` into at most [`TOKENS`] tokens.
    pub(super) fn tokens(&self, text: &str) -> Result<Tokens, Error> {
        let text = text.trim();
        let (head, tail) = text.split_at(text.floor_char_boundary(BYTES));
        let encoding = self.tokenizer.encode_fast(head, true).map_err(Error::Tokenise)?;
        let mut ids: Vec<i32> = encoding.get_ids().iter().map(|id| id.cast_signed()).collect();
        if ids.is_empty() {
            // A tokenizer without markers finds nothing in an empty text, but
            // the network needs something to read.
            ids.push(0);
        }
        Ok(Tokens { ids, truncated: !tail.is_empty() || !encoding.get_overflowing().is_empty() })
    }
}
