//! What both clients share: where the daemon is, how long things may take, and what can go wrong on the way.

use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memoryd_proto::{Call, Code, Fault, Request, frame, socket};

/// How long a call may take, unless told otherwise.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// How long it may take to connect and to exchange greetings.
pub const GREETING: Duration = Duration::from_secs(5);

/// No deadline is longer, so that adding it to an instant never overflows.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// The daemon's socket in this process's environment.
pub fn socket_path() -> Result<PathBuf, Fault> {
    socket::path(|name| std::env::var_os(name), rustix::process::geteuid().as_raw())
}

/// When a call ends that starts now.
pub fn until(deadline: Duration) -> Instant {
    Instant::now() + deadline.min(LONGEST)
}

/// When greetings must have been exchanged, in a call that ends at `until`.
pub fn greeted_until(until: Instant) -> Instant {
    until.min(Instant::now() + GREETING)
}

/// The frame that carries a call.
pub fn request<C: Call>(call: C) -> Result<Vec<u8>, Fault> {
    let request: Request = call.into();
    frame::encode(&request)
}

/// The reply to a call of type `C`.
pub fn reply<C: Call>(payload: &[u8]) -> Result<C::Reply, Fault> {
    frame::decode::<Result<C::Reply, Fault>>(payload)?
}

/// Why a request got no reply.
#[derive(Debug)]
pub enum Failure {
    /// The connection broke before the whole request was written: the daemon cannot have acted on it.
    Unsent,
    /// Anything else.
    Fault(Fault),
}

impl Failure {
    /// The fault to report when there is nothing left to try.
    pub fn into_fault(self, path: &Path) -> Fault {
        match self {
            Self::Unsent => refused(path),
            Self::Fault(fault) => fault,
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Refuses a socket that another user put where ours is expected, as anyone can below `/tmp`.
pub fn own(path: &Path) -> Result<(), Fault> {
    let Ok(metadata) = path.symlink_metadata() else { return Ok(()) };
    if metadata.uid() == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(Fault::unavailable(
        format!("The socket {} belongs to another user", path.display()),
        "Nothing was sent to it. Set MEMORYD_SOCKET to the socket of your own daemon.",
    ))
}

/// The fault for a failed connect.
pub fn unreachable(path: &Path, error: &io::Error) -> Fault {
    if timed_out(error) {
        return late_greeting(path);
    }
    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused | ErrorKind::NotADirectory) {
        return Fault::unavailable(
            format!("No daemon answers at {}", path.display()),
            "Start it with `memoryctl start`.",
        );
    }
    Fault::unavailable(
        format!("The socket {} cannot be used: {error}", path.display()),
        "Check its permissions, or set MEMORYD_SOCKET to the socket of your own daemon.",
    )
}

/// The fault for a connection that broke while greetings were exchanged.
pub fn no_greeting(path: &Path, error: &io::Error) -> Fault {
    if timed_out(error) { late_greeting(path) } else { refused(path) }
}

/// The fault for a connection that broke after the whole request was sent.
pub fn no_reply(error: &io::Error) -> Fault {
    if timed_out(error) {
        return late();
    }
    Fault::unavailable(
        "The daemon went away before it answered",
        "Whether it acted on the request is unknown. Send it again: what carries an id, such as a report, counts once.",
    )
}

/// The fault for a call that took too long.
pub fn late() -> Fault {
    Fault::new(
        Code::Deadline,
        "The daemon did not answer within the deadline",
        "It may be busy or stopped; see `memoryctl status`. It may still act on the request.",
    )
}

/// Whether an error only says that the time is up.
pub fn timed_out(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn late_greeting(path: &Path) -> Fault {
    Fault::new(
        Code::Deadline,
        format!("Something listens at {}, but did not greet in time", path.display()),
        "The daemon may be busy, or stopped. If more time does not help, restart it.",
    )
}

fn refused(path: &Path) -> Fault {
    Fault::unavailable(
        format!("The daemon at {} closed the connection at once", path.display()),
        "It may be about to exit: try again, or start it with `memoryctl start`.",
    )
}
