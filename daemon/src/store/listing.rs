//! Selecting improvements and evaluations for lists, figures and exports.

use chrono::{DateTime, Utc};
use memoryd_proto::{
    AgentName, Evaluation, Evaluations, Improvement, ImprovementId, Profile, ProjectHash, Source, Standing,
};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::rows;
use crate::database::{Error, from_json};
use crate::domain::decay;
use crate::ledger::usage;

/// How usage is shown: the day, what is left of a Q-value after an idle day, and the confidence below which an
/// improvement is a candidate.
#[derive(Clone, Copy, Debug)]
pub struct Showing {
    /// Today.
    pub today: i64,
    /// What is left of a Q-value after a day without recall.
    pub decay: f64,
    /// The confidence from which an improvement is recalled.
    pub store_from: f64,
}

/// Which improvements.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Only of this agent.
    pub agent: Option<AgentName>,
    /// Only with this id.
    pub id: Option<ImprovementId>,
    /// Only of the global scope, or of this project; of every scope if absent.
    pub project: Option<Option<ProjectHash>>,
    /// Only with this standing.
    pub standing: Option<Standing>,
    /// Only of this category.
    pub category: Option<String>,
    /// Only with all of these tags.
    pub tags: Vec<String>,
    /// Only stored at or after this instant.
    pub since: Option<DateTime<Utc>>,
    /// Only of this source.
    pub source: Option<Source>,
    /// Only used in so many tasks or more.
    pub used: Option<u64>,
}

impl Wanted {
    /// The improvements of an agent that have this id: one for each scope.
    #[must_use]
    pub fn one(agent: &AgentName, id: &ImprovementId) -> Self {
        Self { agent: Some(agent.clone()), id: Some(id.clone()), ..Self::default() }
    }

    fn filter(&self, showing: &Showing) -> (String, Vec<Value>) {
        let mut sql = String::from("1");
        let mut values: Vec<Value> = Vec::new();
        let mut also = |condition: &str, value: Value| {
            values.push(value);
            sql.push_str(" AND ");
            sql.push_str(&condition.replace('?', &format!("?{}", values.len())));
        };
        if let Some(agent) = &self.agent {
            also("collection.agent = ?", agent.key().into());
        }
        if let Some(id) = &self.id {
            also("improvement.id = ?", id.as_str().to_owned().into());
        }
        if let Some(project) = &self.project {
            let hash = project.as_ref().map_or("", ProjectHash::as_str);
            also("collection.project = ?", hash.to_owned().into());
        }
        match self.standing {
            None => {}
            Some(Standing::Deprecated) => also("deprecated = ?", 1.into()),
            Some(Standing::Active) => also("deprecated = 0 AND confidence >= ?", showing.store_from.into()),
            Some(Standing::Candidate) => also("deprecated = 0 AND confidence < ?", showing.store_from.into()),
        }
        if let Some(category) = &self.category {
            also("category = ?", category.clone().into());
        }
        for tag in &self.tags {
            also("EXISTS (SELECT 1 FROM json_each(tags) WHERE json_each.value = ?)", tag.clone().into());
        }
        if let Some(since) = self.since {
            also("improvement.created_at >= ?", since.timestamp_micros().into());
        }
        if let Some(source) = self.source {
            let name = match source {
                Source::Own => "self",
                Source::SystemPrinciples => "system_principles",
                Source::Transferred => "transferred",
            };
            also("json_extract(body, '$.source') = ?", name.to_owned().into());
        }
        if let Some(used) = self.used {
            let used = i64::try_from(used).unwrap_or(i64::MAX);
            let sql = "(SELECT usage_count FROM usage AS used WHERE used.agent = collection.agent \
                       AND used.id = improvement.id) >= ?";
            also(sql, used.into());
        }
        (sql, values)
    }
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Newest first.
    Newest,
    /// Best success rate first, then most used.
    SuccessRate,
    /// Highest Q-value first.
    Q,
    /// By agent, instant and id: the order of an export.
    Export,
}

impl Order {
    fn sql(self) -> &'static str {
        match self {
            Self::Newest => "improvement.created_at DESC, improvement.row DESC",
            Self::SuccessRate => {
                "CAST(success_count AS REAL) / usage_count DESC, usage_count DESC, improvement.row"
            }
            Self::Q => "q DESC, usage_count DESC, improvement.row",
            Self::Export => "collection.agent, improvement.created_at, improvement.id, collection.project",
        }
    }
}

/// Improvements with their usage and rows.
///
/// # Errors
/// Those of the database.
pub fn improvements(
    connection: &Connection,
    wanted: &Wanted,
    order: Order,
    (offset, limit): (u64, u64),
    showing: &Showing,
) -> Result<Vec<(i64, Improvement)>, Error> {
    let (filter, mut values) = wanted.filter(showing);
    let used = match order {
        Order::SuccessRate => " AND usage_count > 0",
        Order::Q => " AND q IS NOT NULL",
        Order::Newest | Order::Export => "",
    };
    values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
    values.push(i64::try_from(offset).unwrap_or(i64::MAX).into());
    let sql = format!(
        "SELECT {}, {} FROM {} LEFT JOIN usage ON usage.agent = collection.agent AND usage.id = improvement.id \
         WHERE {filter}{used} ORDER BY {} LIMIT ?{} OFFSET ?{}",
        rows::COLUMNS,
        usage::COLUMNS,
        rows::TABLES,
        order.sql(),
        values.len() - 1,
        values.len(),
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found = statement.query(params_from_iter(values))?;
    let mut improvements = Vec::new();
    while let Some(row) = found.next()? {
        let (number, mut improvement) = rows::improvement(row)?;
        if let Some(known) = usage::ledgered(row, 11)? {
            improvement.usage = known.shown(showing.today, showing.decay);
        }
        improvements.push((number, improvement));
    }
    Ok(improvements)
}

/// How many improvements there are.
///
/// # Errors
/// Those of the database.
pub fn count(connection: &Connection, wanted: &Wanted, showing: &Showing) -> Result<u64, Error> {
    let (filter, values) = wanted.filter(showing);
    let sql = format!("SELECT count(*) FROM {} WHERE {filter}", rows::TABLES);
    Ok(connection.prepare_cached(&sql)?.query_row(params_from_iter(values), |row| row.get(0))?)
}

/// The rows of improvements.
///
/// # Errors
/// Those of the database.
pub fn matching_rows(connection: &Connection, wanted: &Wanted, showing: &Showing) -> Result<Vec<i64>, Error> {
    let (filter, values) = wanted.filter(showing);
    let sql = format!("SELECT row FROM {} WHERE {filter} ORDER BY row", rows::TABLES);
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(params_from_iter(values), |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// An improvement, with the vector of its text if there is one.
pub type Embedded = (Improvement, Option<Vec<f32>>);

/// The improvement at a row, with its usage and the vector of its text.
///
/// # Errors
/// Those of the database.
pub fn at_row(connection: &Connection, row: i64, showing: &Showing) -> Result<Option<Embedded>, Error> {
    let sql = format!(
        "SELECT {}, {}, vector.vector FROM {} \
         LEFT JOIN usage ON usage.agent = collection.agent AND usage.id = improvement.id \
         LEFT JOIN vector ON vector.row = improvement.row WHERE improvement.row = ?1",
        rows::COLUMNS,
        usage::COLUMNS,
        rows::TABLES,
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found = statement.query([row])?;
    let Some(row) = found.next()? else { return Ok(None) };
    let (_, mut improvement) = rows::improvement(row)?;
    if let Some(known) = usage::ledgered(row, 11)? {
        improvement.usage = known.shown(showing.today, showing.decay);
    }
    let bytes: Option<Vec<u8>> = row.get(20)?;
    Ok(Some((improvement, bytes.map(|bytes| crate::database::vector(&bytes)))))
}

/// The improvement of a collection whose normalised text has this digest.
///
/// # Errors
/// Those of the database.
pub fn with_digest(
    connection: &Connection,
    agent: &AgentName,
    scope: &memoryd_proto::Scope,
    digest: &[u8; 16],
) -> Result<Option<i64>, Error> {
    let sql = "SELECT min(row) FROM improvement JOIN collection ON collection.id = collection \
               WHERE agent = ?1 AND project = ?2 AND digest = ?3";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement
        .query_row(params![agent.key(), rows::project(scope), digest], |row| row.get(0))
        .optional()?
        .flatten())
}

/// Evaluations, newest first, and how many there are in all.
///
/// # Errors
/// Those of the database.
pub fn evaluations(
    connection: &Connection,
    wanted: &Evaluations,
    (offset, limit): (u64, u64),
) -> Result<(Vec<Evaluation>, u64), Error> {
    let (filter, values) = chosen(wanted);
    let total = connection
        .prepare_cached(&format!("SELECT count(*) FROM evaluation WHERE {filter}"))?
        .query_row(params_from_iter(&values), |row| row.get(0))?;
    Ok((newest(connection, wanted, (offset, limit))?, total))
}

/// Evaluations, newest first.
///
/// # Errors
/// Those of the database.
pub fn newest(
    connection: &Connection,
    wanted: &Evaluations,
    (offset, limit): (u64, u64),
) -> Result<Vec<Evaluation>, Error> {
    let (filter, values) = chosen(wanted);
    let sql = format!(
        "SELECT body FROM evaluation WHERE {filter} ORDER BY at DESC, id DESC LIMIT {limit} OFFSET {offset}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let bodies = statement
        .query_map(params_from_iter(&values), |row| row.get::<_, String>(0))?
        .collect::<Result<Vec<_>, _>>()?;
    bodies.iter().map(|body| from_json("evaluation", body)).collect()
}

/// The condition that selects evaluations. Only what is asked for is in it, so that an index serves it.
fn chosen(wanted: &Evaluations) -> (String, Vec<Value>) {
    let conditions = [
        ("agent = ", wanted.agent.as_ref().map(|agent| Value::from(agent.key()))),
        ("success = ", wanted.success.map(Value::from)),
        ("at >= ", wanted.since.map(|since| Value::from(since.timestamp_micros()))),
    ];
    let (mut sql, mut values) = (vec!["1".to_owned()], Vec::new());
    for (condition, value) in conditions {
        if let Some(value) = value {
            values.push(value);
            sql.push(format!("{condition}?{}", values.len()));
        }
    }
    (sql.join(" AND "), values)
}

/// Evaluations from before an instant, with their rows, by agent and in the order in which they were stored.
///
/// # Errors
/// Those of the database.
pub fn evaluations_before(
    connection: &Connection,
    before: DateTime<Utc>,
) -> Result<Vec<(i64, Evaluation)>, Error> {
    let sql = "SELECT n, body FROM evaluation WHERE at < ?1 ORDER BY agent, n";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([before.timestamp_micros()])?;
    let mut evaluations = Vec::new();
    while let Some(row) = rows.next()? {
        let body = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        evaluations.push((row.get(0)?, from_json("evaluation", body)?));
    }
    Ok(evaluations)
}

/// Mean success and quality of the evaluations since an instant; absent without any.
///
/// # Errors
/// Those of the database.
pub fn recent(
    connection: &Connection,
    agent: Option<&AgentName>,
    since: DateTime<Utc>,
) -> Result<(Option<f64>, Option<f64>), Error> {
    let sql =
        "SELECT avg(success), avg(quality) FROM evaluation WHERE (?1 IS NULL OR agent = ?1) AND at >= ?2";
    Ok(connection
        .prepare_cached(sql)?
        .query_row(params![agent.map(AgentName::key), since.timestamp_micros()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?)
}

/// Whether an evaluation of this id is stored.
///
/// # Errors
/// Those of the database.
pub fn has_evaluation(connection: &Connection, agent: &AgentName, id: &str) -> Result<bool, Error> {
    let sql = "SELECT count(*) FROM evaluation WHERE agent = ?1 AND id = ?2";
    Ok(connection.prepare_cached(sql)?.query_row(params![agent.key(), id], |row| row.get::<_, u64>(0))? > 0)
}

/// An evaluation of an agent, if it is here.
///
/// # Errors
/// Those of the database.
pub fn evaluation(connection: &Connection, agent: &AgentName, id: &str) -> Result<Option<Evaluation>, Error> {
    let body: Option<String> = connection
        .prepare_cached("SELECT body FROM evaluation WHERE agent = ?1 AND id = ?2")?
        .query_row(params![agent.key(), id], |row| row.get(0))
        .optional()?;
    body.map(|body| from_json("evaluation", &body)).transpose()
}

/// An agent's profile; an empty one, if none was set.
///
/// # Errors
/// Those of the database.
pub fn profile(connection: &Connection, agent: &AgentName) -> Result<Option<Profile>, Error> {
    let body: Option<String> = connection
        .prepare_cached("SELECT body FROM profile WHERE agent = ?1")?
        .query_row([agent.key()], |row| row.get(0))
        .optional()?;
    body.map(|body| from_json("profile", &body)).transpose()
}

impl Showing {
    /// How usage is shown at an instant.
    #[must_use]
    pub fn at(now: DateTime<Utc>, config: &crate::config::Config) -> Self {
        Self {
            today: decay::day(now),
            decay: config.learning.decay_factor,
            store_from: config.intake.store_from,
        }
    }
}

/// Every agent that has any memory, by name, with how many improvements and evaluations, and improvements of how many
/// projects, it has.
///
/// # Errors
/// Those of the database.
pub fn agents(connection: &Connection) -> Result<Vec<(AgentName, u64, u64, u64)>, Error> {
    let sql = "SELECT name, \
               (SELECT count(*) FROM improvement JOIN collection ON collection.id = collection WHERE agent = key), \
               (SELECT count(*) FROM evaluation WHERE agent = key), \
               (SELECT count(*) FROM collection WHERE agent = key AND project <> '' \
               AND EXISTS (SELECT 1 FROM improvement WHERE improvement.collection = collection.id)) \
               FROM agent ORDER BY key";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement
        .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    let mut agents = Vec::new();
    for row in rows {
        let (name, improvements, evaluations, projects): (_, u64, u64, _) = row?;
        if improvements + evaluations == 0 {
            continue;
        }
        agents.extend(name.parse().ok().map(|name| (name, improvements, evaluations, projects)));
    }
    Ok(agents)
}
