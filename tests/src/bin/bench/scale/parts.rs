//! Where the time of a search goes. Searched in this process: the parts do not cross the socket.

use std::time::Duration;

use memoryd::config::Config;
use memoryd::database;
use memoryd::index::{Query, Timings};
use memoryd::store::collection::Entry;
use memoryd::store::{Collection, Facts, Memory, Search};
use memoryd_proto::Scope;
use serde_json::{Value, json};

use super::{Crowd, DIMENSION};
use crate::daemon::Home;
use crate::measure::{self, Durations, millis, shown, timed};
use crate::random::Random;

/// Candidates of a recall with the default settings.
const CANDIDATES: usize = 20;

/// Memories that are indexed at once.
const BATCH: usize = 1 << 15;

/// What was measured.
pub struct Parts {
    loading: Duration,
    lexical: Durations,
    vector: Durations,
    rank: Durations,
    /// The parts together.
    whole: Durations,
    /// The same search as the store makes it.
    store: Durations,
}

/// Measures searches for realistic texts with random vectors.
pub fn measure(home: &Home, crowd: &Crowd, config: &Config, searches: usize) -> anyhow::Result<Parts> {
    let texts: Vec<String> = (0..searches).map(|number| crowd.texts.question(number)).collect();
    let vectors: Vec<Vec<f32>> =
        (0..searches).map(|number| Random::new(u64::MAX / 2 - number as u64).direction(DIMENSION)).collect();

    let (loading, store) = {
        let (reader, _writer) = database::open(&home.data_dir().join("memory.db"))?;
        let (loading, memory) =
            timed(|| Ok(Memory::load(&reader, config.index(DIMENSION), config.learning.outcomes)?))?;
        let search = |number: usize| {
            let search = Search {
                agent: &crowd.agent,
                scopes: &[Scope::Global],
                text: &texts[number],
                vector: Some(&vectors[number]),
                blend: config.blend(),
                limit: CANDIDATES,
            };
            memory.search(&search, |_, facts| stands(facts, config));
            Ok(())
        };
        measure::one(searches.min(5), search)?;
        (loading, measure::one(searches, search)?)
    };

    let collection = collection(crowd, config);
    let mut timings: Vec<Timings> = Vec::new();
    for (text, vector) in texts.iter().zip(&vectors) {
        let query = Query { text, vector: Some(vector), limit: CANDIDATES, blend: config.blend() };
        let passes = |slot| collection.facts(slot).is_some_and(|facts| stands(facts, config));
        timings.push(collection.index().search(&query, passes)?.timings);
    }
    let part = |of: fn(&Timings) -> Duration| Durations::in_turn(timings.iter().map(of).collect());
    Ok(Parts {
        loading,
        lexical: part(|timings| timings.lexical),
        vector: part(|timings| timings.vector),
        rank: part(|timings| timings.rank),
        whole: part(|timings| timings.lexical + timings.vector + timings.rank),
        store,
    })
}

/// The collection that the daemon builds of these memories.
fn collection(crowd: &Crowd, config: &Config) -> Collection {
    let mut collection = Collection::new(config.index(DIMENSION));
    for start in (0..crowd.size).step_by(BATCH) {
        let entries: Vec<Entry> =
            (start..crowd.size.min(start + BATCH)).map(|number| entry(crowd, number)).collect();
        collection.put(&entries);
    }
    collection
}

fn entry(crowd: &Crowd, number: usize) -> Entry {
    Entry {
        row: i64::try_from(number).unwrap_or(i64::MAX),
        document: crowd.texts.memory(number),
        vector: Some(Crowd::vector(number)),
        created_at: 0,
        learned_from: Some(Crowd::session(number)),
        facts: Facts { confidence: 0.8, deprecated: false, cross_validated: false, usage: None },
    }
}

fn stands(facts: &Facts, config: &Config) -> bool {
    !facts.deprecated && facts.confidence >= config.intake.store_from
}

impl Parts {
    /// The rows of a table.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        vec![
            ("search, vector part, p50", shown(self.vector.median())),
            ("search, lexical part, p50", shown(self.lexical.median())),
            ("search, rank part, p50", shown(self.rank.median())),
            ("search, all parts, p50", shown(self.whole.median())),
            ("search, all parts, p99", shown(self.whole.quantile(0.99))),
            ("search by the store, p50", shown(self.store.median())),
            ("search by the store, p99", shown(self.store.quantile(0.99))),
            ("loading the memory", shown(self.loading)),
        ]
    }

    /// The figures.
    pub fn figures(&self) -> Value {
        json!({
            "vector": self.vector.figures(),
            "lexical": self.lexical.figures(),
            "rank": self.rank.figures(),
            "whole": self.whole.figures(),
            "store": self.store.figures(),
            "load_ms": millis(self.loading),
        })
    }
}
