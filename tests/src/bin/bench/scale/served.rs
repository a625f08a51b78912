//! A daemon with many memories, measured through its socket.

use std::time::Duration;

use chrono::Utc;
use memoryd_client::Client;
use memoryd_proto::{AgentName, Recall};
use serde_json::{Value, json};

use super::Crowd;
use crate::daemon::Home;
use crate::measure::{self, Durations, count, millis, rounded, shown, timed};
use crate::{process, records};

/// Different texts that are asked again and again, so that their embedding is known.
const REPEATED: usize = 20;

/// Memories that are imported: few enough that the daemon still knows their embeddings the second time.
const IMPORTED: usize = 1000;

/// What was measured.
pub struct Served {
    ready: Duration,
    recalls: Durations,
    /// In MB: after the start, after the recalls, and at most.
    resident: [f64; 3],
    /// Memories imported in a second, with the embedding and without.
    imports: [f64; 2],
}

/// Starts a daemon on what is stored, and measures it.
pub fn measure(home: &Home, crowd: &Crowd, searches: usize) -> anyhow::Result<Served> {
    let daemon = home.start("")?;
    let (started, _) = process::memory(daemon.pid())?;
    let client = daemon.client();
    let questions: Vec<String> = (0..REPEATED).map(|number| crowd.texts.question(number)).collect();
    let ask = |number: usize| {
        let text = &questions[number % REPEATED];
        Ok(client.call(Recall::new(crowd.agent.clone(), text)).map(drop)?)
    };
    measure::one(REPEATED, ask)?;
    let recalls = measure::one(searches, ask)?;
    let (after, peak) = process::memory(daemon.pid())?;
    let embedded = rate(&client, &"newcomer".parse()?, crowd)?;
    let known = rate(&client, &crowd.agent, crowd)?;
    let ready = daemon.ready;
    daemon.stop()?;
    Ok(Served { ready, recalls, resident: [started, after, peak], imports: [embedded, known] })
}

/// Memories imported in a second. The texts are the same at every call.
fn rate(client: &Client, agent: &AgentName, crowd: &Crowd) -> anyhow::Result<f64> {
    let now = Utc::now();
    let improvements = (crowd.size..crowd.size + IMPORTED)
        .map(|number| records::improvement(agent, &Crowd::id(number), &crowd.texts.memory(number), None, now))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let (took, _) = timed(|| records::import(client, improvements))?;
    Ok(count(IMPORTED) / took.as_secs_f64())
}

impl Served {
    /// The rows of a table.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let [started, after, peak] = self.resident.map(|megabytes| format!("{megabytes:.0}"));
        let [embedded, known] = self.imports.map(|rate| format!("{rate:.0}"));
        vec![
            ("recall over the socket, embedding cached, p50", shown(self.recalls.median())),
            ("recall over the socket, embedding cached, p99", shown(self.recalls.quantile(0.99))),
            ("ready after the start", shown(self.ready)),
            ("resident after the start, MB", started),
            ("resident after the recalls, MB", after),
            ("resident at most, MB", peak),
            ("imported with embedding, /s", embedded),
            ("imported with the embedding left out, /s", known),
        ]
    }

    /// The figures.
    pub fn figures(&self) -> Value {
        let [started, after, peak] = self.resident.map(rounded);
        let [embedded, known] = self.imports.map(rounded);
        json!({
            "recall_cached": self.recalls.figures(),
            "ready_ms": millis(self.ready),
            "resident_mb": { "started": started, "after_recalls": after, "peak": peak },
            "imported_per_second": { "with_embedding": embedded, "embedding_left_out": known },
        })
    }
}
