//! Receipts of recalls: what was asked, what was considered and why, and whether it was reported (spec Q6, Q9).

use chrono::{DateTime, TimeDelta, Utc};
use memoryd_proto::{
    AgentName, Considered, ContextName, Estimator, HotRule, ImprovementId, OperationId, RecallId,
    RecallOutcome, Verdict,
};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::database::{Error, from_json, stored, to_json};

/// How long a recall waits for its report.
pub const EXPIRY: TimeDelta = TimeDelta::hours(24);

/// How long a receipt can be explained.
const KEPT: TimeDelta = TimeDelta::days(30);

/// What a recall answered, and why.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receipt {
    /// Who asked.
    pub agent: AgentName,
    /// What was asked.
    pub query: String,
    /// In which context.
    pub context: ContextName,
    /// The weight of learned utility.
    pub alpha: f64,
    /// The estimator of it.
    pub estimator: Estimator,
    /// The relevance an item had to reach.
    pub gate: f64,
    /// Every item considered.
    pub items: Vec<Considered>,
    /// Of the rules that were loaded whatever was asked, those that bear on the query or contradict something.
    #[serde(default)]
    pub hot: Vec<HotRule>,
    /// All of them.
    #[serde(default)]
    pub loaded: Vec<ImprovementId>,
}

impl Receipt {
    /// The items that were returned, best first.
    pub fn returned(&self) -> impl Iterator<Item = &Considered> {
        self.items.iter().filter(|item| item.verdict == Verdict::Returned)
    }

    /// What the recall counts as one of. A rule that is always loaded is recalled when it bears on the query.
    pub fn recalled(&self) -> impl Iterator<Item = &ImprovementId> {
        let hot = self.hot.iter().filter(|rule| rule.relevant).map(|rule| &rule.id);
        self.returned().map(|item| &item.id).chain(hot)
    }

    /// Whether a report can name an item as used.
    #[must_use]
    pub fn offered(&self, id: &ImprovementId) -> bool {
        self.returned().any(|item| item.id == *id) || self.loaded.contains(id)
    }
}

/// A stored receipt.
#[derive(Clone, Debug)]
pub struct Stored {
    /// When the recall was made.
    pub at: DateTime<Utc>,
    /// What became of its report.
    pub outcome: RecallOutcome,
    /// What it answered.
    pub receipt: Receipt,
}

/// Stores a receipt and returns the recall's id. Drops a few receipts that are too old to be explained.
///
/// # Errors
/// Those of the database.
pub fn insert(connection: &Connection, at: DateTime<Utc>, receipt: &Receipt) -> Result<RecallId, Error> {
    let sql = "DELETE FROM recall WHERE n IN \
               (SELECT n FROM (SELECT n, at FROM recall ORDER BY n LIMIT 2) WHERE at < ?1)";
    connection.prepare_cached(sql)?.execute([(at - KEPT).timestamp_micros()])?;
    let next: i64 = connection
        .prepare_cached("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'recall'), 0) + 1")?
        .query_row([], |row| row.get(0))?;
    let id = format!("recall_{}_{next}", at.timestamp_millis());
    connection
        .prepare_cached("INSERT INTO recall (id, agent, at, context, body) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![
            id,
            receipt.agent.key(),
            at.timestamp_micros(),
            receipt.context.as_str(),
            to_json("recall", receipt)?,
        ])?;
    stored(&id)
}

/// The receipt of a recall, if it is kept.
///
/// # Errors
/// Those of the database.
pub fn find(connection: &Connection, id: &RecallId, now: DateTime<Utc>) -> Result<Option<Stored>, Error> {
    let sql = "SELECT at, operation, success, body FROM recall WHERE id = ?1";
    let row = connection
        .prepare_cached(sql)?
        .query_row([id.as_str()], |row| {
            Ok((
                row.get(0)?,
                row.get::<_, Option<u64>>(1)?,
                row.get::<_, Option<bool>>(2)?,
                row.get::<_, String>(3)?,
            ))
        })
        .optional()?;
    let Some((at, operation, success, body)) = row else { return Ok(None) };
    let at = crate::database::instant(at);
    let outcome = match (operation, success) {
        (Some(_), Some(true)) => RecallOutcome::Succeeded,
        (Some(_), _) => RecallOutcome::Failed,
        (None, _) if now - at > EXPIRY => RecallOutcome::Expired,
        (None, _) => RecallOutcome::Open,
    };
    Ok(Some(Stored { at, outcome, receipt: from_json("recall", &body)? }))
}

/// Closes a recall with the operation of its report.
///
/// # Errors
/// Those of the database.
pub fn close(
    connection: &Connection,
    id: &RecallId,
    operation: OperationId,
    success: bool,
) -> Result<(), Error> {
    connection
        .prepare_cached("UPDATE recall SET operation = ?2, success = ?3 WHERE id = ?1")?
        .execute(params![id.as_str(), operation.0, success])?;
    Ok(())
}

/// Opens the recalls again that an operation closed, and returns their contexts.
///
/// # Errors
/// Those of the database.
pub fn reopen(connection: &Connection, operation: OperationId) -> Result<Vec<ContextName>, Error> {
    let sql = "UPDATE recall SET operation = NULL, success = NULL WHERE operation = ?1 RETURNING body";
    let mut statement = connection.prepare_cached(sql)?;
    let bodies: Vec<String> =
        statement.query_map([operation.0], |row| row.get(0))?.collect::<Result<_, _>>()?;
    bodies.iter().map(|body| from_json::<Receipt>("recall", body).map(|receipt| receipt.context)).collect()
}

/// How many recalls wait for their report.
///
/// # Errors
/// Those of the database.
pub fn open(connection: &Connection, now: DateTime<Utc>) -> Result<u64, Error> {
    Ok(connection
        .prepare_cached("SELECT count(*) FROM recall WHERE operation IS NULL AND at >= ?1")?
        .query_row([(now - EXPIRY).timestamp_micros()], |row| row.get(0))?)
}
