//! Past uses of improvements in tasks: append-only, and never changed but to be voided by an undo. Old ones leave with
//! their operation ([`super::retired`]).

use chrono::{DateTime, Utc};
use memoryd_proto::{AgentName, ImprovementId, OperationId, ProjectHash};
use rusqlite::{Connection, params};

use crate::database::{Error, stored};
use crate::domain::utility::{Learning, Ledgered, Verdict};

use super::usage::{self, Baseline};

/// What one report said of one improvement.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whose improvement.
    pub agent: AgentName,
    /// Which.
    pub id: ImprovementId,
    /// When.
    pub at: DateTime<Utc>,
    /// What was said.
    pub verdict: Verdict,
    /// Days without recall before it.
    pub idle_days: u32,
    /// Whether usage follows from it. An imported outcome comes beside usage that counts it already.
    pub counted: bool,
    /// The project that the task was done in, if it is known.
    pub project: Option<ProjectHash>,
    /// The task, when the improvement was used in it.
    pub task: Option<Task>,
}

/// A task in which an improvement was used.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its words.
    pub text: String,
    /// Their vector, if there is one.
    pub vector: Option<Vec<f32>>,
}

/// Appends an outcome, and returns it as an estimator sees it, if it is one to look at.
///
/// # Errors
/// Those of the database.
pub fn append(
    connection: &Connection,
    operation: OperationId,
    outcome: Outcome,
) -> Result<Option<Used>, Error> {
    let Outcome { agent, id, at, verdict, idle_days, counted, project, task } = outcome;
    let at = at.timestamp_micros();
    let sql = "INSERT INTO outcome (operation, agent, id, at, used, success, idle_days, counted, project) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    connection.prepare_cached(sql)?.execute(params![
        operation.0,
        agent.key(),
        id.as_str(),
        at,
        verdict.used,
        verdict.success,
        idle_days,
        counted,
        project.as_ref().map(ProjectHash::as_str),
    ])?;
    let n = connection.last_insert_rowid();
    let Some(Task { text, vector }) = task else { return Ok(None) };
    connection
        .prepare_cached("INSERT INTO evidence (outcome, task, vector) VALUES (?1, ?2, ?3)")?
        .execute(params![n, text, vector.as_deref().map(crate::database::vector_bytes)])?;
    Ok(verdict.used.then_some(Used { n, agent, id, at, success: verdict.success, vector }))
}

/// A stored outcome that an estimator may look at.
#[derive(Clone, Debug)]
pub struct Used {
    /// Its number.
    pub n: i64,
    /// Whose improvement.
    pub agent: AgentName,
    /// Which.
    pub id: ImprovementId,
    /// When, in microseconds.
    pub at: i64,
    /// Whether the task succeeded.
    pub success: bool,
    /// The vector of the task, if there is one.
    pub vector: Option<Vec<f32>>,
}

/// The newest outcomes of an improvement that was used, newest first, at most `keep`; without one, of all improvements,
/// one after the other.
///
/// # Errors
/// Those of the database, and of `each`.
pub fn each_used(
    connection: &Connection,
    item: Option<(&AgentName, &ImprovementId)>,
    keep: usize,
    mut each: impl FnMut(Used) -> Result<(), Error>,
) -> Result<(), Error> {
    let filter = if item.is_some() { "AND agent = ?2 AND id = ?3" } else { "" };
    let sql = format!(
        "SELECT recent.n, agent, id, at, success, vector FROM \
           (SELECT n, agent, id, at, success, row_number() OVER (PARTITION BY agent, id ORDER BY n DESC) AS age \
            FROM outcome WHERE void = 0 AND used = 1 {filter}) AS recent \
         CROSS JOIN evidence ON evidence.outcome = recent.n WHERE age <= ?1"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let keep = i64::try_from(keep).unwrap_or(i64::MAX);
    let mut rows = match item {
        Some((agent, id)) => statement.query(params![keep, agent.key(), id.as_str()])?,
        None => statement.query([keep])?,
    };
    while let Some(row) = rows.next()? {
        let vector: Option<Vec<u8>> = row.get(5)?;
        each(Used {
            n: row.get(0)?,
            agent: stored(&row.get::<_, String>(1)?)?,
            id: stored(&row.get::<_, String>(2)?)?,
            at: row.get(3)?,
            success: row.get(4)?,
            vector: vector.map(|bytes| crate::database::vector(&bytes)),
        })?;
    }
    Ok(())
}

/// The newest tasks in which an improvement was used, newest first, at most `keep`: as they can be kept for another one,
/// beside usage that counts them already.
///
/// # Errors
/// Those of the database.
pub fn past(
    connection: &Connection,
    agent: &AgentName,
    id: &ImprovementId,
    keep: usize,
) -> Result<Vec<Outcome>, Error> {
    let sql = "SELECT at, success, task, vector FROM outcome CROSS JOIN evidence ON evidence.outcome = n \
               WHERE agent = ?1 AND id = ?2 AND void = 0 AND used = 1 ORDER BY n DESC LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let keep = i64::try_from(keep).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![agent.key(), id.as_str(), keep])?;
    let mut past = Vec::new();
    while let Some(row) = rows.next()? {
        let vector: Option<Vec<u8>> = row.get(3)?;
        let vector = vector.map(|bytes| crate::database::vector(&bytes));
        past.push(Outcome {
            agent: agent.clone(),
            id: id.clone(),
            at: crate::database::instant(row.get(0)?),
            verdict: Verdict { used: true, success: row.get(1)? },
            idle_days: 0,
            counted: false,
            project: None,
            task: Some(Task { text: row.get(2)?, vector }),
        });
    }
    Ok(past)
}

/// Whether an outcome is stored.
///
/// # Errors
/// Those of the database.
pub fn known(connection: &Connection, outcome: &memoryd_proto::Outcome) -> Result<bool, Error> {
    let sql = "SELECT count(*) FROM outcome JOIN evidence ON evidence.outcome = n \
               WHERE void = 0 AND agent = ?1 AND id = ?2 AND at = ?3 AND task = ?4";
    let mut statement = connection.prepare_cached(sql)?;
    let count: u64 = statement.query_row(
        params![
            outcome.agent.key(),
            outcome.improvement.as_str(),
            outcome.at.timestamp_micros(),
            outcome.task,
        ],
        |row| row.get(0),
    )?;
    Ok(count > 0)
}

/// The words of the task of an outcome.
///
/// # Errors
/// Those of the database.
pub fn task(connection: &Connection, n: i64) -> Result<String, Error> {
    Ok(connection
        .prepare_cached("SELECT task FROM evidence WHERE outcome = ?1")?
        .query_row([n], |row| row.get(0))?)
}

/// Voids the outcomes of an operation, computes the usage of their improvements again, and returns those.
///
/// # Errors
/// Those of the database.
pub fn void(
    connection: &Connection,
    operation: OperationId,
    today: i64,
    learning: &Learning,
) -> Result<Vec<(AgentName, ImprovementId)>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT DISTINCT agent, id FROM outcome WHERE operation = ?1")?;
    let mut rows = statement.query([operation.0])?;
    let mut items: Vec<(AgentName, ImprovementId)> = Vec::new();
    while let Some(row) = rows.next()? {
        items.push((stored(&row.get::<_, String>(0)?)?, stored(&row.get::<_, String>(1)?)?));
    }
    connection.prepare_cached("UPDATE outcome SET void = 1 WHERE operation = ?1")?.execute([operation.0])?;
    for (agent, id) in &items {
        recompute(connection, agent, id, today, learning)?;
    }
    Ok(items)
}

/// Computes the usage of an improvement from what was imported and the outcomes since.
fn recompute(
    connection: &Connection,
    agent: &AgentName,
    id: &ImprovementId,
    today: i64,
    learning: &Learning,
) -> Result<(), Error> {
    let Some(now) = usage::find(connection, agent, id)? else { return Ok(()) };
    let mut fresh = replayed(connection, agent, id, None, today, learning)?.usage;
    fresh.access_count = now.access_count;
    fresh.last_accessed = now.last_accessed;
    fresh.q_day = now.q_day;
    usage::put(connection, agent, id, &fresh)
}

/// What the baseline of an improvement comes to with the outcomes since, or with those of operations up to `last.0` that
/// are numbered up to `last.1`.
///
/// # Errors
/// Those of the database.
pub fn replayed(
    connection: &Connection,
    agent: &AgentName,
    id: &ImprovementId,
    last: Option<(u64, i64)>,
    today: i64,
    learning: &Learning,
) -> Result<Baseline, Error> {
    let nothing = || Baseline { usage: Ledgered::new(today), replaces: 0 };
    let mut fresh = usage::baseline(connection, agent, id)?.unwrap_or_else(nothing);
    let sql = "SELECT used, success, at, idle_days, n FROM outcome \
               WHERE agent = ?1 AND id = ?2 AND n > ?3 AND n <= ?5 AND void = 0 AND counted = 1 \
               AND operation <= ?4 ORDER BY n";
    let (last, until) = last.unwrap_or((u64::MAX >> 1, i64::MAX));
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![agent.key(), id.as_str(), fresh.replaces, last, until])?;
    while let Some(row) = rows.next()? {
        let verdict = Verdict { used: row.get(0)?, success: row.get(1)? };
        fresh.usage.replay(verdict, row.get(2)?, row.get(3)?, learning);
        fresh.replaces = row.get(4)?;
    }
    Ok(fresh)
}
