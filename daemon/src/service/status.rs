//! How the daemon is (spec C3).

use std::sync::atomic::Ordering;

use memoryd_proto::{Evaluations, Fault, Ping, Pong, Serve, Shutdown, ShuttingDown, Status, StatusReport};

use super::App;
use crate::error::Error;
use crate::journal;
use crate::ledger::recalls;
use crate::store::listing::{self, Wanted};

impl Serve<Ping> for App {
    fn serve(&self, _: Ping) -> Result<Pong, Fault> {
        Ok(Pong {})
    }
}

impl Serve<Shutdown> for App {
    fn serve(&self, _: Shutdown) -> Result<ShuttingDown, Fault> {
        self.counters.stop.cancel();
        Ok(ShuttingDown { pid: std::process::id() })
    }
}

impl Serve<Status> for App {
    fn serve(&self, _: Status) -> Result<StatusReport, Fault> {
        Ok(self.status()?)
    }
}

impl App {
    fn status(&self) -> Result<StatusReport, Error> {
        let (now, showing, view) = (self.now(), self.showing(), self.view());
        let jobs = self.schedule()?.jobs;
        let next_job = jobs.iter().filter(|job| job.next.is_some()).min_by_key(|job| job.next).cloned();
        let failing = jobs.into_iter().filter(|job| job.failures > 0).collect();
        let newest = memoryd_proto::Journal { limit: 1, ..memoryd_proto::Journal::default() };
        let path = view.reader.path();
        let size = |suffix: &str| {
            let mut file = path.as_os_str().to_owned();
            file.push(suffix);
            std::fs::metadata(file).map_or(0, |metadata| metadata.len())
        };
        view.read(|connection| {
            let page = journal::page(connection, &newest, 1)?;
            Ok::<_, Error>(StatusReport {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                pid: std::process::id(),
                started_at: self.about.started_at,
                now,
                data_dir: self.about.data_dir.display().to_string(),
                config_file: self.about.config_file.as_ref().map(|path| path.display().to_string()),
                socket: self.about.socket.display().to_string(),
                store: if self.sharing.is_on() { "chroma" } else { "embedded" }.to_owned(),
                chroma: self.chroma_state(connection)?,
                database_bytes: size("") + size("-wal"),
                model: view.embedder.model().to_owned(),
                dimension: view.embedder.dimension() as u64,
                degraded: view.degraded.clone(),
                estimator: self.config.learning.estimator,
                agents: listing::agents(connection)?.len() as u64,
                improvements: listing::count(connection, &Wanted::default(), &showing)?,
                evaluations: listing::evaluations(connection, &Evaluations::default(), (0, 0))?.1,
                open_recalls: recalls::open(connection, now)?,
                last_operation: page.operations.first().map(|operation| operation.id.0),
                tree: self.tree_state(),
                failing,
                next_job,
                requests: self.counters.requests.load(Ordering::Relaxed),
                connections: self.counters.connections.load(Ordering::Relaxed) as u64,
                resident_bytes: resident_bytes(),
            })
        })
    }
}

/// Bytes of memory that the process holds, where the system tells.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
