//! The scheduler: wakes maintenance twice a minute. What is due is decided there, by the local clock and by what was
//! kept; here is only the ticking.
//!
//! The ticker goes by the system's clock. So it is on time after the machine slept, and stands still when the clock is
//! set back; then the next tick comes by the time that really passed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};

use crate::service::App;

/// When the ticker ticks: at every half minute.
const TICKS: &str = "*/30 * * * * *";

/// The longest time without a tick.
const LONGEST: Duration = Duration::from_mins(1);

/// Tends memory now and at each tick, until the daemon stops. No job begins then, and the one that runs has `drain` to
/// come to a point where it can be left; the next start completes it.
///
/// # Errors
/// When the ticker cannot be started.
pub async fn run(app: Arc<App>, drain: Duration) -> Result<(), JobSchedulerError> {
    let stop = app.counters.stop.clone();
    let tick = Arc::new(Notify::new());
    let mut ticker = JobScheduler::new().await?;
    let told = tick.clone();
    // It would start the next run while one is going on, so it only rings: who rings twice is heard once.
    ticker.add(Job::new(TICKS, move |_, _| told.notify_one())?).await?;
    ticker.start().await?;
    while !stop.is_cancelled() {
        let app = app.clone();
        let tending = tokio::task::spawn_blocking(move || app.tend());
        let late = async {
            stop.cancelled().await;
            tokio::time::sleep(drain).await;
        };
        tokio::select! {
            tended = tending => match tended {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => tracing::error!(%error, "memory could not be tended"),
                Err(panic) => tracing::error!(%panic, "memory could not be tended"),
            },
            () = late => tracing::warn!("a job was still running when the daemon stopped: the next start completes it"),
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = tick.notified() => {}
            () = tokio::time::sleep(LONGEST) => {}
        }
    }
    ticker.shutdown().await
}
