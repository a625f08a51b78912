//! The socket: who may connect, how many at once, and the way of a request through the daemon.
//!
//! A connection sends a greeting and then frames; each frame is answered before the next is read. Blocking work runs
//! on a bounded pool, so a heavy request starves nobody: a connection that waits costs a few kilobytes.

mod connection;
mod listener;

pub use listener::{Error, bind};

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use interprocess::local_socket::tokio::{Listener, Stream};
use interprocess::local_socket::traits::StreamCommon;
use interprocess::local_socket::traits::tokio::Listener as _;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::service::App;

/// How long a full table of file descriptors is waited out before the next connection is taken.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// How many may wait for events at once. Each of them holds a thread.
const WATCHERS: usize = 64;

/// The limits of the server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Requests worked on at once.
    pub workers: usize,
    /// How long requests may still take when the daemon stops.
    pub drain: Duration,
}

/// Serves connections until `stop`, then lets running requests finish.
pub async fn serve(app: Arc<App>, listener: Listener, limits: Limits, stop: CancellationToken) {
    let connections = Arc::new(Semaphore::new(limits.connections));
    let workers = Arc::new(Semaphore::new(limits.workers));
    let watchers = Arc::new(Semaphore::new(WATCHERS));
    let tasks = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(EXHAUSTED).await;
                continue;
            }
        };
        if let Err(reason) = admitted(&stream) {
            tracing::warn!(reason, "a connection was refused");
            continue;
        }
        let place = connections.clone().try_acquire_owned().ok();
        let session = connection::Session {
            app: app.clone(),
            workers: workers.clone(),
            watchers: watchers.clone(),
            stop: stop.clone(),
        };
        let counters = app.counters.clone();
        tasks.spawn(async move {
            counters.connections.fetch_add(1, Ordering::Relaxed);
            match place {
                Some(_place) => session.run(stream).await,
                None => connection::refuse_busy(stream).await,
            }
            counters.connections.fetch_sub(1, Ordering::Relaxed);
        });
    }
    drop(listener);
    app.journal.events().close();
    tasks.close();
    if tokio::time::timeout(limits.drain, tasks.wait()).await.is_err() {
        tracing::warn!(
            seconds = limits.drain.as_secs(),
            "requests were still running when the daemon stopped"
        );
    }
}

/// Only processes of the daemon's own user are served (spec C1).
fn admitted(stream: &Stream) -> Result<(), &'static str> {
    let ours = rustix::process::geteuid().as_raw();
    let credentials = stream.peer_creds().map_err(|_| "the system does not say who connects")?;
    match credentials.euid() {
        Some(uid) if uid == ours => Ok(()),
        Some(_) => Err("it comes from another user"),
        None => Err("the system does not say who connects"),
    }
}

/// Raises the number of files that the process may have open to what the system allows, and returns it.
#[must_use]
pub fn raise_file_limit() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let now = if raised.is_ok() { limit.maximum } else { limit.current };
    now.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX))
}
