//! Improvements, evaluations and profiles as rows of the database.

use chrono::{DateTime, Utc};
use memoryd_proto::{
    AgentName, Confidence, CrossValidation, Deprecation, Evaluation, Improvement, ImprovementId, Profile,
    Promotion, Scope, Source, Usage,
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

use crate::database::{Error, from_json, instant, stored, to_json, vector, vector_bytes};
use crate::domain::text;

/// Fields of an improvement that nothing is selected by.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Body {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context_tags: Vec<String>,
    source: Source,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_id: Option<ImprovementId>,
    corroborations: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    evidence: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_validation: Option<CrossValidation>,
    consolidation_eligible: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecation: Option<Deprecation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    promotion: Option<Promotion>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    attributes: BTreeMap<String, String>,
}

/// The columns that [`improvement`] reads, of `improvement`, `collection` and `agent`.
pub const COLUMNS: &str = "improvement.row, improvement.id, agent.name, collection.project, improvement.document, \
     improvement.category, improvement.confidence, improvement.created_at, improvement.learned_from, improvement.tags, \
     improvement.body";

/// The tables that [`COLUMNS`] come from.
pub const TABLES: &str = "improvement JOIN collection ON collection.id = improvement.collection \
     JOIN agent ON agent.key = collection.agent";

/// An improvement, without its usage, and its row's number, from a row with [`COLUMNS`].
///
/// # Errors
/// When a stored value cannot be read.
pub fn improvement(row: &Row<'_>) -> Result<(i64, Improvement), Error> {
    let body: Body = from_json("improvement", row.get_ref(10)?.as_str().map_err(rusqlite::Error::from)?)?;
    let project: String = row.get(3)?;
    let improvement = Improvement {
        id: stored(&row.get::<_, String>(1)?)?,
        agent: stored(&row.get::<_, String>(2)?)?,
        scope: scope(&project)?,
        category: row.get(5)?,
        document: row.get(4)?,
        learned_from: row.get(8)?,
        confidence: Confidence::clamped(row.get(6)?),
        created_at: instant(row.get(7)?),
        tags: from_json("list of tags", row.get_ref(9)?.as_str().map_err(rusqlite::Error::from)?)?,
        context_tags: body.context_tags,
        source: body.source,
        original_id: body.original_id,
        corroborations: body.corroborations,
        evidence: body.evidence,
        cross_validation: body.cross_validation,
        consolidation_eligible: body.consolidation_eligible,
        deprecation: body.deprecation,
        promotion: body.promotion,
        attributes: body.attributes,
        usage: Usage::default(),
    };
    Ok((row.get(0)?, improvement))
}

/// The improvement at a row, without its usage.
///
/// # Errors
/// Those of the database.
pub fn at(connection: &Connection, row: i64) -> Result<Option<Improvement>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE improvement.row = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found = statement.query([row])?;
    let Some(row) = found.next()? else { return Ok(None) };
    Ok(Some(improvement(row)?.1))
}

/// The scope of a project column.
///
/// # Errors
/// When it is no hash.
pub fn scope(project: &str) -> Result<Scope, Error> {
    if project.is_empty() { Ok(Scope::Global) } else { stored(project).map(Scope::Project) }
}

/// The project column of a scope.
#[must_use]
pub fn project(scope: &Scope) -> &str {
    match scope {
        Scope::Global => "",
        Scope::Project(hash) => hash.as_str(),
    }
}

/// The number of the collection of an agent and a scope; creates it when it is missing.
///
/// # Errors
/// Those of the database.
pub fn ensure_collection(
    connection: &Connection,
    agent: &AgentName,
    scope: &Scope,
    now: DateTime<Utc>,
) -> Result<i64, Error> {
    let (key, micros) = (agent.key(), now.timestamp_micros());
    connection
        .prepare_cached("INSERT OR IGNORE INTO agent (key, name, created_at) VALUES (?1, ?2, ?3)")?
        .execute(params![key, agent.as_str(), micros])?;
    connection
        .prepare_cached("INSERT OR IGNORE INTO collection (agent, project, created_at) VALUES (?1, ?2, ?3)")?
        .execute(params![key, project(scope), micros])?;
    Ok(connection
        .prepare_cached("SELECT id FROM collection WHERE agent = ?1 AND project = ?2")?
        .query_row(params![key, project(scope)], |row| row.get(0))?)
}

/// The row of an improvement, if it is stored.
///
/// # Errors
/// Those of the database.
pub fn find(
    connection: &Connection,
    agent: &AgentName,
    scope: &Scope,
    id: &ImprovementId,
) -> Result<Option<i64>, Error> {
    let sql = "SELECT row FROM improvement JOIN collection ON collection.id = collection \
               WHERE agent = ?1 AND project = ?2 AND improvement.id = ?3";
    Ok(connection
        .prepare_cached(sql)?
        .query_row(params![agent.key(), project(scope), id.as_str()], |row| row.get(0))
        .optional()?)
}

/// Writes an improvement at `row`, or at a new row, and returns the row. Its usage is not written: the ledger has it.
///
/// # Errors
/// Those of the database.
pub fn put_improvement(
    connection: &Connection,
    row: Option<i64>,
    improvement: &Improvement,
    now: DateTime<Utc>,
) -> Result<i64, Error> {
    let collection = ensure_collection(connection, &improvement.agent, &improvement.scope, now)?;
    let body = Body {
        context_tags: improvement.context_tags.clone(),
        source: improvement.source,
        original_id: improvement.original_id.clone(),
        corroborations: improvement.corroborations,
        evidence: improvement.evidence.clone(),
        cross_validation: improvement.cross_validation.clone(),
        consolidation_eligible: improvement.consolidation_eligible,
        deprecation: improvement.deprecation.clone(),
        promotion: improvement.promotion.clone(),
        attributes: improvement.attributes.clone(),
    };
    let sql = "INSERT INTO improvement (row, collection, id, document, digest, category, confidence, created_at, \
               learned_from, tags, deprecated, cross_validated, body) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
               ON CONFLICT (row) DO UPDATE SET document = ?4, digest = ?5, category = ?6, confidence = ?7, \
               created_at = ?8, learned_from = ?9, tags = ?10, deprecated = ?11, cross_validated = ?12, body = ?13";
    connection.prepare_cached(sql)?.execute(params![
        row,
        collection,
        improvement.id.as_str(),
        improvement.document,
        text::digest(&improvement.document),
        improvement.category,
        improvement.confidence.get(),
        improvement.created_at.timestamp_micros(),
        improvement.learned_from,
        to_json("list of tags", &improvement.tags)?,
        improvement.deprecation.is_some(),
        improvement.cross_validation.is_some(),
        to_json("improvement", &body)?,
    ])?;
    Ok(row.unwrap_or_else(|| connection.last_insert_rowid()))
}

/// Removes the improvement at `row`, and its vector.
///
/// # Errors
/// Those of the database.
pub fn remove_improvement(connection: &Connection, row: i64) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM improvement WHERE row = ?1")?.execute([row])?;
    Ok(())
}

/// Writes the vector of an improvement's text.
///
/// # Errors
/// Those of the database.
pub fn put_vector(connection: &Connection, row: i64, vector: &[f32]) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO vector (row, vector) VALUES (?1, ?2)")?
        .execute(params![row, vector_bytes(vector)])?;
    Ok(())
}

/// The vectors of all texts of improvements, by row.
///
/// # Errors
/// Those of the database.
pub fn vectors(connection: &Connection) -> Result<HashMap<i64, Vec<f32>>, Error> {
    let mut statement = connection.prepare_cached("SELECT row, vector FROM vector")?;
    let rows = statement.query_map([], |row| {
        Ok((row.get(0)?, vector(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Removes the vector of an improvement's text.
///
/// # Errors
/// Those of the database.
pub fn remove_vector(connection: &Connection, row: i64) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM vector WHERE row = ?1")?.execute([row])?;
    Ok(())
}

/// Writes an evaluation at `row`, or at a new row, and returns the row.
///
/// # Errors
/// Those of the database.
pub fn put_evaluation(
    connection: &Connection,
    row: Option<i64>,
    evaluation: &Evaluation,
) -> Result<i64, Error> {
    let agent = &evaluation.agent;
    connection
        .prepare_cached("INSERT OR IGNORE INTO agent (key, name, created_at) VALUES (?1, ?2, ?3)")?
        .execute(params![agent.key(), agent.as_str(), evaluation.at.timestamp_micros()])?;
    let sql = "INSERT INTO evaluation (n, agent, id, at, success, quality, body) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
               ON CONFLICT (agent, id) DO UPDATE SET at = ?4, success = ?5, quality = ?6, body = ?7 RETURNING n";
    Ok(connection.prepare_cached(sql)?.query_row(
        params![
            row,
            agent.key(),
            evaluation.id.as_str(),
            evaluation.at.timestamp_micros(),
            evaluation.success,
            evaluation.quality.get(),
            to_json("evaluation", evaluation)?,
        ],
        |row| row.get(0),
    )?)
}

/// Removes an evaluation, and returns the row that it had.
///
/// # Errors
/// Those of the database.
pub fn remove_evaluation(connection: &Connection, evaluation: &Evaluation) -> Result<Option<i64>, Error> {
    Ok(connection
        .prepare_cached("DELETE FROM evaluation WHERE agent = ?1 AND id = ?2 RETURNING n")?
        .query_row(params![evaluation.agent.key(), evaluation.id.as_str()], |row| row.get(0))
        .optional()?)
}

/// Writes a profile.
///
/// # Errors
/// Those of the database.
pub fn put_profile(connection: &Connection, profile: &Profile) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO profile (agent, body) VALUES (?1, ?2)")?
        .execute(params![profile.agent.key(), to_json("profile", profile)?])?;
    Ok(())
}

/// Removes a profile.
///
/// # Errors
/// Those of the database.
pub fn remove_profile(connection: &Connection, profile: &Profile) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM profile WHERE agent = ?1")?.execute([profile.agent.key()])?;
    Ok(())
}
