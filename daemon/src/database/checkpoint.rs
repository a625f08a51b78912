//! Moves what was committed from the log to the database file, on a thread of its own, so that no request waits for
//! the disk on behalf of others.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;

/// Commits between two looks at the log.
const EVERY: u32 = 16;

/// The log's length from which it is moved, in bytes.
const LONG: u64 = 4 * 1024 * 1024;

/// The log's length from which it is begun anew. Moving what was committed does not shorten it while there is always
/// somebody who reads or writes, as beside a long job.
const TOO_LONG: u64 = 64 * 1024 * 1024;

/// The thread that moves the log.
#[derive(Debug)]
pub(super) struct Checkpoints {
    commits: u32,
    log: PathBuf,
    /// Dropped to end the thread.
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Starts the thread for the database at `path`, over a connection of its own.
    pub(super) fn start(path: &Path, connection: Connection) -> std::io::Result<Self> {
        let (wake, woken) = sync_channel(1);
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let log = PathBuf::from(log);
        let moved = log.clone();
        let work = move || keep_short(&connection, &moved, &woken);
        let thread = std::thread::Builder::new().name("checkpoint".to_owned()).spawn(work)?;
        Ok(Self { commits: 0, log, wake: Some(wake), thread: Some(thread) })
    }

    /// Counts a commit of `writer`, and now and then lets the thread look at the log.
    pub(super) fn committed(&mut self, writer: &Connection) {
        self.commits = self.commits.wrapping_add(1);
        if !self.commits.is_multiple_of(EVERY) {
            return;
        }
        if let Some(wake) = &self.wake {
            // A full channel means that the thread is about to look anyway.
            let _ = wake.try_send(());
        }
        if length(&self.log) >= TOO_LONG
            && let Err(error) = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        {
            tracing::warn!(%error, "the database's log could not be begun anew");
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn length(log: &Path) -> u64 {
    log.metadata().map_or(0, |log| log.len())
}

/// A passive checkpoint: it waits for nobody, and what it cannot move yet stays for the next time.
fn keep_short(connection: &Connection, log: &Path, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        if length(log) >= LONG
            && let Err(error) = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
        {
            tracing::warn!(%error, "the database's log could not be moved");
        }
    }
}
