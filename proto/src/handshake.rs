//! The greeting that both sides send before any frame. Its form never changes, so that any two versions understand
//! each other at least this far.

use crate::fault::{Code, Fault};

/// The version of calls and types. Any change to what crosses the wire raises it.
pub const PROTOCOL: u32 = 2;

/// Bytes of a greeting.
pub const LENGTH: usize = 12;

const MAGIC: &[u8; 8] = b"memoryd\n";

/// The greeting of this build.
#[must_use]
pub fn greeting() -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..].copy_from_slice(&PROTOCOL.to_le_bytes());
    bytes
}

/// Which end of the connection the greeting came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The daemon's greeting, read by a client.
    Daemon,
    /// A client's greeting, read by the daemon.
    Client,
}

/// Checks the greeting of the other side.
///
/// # Errors
/// When it is no greeting of memoryd, or of another protocol version. The fault says which side to restart.
pub fn check(bytes: [u8; LENGTH], peer: Peer) -> Result<(), Fault> {
    let [m0, m1, m2, m3, m4, m5, m6, m7, v0, v1, v2, v3] = bytes;
    let version = u32::from_le_bytes([v0, v1, v2, v3]);
    if [m0, m1, m2, m3, m4, m5, m6, m7] != *MAGIC {
        return Err(Fault::new(
            Code::Version,
            "The other side of the socket does not speak memoryd's protocol",
            "Check that MEMORYD_SOCKET names the socket of memoryd.",
        ));
    }
    if version == PROTOCOL {
        return Ok(());
    }
    let (client, daemon) = match peer {
        Peer::Daemon => (PROTOCOL, version),
        Peer::Client => (version, PROTOCOL),
    };
    let advice = if client > daemon {
        "The daemon is older: restart it from the installed version (`memoryctl restart`)."
    } else {
        "The client is older: restart the agent with the installed version of memoryd's client."
    };
    Err(Fault::new(
        Code::Version,
        format!("The client speaks protocol {client}, the daemon protocol {daemon}"),
        advice,
    ))
}
