//! Writing memories straight into the store.

use std::time::Duration;

use chrono::Utc;
use memoryd::database::{self, Durability, Error};
use memoryd::store::rows;
use serde_json::{Value, json};

use super::Crowd;
use crate::daemon::Home;
use crate::measure::{count, rounded, timed};
use crate::records;

/// Rows in one transaction.
const BATCH: usize = 50_000;

/// What writing took.
pub struct Stored {
    took: Duration,
    memories: usize,
    bytes: u64,
}

/// Writes the memories into a new database.
pub fn write(home: &Home, crowd: &Crowd) -> anyhow::Result<Stored> {
    std::fs::create_dir_all(home.data_dir())?;
    let path = home.data_dir().join("memory.db");
    let (took, ()) = timed(|| {
        let (_, writer) = database::open(&path)?;
        let now = Utc::now();
        for start in (0..crowd.size).step_by(BATCH) {
            let batch = (start..crowd.size.min(start + BATCH))
                .map(|number| {
                    let (id, session) = (Crowd::id(number), Crowd::session(number));
                    records::improvement(&crowd.agent, &id, &crowd.texts.memory(number), Some(&session), now)
                })
                .collect::<anyhow::Result<Vec<_>>>()?;
            writer.lock().transaction(Durability::Process, |transaction| {
                for (number, improvement) in (start..).zip(&batch) {
                    let row = rows::put_improvement(transaction, None, improvement, now)?;
                    rows::put_vector(transaction, row, &Crowd::vector(number))?;
                }
                Ok::<_, Error>(())
            })?;
        }
        Ok(())
    })?;
    Ok(Stored { took, memories: crowd.size, bytes: path.metadata()?.len() })
}

impl Stored {
    fn rate(&self) -> f64 {
        count(self.memories) / self.took.as_secs_f64()
    }

    fn bytes_each(&self) -> u64 {
        self.bytes / self.memories.max(1) as u64
    }

    /// The rows of a table.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        vec![
            ("rows written straight into the store, /s", format!("{:.0}", self.rate())),
            ("database, bytes per memory", self.bytes_each().to_string()),
        ]
    }

    /// The figures.
    pub fn figures(&self) -> Value {
        json!({ "rows_per_second": rounded(self.rate()), "bytes_per_memory": self.bytes_each() })
    }
}
