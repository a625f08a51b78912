//! Old operations leave for the archive, a span at a time, and return when that is undone (spec S1, S6, S7).
//!
//! Spans lie end to end, from the first operation on: what is in the archive is always the beginning of the journal. A
//! span leaves as one frame of an archive, which holds every row that leaves with it. The change in the journal says no
//! more than where that frame lies, so pruning does not grow what it prunes.

use chrono::{DateTime, Utc};
use memoryd_proto::{AgentName, ArchiveKind, Fault, ImprovementId, Operation, OperationId};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::change::{JOURNAL, ROWS, Span};
use super::kept::{self, Kept};
use super::{Change, Edit, operations};
use crate::archive::Archive;
use crate::database::{self, from_json};
use crate::domain::decay;
use crate::domain::utility::{Learning, Ledgered};
use crate::error::Error;
use crate::ledger::retired::{self, Gone, Item, Outcome, Rebased};

/// A line of an archive of operations.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "lines live in short lists")]
enum Line {
    Operation(Kept),
    Outcome(Outcome),
    Baseline(Rebased),
    Usage(Gone),
}

/// The spans of the operations from before `cutoff`, up to the first that is newer or still open.
///
/// # Errors
/// Those of the database.
pub fn before(connection: &Connection, cutoff: DateTime<Utc>) -> Result<Vec<Span>, database::Error> {
    let sql = "SELECT id, 1 + (SELECT count(*) FROM change WHERE change.operation = operation.id) \
                        + (SELECT count(*) FROM outcome WHERE outcome.operation = operation.id) FROM operation \
               WHERE id < coalesce((SELECT min(id) FROM operation WHERE open = 1 OR at >= ?1), 1 << 62) ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([cutoff.timestamp_micros()])?;
    let (mut spans, mut first, mut held): (Vec<Span>, _, usize) =
        (Vec::new(), operations::pruned(connection)? + 1, 0);
    while let Some(row) = rows.next()? {
        let (id, weight): (u64, usize) = (row.get(0)?, row.get(1)?);
        held += weight;
        if let Some(span) = spans.last_mut().filter(|_| held <= ROWS) {
            span.last = OperationId(id);
            span.operations += 1;
        } else {
            held = weight;
            let (first, last) = (OperationId(first), OperationId(id));
            spans.push(Span { first, last, operations: 1, place: None });
        }
        first = id + 1;
    }
    Ok(spans)
}

/// Whether a span is as it was planned.
///
/// # Errors
/// Those of the database.
pub(super) fn holds(connection: &Connection, span: &Span) -> Result<bool, database::Error> {
    let sql = "SELECT count(*), coalesce(sum(open), 0) FROM operation WHERE id BETWEEN ?1 AND ?2";
    let found: (u64, u64) =
        connection.prepare_cached(sql)?.query_row(span.bounds(), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found == (span.operations, 0) && operations::pruned(connection)? + 1 == span.first.0)
}

/// Moves a span between the database and the archive.
///
/// # Errors
/// Those of the database and of the archive, and when the archive does not hold what it took.
pub(super) fn moved(
    connection: &Connection,
    archive: &Archive,
    edit: &mut Edit<Span>,
    now: DateTime<Utc>,
    learning: &Learning,
) -> Result<(), Error> {
    match (&mut edit.before, &mut edit.after) {
        (Some(span), None) => leave(connection, archive, span, now, learning),
        (None, Some(span)) => come_back(connection, archive, span),
        (Some(_), Some(_)) | (None, None) => Ok(()),
    }
}

fn leave(
    connection: &Connection,
    archive: &Archive,
    span: &mut Span,
    now: DateTime<Utc>,
    learning: &Learning,
) -> Result<(), Error> {
    let bounds = span.bounds();
    let gone = gone(connection, bounds)?;
    let operations = kept::all(connection, bounds)?.into_iter().map(Line::Operation);
    let outcomes =
        retired::leaving(connection, bounds, learning.outcomes, &gone)?.into_iter().map(Line::Outcome);
    let rebased = retired::rebased(connection, bounds, decay::day(now), learning, &gone)?;
    let usage = retired::usage_of(connection, &gone)?.into_iter().map(Line::Usage);
    let lines: Vec<Line> =
        operations.chain(outcomes).chain(rebased.into_iter().map(Line::Baseline)).chain(usage).collect();
    span.place = Some(archive.append(ArchiveKind::Operations, now, &lines)?);
    for line in &lines {
        match line {
            Line::Operation(kept) => kept.remove(connection)?,
            Line::Outcome(outcome) => outcome.remove(connection)?,
            Line::Baseline(rebased) => rebased.rebase(connection)?,
            Line::Usage(gone) => gone.remove(connection)?,
        }
    }
    Ok(database::set_meta(connection, operations::PRUNED, &span.last.to_string())?)
}

fn come_back(connection: &Connection, archive: &Archive, span: &Span) -> Result<(), Error> {
    let place = span.place.as_ref().ok_or_else(|| {
        Fault::not_found(
            format!("The journal does not say where the archive holds {}", span.told()),
            "`memoryctl archive search --kind operations` finds them if they are there.",
        )
    })?;
    for line in archive.at(place)? {
        match line {
            Line::Operation(kept) => kept.put_back(connection)?,
            Line::Outcome(outcome) => outcome.put_back(connection)?,
            Line::Baseline(rebased) => rebased.put_back(connection)?,
            Line::Usage(gone) => gone.put_back(connection)?,
        }
    }
    kept::stand_again(connection, span.bounds())?;
    Ok(database::set_meta(connection, operations::PRUNED, &(span.first.0 - 1).to_string())?)
}

/// The improvements that operations removed and nothing can bring back but the archive: they exist in no scope, and no
/// newer operation touched them or their usage.
fn gone(connection: &Connection, (first, last): (u64, u64)) -> Result<Vec<Item>, database::Error> {
    let removed = "SELECT body FROM change WHERE operation BETWEEN ?1 AND ?2 \
                   AND item >= 'improvement:' AND item < 'improvement;'";
    let needed = "SELECT EXISTS (SELECT 1 FROM improvement JOIN collection ON collection.id = collection \
            WHERE improvement.id = ?2 AND agent = ?1) \
        OR EXISTS (SELECT 1 FROM outcome WHERE agent = ?1 AND id = ?2 AND operation > ?4) \
        OR EXISTS (SELECT 1 FROM change WHERE item = 'usage:' || ?1 || ':' || ?2 AND operation >= ?3) \
        OR EXISTS (SELECT 1 FROM collection JOIN change \
            ON change.item = 'improvement:' || agent || ':' || project || ':' || ?2 \
            WHERE agent = ?1 AND operation > ?4)";
    let mut statement = connection.prepare_cached(removed)?;
    let bodies: Vec<String> =
        statement.query_map([first, last], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut gone: Vec<Item> = Vec::new();
    for body in bodies {
        let Change::Improvement { edit: Edit { before: Some(one), after: None }, .. } =
            from_json("change", &body)?
        else {
            continue;
        };
        let needed: bool = connection
            .prepare_cached(needed)?
            .query_row((one.agent.key(), one.id.as_str(), first, last), |row| row.get(0))?;
        let item = (one.agent, one.id);
        if !needed && !gone.contains(&item) {
            gone.push(item);
        }
    }
    Ok(gone)
}

/// Why an operation cannot be undone that is not in the database.
pub(super) fn missing(connection: &Connection, id: OperationId) -> Result<Fault, database::Error> {
    if id.0 == 0 || id.0 > operations::pruned(connection)? {
        return Ok(Fault::not_found(
            format!("There is no operation {id}"),
            "`memoryctl journal` lists the operations.",
        ));
    }
    let sql = "SELECT operation, body FROM change JOIN operation ON operation.id = operation \
               WHERE item = ?1 AND undone_by IS NULL ORDER BY operation DESC, n DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([JOURNAL])?;
    let mut newest: Option<u64> = None;
    while let Some(row) = rows.next()? {
        let body = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let Change::Journal(Edit { before: Some(span), after: None }) = from_json("change", body)? else {
            continue;
        };
        let by: u64 = row.get(0)?;
        if (span.first..=span.last).contains(&id) {
            let file = span.place.map(|place| format!(": {}", place.file)).unwrap_or_default();
            return Ok(Fault::conflict(
                format!("Operation {id} was moved to the archive by operation {by}{file}"),
                format!("Undo operation {by} first: that brings it back."),
            ));
        }
        newest.get_or_insert(by);
    }
    let advice = newest.map_or_else(
        || "It cannot be brought back any more.".to_owned(),
        |by| {
            format!(
                "The operation that moved it is there too. Undo operation {by} first: that brings it back."
            )
        },
    );
    Ok(Fault::conflict(format!("Operation {id} was moved to the archive"), advice))
}

/// The operation in a line of an archive, if the line holds one.
#[must_use]
pub fn archived_operation(line: &str) -> Option<Operation> {
    match serde_json::from_str(line) {
        Ok(Line::Operation(kept)) => kept.told().ok(),
        Ok(Line::Outcome(_) | Line::Baseline(_) | Line::Usage(_)) | Err(_) => None,
    }
}

/// The usage of an improvement as it was when it left with the operation that removed the improvement, if it did.
///
/// # Errors
/// When an archive cannot be read.
pub fn archived_usage(
    archive: &Archive,
    agent: &AgentName,
    id: &ImprovementId,
) -> Result<Option<Ledgered>, Error> {
    let ours = |line: &Line| matches!(line, Line::Usage(gone) if gone.agent == *agent && gone.id == *id);
    let found = archive.find(ArchiveKind::Operations, ours)?.into_iter().next();
    Ok(found.and_then(|line| match line {
        Line::Usage(gone) => Some(gone.usage),
        Line::Operation(_) | Line::Outcome(_) | Line::Baseline(_) => None,
    }))
}
