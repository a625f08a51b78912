//! The daemon's answers: one file for each noun, one `impl Serve<…> for App` for each call.

mod agents;
mod archive;
mod backup;
mod capture;
mod contexts;
mod dashboard;
mod entry;
mod evaluations;
mod examine;
mod explain;
mod improvements;
mod journal;
mod maintenance;
mod notes;
mod principles;
mod profiles;
mod qavr;
mod recall;
mod remember;
mod report;
mod review;
mod schedule;
mod sharing;
mod status;
mod transfer;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use chrono::{DateTime, Utc};
use memoryd_proto::{AgentName, Fault, ImprovementId, Project, ProjectHash};

pub use maintenance::Tender;
pub use notes::Following;
pub use sharing::Sharing;

use entry::Entry;

use crate::config::Config;
use crate::domain::capture::Detector;
use crate::domain::secrets::Redactor;
use crate::error::Error;
use crate::journal::Journal;
use crate::project;
use crate::store::listing::{self, Order, Showing, Wanted};
use crate::view::View;

/// How many items a list returns when the caller does not say.
const PAGE: u64 = 50;

/// How many items are ever returned at once.
const MOST: u64 = 1000;

/// Everything that answers calls.
pub struct App {
    /// The journal, and through it everything that can be read.
    pub journal: Journal,
    /// The configuration.
    pub config: Config,
    /// Takes secrets out of texts.
    pub redactor: Redactor,
    /// Decides what is worth keeping of what is said.
    pub detector: Detector,
    /// What tends memory, and which job runs.
    pub tender: Tender,
    /// How the files of the memory tree are followed.
    pub following: Following,
    /// How memory is shared through a Chroma server.
    pub sharing: Sharing,
    /// What the daemon can say about itself.
    pub about: About,
    /// What it counts.
    pub counters: Arc<Counters>,
}

/// What the daemon can say about itself.
#[derive(Clone, Debug)]
pub struct About {
    /// Since when it runs.
    pub started_at: DateTime<Utc>,
    /// Where its data lies.
    pub data_dir: PathBuf,
    /// Its configuration file, if there is one.
    pub config_file: Option<PathBuf>,
    /// Its socket.
    pub socket: PathBuf,
}

/// What the daemon counts.
#[derive(Debug, Default)]
pub struct Counters {
    /// Requests answered.
    pub requests: AtomicU64,
    /// Connections open.
    pub connections: AtomicUsize,
    /// Told when a client asks the daemon to stop.
    pub stop: tokio_util::sync::CancellationToken,
}

impl Counters {
    /// Counts a request.
    pub fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }
}

impl App {
    fn view(&self) -> &View {
        self.journal.view()
    }

    fn now(&self) -> DateTime<Utc> {
        self.view().clock.now()
    }

    fn showing(&self) -> Showing {
        Showing::at(self.now(), &self.config)
    }

    /// Takes in the texts of a call.
    fn entry(&self) -> Entry<'_> {
        Entry::new(&self.redactor)
    }

    /// The one improvement of this id, with its row, whoever's and in whichever scope; the project's copy first.
    fn find(&self, agent: Option<&AgentName>, id: &ImprovementId) -> Result<Vec<Found>, Error> {
        let wanted = Wanted { agent: agent.cloned(), id: Some(id.clone()), ..Wanted::default() };
        let showing = self.showing();
        let mut found = self.view().read(|connection| {
            listing::improvements(connection, &wanted, Order::Export, (0, MOST), &showing)
        })?;
        found.reverse();
        let Some((_, first)) = found.first() else {
            let whose = agent.map_or_else(String::new, |agent| format!(" of agent {agent}"));
            return Err(Fault::not_found(
                format!("There is no improvement {id}{whose}"),
                "`memoryctl improvements list` shows what there is.",
            )
            .into());
        };
        if let Some((_, other)) = found.iter().find(|(_, other)| other.agent != first.agent) {
            return Err(Fault::invalid(
                format!("Agents {} and {} both have an improvement {id}", other.agent, first.agent),
                "Say which agent is meant.",
            )
            .into());
        }
        Ok(found)
    }
}

/// An improvement, with its row.
type Found = (i64, memoryd_proto::Improvement);

fn project(project: Option<&Project>) -> Result<Option<ProjectHash>, Error> {
    Ok(project.map(project::resolve).transpose()?)
}

/// How many to return: the caller's number, or `default` for 0, and never more than a thousand.
fn page(limit: u64, default: u64) -> u64 {
    if limit == 0 { default } else { limit.min(MOST) }
}
