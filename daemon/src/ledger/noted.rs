//! The use of notes, over all agents (spec M5, M6). To the ledger a note is an improvement whose id begins with `note:`;
//! one that was lightly edited goes on under the id that it had before ([`super::note::identity`]).

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use memoryd_proto::ImprovementId;
use rusqlite::{Connection, params};

use super::note;
use crate::database::{Error, instant};
use crate::domain::skills::Uses;
use crate::domain::tiers::Use;

/// What the ids of notes begin with.
const NOTE: &str = "note:";

/// The first text after all that begin with [`NOTE`].
const AFTER: &str = "note;";

/// Names a note beside improvements.
#[must_use]
pub fn named(note: &str) -> ImprovementId {
    format!("{NOTE}{note}").parse().unwrap_or_else(|_| unreachable!("hex digits are an id"))
}

/// The id of the note that is named; none of an improvement.
#[must_use]
pub fn note(id: &ImprovementId) -> Option<&str> {
    id.as_str().strip_prefix(NOTE)
}

/// The use of every note that was ever recalled, used or seen, by its id, and by the ids that light edits gave it since.
/// Successes count from `since` on.
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
    let sql = "SELECT id, max(max(coalesce(last_used, last_accessed), coalesce(last_accessed, last_used))) \
               FROM usage WHERE id >= ?1 AND id < ?2 GROUP BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([NOTE, AFTER])?;
    while let Some(row) = rows.next()? {
        let last: Option<i64> = row.get(1)?;
        of(row.get(0)?, &|known| known.last_used = last.map(instant));
    }
    let sql = "SELECT id, count(CASE WHEN at >= ?3 THEN 1 END), count(DISTINCT project) FROM outcome \
               WHERE id >= ?1 AND id < ?2 AND used = 1 AND success = 1 AND void = 0 GROUP BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![NOTE, AFTER, since.timestamp_micros()])?;
    while let Some(row) = rows.next()? {
        let (recent_successes, projects) = (row.get(1)?, row.get(2)?);
        of(row.get(0)?, &|known| (known.recent_successes, known.projects) = (recent_successes, projects));
    }
    let mut statement = connection.prepare_cached("SELECT id, identity FROM note_alias")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(known) = uses.get(&row.get::<_, String>(1)?).copied() {
            uses.insert(row.get(0)?, known);
        }
    }
    for (id, at) in note::first_seen(connection)? {
        uses.entry(id).or_default().since = Some(at.date_naive());
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
