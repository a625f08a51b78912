//! When each job last ran, and how that went (spec S2).

use chrono::{DateTime, Utc};
use memoryd_proto::{JobName, JobRun};
use rusqlite::{Connection, OptionalExtension, params};

use crate::database::{Error, from_json, instant, to_json};

/// What is kept of a job's runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    /// The time of the schedule that was last kept; at first, since when the schedule counts.
    pub due: DateTime<Utc>,
    /// Failures in a row.
    pub failures: u32,
    /// When a failed run is tried again.
    pub retry_at: Option<DateTime<Utc>>,
    /// The last run.
    pub last: Option<JobRun>,
}

impl Runs {
    /// Of a job that never ran; its schedule counts from `now` on.
    #[must_use]
    pub fn none(now: DateTime<Utc>) -> Self {
        Self { due: now, failures: 0, retry_at: None, last: None }
    }
}

/// What is kept of a job's runs, if anything is.
///
/// # Errors
/// Those of the database.
pub fn find(connection: &Connection, job: JobName) -> Result<Option<Runs>, Error> {
    let sql = "SELECT due, failures, retry_at, last FROM run WHERE job = ?1";
    let row = connection
        .prepare_cached(sql)?
        .query_row([job.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get::<_, Option<i64>>(2)?, row.get::<_, Option<String>>(3)?))
        })
        .optional()?;
    let Some((due, failures, retry_at, last)) = row else { return Ok(None) };
    let last = last.map(|last| from_json("run", &last)).transpose()?;
    Ok(Some(Runs { due: instant(due), failures, retry_at: retry_at.map(instant), last }))
}

/// Keeps a job's runs.
///
/// # Errors
/// Those of the database.
pub fn put(connection: &Connection, job: JobName, runs: &Runs) -> Result<(), Error> {
    let sql = "INSERT OR REPLACE INTO run (job, due, failures, retry_at, last) VALUES (?1, ?2, ?3, ?4, ?5)";
    connection.prepare_cached(sql)?.execute(params![
        job.as_str(),
        runs.due.timestamp_micros(),
        runs.failures,
        runs.retry_at.map(|at| at.timestamp_micros()),
        runs.last.as_ref().map(|last| to_json("run", last)).transpose()?,
    ])?;
    Ok(())
}
