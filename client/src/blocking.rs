//! The client without a runtime.

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use memoryd_proto::{Call, Fault, Serve, frame, handshake};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketType};

use crate::connection::{self, Failure};
use crate::launch;

/// A daemon behind a socket.
///
/// Calls may come from several threads at once; each then has a connection of its own. Between calls one connection
/// is kept open.
#[derive(Debug)]
pub struct Client {
    path: PathBuf,
    deadline: Duration,
    idle: Mutex<Option<UnixStream>>,
}

impl Client {
    /// Connects to the daemon of this user, where [`socket::path`](memoryd_proto::socket::path) says.
    ///
    /// # Errors
    /// At once when no daemon answers, or one of another version; after five seconds when it does not greet.
    pub fn connect() -> Result<Self, Fault> {
        let client = Self::here()?;
        client.greet()?;
        Ok(client)
    }

    /// Connects to the daemon of this user, and starts it first if none answers: the `memoryd` beside the running
    /// program, else the one in `PATH`. It runs on when this process ends; its log is `memoryd/memoryd.log` below
    /// `XDG_STATE_HOME`, which is `~/.local/state` if not set.
    ///
    /// # Errors
    /// When the daemon cannot be started or is not ready within ten seconds, with what it said; otherwise as
    /// [`connect`](Self::connect).
    pub fn start_or_connect() -> Result<Self, Fault> {
        let client = Self::here()?;
        client.start()?;
        Ok(client)
    }

    /// A client of this user's daemon. It connects at the first call, or by [`greet`](Self::greet).
    ///
    /// # Errors
    /// When the environment names no usable path.
    pub fn here() -> Result<Self, Fault> {
        connection::socket_path().map(Self::at)
    }

    /// A client of the daemon at `path`. It connects at the first call, or by [`greet`](Self::greet).
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), deadline: connection::DEADLINE, idle: Mutex::new(None) }
    }

    /// Sets how long each call may take as a whole, from connecting to the last byte of the reply.
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
    pub fn greet(&self) -> Result<(), Fault> {
        let stream = open(&self.path, connection::greeted_until(connection::until(self.deadline)))?;
        self.keep(stream);
        Ok(())
    }

    /// Starts the daemon, unless one answers, and waits until it is ready.
    ///
    /// # Errors
    /// As [`start_or_connect`](Self::start_or_connect).
    pub fn start(&self) -> Result<(), Fault> {
        launch::unless_running(self)
    }

    /// The daemon's program: the `memoryd` beside the running program, else the one in `PATH`.
    #[must_use]
    pub fn program() -> PathBuf {
        launch::program()
    }

    /// The answer to `call`.
    ///
    /// # Errors
    /// The daemon's fault, or why the daemon could not be asked.
    pub fn call<C: Call>(&self, call: C) -> Result<C::Reply, Fault> {
        let request = connection::request(call)?;
        let (payload, stream) = self.exchange(&request, connection::until(self.deadline))?;
        let reply = connection::reply::<C>(&payload);
        self.keep(stream);
        reply
    }

    fn exchange(&self, request: &[u8], until: Instant) -> Result<(Vec<u8>, UnixStream), Fault> {
        if let Some(stream) = self.take() {
            match converse(&stream, request, until) {
                Ok(payload) => return Ok((payload, stream)),
                Err(Failure::Unsent) => {}
                Err(Failure::Fault(fault)) => return Err(fault),
            }
        }
        let stream = open(&self.path, connection::greeted_until(until))?;
        match converse(&stream, request, until) {
            Ok(payload) => Ok((payload, stream)),
            Err(failure) => Err(failure.into_fault(&self.path)),
        }
    }

    /// The idle connection, unless the daemon closed it.
    fn take(&self) -> Option<UnixStream> {
        let stream = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        quiet(&stream).then_some(stream)
    }

    fn keep(&self, stream: UnixStream) {
        *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(stream);
    }
}

impl<C: Call> Serve<C> for Client {
    fn serve(&self, call: C) -> Result<C::Reply, Fault> {
        self.call(call)
    }
}

/// A new connection on which greetings were exchanged.
fn open(path: &Path, until: Instant) -> Result<UnixStream, Fault> {
    connection::own(path)?;
    let stream = connect(path, until).map_err(|error| connection::unreachable(path, &error))?;
    let mut timed = Timed { stream: &stream, until };
    let mut theirs = [0; handshake::LENGTH];
    // The daemon may close before it reads our greeting, and its own then still says why.
    let _ = timed.write_all(&handshake::greeting());
    timed.read_exact(&mut theirs).map_err(|error| connection::no_greeting(path, &error))?;
    handshake::check(theirs, handshake::Peer::Daemon)?;
    Ok(stream)
}

/// Connects like [`UnixStream::connect`], but gives up in time when the daemon's queue of new connections is full.
fn connect(path: &Path, until: Instant) -> io::Result<UnixStream> {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    let stream = UnixStream::from(socket);
    stream.set_write_timeout(Some(left(until)?))?;
    rustix::net::connect(&stream, &SocketAddrUnix::new(path)?)?;
    Ok(stream)
}

/// Whether an idle connection is open and has nothing to say.
fn quiet(stream: &UnixStream) -> bool {
    let probe = rustix::net::recv(stream, &mut [0_u8; 1][..], RecvFlags::PEEK | RecvFlags::DONTWAIT);
    matches!(probe, Err(Errno::AGAIN))
}

/// Sends a request and reads the payload of its reply.
fn converse(stream: &UnixStream, request: &[u8], until: Instant) -> Result<Vec<u8>, Failure> {
    let mut timed = Timed { stream, until };
    if let Err(error) = timed.write_all(request) {
        if connection::timed_out(&error) {
            return Err(connection::late().into());
        }
        // A daemon that is too busy answers without having read the request.
        return receive(&mut timed).map_err(|_| Failure::Unsent);
    }
    receive(&mut timed).map_err(Failure::Fault)
}

/// Reads a reply's payload, buffered, so that a small one costs one read. Nothing follows a reply unasked.
fn receive(timed: &mut Timed) -> Result<Vec<u8>, Fault> {
    let mut reader = BufReader::new(timed);
    let mut header = [0; frame::HEADER];
    reader.read_exact(&mut header).map_err(|error| connection::no_reply(&error))?;
    let mut payload = vec![0; frame::length(header)?];
    reader.read_exact(&mut payload).map_err(|error| connection::no_reply(&error))?;
    Ok(payload)
}

/// Sends what there is room for, and raises no signal when the other side is gone.
#[cfg(not(target_vendor = "apple"))]
const AT_ONCE: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
#[cfg(target_vendor = "apple")]
const AT_ONCE: SendFlags = SendFlags::DONTWAIT;

/// A stream whose every read and write ends by one instant, however many there are.
struct Timed<'a> {
    stream: &'a UnixStream,
    until: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(left(self.until)?))?;
        self.stream.read(buffer)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        // Mostly there is room at once, and no need for a timeout.
        match rustix::net::send(self.stream, buffer, AT_ONCE) {
            Err(Errno::AGAIN) => {
                self.stream.set_write_timeout(Some(left(self.until)?))?;
                self.stream.write(buffer)
            }
            sent => Ok(sent?),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The time until an instant; an error once it has passed.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}
