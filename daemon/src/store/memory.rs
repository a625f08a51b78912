//! All collections in the process, and the search over some of them.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use memoryd_proto::{AgentName, ImprovementId, Scope};
use rusqlite::{Connection, Row};

use super::collection::{Collection, Entry, Facts, Past, Recorded};
use super::rows;
use crate::database::{Error, Reader, vector};
use crate::domain::decay;
use crate::domain::ranking::{Blend, Signals};
use crate::domain::utility::Ledgered;
use crate::index::{Query, Settings};
use crate::ledger::{outcomes, usage};

/// Rows that are indexed at once when the daemon starts.
const BATCH: usize = 1 << 15;

/// Names a collection: an agent and a scope.
type Key = (String, String);

/// All collections.
pub struct Memory {
    settings: Settings,
    /// Past outcomes kept for each improvement.
    kept: usize,
    collections: RwLock<BTreeMap<Key, Arc<RwLock<Collection>>>>,
}

/// A search of some scopes of an agent.
pub struct Search<'a> {
    /// Whose memory.
    pub agent: &'a AgentName,
    /// The scopes; at equal rank the later goes first.
    pub scopes: &'a [Scope],
    /// The words.
    pub text: &'a str,
    /// Their vector, if there is one.
    pub vector: Option<&'a [f32]>,
    /// How both signals make one.
    pub blend: Blend,
    /// How many candidates are wanted of each scope.
    pub limit: usize,
}

/// A candidate that a search found.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its row.
    pub row: i64,
    /// Its place in [`Search::scopes`].
    pub scope: usize,
    /// How well it matches.
    pub signals: Signals,
    /// The outcome whose task matched better than the text, if one did.
    pub case: Option<i64>,
    /// What gates look at.
    pub facts: Facts,
    /// Its past outcomes, with the cosine of the query and their tasks.
    pub past: Vec<(Past, f64)>,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The best, by scope and then by similarity.
    pub candidates: Vec<Candidate>,
    /// How many improvements passed the filter.
    pub passed: u64,
    /// How many there are.
    pub total: u64,
}

impl Memory {
    /// Builds the collections from the rows of the database.
    ///
    /// # Errors
    /// Those of the database.
    pub fn load(reader: &Reader, settings: Settings, kept: usize) -> Result<Self, Error> {
        let memory = Self { settings, kept, collections: RwLock::default() };
        reader.read(|connection| {
            memory.load_rows(connection)?;
            memory.load_outcomes(connection)
        })?;
        Ok(memory)
    }

    /// Reads the rows in their own order: sorting them would hold every vector in memory at once.
    fn load_rows(&self, connection: &Connection) -> Result<(), Error> {
        let mut statement = connection.prepare(&format!("{} ORDER BY improvement.row", entry_sql()))?;
        let mut rows = statement.query([])?;
        let mut batch: BTreeMap<Key, Vec<Entry>> = BTreeMap::new();
        let mut waiting = 0;
        while let Some(row) = rows.next()? {
            let (key, entry) = self.entry(row)?;
            batch.entry(key).or_default().push(entry);
            waiting += 1;
            if waiting == BATCH {
                self.put(std::mem::take(&mut batch));
                waiting = 0;
            }
        }
        self.put(batch);
        Ok(())
    }

    fn put(&self, batch: BTreeMap<Key, Vec<Entry>>) {
        for (key, entries) in batch {
            write(&self.ensure(&key)).put(&entries);
        }
    }

    fn load_outcomes(&self, connection: &Connection) -> Result<(), Error> {
        let mut current: Option<(AgentName, ImprovementId)> = None;
        let mut past: Vec<Recorded> = Vec::new();
        outcomes::each_used(connection, None, self.kept, |used| {
            let item = (used.agent.clone(), used.id.clone());
            if current.as_ref() != Some(&item)
                && let Some((agent, id)) = current.replace(item)
            {
                self.set_past(connection, &agent, &id, &std::mem::take(&mut past))?;
            }
            past.push(self.past(used));
            Ok(())
        })?;
        current.map_or(Ok(()), |(agent, id)| self.set_past(connection, &agent, &id, &past))
    }

    /// Sets the past outcomes of an improvement, in every scope.
    fn set_past(
        &self,
        connection: &Connection,
        agent: &AgentName,
        id: &ImprovementId,
        past: &[Recorded],
    ) -> Result<(), Error> {
        for (project, row) in rows_of(connection, agent, id)? {
            write(&self.ensure(&(agent.key(), project))).set_past(row, past.to_vec());
        }
        Ok(())
    }

    fn past(&self, used: outcomes::Used) -> Recorded {
        let day = decay::day(crate::database::instant(used.at));
        let vector = used.vector.filter(|vector| vector.len() == self.settings.dimension);
        (Past { n: used.n, day, success: used.success }, vector)
    }

    fn entry(&self, row: &Row<'_>) -> Result<(Key, Entry), Error> {
        let bytes: Option<Vec<u8>> = row.get(9)?;
        let facts = Facts {
            confidence: row.get(4)?,
            deprecated: row.get(5)?,
            cross_validated: row.get(6)?,
            usage: usage::ledgered(row, 10)?.map(Box::new),
        };
        let entry = Entry {
            row: row.get(0)?,
            document: row.get(3)?,
            vector: bytes
                .map(|bytes| vector(&bytes))
                .filter(|vector| vector.len() == self.settings.dimension),
            learned_from: row.get(7)?,
            created_at: row.get(8)?,
            facts,
        };
        Ok(((row.get(1)?, row.get(2)?), entry))
    }

    /// Takes over rows that were written, or whose text, vector or place in a sequence changed.
    ///
    /// # Errors
    /// Those of the database.
    pub fn refresh(&self, connection: &Connection, changed: &[i64]) -> Result<(), Error> {
        let sql = format!("{} WHERE improvement.row = ?1", entry_sql());
        let mut statement = connection.prepare_cached(&sql)?;
        let mut by_key: BTreeMap<Key, Vec<Entry>> = BTreeMap::new();
        for row in changed {
            let mut found = statement.query([row])?;
            if let Some(found) = found.next()? {
                let (key, entry) = self.entry(found)?;
                by_key.entry(key).or_default().push(entry);
            }
        }
        self.put(by_key);
        Ok(())
    }

    /// Takes over what gates look at, of rows whose text did not change.
    ///
    /// # Errors
    /// Those of the database.
    pub fn refresh_facts(&self, connection: &Connection, changed: &[i64]) -> Result<(), Error> {
        let sql = "SELECT agent, project, confidence, deprecated, cross_validated FROM improvement \
                   JOIN collection ON collection.id = collection WHERE row = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        for row in changed {
            let mut found = statement.query([row])?;
            if let Some(found) = found.next()? {
                let key = (found.get(0)?, found.get(1)?);
                let (confidence, deprecated, cross_validated) = (found.get(2)?, found.get(3)?, found.get(4)?);
                write(&self.ensure(&key)).update(*row, |facts| {
                    facts.confidence = confidence;
                    facts.deprecated = deprecated;
                    facts.cross_validated = cross_validated;
                });
            }
        }
        Ok(())
    }

    /// Takes over the usage of an improvement, in every scope.
    ///
    /// # Errors
    /// Those of the database.
    pub fn refresh_usage(
        &self,
        connection: &Connection,
        agent: &AgentName,
        id: &ImprovementId,
    ) -> Result<(), Error> {
        self.set_usage(connection, agent, id, usage::find(connection, agent, id)?.as_ref())
    }

    /// Takes over `usage` as that of an improvement, in every scope.
    ///
    /// # Errors
    /// Those of the database.
    pub fn set_usage(
        &self,
        connection: &Connection,
        agent: &AgentName,
        id: &ImprovementId,
        usage: Option<&Ledgered>,
    ) -> Result<(), Error> {
        for (project, row) in rows_of(connection, agent, id)? {
            let usage = usage.cloned().map(Box::new);
            write(&self.ensure(&(agent.key(), project))).update(row, |facts| facts.usage = usage);
        }
        Ok(())
    }

    /// Takes over the past outcomes of an improvement, in every scope.
    ///
    /// # Errors
    /// Those of the database.
    pub fn refresh_past(
        &self,
        connection: &Connection,
        agent: &AgentName,
        id: &ImprovementId,
    ) -> Result<(), Error> {
        let mut past = Vec::new();
        outcomes::each_used(connection, Some((agent, id)), self.kept, |used| {
            past.push(self.past(used));
            Ok(())
        })?;
        self.set_past(connection, agent, id, &past)
    }

    /// Takes over one more past outcome, in every scope of its improvement.
    ///
    /// # Errors
    /// Those of the database.
    pub fn add_past(&self, connection: &Connection, used: outcomes::Used) -> Result<(), Error> {
        let (key, rows) = (used.agent.key(), rows_of(connection, &used.agent, &used.id)?);
        let recorded = self.past(used);
        for (project, row) in rows {
            write(&self.ensure(&(key.clone(), project))).add_past(row, recorded.clone(), self.kept);
        }
        Ok(())
    }

    /// Drops a row that was removed.
    pub fn drop_row(&self, agent: &AgentName, scope: &Scope, row: i64) {
        if let Some(collection) = self.collection(agent, scope) {
            write(&collection).remove(row);
        }
    }

    /// Searches some scopes of an agent, among the improvements that pass `filter`.
    pub fn search(&self, search: &Search<'_>, filter: impl Fn(i64, &Facts) -> bool + Sync) -> Found {
        let mut found = Found::default();
        for (scope, name) in search.scopes.iter().enumerate() {
            let Some(collection) = self.collection(search.agent, name) else { continue };
            let collection = read(&collection);
            let query =
                Query { text: search.text, vector: search.vector, limit: search.limit, blend: search.blend };
            let passes =
                |slot| collection.facts(slot).is_some_and(|facts| filter(collection.row(slot), facts));
            let Ok(hits) = collection.index().search(&query, passes) else {
                debug_assert!(false, "a query has the dimension of the model");
                continue;
            };
            found.passed += hits.passed as u64;
            found.total += hits.scanned as u64;
            for hit in hits.list {
                let Some(facts) = collection.facts(hit.slot) else { continue };
                let row = collection.row(hit.slot);
                let past = collection.past(row);
                let near = search.vector.map(|vector| collection.index().case_cosines(hit.slot, vector));
                found.candidates.push(Candidate {
                    row,
                    scope,
                    signals: hit.signals,
                    case: hit.case.map(|case| case.0),
                    facts: facts.clone(),
                    past: beside(past, &near.unwrap_or_default()),
                });
            }
        }
        found
    }

    fn collection(&self, agent: &AgentName, scope: &Scope) -> Option<Arc<RwLock<Collection>>> {
        read(&self.collections).get(&(agent.key(), rows::project(scope).to_owned())).cloned()
    }

    fn ensure(&self, key: &Key) -> Arc<RwLock<Collection>> {
        if let Some(collection) = read(&self.collections).get(key) {
            return collection.clone();
        }
        write(&self.collections)
            .entry(key.clone())
            .or_insert_with(|| Arc::new(RwLock::new(Collection::new(self.settings))))
            .clone()
    }
}

/// Past outcomes beside the cosines of their tasks; 0 where a task has no vector.
fn beside(past: &[Past], cosines: &[(crate::index::CaseId, f32)]) -> Vec<(Past, f64)> {
    let cosine =
        |n: i64| cosines.iter().find(|(case, _)| case.0 == n).map_or(0.0, |&(_, cosine)| f64::from(cosine));
    past.iter().map(|past| (*past, cosine(past.n))).collect()
}

fn entry_sql() -> String {
    format!(
        "SELECT improvement.row, collection.agent, collection.project, document, confidence, deprecated, \
         cross_validated, learned_from, improvement.created_at, vector.vector, {} \
         FROM improvement CROSS JOIN collection ON collection.id = improvement.collection \
         LEFT JOIN vector ON vector.row = improvement.row \
         LEFT JOIN usage ON usage.agent = collection.agent AND usage.id = improvement.id",
        usage::COLUMNS
    )
}

/// The project and row of each copy of an improvement.
fn rows_of(
    connection: &Connection,
    agent: &AgentName,
    id: &ImprovementId,
) -> Result<Vec<(String, i64)>, Error> {
    let sql = "SELECT project, row FROM improvement JOIN collection ON collection.id = collection \
               WHERE improvement.id = ?2 AND agent = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let rows =
        statement.query_map([agent.key().as_str(), id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
