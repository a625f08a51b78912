//! The service manager above the daemon: the socket that it holds for it, and what it is told. Where there is none,
//! nothing is told.

#![allow(unsafe_code, reason = "a descriptor that was inherited is known by its number alone")]

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use interprocess::local_socket::tokio::Listener;
use interprocess::os::unix::uds_local_socket;
use memoryd_proto::{Ping, Serve};
use rustix::net::sockopt;
use sd_notify::NotifyState;
use tokio::task::spawn_blocking;

use crate::database;
use crate::service::App;

/// How many times the watchdog hears of the daemon before it would lose patience.
const PINGS: u32 = 3;

/// Why the socket of the service manager cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its variables or its descriptor are not usable.
    #[error(
        "The service manager's socket cannot be used: {0}. Start memoryd by its units (memoryctl service install), or without LISTEN_FDS"
    )]
    Unusable(#[from] io::Error),
    /// It is not one listening stream socket with a path.
    #[error(
        "The service manager passes {0}, and memoryd serves one listening stream socket at a path. Give its socket unit one ListenStream="
    )]
    Strange(String),
}

/// A socket that the service manager opened. Its file belongs to the manager: it is never changed and never removed.
#[derive(Debug)]
pub struct Adopted {
    socket: OwnedFd,
    path: PathBuf,
}

impl Adopted {
    /// The socket that was passed to this process (`LISTEN_PID`, `LISTEN_FDS`), if one was. It can be taken once.
    ///
    /// # Errors
    /// When what was passed is not one listening socket.
    pub fn take() -> Result<Option<Self>, Error> {
        let mut passed = sd_notify::listen_fds()?;
        let count = passed.len();
        let Some(number) = passed.next() else { return Ok(None) };
        if count > 1 {
            return Err(Error::Strange(format!("{count} sockets")));
        }
        // SAFETY: the descriptor was opened for this process, which `LISTEN_PID` says, and `boot::run` takes it once,
        // before anything else could own it.
        Self::new(unsafe { OwnedFd::from_raw_fd(number) }).map(Some)
    }

    fn new(socket: OwnedFd) -> Result<Self, Error> {
        if !sockopt::socket_acceptconn(&socket).map_err(io::Error::from)? {
            return Err(Error::Strange("a socket that does not listen".to_owned()));
        }
        let listener = UnixListener::from(socket);
        let address = listener.local_addr()?;
        let Some(path) = address.as_pathname() else {
            return Err(Error::Strange("a socket without a path".to_owned()));
        };
        Ok(Self { path: path.to_owned(), socket: listener.into() })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it the daemon's own. Must be done in a runtime.
    ///
    /// # Errors
    /// When the runtime cannot take it.
    pub fn listen(self) -> Result<Listener, Error> {
        Ok(uds_local_socket::tokio::Listener::try_from(self.socket)?.into())
    }
}

/// Says that the socket answers.
pub fn ready(socket: &Path) {
    tell(&[NotifyState::Ready, NotifyState::Status(&format!("Answers at {}", socket.display()))]);
}

/// Says that the daemon ends, and finishes what was begun.
pub fn stopping() {
    tell(&[NotifyState::Stopping, NotifyState::Status("Finishes what was begun")]);
}

/// Keeps the watchdog quiet for as long as requests can be answered. Each sign of life goes the way of a request: by
/// the runtime to the blocking pool, and from there to the database. One that gets stuck is the last one. Never ends.
pub async fn keep_alive(app: Arc<App>) {
    let Some(patience) = sd_notify::watchdog_enabled() else { return std::future::pending().await };
    let mut ticks = tokio::time::interval((patience / PINGS).max(Duration::from_millis(1)));
    loop {
        ticks.tick().await;
        let app = app.clone();
        if spawn_blocking(move || answers(&app)).await.is_ok_and(|answers| answers) {
            tell(&[NotifyState::Watchdog]);
        }
    }
}

/// Whether a request is answered. A database that says why it cannot be read is no reason to be killed: each request is
/// told the same.
fn answers(app: &App) -> bool {
    if let Err(error) = app.journal.view().read(|connection| database::meta(connection, "model")) {
        tracing::warn!(%error, "the database cannot be read");
    }
    app.serve(Ping {}).is_ok()
}

fn tell(states: &[NotifyState]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "the service manager cannot be told");
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn only_a_listening_socket_with_a_path_is_served() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listening = UnixListener::bind(&path).unwrap();
        assert_eq!(Adopted::new(listening.into()).unwrap().path(), path);
        let (connected, _other) = UnixStream::pair().unwrap();
        let error = Adopted::new(connected.into()).unwrap_err().to_string();
        assert!(error.contains("does not listen") && error.contains("ListenStream="), "{error}");
        let file = std::fs::File::open(folder.path()).unwrap();
        assert!(matches!(Adopted::new(file.into()), Err(Error::Unusable(_))));
    }
}
