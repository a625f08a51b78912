//! One connection: greeting, then frames, each answered before the next is read.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use interprocess::local_socket::tokio::Stream;
use memoryd_proto::handshake::{self, Peer};
use memoryd_proto::{Code, Fault, Request, Serve, frame};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::service::App;

/// How long a client may take to send its greeting, and the rest of a frame that it began.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a client may take to read an answer.
const DELIVERY: Duration = Duration::from_secs(30);

/// What a connection needs.
pub struct Session {
    /// Answers the calls.
    pub app: Arc<App>,
    /// Bounds the blocking work.
    pub workers: Arc<Semaphore>,
    /// Bounds those who wait for events. They do no work, and so take no worker's place.
    pub watchers: Arc<Semaphore>,
    /// Told when the daemon stops.
    pub stop: CancellationToken,
}

impl Session {
    /// Serves a connection until the client leaves, breaks the protocol, or the daemon stops.
    pub async fn run(self, mut stream: Stream) {
        if let Err(error) = self.converse(&mut stream).await {
            tracing::debug!(%error, "a connection ended");
        }
    }

    async fn converse(&self, stream: &mut Stream) -> io::Result<()> {
        stream.write_all(&handshake::greeting()).await?;
        // Buffered, so that a small frame costs one read.
        let mut stream = BufReader::new(stream);
        let mut greeting = [0; handshake::LENGTH];
        within(PATIENCE, stream.read_exact(&mut greeting)).await?;
        if handshake::check(greeting, Peer::Client).is_err() {
            return Ok(());
        }
        loop {
            let begun = tokio::select! {
                () = self.stop.cancelled() => return Ok(()),
                begun = stream.fill_buf() => !begun?.is_empty(),
            };
            if !begun {
                return Ok(());
            }
            let mut header = [0; frame::HEADER];
            within(PATIENCE, stream.read_exact(&mut header)).await?;
            let length = match frame::length(header) {
                Ok(length) => length,
                Err(fault) => return send(&mut stream, refusal(fault)).await,
            };
            let payload = within(PATIENCE, payload(&mut stream, length)).await?;
            let answer = match frame::decode::<Request>(&payload) {
                Ok(request) => self.answer(request).await,
                Err(fault) => return send(&mut stream, refusal(fault)).await,
            };
            send(&mut stream, answer).await?;
        }
    }

    async fn answer(&self, request: Request) -> Vec<u8> {
        self.app.counters.request();
        // A ping tells whether the daemon is alive, so it must not wait for work.
        if let Request::Ping(ping) = request {
            return frame::encode(&self.app.serve(ping)).unwrap_or_default();
        }
        let place = if let Request::Watch(_) = request {
            let Ok(place) = self.watchers.try_acquire() else {
                return refusal(Fault::new(
                    Code::Busy,
                    "As many clients wait for events as may",
                    "End another that watches, or try again later.",
                ));
            };
            Ok(place)
        } else {
            self.workers.acquire().await
        };
        let Ok(_place) = place else {
            return refusal(Fault::unavailable("The daemon is stopping", "Try again once it has started."));
        };
        let (app, name) = (self.app.clone(), request.name());
        let answered = tokio::task::spawn_blocking(move || request.answer(&*app)).await;
        match answered {
            Ok(Ok(answer)) => answer,
            Ok(Err(fault)) => refusal(fault),
            Err(panic) => {
                tracing::error!(call = name, %panic, "a call failed");
                refusal(Fault::new(
                    Code::Internal,
                    format!("The daemon failed at the call {name}"),
                    "The memory is unchanged. Please report this, with the daemon's log.",
                ))
            }
        }
    }
}

async fn send(stream: &mut (impl AsyncWrite + Unpin), answer: Vec<u8>) -> io::Result<()> {
    within(DELIVERY, stream.write_all(&answer)).await
}

/// Reads a payload. Memory grows with what arrives, not with what is announced.
async fn payload(stream: &mut (impl AsyncRead + Unpin), length: usize) -> io::Result<Vec<u8>> {
    let mut payload = Vec::with_capacity(length.min(64 * 1024));
    let read = stream.take(length as u64).read_to_end(&mut payload).await?;
    if read == length { Ok(payload) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

async fn within<T>(limit: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    tokio::time::timeout(limit, work).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

/// A fault in the place of an answer.
fn refusal(fault: Fault) -> Vec<u8> {
    frame::encode(&Err::<(), Fault>(fault)).unwrap_or_default()
}

/// Tells a client that there are too many connections.
pub async fn refuse_busy(mut stream: Stream) {
    let fault = Fault::new(
        Code::Busy,
        "The daemon serves as many connections as it may",
        "Close connections that are not needed, or raise server.connections in the configuration.",
    );
    let mut answer = handshake::greeting().to_vec();
    answer.extend(refusal(fault));
    let _ = within(PATIENCE, stream.write_all(&answer)).await;
    let mut greeting = [0; handshake::LENGTH];
    let _ = within(PATIENCE, stream.read_exact(&mut greeting)).await;
}
