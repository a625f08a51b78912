//! When the daemon stops: on SIGTERM, SIGINT, or a client's request. Told by a token, which cannot be missed.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancels `stop` on the first signal to terminate. Returns once `stop` is cancelled, by whomever.
///
/// # Errors
/// When the signals cannot be listened to.
pub async fn listen(stop: CancellationToken) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let reason = tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
        () = stop.cancelled() => "a request",
    };
    tracing::info!(reason, "stopping");
    stop.cancel();
    Ok(())
}
