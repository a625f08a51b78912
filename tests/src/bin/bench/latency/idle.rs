//! What a daemon costs that nobody asks anything.

use std::time::Duration;

use serde_json::{Value, json};

use crate::daemon::Daemon;
use crate::measure::{millis, rounded};
use crate::output;
use crate::process;

/// What was seen.
pub struct Idle {
    time: Duration,
    cpu: Duration,
    resident: f64,
}

/// Watches a daemon for so many seconds, if any.
pub fn watch(daemon: &Daemon, seconds: u64) -> anyhow::Result<Option<Idle>> {
    if seconds == 0 {
        return Ok(None);
    }
    output::note(&format!("watching the daemon for {seconds} seconds"));
    let time = Duration::from_secs(seconds);
    let before = process::cpu_time(daemon.pid())?;
    std::thread::sleep(time);
    let cpu = process::cpu_time(daemon.pid())?.saturating_sub(before);
    Ok(Some(Idle { time, cpu, resident: process::memory(daemon.pid())?.0 }))
}

impl Idle {
    /// A sentence for people.
    pub fn told(&self) -> String {
        format!(
            "Idle for {} seconds, the daemon used {} ms of CPU time and held {:.0} MB.",
            self.time.as_secs(),
            self.cpu.as_millis(),
            self.resident,
        )
    }

    /// The figures.
    pub fn figures(&self) -> Value {
        json!({ "seconds": self.time.as_secs(), "cpu_ms": millis(self.cpu), "resident_mb": rounded(self.resident) })
    }
}
