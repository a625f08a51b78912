//! From the environment to a daemon that is ready: parse, build, bind; then run and drain.
//!
//! Everything that can be wrong is found before the socket answers, and the model has embedded a first text by then.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::num::NonZeroUsize;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use etcetera::BaseStrategy;
use interprocess::local_socket::tokio::Listener;
use memoryd_proto::Examined;
use rustix::fs::Mode;

use crate::archive::Archive;
use crate::backup::{self, Copies, Restored};
use crate::clock::{Clock, SystemClock, Zone};
use crate::config::Config;
use crate::courier;
use crate::database::{self, Durability, Reader, Writer};
use crate::domain::capture::Detector;
use crate::domain::secrets::Redactor;
use crate::embed::{Cached, Embed, Onnx};
use crate::error::backup_advice;
use crate::journal::Journal;
use crate::lock::Lock;
use crate::manager::{self, Adopted};
use crate::notes::Notes;
use crate::scheduler;
use crate::server::{self, Limits};
use crate::service::{About, App, Counters, Following, Sharing, Tender};
use crate::shutdown::Signals;
use crate::store::Memory;
use crate::vault::Vault;
use crate::view::View;
use crate::watch;

/// Embeddings that are remembered: enough that a report need not embed what its recall did.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// The database, in the data directory.
const DATABASE: &str = "memory.db";

/// The copies of the database, in the data directory.
const COPIES: &str = "backups";

/// Where everything is.
#[derive(Clone, Debug)]
pub struct Places {
    /// The data directory.
    pub data_dir: PathBuf,
    /// The configuration file, if there is one.
    pub config_file: Option<PathBuf>,
    /// The socket.
    pub socket: PathBuf,
}

impl Places {
    /// The places that the environment names: `MEMORYD_DATA_DIR`, `MEMORYD_CONFIG` and `MEMORYD_SOCKET`, else those of
    /// the XDG base directories.
    ///
    /// # Errors
    /// When the home directory is unknown, or a path is not usable.
    pub fn from_env() -> anyhow::Result<Self> {
        let set =
            |name: &str| -> Option<OsString> { std::env::var_os(name).filter(|value| !value.is_empty()) };
        let base = || etcetera::base_strategy::Xdg::new().context("The home directory is unknown. Set HOME");
        let data_dir = match set("MEMORYD_DATA_DIR") {
            Some(path) => PathBuf::from(path),
            None => base()?.data_dir().join("memoryd"),
        };
        let config_file = match set("MEMORYD_CONFIG") {
            Some(path) => Some(PathBuf::from(path)),
            None => Some(base()?.config_dir().join("memoryd/memoryd.toml")).filter(|path| path.exists()),
        };
        let uid = rustix::process::geteuid().as_raw();
        let socket = memoryd_proto::socket::path(|name| std::env::var_os(name), uid)?;
        Ok(Self { data_dir: std::path::absolute(data_dir)?, config_file, socket })
    }

    /// The configuration of the file, or the defaults.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn config(&self) -> anyhow::Result<Config> {
        Ok(self.config_file.as_deref().map(Config::read).transpose()?.unwrap_or_default())
    }
}

/// A daemon that has everything but its socket.
pub struct Daemon {
    app: Arc<App>,
    limits: Limits,
    /// Held as long as the daemon lives: one daemon for each data directory.
    lock: Lock,
}

impl Daemon {
    /// Builds a daemon: takes the data directory, loads model and memory.
    ///
    /// # Errors
    /// When another daemon has the data directory, or something in it, the model or the configuration is not usable.
    pub fn build(config: Config, places: &Places, clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        let started_at = clock.now();
        let zone = Zone::named(&config.maintenance.zone).unwrap_or_default();
        let files = server::raise_file_limit();
        let lock = take(&places.data_dir)?;
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let embedder = embedder(&config, cores)?;
        let copies = Copies::new(places.data_dir.join(COPIES));
        if let Err(error) = copies.sweep() {
            tracing::warn!("{error}");
        }
        let loaded = || {
            let (reader, writer) = database::open(&places.data_dir.join(DATABASE))?;
            let degraded = check_model(&reader, &writer, embedder.as_ref())?;
            let memory = Memory::load(&reader, config.index(embedder.dimension()), config.learning.outcomes)?;
            Ok((reader, writer, degraded, memory))
        };
        let (reader, writer, degraded, memory) = loaded().map_err(|error| damaged(error, &copies))?;
        let archive = places.data_dir.join("archive");
        private_folder(&archive)?;
        let replaced = places.data_dir.join("replaced");
        private_folder(&replaced)?;
        let view = View {
            reader: Arc::new(reader),
            memory: Arc::new(memory),
            archive: Arc::new(Archive::new(archive)),
            copies: Arc::new(copies),
            vault: Vault::new(config.tree.folder()?),
            notes: Arc::new(Notes::new(config.index(embedder.dimension()))),
            embedder,
            degraded,
            clock,
        };
        let limits = Limits {
            connections: config.server.connections.min(files.saturating_sub(64).max(1)),
            workers: if config.server.workers == 0 { 2 * cores } else { config.server.workers },
            drain: Duration::from_secs(config.server.drain_seconds),
        };
        let app = App {
            journal: Journal::new(view, writer, config.learning(), replaced),
            tender: Tender::new(zone),
            following: Following::default(),
            sharing: Sharing::new(&config),
            redactor: Redactor::new(&config.secrets.rules)?,
            detector: Detector::new(&config.capture.patterns)?,
            about: About {
                started_at,
                data_dir: places.data_dir.clone(),
                config_file: places.config_file.clone(),
                socket: places.socket.clone(),
            },
            counters: Arc::new(Counters::default()),
            config,
        };
        app.journal.recover()?;
        app.settle_sharing()?;
        Ok(Self { app: Arc::new(app), limits, lock })
    }

    /// What answers the calls, for use in the same process.
    #[must_use]
    pub fn app(&self) -> Arc<App> {
        self.app.clone()
    }

    /// Serves a bound socket until the app is told to stop, then drains. The socket's file is removed, unless a service
    /// manager holds it.
    pub async fn serve(self, listener: Listener) {
        let stop = self.app.counters.stop.clone();
        self.lock.note(Some(&self.app.about.socket));
        let lock = &self.lock;
        let leaving = async {
            stop.cancelled().await;
            lock.note(None);
        };
        tokio::join!(leaving, server::serve(self.app.clone(), listener, self.limits, stop.clone()));
    }
}

/// Runs the daemon of this environment until it is told to stop.
///
/// # Errors
/// When it cannot start. The message says why, and what to do.
pub fn run() -> anyhow::Result<()> {
    // Whatever is created from here on is private to the user.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let adopted = Adopted::take()?;
    let mut places = Places::from_env()?;
    if let Some(adopted) = &adopted {
        adopted.path().clone_into(&mut places.socket);
    }
    let config = places.config()?;
    crate::logging::start(&config.log.level)?;
    let daemon = Daemon::build(config, &places, Arc::new(SystemClock))?;
    // One thread moves the bytes of all connections; the work is done on the blocking pool.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let signals = Signals::take()?;
        let listener = match adopted {
            Some(adopted) => adopted.listen()?,
            None => server::bind(&places.socket)?,
        };
        let app = daemon.app();
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            socket = %places.socket.display(),
            data = %places.data_dir.display(),
            "ready"
        );
        if let Some(reason) = &app.journal.view().degraded {
            tracing::warn!("{reason}");
        }
        manager::ready(&places.socket);
        let stop = app.counters.stop.clone();
        let signals = tokio::spawn(async move {
            signals.listen(stop).await;
            manager::stopping();
        });
        let alive = tokio::spawn(manager::keep_alive(app.clone()));
        let drain = daemon.limits.drain;
        let tended = async {
            if let Err(error) = scheduler::run(app.clone(), drain).await {
                tracing::error!(%error, "memory is not tended: restart the daemon, or call `memoryctl maintain`");
            }
        };
        tokio::join!(
            daemon.serve(listener),
            tended,
            watch::run(app.clone(), watch::system),
            courier::run(app.clone())
        );
        signals.await?;
        alive.abort();
        tracing::info!("stopped");
        Ok(())
    });
    // Whatever had no time to finish is not waited for.
    runtime.shutdown_background();
    ended
}

/// Looks for everything that can be wrong while no daemon answers: whatever keeps one from starting, and what one would
/// find. Nothing is changed.
#[must_use]
pub fn examine() -> Examined {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let mut examined = Examined::default();
    let fails =
        |error: anyhow::Error| vec![(format!("{error:#}"), "Then start it: memoryctl start".to_owned())];
    let known = Places::from_env().and_then(|places| Ok((places.config()?, places)));
    let (config, places) = match known {
        Ok(known) => known,
        Err(error) => {
            examined.note("configuration", fails(error));
            return examined;
        }
    };
    examined.note("configuration", []);
    match Daemon::build(config, &places, Arc::new(SystemClock)) {
        Ok(daemon) => {
            examined.note("start", []);
            match daemon.app.examine() {
                Ok(more) => {
                    examined.checks.extend(more.checks);
                    examined.findings.extend(more.findings);
                }
                Err(fault) => examined.note("status", [(fault.message, fault.advice)]),
            }
        }
        Err(error) => examined.note("start", fails(error)),
    }
    examined
}

/// Puts a copy of the database, named as it is listed or by its path, in the place of the database of this environment,
/// and says what was done.
///
/// # Errors
/// When a daemon uses the database, or the copy is not usable. Nothing was changed then.
pub fn restore(named: &Path) -> anyhow::Result<Restored> {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let places = Places::from_env()?;
    let most = places.config()?.maintenance.daily_copies;
    let _lock = take(&places.data_dir)?;
    let copies = Copies::new(places.data_dir.join(COPIES));
    let database = places.data_dir.join(DATABASE);
    backup::restore(&copies, &database, named, SystemClock.now(), most as usize)
        .map_err(|error| anyhow!("{error}. {}", backup_advice(&error)))
}

/// Takes the data directory for this process.
fn take(data_dir: &Path) -> anyhow::Result<Lock> {
    private_folder(data_dir)?;
    Ok(Lock::take(data_dir)?)
}

/// Says what to do when the database is damaged.
fn damaged(error: database::Error, copies: &Copies) -> anyhow::Error {
    let damage = error.is_damage();
    let error = anyhow::Error::from(error);
    match copies.newest() {
        Some(name) if damage => error.context(format!(
            "The database is damaged. Put its newest copy in its place: memoryd --restore {name}"
        )),
        _ => error,
    }
}

fn private_folder(path: &Path) -> anyhow::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).with_context(|| {
        format!("The folder {} cannot be created. Set MEMORYD_DATA_DIR to another", path.display())
    })
}

fn embedder(config: &Config, cores: usize) -> anyhow::Result<Arc<dyn Embed>> {
    let threads = if config.embedding.threads == 0 { cores.min(4) } else { config.embedding.threads };
    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    let model = match (&config.embedding.model, &config.embedding.tokenizer) {
        (Some(model), Some(tokenizer)) => Onnx::from_files(model, tokenizer, threads)?,
        _ => Onnx::bundled(threads)?,
    };
    Ok(Arc::new(Cached::new(model, REMEMBERED)))
}

/// Compares the model with the one that made the stored vectors. On a mismatch vectors are not used, and the reason is
/// returned; words still find everything.
fn check_model(
    reader: &Reader,
    writer: &Writer,
    embedder: &dyn Embed,
) -> Result<Option<String>, database::Error> {
    let ours = format!("{} {}", embedder.model(), embedder.dimension());
    match reader.read(|connection| database::meta(connection, "model"))? {
        None => {
            writer.lock().transaction(Durability::Full, |transaction| {
                database::set_meta(transaction, "model", &ours)
            })?;
            Ok(None)
        }
        Some(stored) if stored == ours => Ok(None),
        Some(stored) => Ok(Some(format!(
            "The stored vectors were made by the model {stored}, and the configured one is {ours}: only words are \
             searched. Configure the former model again, or export, start with an empty data directory, and import"
        ))),
    }
}
