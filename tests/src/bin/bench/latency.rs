//! `latency`: how long calls take, beside a raw socket and the embedding alone, all in one run.

mod alone;
mod crowd;
pub mod idle;
pub mod stores;

use std::num::NonZeroUsize;

use chrono::Utc;
use memoryd::embed::Onnx;
use memoryd_proto::AgentName;
use serde_json::{Value, json};

use crate::arguments::{Echo as Kind, Latency};
use crate::daemon::{Daemon, Home};
use crate::echo::Echo;
use crate::measure::{Durations, count, millis, ratio, rounded, shown, timed};
use crate::output::{self, Table};
use crate::process;
use crate::records;
use crate::texts::Texts;

/// Clients at the same time, in the second half of the bench.
const CROWD: usize = 16;

/// What the requests are made with.
struct Stage<'a> {
    daemon: &'a Daemon,
    echo: &'a Echo,
    blocking: &'a Echo,
    texts: &'a Texts,
    agent: AgentName,
    /// Requests of each kind.
    requests: usize,
    /// The number of the next question that nobody asked yet.
    unasked: std::cell::Cell<usize>,
}

impl Stage<'_> {
    /// Questions that nobody asked yet.
    fn fresh(&self, number: usize) -> Vec<String> {
        let start = self.unasked.replace(self.unasked.get() + number);
        (start..start + number).map(|one| self.texts.question(one)).collect()
    }
}

/// What was measured of one kind of request.
struct Row {
    name: &'static str,
    durations: Durations,
}

/// Runs the bench.
pub fn run(wanted: &Latency, home: &Home) -> anyhow::Result<Value> {
    let texts = Texts::from(wanted.dir.as_deref())?;
    let agent: AgentName = "clerk".parse()?;
    let daemon = home.start("")?;
    output::note(&format!("importing {} memories", wanted.memories));
    let (took, added) = timed(|| import(&daemon, &agent, &texts, wanted.memories))?;
    daemon.stop()?;

    let daemon = home.start("")?;
    let (resident, _) = process::memory(daemon.pid())?;
    let idle = idle::watch(&daemon, wanted.idle)?;
    let echo = Echo::start(home.socket("echo.sock"), Kind::Runtime)?;
    let blocking = Echo::start(home.socket("blocking.sock"), Kind::Threads)?;
    let model = Onnx::bundled(NonZeroUsize::MIN)?;
    let stage = Stage {
        daemon: &daemon,
        echo: &echo,
        blocking: &blocking,
        texts: &texts,
        agent,
        requests: wanted.requests,
        unasked: std::cell::Cell::new(0),
    };
    output::note("one client");
    let mut alone = alone::measure(&stage, &model)?;
    output::note(&format!("{CROWD} clients"));
    let crowd = crowd::measure(&stage)?;
    alone.push(alone::again(&stage)?);
    let (ready, (resident_after, peak)) = (daemon.ready, process::memory(daemon.pid())?);
    daemon.stop()?;

    print(&format!("1 client, {added} memories"), &alone);
    print(&format!("{CROWD} clients, {added} memories"), &crowd);
    let median = |name: &str| {
        alone.iter().find(|row| row.name == name).map(|row| row.durations.median()).unwrap_or_default()
    };
    let targets = [
        ("ping / echo, all on one core", ratio(median(alone::PING_HERE), median(alone::BLOCKING_HERE)), 1.5),
        ("ping / echo, wherever they run", ratio(median(alone::PING), median(alone::BLOCKING)), 1.5),
        (
            "recall of a fresh text / embedding alone",
            ratio(median(alone::FRESH), median(alone::EMBEDDING)),
            1.25,
        ),
        ("recall with the embedding cached, ms", millis(median(alone::CACHED)), 2.0),
        ("ready after the start, ms", millis(ready), 700.0),
        ("resident after the start, MB", resident, 220.0),
        ("resident after the bench, MB", resident_after, 220.0),
    ];
    let mut table = Table::new(&["target", "measured", "at most"]);
    for (name, measured, most) in targets {
        table.row([name.to_owned(), format!("{measured:.2}"), format!("{most}")]);
    }
    table.print();
    let rate = count(usize::try_from(added)?) / took.as_secs_f64();
    output::say(&format!(
        "The import took {}: {rate:.0} memories a second. Peak memory {peak:.0} MB.",
        shown(took)
    ));
    if let Some(idle) = &idle {
        output::say(&idle.told());
    }
    let figures = |rows: &[Row]| -> Value {
        rows.iter()
            .map(|row| (row.name.to_owned(), row.durations.figures()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    Ok(json!({
        "memories": added,
        "one_client": figures(&alone),
        "many_clients": figures(&crowd),
        "targets": targets.map(|(name, measured, most)| json!({ "name": name, "measured": rounded(measured), "at_most": most })),
        "import_per_second": rounded(rate),
        "peak_mb": rounded(peak),
        "idle": idle.map(|idle| idle.figures()),
    }))
}

fn import(daemon: &Daemon, agent: &AgentName, texts: &Texts, memories: usize) -> anyhow::Result<u64> {
    let now = Utc::now();
    let improvements = (0..memories)
        .map(|number| records::improvement(agent, &format!("m{number}"), &texts.memory(number), None, now))
        .collect::<anyhow::Result<Vec<_>>>()?;
    records::import(&daemon.client(), improvements)
}

fn print(title: &str, rows: &[Row]) {
    let mut table = Table::new(&[title, "p50", "p99", "requests/s"]);
    for row in rows {
        table.row(std::iter::once(row.name.to_owned()).chain(row.durations.cells()));
    }
    table.print();
}
