//! Recalls with memory that is shared through a Chroma server, beside those of the embedded store and beside a raw query
//! of the same server, all in turn.

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::{Context, bail};
use memoryd::chroma;
use memoryd::config;
use memoryd::embed::{Embed, Onnx};
use memoryd_proto::{AgentName, Recall, Status};
use memoryd_tests::Chroma;
use serde_json::{Value, json};

use super::{Row, import, print};
use crate::arguments::Latency;
use crate::daemon::{Daemon, Home};
use crate::measure::{self, ratio, rounded, shown, timed};
use crate::output::{self, Table};
use crate::process;
use crate::texts::Texts;

const RAW: &str = "raw query of Chroma, vector at hand";
const CACHED: &str = "recall through Chroma, embedding cached";
const CACHED_HERE: &str = "recall, embedded store, embedding cached";
const RAW_FRESH: &str = "embedding and raw query of Chroma";
const FRESH: &str = "recall through Chroma, fresh text";
const FRESH_HERE: &str = "recall, embedded store, fresh text";

/// How much longer than a raw query a recall may take.
const MOST: f64 = 1.15;

/// How long a raw query may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the bench.
pub fn run(wanted: &Latency, shared: &Home, apart: &Home) -> anyhow::Result<Value> {
    let texts = Texts::from(wanted.dir.as_deref())?;
    let agent: AgentName = "clerk".parse()?;
    let server = Chroma::start().context("There is no Python with chromadb: see .ci/run")?;
    let url = format!("http://127.0.0.1:{}", server.port());
    let sharing = shared.start(&format!("store = \"chroma\"\nchroma.url = \"{url}\""))?;
    let embedded = apart.start("")?;
    output::note(&format!("importing {} memories, twice", wanted.memories));
    let added = import(&sharing, &agent, &texts, wanted.memories)?;
    import(&embedded, &agent, &texts, wanted.memories)?;
    let (told, ()) = timed(|| wait_until_told(&sharing))?;

    let config = config::Chroma { url, ..config::Chroma::default() };
    let (raw, nearest) = (chroma::connect(&config)?, config.nearest);
    let remotes = raw.collections()?;
    let model = Onnx::bundled(NonZeroUsize::MIN)?;
    let vector = |text: &str| -> anyhow::Result<Vec<f32>> {
        Ok(model.embed(&[text])?.pop().context("a text has a vector")?.vector)
    };
    let query = |vector: &[f32]| raw.begin_query(&remotes, vector, nearest, PATIENCE).wait();
    let (there, here) = (sharing.client(), embedded.client());
    let asked = |text: &str| Recall::new(agent.clone(), text);

    let fresh: Vec<String> = (0..wanted.requests).map(|number| texts.question(number)).collect();
    let [raw_fresh, recalled, recalled_here] = measure::in_turn(
        wanted.requests,
        1,
        [
            &mut |number| Ok(query(&vector(&fresh[number])?).map(drop)?),
            &mut |number| Ok(there.call(asked(&fresh[number])).map(drop)?),
            &mut |number| Ok(here.call(asked(&fresh[number])).map(drop)?),
        ],
    )?;
    let vectors = fresh.iter().map(|text| vector(text)).collect::<anyhow::Result<Vec<_>>>()?;
    let [raw_cached, cached, cached_here] = measure::in_turn(
        wanted.requests,
        1,
        [
            &mut |number| Ok(query(&vectors[number]).map(drop)?),
            &mut |number| Ok(there.call(asked(&fresh[number])).map(drop)?),
            &mut |number| Ok(here.call(asked(&fresh[number])).map(drop)?),
        ],
    )?;
    let (resident, _) = process::memory(sharing.pid())?;
    let degraded = there.call(asked(&fresh[0]))?.degraded;
    if let Some(degraded) = degraded {
        bail!("recalls were answered without Chroma: {degraded}");
    }

    let rows = [
        (RAW, raw_cached),
        (CACHED, cached),
        (CACHED_HERE, cached_here),
        (RAW_FRESH, raw_fresh),
        (FRESH, recalled),
        (FRESH_HERE, recalled_here),
    ]
    .map(|(name, durations)| Row { name, durations });
    print(&format!("1 client, {added} memories"), &rows);
    let median = |name: &str| {
        rows.iter().find(|row| row.name == name).map(|row| row.durations.median()).unwrap_or_default()
    };
    let targets = [
        ("recall / raw query, embedding cached", ratio(median(CACHED), median(RAW)), MOST),
        ("recall / embedding and raw query, fresh text", ratio(median(FRESH), median(RAW_FRESH)), MOST),
    ];
    let mut table = Table::new(&["target", "measured", "at most"]);
    for (name, measured, most) in targets {
        table.row([name.to_owned(), format!("{measured:.2}"), format!("{most}")]);
    }
    table.print();
    output::say(&format!(
        "Chroma was told of all {} after the import. Resident {resident:.0} MB.",
        shown(told)
    ));
    Ok(json!({
        "memories": added,
        "rows": rows.iter().map(|row| (row.name.to_owned(), row.durations.figures())).collect::<serde_json::Map<_, _>>(),
        "targets": targets.map(|(name, measured, most)| json!({ "name": name, "measured": rounded(measured), "at_most": most })),
        "resident_mb": rounded(resident),
    }))
}

fn wait_until_told(daemon: &Daemon) -> anyhow::Result<()> {
    loop {
        let state = daemon.client().call(Status {})?.chroma.context("memory is shared")?;
        if let Some(trouble) = state.trouble {
            bail!("{trouble}");
        }
        if state.waiting == 0 {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
