//! What the ledger gives up when operations leave for the archive, and takes back when they return.
//!
//! Usage goes on following from baseline and outcomes: those that leave are folded into the baseline first. The newest
//! used outcomes of each improvement stay, because estimators look at them; the baseline says that they are counted.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use memoryd_proto::{AgentName, ImprovementId, ProjectHash};
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use super::{outcomes, usage};
use crate::database::{Error, instant, stored};
use crate::domain::text;
use crate::domain::utility::{Learning, Ledgered};

/// Names an improvement.
pub type Item = (AgentName, ImprovementId);

/// An outcome, with its evidence.
#[derive(Debug, Serialize, Deserialize)]
#[allow(missing_docs, clippy::struct_excessive_bools, reason = "the columns of that name")]
pub struct Outcome {
    pub n: i64,
    pub operation: u64,
    pub agent: AgentName,
    pub id: ImprovementId,
    pub at: DateTime<Utc>,
    pub used: bool,
    pub success: bool,
    pub idle_days: u32,
    pub counted: bool,
    pub void: bool,
    #[serde(default)]
    pub project: Option<ProjectHash>,
    pub task: Option<String>,
    /// In hexadecimal.
    pub vector: Option<String>,
}

/// The baseline of an improvement, and the one that takes its place.
#[derive(Debug, Serialize, Deserialize)]
pub struct Rebased {
    /// Whose improvement.
    pub agent: AgentName,
    /// Which.
    pub id: ImprovementId,
    /// As it was.
    pub before: Option<usage::Baseline>,
    /// With what left.
    pub after: Option<usage::Baseline>,
}

/// The usage of an improvement that no longer exists.
#[derive(Debug, Serialize, Deserialize)]
pub struct Gone {
    /// Whose improvement.
    pub agent: AgentName,
    /// Which.
    pub id: ImprovementId,
    /// Its usage.
    pub usage: Ledgered,
}

/// The outcomes that leave with the operations `first` to `last`: of the used ones, those that are not among the newest
/// `keep` of their improvement. One that an undo voided leaves with the undo. Of improvements that are `gone`, all.
///
/// # Errors
/// Those of the database.
pub fn leaving(
    connection: &Connection,
    (first, last): (u64, u64),
    keep: usize,
    gone: &[Item],
) -> Result<Vec<Outcome>, Error> {
    let unused = "SELECT n FROM outcome WHERE operation BETWEEN ?1 AND ?2 AND used = 0 AND void = 0";
    let voided = "SELECT n FROM outcome WHERE void = 1 AND operation IN \
            (SELECT id FROM operation WHERE id BETWEEN ?1 AND ?2 \
             UNION SELECT undoes FROM operation WHERE id BETWEEN ?1 AND ?2) \
        AND NOT EXISTS (SELECT 1 FROM operation WHERE undoes = outcome.operation AND id > ?2)";
    let used = "SELECT DISTINCT agent, id FROM outcome \
        WHERE operation BETWEEN ?1 AND ?2 AND used = 1 AND void = 0";
    // Older than the oldest of those that stay.
    let older = "SELECT n FROM outcome WHERE agent = ?1 AND id = ?2 AND used = 1 AND void = 0 AND operation <= ?3 \
        AND n < (SELECT n FROM outcome WHERE agent = ?1 AND id = ?2 AND used = 1 AND void = 0 \
            ORDER BY n DESC LIMIT 1 OFFSET ?4)";
    let mut numbers: BTreeSet<i64> = BTreeSet::new();
    for sql in [unused, voided] {
        for n in connection.prepare_cached(sql)?.query_map([first, last], |row| row.get(0))? {
            numbers.insert(n?);
        }
    }
    let last_kept = i64::try_from(keep.saturating_sub(1)).unwrap_or(i64::MAX);
    let (mut used, mut older) = (connection.prepare_cached(used)?, connection.prepare_cached(older)?);
    let mut items = used.query([first, last])?;
    while let Some(item) = items.next()? {
        let (agent, id): (String, String) = (item.get(0)?, item.get(1)?);
        for n in older.query_map(params![agent, id, last, last_kept], |row| row.get(0))? {
            numbers.insert(n?);
        }
    }
    for (agent, id) in gone {
        let mut statement =
            connection.prepare_cached("SELECT n FROM outcome WHERE agent = ?1 AND id = ?2")?;
        for n in statement.query_map(params![agent.key(), id.as_str()], |row| row.get(0))? {
            numbers.insert(n?);
        }
    }
    numbers.into_iter().map(|n| outcome(connection, n)).collect()
}

fn outcome(connection: &Connection, n: i64) -> Result<Outcome, Error> {
    let sql = "SELECT n, operation, agent, id, at, used, success, idle_days, counted, void, project, task, vector \
               FROM outcome LEFT JOIN evidence ON evidence.outcome = n WHERE n = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([n])?;
    let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let (project, vector): (Option<String>, Option<Vec<u8>>) = (row.get(10)?, row.get(12)?);
    Ok(Outcome {
        n: row.get(0)?,
        operation: row.get(1)?,
        agent: stored(&row.get::<_, String>(2)?)?,
        id: stored(&row.get::<_, String>(3)?)?,
        at: instant(row.get(4)?),
        used: row.get(5)?,
        success: row.get(6)?,
        idle_days: row.get(7)?,
        counted: row.get(8)?,
        void: row.get(9)?,
        project: project.map(|hash| stored(&hash)).transpose()?,
        task: row.get(11)?,
        vector: vector.map(|bytes| text::hex(&bytes)),
    })
}

/// The baselines that take up the outcomes of the operations `first` to `last`. Those of improvements that are `gone`
/// only end.
///
/// # Errors
/// Those of the database.
pub fn rebased(
    connection: &Connection,
    (first, last): (u64, u64),
    today: i64,
    learning: &Learning,
    gone: &[Item],
) -> Result<Vec<Rebased>, Error> {
    let sql = "SELECT agent, id, max(n) FROM outcome \
               WHERE operation BETWEEN ?1 AND ?2 AND void = 0 AND counted = 1 GROUP BY agent, id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([first, last])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let (agent, id) = (stored(&row.get::<_, String>(0)?)?, stored(&row.get::<_, String>(1)?)?);
        if gone.iter().any(|(whose, which)| *whose == agent && *which == id) {
            continue;
        }
        let before = usage::baseline(connection, &agent, &id)?;
        let after = outcomes::replayed(connection, &agent, &id, Some((last, row.get(2)?)), today, learning)?;
        if before.as_ref() != Some(&after) {
            all.push(Rebased { agent, id, before, after: Some(after) });
        }
    }
    for (agent, id) in gone.iter().cloned() {
        if let Some(before) = usage::baseline(connection, &agent, &id)? {
            all.push(Rebased { agent, id, before: Some(before), after: None });
        }
    }
    Ok(all)
}

/// The usage of improvements that are `gone`.
///
/// # Errors
/// Those of the database.
pub fn usage_of(connection: &Connection, gone: &[Item]) -> Result<Vec<Gone>, Error> {
    let mut all = Vec::new();
    for (agent, id) in gone.iter().cloned() {
        all.extend(usage::find(connection, &agent, &id)?.map(|usage| Gone { agent, id, usage }));
    }
    Ok(all)
}

impl Outcome {
    /// Removes it.
    ///
    /// # Errors
    /// Those of the database.
    pub fn remove(&self, connection: &Connection) -> Result<(), Error> {
        connection.prepare_cached("DELETE FROM outcome WHERE n = ?1")?.execute([self.n])?;
        Ok(())
    }

    /// Puts it back where it was.
    ///
    /// # Errors
    /// Those of the database.
    pub fn put_back(&self, connection: &Connection) -> Result<(), Error> {
        let sql = "INSERT INTO outcome (n, operation, agent, id, at, used, success, idle_days, counted, void, \
                   project) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        connection.prepare_cached(sql)?.execute(params![
            self.n,
            self.operation,
            self.agent.key(),
            self.id.as_str(),
            self.at.timestamp_micros(),
            self.used,
            self.success,
            self.idle_days,
            self.counted,
            self.void,
            self.project.as_ref().map(ProjectHash::as_str),
        ])?;
        if let Some(task) = &self.task {
            let vector = self.vector.as_deref().and_then(text::unhex);
            connection
                .prepare_cached("INSERT INTO evidence (outcome, task, vector) VALUES (?1, ?2, ?3)")?
                .execute(params![self.n, task, vector])?;
        }
        Ok(())
    }
}

impl Rebased {
    /// Lets the new baseline take the place of the old.
    ///
    /// # Errors
    /// Those of the database.
    pub fn rebase(&self, connection: &Connection) -> Result<(), Error> {
        usage::write_baseline(connection, &self.agent, &self.id, self.after.as_ref())
    }

    /// Puts the old baseline back, unless another was imported since.
    ///
    /// # Errors
    /// Those of the database.
    pub fn put_back(&self, connection: &Connection) -> Result<(), Error> {
        if usage::baseline(connection, &self.agent, &self.id)? != self.after {
            return Ok(());
        }
        usage::write_baseline(connection, &self.agent, &self.id, self.before.as_ref())
    }
}

impl Gone {
    /// Removes it.
    ///
    /// # Errors
    /// Those of the database.
    pub fn remove(&self, connection: &Connection) -> Result<(), Error> {
        usage::remove(connection, &self.agent, &self.id)
    }

    /// Puts it back, unless there is other usage by now.
    ///
    /// # Errors
    /// Those of the database.
    pub fn put_back(&self, connection: &Connection) -> Result<(), Error> {
        match usage::find(connection, &self.agent, &self.id)? {
            Some(_) => Ok(()),
            None => usage::put(connection, &self.agent, &self.id, &self.usage),
        }
    }
}
