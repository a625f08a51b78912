//! The client for agents that run on tokio.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use memoryd_proto::{Call, Fault, frame, handshake};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout_at};

use crate::Client;
use crate::connection::{self, Failure};

/// How long to wait when the daemon's queue of new connections is full.
const STEP: Duration = Duration::from_millis(10);

/// A daemon behind a socket, for code that runs on tokio. The same rules hold as for [`Client`].
///
/// A call whose future is dropped closes its connection. The daemon may still act on it.
#[derive(Debug)]
pub struct AsyncClient {
    path: PathBuf,
    deadline: Duration,
    idle: Mutex<Option<UnixStream>>,
}

impl AsyncClient {
    /// Connects to the daemon of this user, as [`Client::connect`] does.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn connect() -> Result<Self, Fault> {
        let client = Self::at(connection::socket_path()?);
        client.greet().await?;
        Ok(client)
    }

    /// Connects to the daemon of this user, and starts it first if none answers.
    ///
    /// # Errors
    /// As [`Client::start_or_connect`].
    pub async fn start_or_connect() -> Result<Self, Fault> {
        let (done, started) = oneshot::channel();
        thread::spawn(move || done.send(Client::start_or_connect()));
        match started.await {
            Ok(client) => Ok(Self::at(client?.path())),
            Err(_) => Self::connect().await,
        }
    }

    /// A client of the daemon at `path`. It connects at the first call, or by [`greet`](Self::greet).
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), deadline: connection::DEADLINE, idle: Mutex::new(None) }
    }

    /// Sets how long each call may take as a whole.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// The path of the daemon's socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes sure that a daemon of this version answers.
    ///
    /// # Errors
    /// When none does.
    pub async fn greet(&self) -> Result<(), Fault> {
        let stream = open(&self.path, connection::greeted_until(connection::until(self.deadline))).await?;
        self.keep(stream);
        Ok(())
    }

    /// The answer to `call`.
    ///
    /// # Errors
    /// The daemon's fault, or why the daemon could not be asked.
    pub async fn call<C: Call>(&self, call: C) -> Result<C::Reply, Fault> {
        let request = connection::request(call)?;
        let (payload, stream) = self.exchange(&request, connection::until(self.deadline)).await?;
        let reply = connection::reply::<C>(&payload);
        self.keep(stream);
        reply
    }

    async fn exchange(&self, request: &[u8], until: Instant) -> Result<(Vec<u8>, UnixStream), Fault> {
        if let Some(mut stream) = self.take() {
            match converse(&mut stream, request, until).await {
                Ok(payload) => return Ok((payload, stream)),
                Err(Failure::Unsent) => {}
                Err(Failure::Fault(fault)) => return Err(fault),
            }
        }
        let mut stream = open(&self.path, connection::greeted_until(until)).await?;
        match converse(&mut stream, request, until).await {
            Ok(payload) => Ok((payload, stream)),
            Err(failure) => Err(failure.into_fault(&self.path)),
        }
    }

    /// The idle connection, unless the daemon closed it.
    fn take(&self) -> Option<UnixStream> {
        let stream = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let probe = stream.try_read(&mut [0]);
        matches!(probe, Err(error) if error.kind() == io::ErrorKind::WouldBlock).then_some(stream)
    }

    fn keep(&self, stream: UnixStream) {
        *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(stream);
    }
}

/// A new connection on which greetings were exchanged.
async fn open(path: &Path, until: Instant) -> Result<UnixStream, Fault> {
    connection::own(path)?;
    let connected = timed(until, connect(path)).await;
    let mut stream = connected.map_err(|error| connection::unreachable(path, &error))?;
    let mut theirs = [0; handshake::LENGTH];
    // The daemon may close before it reads our greeting, and its own then still says why.
    let _ = timed(until, stream.write_all(&handshake::greeting())).await;
    timed(until, stream.read_exact(&mut theirs))
        .await
        .map_err(|error| connection::no_greeting(path, &error))?;
    handshake::check(theirs, handshake::Peer::Daemon)?;
    Ok(stream)
}

async fn connect(path: &Path) -> io::Result<UnixStream> {
    loop {
        match UnixStream::connect(path).await {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(STEP).await,
            other => return other,
        }
    }
}

/// Sends a request and reads the payload of its reply.
async fn converse(stream: &mut UnixStream, request: &[u8], until: Instant) -> Result<Vec<u8>, Failure> {
    if let Err(error) = timed(until, stream.write_all(request)).await {
        if connection::timed_out(&error) {
            return Err(connection::late().into());
        }
        // A daemon that is too busy answers without having read the request.
        return receive(stream, until).await.map_err(|_| Failure::Unsent);
    }
    receive(stream, until).await.map_err(Failure::Fault)
}

async fn receive(stream: &mut UnixStream, until: Instant) -> Result<Vec<u8>, Fault> {
    let mut header = [0; frame::HEADER];
    timed(until, stream.read_exact(&mut header)).await.map_err(|error| connection::no_reply(&error))?;
    let mut payload = vec![0; frame::length(header)?];
    timed(until, stream.read_exact(&mut payload)).await.map_err(|error| connection::no_reply(&error))?;
    Ok(payload)
}

async fn timed<T>(until: Instant, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout_at(until.into(), work).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
