//! `tree`: how soon the memory tree is searchable, and what following it costs.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use memoryd_client::Client;
use memoryd_proto::{AgentName, Recall, SearchNotes, Status, TreeState, Watch};
use serde_json::{Value, json};

use crate::arguments::Tree;
use crate::daemon::{Daemon, Home};
use crate::latency::idle;
use crate::measure::{self, Durations, millis, ratio, rounded, shown, timed};
use crate::output::{self, Table};
use crate::texts::Texts;

/// How long one call waits for events.
const WAIT_MS: u64 = 20_000;

/// How long nothing may happen: a hundredth of the vectors can take a while.
const PATIENCE: Duration = Duration::from_mins(5);

/// Runs the bench.
pub fn run(wanted: &Tree, set: &[String]) -> anyhow::Result<Value> {
    let home = Home::new(set)?;
    let files = plant(&home.tree(), wanted)?;
    output::note(&format!("{} files with {} entries are written", wanted.files, wanted.entries));

    let started = Instant::now();
    let daemon = home.start("")?;
    let client = daemon.client();
    let last = marker(wanted.entries - 1);
    until(&client, || Ok(found(&client, &last)? == 1))?;
    let searchable = started.elapsed();

    let filling = recalls(&client, wanted, 0)?;
    let embedded_by_then = tree(&client)?.embedded;
    let saves = saves(&client, &files, wanted.saves)?;
    output::note("waiting for the vectors");
    let begun = Instant::now();
    until(&client, || {
        let tree = tree(&client)?;
        Ok(tree.embedded == tree.entries)
    })?;
    let filled = started.elapsed();
    let rate = measure::count(usize::try_from(tree(&client)?.entries - embedded_by_then)?)
        / begun.elapsed().as_secs_f64().max(1e-9);
    let quiet = recalls(&client, wanted, wanted.recalls)?;
    let idle = idle::watch(&daemon, wanted.idle)?;
    daemon.stop()?;

    let (again, cpu) = restart(&home)?;
    let slower = ratio(filling.quantile(0.99), quiet.quantile(0.99));
    let mut table = Table::new(&["target", "measured", "at most"]);
    for (name, measured, most) in [
        ("searchable by words after the start", shown(searchable), "10 s"),
        ("a save is searchable, median", shown(saves.median()), "1 s"),
        ("a save is searchable, longest", shown(saves.quantile(1.0)), "1 s"),
        ("p99 of recalls, while vectors fill in / quiet", format!("{slower:.2}"), "2"),
        ("all vectors after the start", shown(filled), ""),
        ("all vectors after a restart", shown(again), ""),
        ("CPU time of that restart", shown(cpu), ""),
    ] {
        table.row([name.to_owned(), measured, most.to_owned()]);
    }
    table.print();
    if let Some(idle) = &idle {
        output::say(&idle.told());
    }
    Ok(json!({
        "files": wanted.files,
        "entries": wanted.entries,
        "searchable_ms": millis(searchable),
        "save": saves.figures(),
        "save_longest_ms": millis(saves.quantile(1.0)),
        "recall_filling": filling.figures(),
        "recall_quiet": quiet.figures(),
        "p99_ratio": rounded(slower),
        "filled_s": rounded(filled.as_secs_f64()),
        "embedded_per_second": rounded(rate),
        "restart_filled_ms": millis(again),
        "restart_cpu_ms": millis(cpu),
        "idle": idle.map(|idle| idle.figures()),
    }))
}

/// Writes the tree, the same in every run.
fn plant(root: &Path, wanted: &Tree) -> anyhow::Result<Vec<PathBuf>> {
    let each = wanted.entries.div_ceil(wanted.files);
    let mut files = Vec::new();
    for file in 0..wanted.files {
        let folder = root.join(if file % 2 == 0 { "projects" } else { "domains" });
        std::fs::create_dir_all(&folder)?;
        let mut text = format!("# Topic {file}\n\n## Rules\n\n");
        for entry in (file * each..(file + 1) * each).take_while(|entry| *entry < wanted.entries) {
            let words = Texts::Synthetic.memory(entry);
            let marker = marker(entry);
            writeln!(text, "- **{words} {marker}** (from: bench, first noted: 2026-01-05)")?;
        }
        let path = folder.join(format!("topic{file}.md"));
        std::fs::write(&path, text)?;
        files.push(path);
    }
    Ok(files)
}

/// A word that one entry alone has.
fn marker(entry: usize) -> String {
    format!("marker{entry}")
}

fn found(client: &Client, words: &str) -> anyhow::Result<u64> {
    // Before the tree was looked at there is nothing to find, and that is no failure.
    let call = SearchNotes { words: words.to_owned(), ..SearchNotes::default() };
    Ok(client.call(call)?.total)
}

fn tree(client: &Client) -> anyhow::Result<TreeState> {
    Ok(client.call(Status {})?.tree)
}

/// Waits for events until `done`.
fn until(client: &Client, mut done: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    let mut after = client.call(Watch { after: None, wait_ms: 0 })?.next;
    let mut heard = Instant::now();
    while !done()? {
        let watched = client.call(Watch { after: Some(after), wait_ms: WAIT_MS })?;
        if !watched.events.is_empty() {
            heard = Instant::now();
        } else if heard.elapsed() > PATIENCE {
            bail!("Nothing happened for {PATIENCE:?}");
        }
        after = watched.next;
    }
    Ok(())
}

/// Recalls of fresh texts, the first of them of that number.
fn recalls(client: &Client, wanted: &Tree, first: usize) -> anyhow::Result<Durations> {
    let agent: AgentName = "finder".parse()?;
    measure::one(wanted.recalls, |number| {
        client.call(Recall::new(agent.clone(), &Texts::Synthetic.question(first + number)))?;
        Ok(())
    })
}

/// How long it takes from a save until what was saved is found.
fn saves(client: &Client, files: &[PathBuf], count: usize) -> anyhow::Result<Durations> {
    let mut durations = Vec::new();
    for (number, path) in files.iter().cycle().take(count).enumerate() {
        let word = format!("saved{number}");
        let text = std::fs::read_to_string(path)? + &format!("- A rule that was {word} just now\n");
        let (took, ()) = timed(|| {
            std::fs::write(path, &text)?;
            until(client, || Ok(found(client, &word)? == 1))
        })?;
        durations.push(took);
    }
    Ok(Durations::in_turn(durations))
}

/// How long it takes, and how much CPU time, until a daemon that knows all vectors has them again.
fn restart(home: &Home) -> anyhow::Result<(Duration, Duration)> {
    let started = Instant::now();
    let daemon: Daemon = home.start("")?;
    let client = daemon.client();
    until(&client, || {
        let tree = tree(&client)?;
        Ok(tree.entries > 0 && tree.embedded == tree.entries)
    })?;
    let took = started.elapsed();
    let cpu = crate::process::cpu_time(daemon.pid())?;
    daemon.stop()?;
    Ok((took, cpu))
}
