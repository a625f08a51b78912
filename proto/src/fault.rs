//! What went wrong, as it crosses the wire.

use serde::{Deserialize, Serialize};

/// An error that a person or a program can act on: a code to branch on, what happened to what, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}. {advice}")]
pub struct Fault {
    /// The kind of fault, for programs.
    pub code: Code,
    /// What happened, to what. No full stop at the end.
    pub message: String,
    /// What to do next, as whole sentences.
    pub advice: String,
}

/// The kinds of faults. The exit codes of `memoryctl` follow them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The request breaks a rule; nothing was changed.
    Invalid,
    /// What the request names does not exist.
    NotFound,
    /// The request contradicts what is stored, such as a recall that was already reported.
    Conflict,
    /// No daemon answers at the socket, or it went away.
    Unavailable,
    /// The answer did not come within the deadline.
    Deadline,
    /// Client and daemon speak different versions of the protocol.
    Version,
    /// The daemon has as much to do as it accepts; the same request may succeed later.
    Busy,
    /// Reading or writing stored data failed, or the daemon has a defect.
    Internal,
}

impl Fault {
    /// A fault of any kind.
    pub fn new(code: Code, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { code, message: message.into(), advice: advice.into() }
    }

    /// The request breaks a rule.
    pub fn invalid(message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(Code::Invalid, message, advice)
    }

    /// What the request names does not exist.
    pub fn not_found(message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message, advice)
    }

    /// The request contradicts what is stored.
    pub fn conflict(message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(Code::Conflict, message, advice)
    }

    /// No daemon answers.
    pub fn unavailable(message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(Code::Unavailable, message, advice)
    }
}
