//! The daemon that is measured: this program again, in a process and a folder of its own.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use memoryd_client::Client;
use memoryd_proto::Shutdown;
use tempfile::TempDir;

/// How long a daemon may take to be ready: enough to load millions of memories.
const PATIENCE: Duration = Duration::from_mins(5);

/// How long a call may take.
const DEADLINE: Duration = Duration::from_mins(5);

/// A home for daemons, one after the other. Memory stays there between them.
pub struct Home {
    folder: TempDir,
    /// Lines that every daemon's configuration has.
    settings: String,
}

impl Home {
    /// An empty home, whose daemons have these settings, each as `key=value`.
    pub fn new(settings: &[String]) -> anyhow::Result<Self> {
        let folder =
            TempDir::with_prefix("memoryd-bench-").context("There is no room for a temporary folder")?;
        Ok(Self { folder, settings: settings.join("\n") })
    }

    /// The data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The memory tree, which need not exist.
    pub fn tree(&self) -> PathBuf {
        self.folder.path().join("self-improving")
    }

    /// A socket's path in this home.
    pub fn socket(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts a daemon with these settings beside those of the home, and waits until it is ready.
    pub fn start(&self, settings: &str) -> anyhow::Result<Daemon> {
        let config = self.folder.path().join("memoryd.toml");
        std::fs::write(&config, format!("log.level = \"warn\"\n{settings}\n{}\n", self.settings))?;
        let socket = self.socket("memoryd.sock");
        let started = Instant::now();
        let child = Command::new(std::env::current_exe()?)
            .arg("daemon")
            .env_clear()
            .env("HOME", self.folder.path())
            .env("MEMORYD_DATA_DIR", self.data_dir())
            .env("MEMORYD_CONFIG", config)
            .env("MEMORYD_SOCKET", &socket)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .context("The daemon cannot be started")?;
        let mut daemon = Daemon { child: Process(child), socket, ready: Duration::ZERO };
        daemon.ready = daemon.wait_until_ready(started)?;
        Ok(daemon)
    }
}

/// A running daemon. It is killed when dropped.
pub struct Daemon {
    child: Process,
    socket: PathBuf,
    /// From its start to its first greeting.
    pub ready: Duration,
}

impl Daemon {
    /// A client with a connection of its own.
    pub fn client(&self) -> Client {
        Client::at(&self.socket).with_deadline(DEADLINE)
    }

    /// The number of its process.
    pub fn pid(&self) -> u32 {
        self.child.0.id()
    }

    /// Lets it finish and exit.
    pub fn stop(mut self) -> anyhow::Result<()> {
        self.client().call(Shutdown {})?;
        let status = self.child.0.wait()?;
        if status.success() { Ok(()) } else { bail!("The daemon ended with {status}") }
    }

    fn wait_until_ready(&mut self, started: Instant) -> anyhow::Result<Duration> {
        loop {
            if self.client().greet().is_ok() {
                return Ok(started.elapsed());
            }
            if let Some(status) = self.child.0.try_wait()? {
                bail!("The daemon ended with {status} before it was ready");
            }
            if started.elapsed() > PATIENCE {
                bail!("The daemon was not ready within {PATIENCE:?}");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A process that ends with its owner.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already, and then there is nothing left to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
