//! When the daemon stops: on SIGTERM, SIGINT, or a client's request. Told by a token, which cannot be missed.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The signals to terminate. Once this exists, they no longer kill the process.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Takes the signals. Must be done in a runtime, before anybody can be told that the daemon is ready.
    ///
    /// # Errors
    /// When the signals cannot be listened to.
    pub fn take() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Cancels `stop` on the first signal. Returns once `stop` is cancelled, by whomever.
    pub async fn listen(mut self, stop: CancellationToken) {
        let reason = tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            () = stop.cancelled() => "a request",
        };
        tracing::info!(reason, "stopping");
        stop.cancel();
    }
}
