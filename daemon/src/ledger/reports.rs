//! Reports that were taken, with their answers, so that the same report counts once (spec E2).

use memoryd_proto::{AgentName, Learned, OperationId, ReportId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::database::{Error, from_json, to_json};

/// The answer to a report that was taken before.
///
/// # Errors
/// Those of the database.
pub fn find(connection: &Connection, agent: &AgentName, id: &ReportId) -> Result<Option<Learned>, Error> {
    let text: Option<String> = connection
        .prepare_cached("SELECT reply FROM report WHERE agent = ?1 AND id = ?2")?
        .query_row(params![agent.key(), id.as_str()], |row| row.get(0))
        .optional()?;
    text.map(|text| from_json("report", &text)).transpose()
}

/// Keeps the answer to a report.
///
/// # Errors
/// Those of the database.
pub fn insert(
    connection: &Connection,
    agent: &AgentName,
    id: &ReportId,
    operation: OperationId,
    reply: &Learned,
) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT INTO report (agent, id, operation, reply) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![agent.key(), id.as_str(), operation.0, to_json("report", reply)?])?;
    Ok(())
}

/// Forgets the reports of an operation that is undone, so that they can be sent again.
///
/// # Errors
/// Those of the database.
pub fn forget(connection: &Connection, operation: OperationId) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM report WHERE operation = ?1")?.execute([operation.0])?;
    Ok(())
}
