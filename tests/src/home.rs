//! A temporary home for a daemon, and a daemon that is served from a thread of the test.

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use chrono::{DateTime, TimeZone, Utc};
use memoryd::boot::{Daemon, Places};
use memoryd::clock::TurnedClock;
use memoryd::courier;
use memoryd::service::App;
use memoryd::watch;
use memoryd_client::Client;
use tempfile::TempDir;

/// When every turned clock starts: a Monday morning.
#[must_use]
pub fn start_of_time() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 1, 5, 9, 0, 0).unwrap()
}

/// A folder with everything a daemon keeps, removed at the end. Daemons may come and go in it.
#[derive(Debug)]
pub struct Home {
    dir: TempDir,
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Home {
    /// An empty home. Its path is short, as a socket's must be.
    #[must_use]
    pub fn new() -> Self {
        Self { dir: tempfile::Builder::new().prefix("memoryd-").tempdir_in("/tmp").unwrap() }
    }

    /// The home's own folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The daemon's socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.path().join("run/memoryd.sock")
    }

    /// The daemon's data directory.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.path().join("data")
    }

    /// The memory tree, which need not exist.
    #[must_use]
    pub fn tree(&self) -> PathBuf {
        self.path().join("self-improving")
    }

    /// The daemon's configuration file, which need not exist.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.path().join("memoryd.toml")
    }

    /// Writes the configuration file.
    pub fn configure(&self, toml: &str) {
        std::fs::write(self.config_file(), toml).unwrap();
    }

    /// A folder in the home, created as needed.
    #[must_use]
    pub fn folder(&self, inner: &str) -> PathBuf {
        let path = self.path().join(inner);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// Where the daemon finds everything.
    #[must_use]
    pub fn places(&self) -> Places {
        Places {
            data_dir: self.data_dir(),
            config_file: Some(self.config_file()).filter(|path| path.exists()),
            socket: self.socket(),
        }
    }

    /// A client of whichever daemon serves this home.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::at(self.socket())
    }

    /// A daemon in this process, whose time is `clock`. It serves the socket when this returns.
    #[must_use]
    pub fn daemon(&self, clock: &Arc<TurnedClock>) -> Running {
        self.run(clock, None)
    }

    /// Like [`daemon`](Self::daemon), and it follows the memory tree with the watcher that `open` makes.
    #[must_use]
    pub fn following_daemon(&self, clock: &Arc<TurnedClock>, open: watch::Open) -> Running {
        self.run(clock, Some(open))
    }

    fn run(&self, clock: &Arc<TurnedClock>, open: Option<watch::Open>) -> Running {
        let places = self.places();
        let mut config = places.config().unwrap();
        config.tree.root = self.tree().display().to_string();
        let daemon = Daemon::build(config, &places, clock.clone()).unwrap();
        let app = daemon.app();
        let (bound, waiting) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = memoryd::server::bind(&places.socket).unwrap();
                bound.send(()).unwrap();
                let (app, daemon_app) = (daemon.app(), daemon.app());
                let followed = async {
                    if let Some(open) = open {
                        watch::run(app, open).await;
                    }
                };
                tokio::join!(daemon.serve(listener), followed, courier::run(daemon_app));
            });
        });
        waiting.recv().expect("the socket of the test's daemon is bound");
        Running { app: Some(app), client: self.client(), thread: Some(thread) }
    }
}

/// A daemon that serves from a thread of the test, until it is dropped.
pub struct Running {
    app: Option<Arc<App>>,
    client: Client,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// The daemon itself, past its socket.
    #[must_use]
    pub fn app(&self) -> &App {
        self.app.as_ref().unwrap()
    }

    /// A client at its socket.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(app) = self.app.take() {
            app.counters.stop.cancel();
        }
        if let Some(thread) = self.thread.take() {
            let served = thread.join();
            assert!(served.is_ok() || std::thread::panicking(), "the daemon's thread panicked");
        }
    }
}
