//! Events: what happens in the daemon, for those who watch (spec C4).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{AgentName, JobName, OperationId};

/// Wait for events. The reply comes as soon as there are any, and says where to go on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Watch {
    /// Events after the one of this number, 0 for all that are kept; absent for those from now on. Numbers begin anew
    /// when the daemon starts, so one that it has not reached counts as 0.
    pub after: Option<u64>,
    /// How long to wait for an event, in milliseconds; more than 25,000 count as 25,000.
    pub wait_ms: u64,
}

/// Events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    /// Since when the daemon runs. Another time than before means that it was started again, and that numbers began anew.
    pub since: DateTime<Utc>,
    /// The events in order; none when nothing happened in time.
    pub events: Vec<Event>,
    /// The number to send as `after` next.
    pub next: u64,
    /// How many came before these and are no longer kept. The daemon keeps the last 1,024.
    pub missed: u64,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its number: 1, 2, 3, … since the daemon started.
    pub number: u64,
    /// When.
    pub at: DateTime<Utc>,
    /// What.
    pub what: Happening,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happening {
    /// Memory was changed.
    Committed {
        /// The operation.
        operation: OperationId,
        /// Which call or job made it.
        actor: String,
        /// Why, in one line.
        reason: String,
        /// Whose memory it changed, if one agent's.
        agent: Option<AgentName>,
        /// How many changes it has.
        changes: u64,
    },
    /// An operation was undone.
    Undone {
        /// The operation that was undone.
        undone: OperationId,
        /// The operation that did it.
        operation: OperationId,
    },
    /// A job began.
    JobStarted {
        /// Which.
        job: JobName,
    },
    /// A job got on. A job that does much tells it about a hundred times.
    JobProgress {
        /// Which.
        job: JobName,
        /// What it does.
        phase: Phase,
        /// How much of it is done.
        done: u64,
        /// Of how much.
        of: u64,
    },
    /// A job ended.
    JobEnded {
        /// Which.
        job: JobName,
        /// Its operation; absent when nothing changed.
        operation: Option<OperationId>,
        /// How many changes were planned.
        total: u64,
        /// Why it failed, if it did.
        failed: Option<String>,
    },
    /// Files of the memory tree changed, and what they say is searched now.
    NotesRead {
        /// How many files.
        files: u64,
        /// How many entries the whole tree has now.
        entries: u64,
    },
    /// Entries of the memory tree got their vectors, so that they are found by their meaning too. Much of that is told
    /// about a hundred times.
    NotesEmbedded {
        /// How many entries have them.
        done: u64,
        /// Of how many.
        of: u64,
        /// About how many seconds it takes until all have; absent when they have, or nobody knows.
        left_seconds: Option<u64>,
    },
}

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It finds out what is to be done.
    Planning,
    /// It does it.
    Changing,
}
