//! Frames: a length in four bytes, little endian, then that many bytes of bincode.

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::fault::{Code, Fault};

/// The largest payload of a frame, in bytes. It is checked before anything is allocated.
pub const CAP: usize = 16 * 1024 * 1024;

/// Bytes of the length that opens a frame.
pub const HEADER: usize = 4;

const CODEC: Configuration<LittleEndian, Varint, Limit<CAP>> =
    bincode::config::standard().with_limit::<CAP>();

/// The payload's length that a frame's header announces.
///
/// # Errors
/// When it exceeds [`CAP`].
pub fn length(header: [u8; HEADER]) -> Result<usize, Fault> {
    let length = u32::from_le_bytes(header) as usize;
    if length > CAP { Err(too_large(length)) } else { Ok(length) }
}

/// A whole frame with `value` as its payload.
///
/// # Errors
/// When the payload exceeds [`CAP`].
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, Fault> {
    let mut bytes = vec![0; HEADER];
    bincode::serde::encode_into_std_write(value, &mut bytes, CODEC).map_err(|error| {
        Fault::new(
            Code::Internal,
            format!("A message cannot be encoded: {error}"),
            "Please report this as a defect.",
        )
    })?;
    let length = bytes.len() - HEADER;
    let announced = u32::try_from(length).ok().filter(|_| length <= CAP).ok_or_else(|| too_large(length))?;
    bytes[..HEADER].copy_from_slice(&announced.to_le_bytes());
    Ok(bytes)
}

/// The value in a frame's payload.
///
/// # Errors
/// When the payload is no `T`, or has bytes left over.
pub fn decode<T: DeserializeOwned>(payload: &[u8]) -> Result<T, Fault> {
    let garbled = |what: String| {
        Fault::invalid(
            format!("A message cannot be read: {what}"),
            "Client and daemon may be of different builds; install the same version of both.",
        )
    };
    match bincode::serde::decode_from_slice(payload, CODEC) {
        Ok((value, read)) if read == payload.len() => Ok(value),
        Ok((_, read)) => Err(garbled(format!("{} bytes are left over", payload.len() - read))),
        Err(error) => Err(garbled(error.to_string())),
    }
}

fn too_large(length: usize) -> Fault {
    Fault::invalid(
        format!("A message of {length} bytes exceeds the limit of {CAP}"),
        "Send less at once, for example an import in smaller parts.",
    )
}
