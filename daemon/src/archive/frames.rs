//! The frames of an archive's file. Each was appended as a whole, and is read as a whole or not at all.

use std::io::Write;

/// Balances size and time; archives are small.
const LEVEL: i32 = 3;

/// What every frame begins with.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A part of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// A frame.
    Whole {
        /// Where it ends.
        end: usize,
        /// Its lines.
        text: String,
    },
    /// Bytes that are no frame: one that was not written to its end, or was changed since.
    Damaged {
        /// Where they begin.
        at: usize,
        /// How many.
        bytes: usize,
    },
}

/// Compresses lines into a frame. It carries a checksum, so that damage is noticed.
pub fn encode(lines: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.write_all(lines)?;
    encoder.finish()
}

/// The frame at the start of `bytes`, and its length.
pub fn decode(bytes: &[u8]) -> Option<(usize, String)> {
    let length = zstd::zstd_safe::find_frame_compressed_size(bytes).ok()?;
    let lines = zstd::decode_all(bytes.get(..length)?).ok()?;
    Some((length, String::from_utf8(lines).ok()?))
}

/// The parts of a file, in order. After damage it goes on with the next frame that can be read.
pub fn pieces(bytes: &[u8]) -> impl Iterator<Item = Piece> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        if let Some((length, text)) = decode(rest) {
            at += length;
            return Some(Piece::Whole { end: at, text });
        }
        let starts = (at + 1..bytes.len()).filter(|&start| bytes[start..].starts_with(&MAGIC));
        let next = starts.into_iter().find(|&start| decode(&bytes[start..]).is_some()).unwrap_or(bytes.len());
        let damaged = Piece::Damaged { at, bytes: next - at };
        at = next;
        Some(damaged)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8]) -> Vec<Option<String>> {
        let told = |piece| match piece {
            Piece::Whole { text, .. } => Some(text),
            Piece::Damaged { .. } => None,
        };
        pieces(bytes).map(told).collect()
    }

    #[test]
    fn whatever_is_cut_off_the_frames_before_it_are_read() {
        let first = encode(b"one\ntwo\n").unwrap();
        let second = encode(b"three\n").unwrap();
        let both = [first.clone(), second].concat();
        assert_eq!(texts(&both), [Some("one\ntwo\n".to_owned()), Some("three\n".to_owned())]);
        for length in first.len() + 1..both.len() {
            assert_eq!(texts(&both[..length]), [Some("one\ntwo\n".to_owned()), None], "{length}");
        }
    }

    #[test]
    fn a_frame_after_damage_is_read() {
        let (first, second) = (encode(b"one\n").unwrap(), encode(b"two\n").unwrap());
        for length in 1..first.len() {
            let damaged = [&first[..length], &second].concat();
            assert_eq!(texts(&damaged), [None, Some("two\n".to_owned())], "{length}");
        }
        let mut changed = first.clone();
        changed[10] ^= 1;
        assert_eq!(texts(&[changed, second].concat()), [None, Some("two\n".to_owned())]);
    }
}
