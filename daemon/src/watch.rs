//! Watching the memory tree: what is saved there is searchable within a second, and nobody has to ask for it.
//!
//! What the system tells is taken as a hint alone: the paths that it names are looked at, and a look costs nothing where
//! nothing changed. So it does not matter how an editor saves, and what the daemon writes itself does not wake it twice.
//! What the system does not tell is found by a look at everything every few minutes; where it cannot tell, every few
//! seconds.

mod folders;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use notify::{Config, Event, RecommendedWatcher, Watcher};
use parking_lot::RwLock;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use crate::service::App;

use folders::Folders;

/// How long it is quiet before what was told is looked at: an editor saves in several steps.
const QUIET: Duration = Duration::from_millis(40);

/// How long it is waited for that at most.
const PATIENCE: Duration = Duration::from_millis(200);

/// How often everything is looked at while the system tells of changes.
const HEAL: Duration = Duration::from_mins(5);

/// How often everything is looked at while it does not.
const POLL: Duration = Duration::from_secs(2);

/// How often what is known of entries that are gone is forgotten.
const PRUNE: Duration = Duration::from_hours(24);

/// Is called with what the system tells.
pub type Hear = Box<dyn FnMut(notify::Result<Event>) + Send>;

/// What makes a watcher.
pub type Open = fn(Hear) -> notify::Result<Box<dyn Watcher + Send>>;

/// What was told.
enum Heard {
    /// Something is going on with this path.
    Path(PathBuf),
    /// Nobody knows what is going on.
    Anything,
}

/// What is to be looked at.
#[derive(Default)]
struct Batch {
    paths: BTreeSet<PathBuf>,
    everything: bool,
}

/// The watcher of this system.
///
/// # Errors
/// When the system has no more of them.
pub fn system(hear: Hear) -> notify::Result<Box<dyn Watcher + Send>> {
    let config = Config::default().with_follow_symlinks(false);
    Ok(Box::new(RecommendedWatcher::new(hear, config)?))
}

/// Follows the files of the memory tree with the watcher that `open` makes, and gives their entries vectors, until the
/// daemon stops.
pub async fn run(app: Arc<App>, open: Open) {
    let (moved, bare) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    for (bell, told) in [(&app.following.moved, &moved), (&app.following.bare, &bare)] {
        let told = told.clone();
        bell.connect(move || told.notify_one());
    }
    app.following.begin();
    tokio::join!(follow(app.clone(), open, &moved), embed(app, &bare));
}

async fn follow(app: Arc<App>, open: Open, moved: &Notify) {
    let stop = app.counters.stop.clone();
    let (tell, mut heard) = unbounded_channel();
    let targets = Arc::default();
    let mut folders = Folders::new(open(hearing(tell, &targets)), targets);
    let mut batch = Batch { everything: true, ..Batch::default() };
    let mut healed = Instant::now();
    loop {
        let looking = app.clone();
        let looked = spawn_blocking(move || {
            look(&looking, &mut folders, &batch);
            folders
        });
        folders = tokio::select! {
            () = stop.cancelled() => return,
            looked = looked => match looked {
                Ok(folders) => folders,
                Err(panic) => return tracing::error!(%panic, "the memory tree is no longer followed"),
            },
        };
        let pause = if folders.trouble().is_some() { POLL } else { HEAL };
        batch = tokio::select! {
            () = stop.cancelled() => return,
            () = moved.notified() => Batch { everything: true, ..Batch::default() },
            () = tokio::time::sleep(pause) => Batch::default(),
            first = heard.recv() => gather(first, &mut heard).await,
        };
        if batch.everything || healed.elapsed() >= HEAL {
            (batch.everything, healed) = (true, Instant::now());
        }
    }
}

/// Passes on what the system tells of what is followed. Reading is nothing to be told of: looking at files is reading.
fn hearing(tell: UnboundedSender<Heard>, targets: &Arc<RwLock<Vec<PathBuf>>>) -> Hear {
    let targets = targets.clone();
    Box::new(move |told| {
        // Nobody hears it any more when the daemon stops.
        match told {
            Ok(event) if !event.need_rescan() => {
                let concerns = |path: &PathBuf| {
                    targets.read().iter().any(|target| path.starts_with(target) || target.starts_with(path))
                };
                if !event.kind.is_access() {
                    event.paths.into_iter().filter(concerns).for_each(|path| {
                        let _ = tell.send(Heard::Path(path));
                    });
                }
            }
            Ok(_) | Err(_) => {
                let _ = tell.send(Heard::Anything);
            }
        }
    })
}

/// Waits until it is quiet, and returns what was told meanwhile.
async fn gather(first: Option<Heard>, heard: &mut UnboundedReceiver<Heard>) -> Batch {
    let latest = Instant::now() + PATIENCE;
    let (mut batch, mut next) = (Batch::default(), first);
    while let Some(heard_now) = next {
        match heard_now {
            Heard::Path(path) => drop(batch.paths.insert(path)),
            Heard::Anything => batch.everything = true,
        }
        next = timeout_at(latest.min(Instant::now() + QUIET), heard.recv()).await.ok().flatten();
    }
    batch
}

/// Looks at files. Without a hint that is all of them.
fn look(app: &App, folders: &mut Folders, batch: &Batch) {
    let looked = (|| {
        let mut scan = batch.everything || batch.paths.is_empty();
        if batch.everything || folders.concern(&batch.paths) {
            let view = app.journal.view();
            let (vault, roots) = (&view.vault, view.project_roots()?);
            let doubtful = |path: &PathBuf| batch.everything || batch.paths.contains(path);
            // What is written before a folder is watched is not told.
            let mut more = folders.renew(vault, &roots, doubtful);
            while more {
                scan = true;
                more = folders.renew(vault, &roots, |_| false);
            }
        }
        if scan {
            app.scan_notes()?;
        } else {
            app.look_at_notes(&batch.paths.iter().cloned().collect::<Vec<_>>())?;
        }
        Ok::<_, crate::error::Error>(())
    })();
    match (looked, folders.trouble()) {
        (Ok(()), None) => app.following.set_watched(),
        (Ok(()), Some(trouble)) => app.following.set_polled(trouble),
        (Err(error), _) => app.following.set_polled(&format!("The memory tree cannot be followed: {error}")),
    }
}

/// Gives entries their vectors, a few at a time.
async fn embed(app: Arc<App>, bare: &Notify) {
    let stop = app.counters.stop.clone();
    let mut pruned: Option<Instant> = None;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = bare.notified() => {}
        }
        loop {
            let embedding = app.clone();
            match spawn_blocking(move || embedding.embed_notes()).await {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => break,
                Ok(Err(error)) => {
                    tracing::warn!(%error, "the memory tree is searched by words only");
                    break;
                }
                Err(panic) => return tracing::error!(%panic, "the memory tree is searched by words only"),
            }
        }
        if !stop.is_cancelled() && pruned.is_none_or(|at| at.elapsed() >= PRUNE) {
            pruned = Some(Instant::now());
            let pruning = app.clone();
            if let Ok(Err(error)) = spawn_blocking(move || pruning.prune_notes()).await {
                tracing::warn!(%error, "vectors of texts that are gone could not be removed");
            }
        }
    }
}
