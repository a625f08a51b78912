//! The courier: brings what changed here to the Chroma server, and what others wrote there to here, as soon as something
//! changes and every now and then. While the server is away it tries again, later each time, up to every few seconds.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::spawn_blocking;

use crate::service::App;

/// Exchanges records until the daemon stops, if memory is shared.
pub async fn run(app: Arc<App>) {
    if !app.sharing.is_on() {
        return;
    }
    let (stop, changed) = (app.counters.stop.clone(), Arc::new(Notify::new()));
    for bell in [&app.journal.events().bell, &app.sharing.bell] {
        let told = changed.clone();
        bell.connect(move || told.notify_one());
    }
    while !stop.is_cancelled() {
        let exchanging = app.clone();
        let exchanged = spawn_blocking(move || match exchanging.exchange() {
            Ok(rest) => (rest, true),
            Err(error) => (exchanging.patience(&error), false),
        });
        let (pause, works) = tokio::select! {
            () = stop.cancelled() => return,
            exchanged = exchanged => match exchanged {
                Ok(next) => next,
                Err(panic) => {
                    tracing::error!(%panic, "memory could not be shared for a moment");
                    (Duration::from_secs(5), false)
                }
            },
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
            // What fails is not tried again at every change.
            () = changed.notified(), if works => {}
        }
    }
}
