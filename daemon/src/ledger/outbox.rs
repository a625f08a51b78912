//! Records that changed here since the Chroma server was told (spec D3), in order. What changes a record enters it in
//! the same transaction: see the triggers of the schema.

use memoryd_proto::AgentName;
use rusqlite::{Connection, Row, params};

use crate::database::{Error, stored};
use crate::domain::seed::{Collection, Kind};
use crate::store::rows;

/// Every record that the server is told of.
const ALL: &str = "SELECT 'improvement' AS kind, agent, project, improvement.id AS id, improvement.row AS place \
     FROM improvement JOIN collection ON collection.id = collection \
     UNION ALL SELECT 'evaluation', agent, '', id, n FROM evaluation \
     UNION ALL SELECT 'snapshot', agent, '', day, 0 FROM snapshot";

/// A record that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its place in the order.
    pub n: i64,
    /// Which record.
    pub item: Item,
    /// How often it changed since it is here.
    pub changes: i64,
}

/// Names a record: its collection, and its id there. The id of a snapshot is its day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    /// Its collection.
    pub collection: Collection,
    /// Its id.
    pub id: String,
}

/// A record that the server refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    /// Which.
    pub item: Item,
    /// Why.
    pub reason: String,
}

impl Item {
    /// The columns that name it: kind, agent, project and id.
    #[must_use]
    pub fn columns(&self) -> [String; 4] {
        let [kind, agent, project] = columns(&self.collection);
        [kind, agent, project, self.id.clone()]
    }

    /// The item that is named by columns from `first` on.
    ///
    /// # Errors
    /// When a stored name cannot be read.
    pub fn read(row: &Row<'_>, first: usize) -> Result<Self, Error> {
        let kind: String = row.get(first)?;
        let agent: AgentName = stored(&row.get::<_, String>(first + 1)?)?;
        let project: String = row.get(first + 2)?;
        let kind = match kind.as_str() {
            "improvement" => Kind::Improvements(rows::scope(&project)?),
            "evaluation" => Kind::Evaluations,
            _ => Kind::Performance,
        };
        Ok(Self { collection: Collection { agent, kind }, id: row.get(first + 3)? })
    }
}

/// The columns that name a collection: kind, agent and project.
#[must_use]
pub fn columns(collection: &Collection) -> [String; 3] {
    let (kind, project) = match &collection.kind {
        Kind::Improvements(scope) => ("improvement", rows::project(scope)),
        Kind::Evaluations => ("evaluation", ""),
        Kind::Performance => ("snapshot", ""),
    };
    [kind.to_owned(), collection.agent.key(), project.to_owned()]
}

/// The first entries that were not set aside.
///
/// # Errors
/// Those of the database.
pub fn first(connection: &Connection, limit: usize) -> Result<Vec<Entry>, Error> {
    let sql =
        "SELECT n, changes, kind, agent, project, id FROM outbox WHERE aside IS NULL ORDER BY n LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([i64::try_from(limit).unwrap_or(i64::MAX)])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        entries.push(Entry { n: row.get(0)?, item: Item::read(row, 2)?, changes: row.get(1)? });
    }
    Ok(entries)
}

/// Whether a record waits for the server.
///
/// # Errors
/// Those of the database.
pub fn has(connection: &Connection, item: &Item) -> Result<bool, Error> {
    let sql =
        "SELECT EXISTS (SELECT 1 FROM outbox WHERE kind = ?1 AND agent = ?2 AND project = ?3 AND id = ?4)";
    Ok(connection.prepare_cached(sql)?.query_row(item.columns(), |row| row.get(0))?)
}

/// Takes an entry out, unless its record changed again meanwhile.
///
/// # Errors
/// Those of the database.
pub fn done(connection: &Connection, entry: &Entry) -> Result<(), Error> {
    connection
        .prepare_cached("DELETE FROM outbox WHERE n = ?1 AND changes = ?2")?
        .execute(params![entry.n, entry.changes])?;
    Ok(())
}

/// Sets an entry aside, until its record changes again.
///
/// # Errors
/// Those of the database.
pub fn set_aside(connection: &Connection, entry: &Entry, reason: &str) -> Result<(), Error> {
    connection
        .prepare_cached("UPDATE outbox SET aside = ?3 WHERE n = ?1 AND changes = ?2")?
        .execute(params![entry.n, entry.changes, reason])?;
    Ok(())
}

/// How many entries wait, and how many were set aside.
///
/// # Errors
/// Those of the database.
pub fn count(connection: &Connection) -> Result<(u64, u64), Error> {
    let sql = "SELECT count(*) - count(aside), count(aside) FROM outbox";
    Ok(connection.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// The first entries that were set aside.
///
/// # Errors
/// Those of the database.
pub fn aside(connection: &Connection, limit: usize) -> Result<Vec<Aside>, Error> {
    let sql =
        "SELECT aside, kind, agent, project, id FROM outbox WHERE aside IS NOT NULL ORDER BY n LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([i64::try_from(limit).unwrap_or(i64::MAX)])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        entries.push(Aside { reason: row.get(0)?, item: Item::read(row, 1)? });
    }
    Ok(entries)
}

/// Every record, whether it changed or not.
///
/// # Errors
/// Those of the database.
pub fn everything(connection: &Connection) -> Result<Vec<Item>, Error> {
    let sql = format!("SELECT kind, agent, project, id FROM ({ALL}) ORDER BY kind, agent, project, id");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let mut items = Vec::new();
    while let Some(row) = rows.next()? {
        items.push(Item::read(row, 0)?);
    }
    Ok(items)
}

/// Enters every record: of all collections, or of one.
///
/// # Errors
/// Those of the database.
pub fn enter_all(connection: &Connection, only: Option<&Collection>) -> Result<(), Error> {
    let sql = format!(
        "INSERT INTO outbox (kind, agent, project, id, changes) SELECT kind, agent, project, id, 1 FROM ({ALL}) \
         WHERE ?1 IS NULL OR (kind = ?1 AND agent = ?2 AND project = ?3) \
         ORDER BY kind DESC, place, agent, id \
         ON CONFLICT DO UPDATE SET changes = changes + 1, aside = NULL"
    );
    let named = only.map(columns);
    let column = |place: usize| named.as_ref().map(|columns| columns[place].clone());
    connection.prepare_cached(&sql)?.execute(params![column(0), column(1), column(2)])?;
    Ok(())
}
