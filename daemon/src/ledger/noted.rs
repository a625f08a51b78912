//! The use of notes, over all agents (spec M6). To the ledger a note is an improvement whose id begins with `note:`.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, params};

use crate::database::{Error, instant};
use crate::domain::skills::Uses;
use crate::domain::tiers::Use;

/// What the ids of notes begin with.
pub const NOTE: &str = "note:";

/// The first text after all that begin with [`NOTE`].
const AFTER: &str = "note;";

/// The use of every note that was ever used, by its id. Successes count from `since` on.
///
/// # Errors
/// Those of the database.
pub fn uses(connection: &Connection, since: DateTime<Utc>) -> Result<HashMap<String, Use>, Error> {
    let mut uses: HashMap<String, Use> = HashMap::new();
    let mut of = |id: String, add: &dyn Fn(&mut Use)| {
        if let Some(id) = id.strip_prefix(NOTE) {
            add(uses.entry(id.to_owned()).or_default());
        }
    };
    let sql =
        "SELECT id, max(last_used) FROM usage WHERE id >= ?1 AND id < ?2 AND usage_count > 0 GROUP BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([NOTE, AFTER])?;
    while let Some(row) = rows.next()? {
        let last: Option<i64> = row.get(1)?;
        of(row.get(0)?, &|known| known.last_used = last.map(instant));
    }
    let sql = "SELECT id, count(*) FROM outcome \
               WHERE at >= ?3 AND id >= ?1 AND id < ?2 AND used = 1 AND success = 1 AND void = 0 GROUP BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![NOTE, AFTER, since.timestamp_micros()])?;
    while let Some(row) = rows.next()? {
        let successes = row.get(1)?;
        of(row.get(0)?, &|known| known.recent_successes = successes);
    }
    let sql = "SELECT used.value, count(DISTINCT body ->> 'project') FROM evaluation, json_each(body, '$.used') AS used \
               WHERE used.value >= ?1 AND used.value < ?2 AND success = 1 GROUP BY used.value";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([NOTE, AFTER])?;
    while let Some(row) = rows.next()? {
        let projects = row.get(1)?;
        of(row.get(0)?, &|known| known.projects = projects);
    }
    Ok(uses)
}

/// How often every note was used, by its id.
///
/// # Errors
/// Those of the database.
pub fn tallies(connection: &Connection) -> Result<HashMap<String, Uses>, Error> {
    let sql = "SELECT id, sum(usage_count), sum(success_count) FROM usage \
               WHERE id >= ?1 AND id < ?2 AND usage_count > 0 GROUP BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([NOTE, AFTER])?;
    let projects = uses(connection, DateTime::<Utc>::MAX_UTC)?;
    let mut tallies = HashMap::new();
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        let Some(id) = id.strip_prefix(NOTE) else { continue };
        let projects = projects.get(id).map_or(0, |known| known.projects);
        tallies.insert(id.to_owned(), Uses { tasks: row.get(1)?, successes: row.get(2)?, projects });
    }
    Ok(tallies)
}
