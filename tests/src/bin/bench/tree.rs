//! `tree`: how soon the memory tree is searchable, how fast vectors fill in behind it, and what that costs.
//!
//! All vectors take minutes. So the pace is measured over a while and the rest estimated from it; then nearly all
//! vectors are put into the database by hand, and recalls are measured while the last ones are made and when they are
//! there. `--whole` waits for all of them instead.

mod planted;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::bail;
use memoryd::embed::{Embed, Onnx};
use memoryd_client::Client;
use memoryd_proto::{AgentName, Recall, SearchNotes, Status, TreeState, Watch};
use serde_json::{Map, Value};

use crate::arguments::Tree;
use crate::daemon::{Daemon, Home};
use crate::latency::idle;
use crate::measure::{self, Durations, count, millis, ratio, rounded, shown, timed};
use crate::output;
use crate::texts::Texts;

/// How long one call waits for events.
const WAIT_MS: u64 = 1000;

/// How long nothing may happen: a hundredth of the vectors can take a while.
const PATIENCE: Duration = Duration::from_mins(5);

/// Texts that the model embeds while nothing else happens.
const ALONE: usize = 512;

/// Recalls after which it is asked whether vectors still fill in.
const BLOCK: usize = 20;

/// Runs the bench.
pub fn run(wanted: &Tree, set: &[String]) -> anyhow::Result<Value> {
    let mut report = Report::default();
    let home = Home::new(set)?;
    let files = planted::files(&home.tree(), wanted)?;
    output::line(&format!("{} entries in {} files", wanted.entries, wanted.files));
    let alone = alone(&planted::texts(&home)?)?;
    report.figure("texts that the model alone embeds in a second", "alone_per_second", alone, "/s");

    let daemon = begin(&home, wanted, &mut report, "the first start", "searchable_ms")?;
    let client = daemon.client();
    let saves = saves(&client, &files, wanted.saves)?;
    report.time("a save is searchable, median", "save_ms", saves.median(), "at most 1 s");
    report.time("a save is searchable, longest", "save_longest_ms", saves.quantile(1.0), "at most 1 s");
    let pace = pace(&client, wanted)?;
    report.figure("vectors made in a second", "embedded_per_second", pace, "/s");
    report.figure("of what the model does alone", "share_of_alone", 100.0 * pace / alone, "%");
    let whole = Duration::from_secs_f64(count(wanted.entries) / pace.max(1e-9));
    report.time("all vectors after the first start, an estimate", "filled_estimate_ms", whole, "");

    let told = tree(&client)?.embedded;
    drop(daemon);
    let kept = planted::kept(&home)?;
    let lost = told.saturating_sub(kept.len() as u64);
    report.number("vectors that were told and lost when it was killed", "lost", lost);
    let late = if wanted.whole { usize::MAX } else { rounded_up(pace * count(wanted.window)) };
    let marked = planted::mark(&home, &kept, late)?;
    if !wanted.whole {
        output::line(&format!("{} vectors are put in by hand, {late} are left to be made", marked.len()));
    }

    let started = Instant::now();
    let daemon = begin(&home, wanted, &mut report, "a restart", "restart_ms")?;
    let client = daemon.client();
    until(&client, || Ok(tree(&client)?.embedded >= marked.len() as u64))?;
    report.time("vectors that are known are there after", "known_ms", started.elapsed(), "");
    let filling = recalls(&client, wanted.recalls, 0, || {
        let tree = tree(&client)?;
        Ok(tree.embedded < tree.entries)
    })?;
    until(&client, || {
        let tree = tree(&client)?;
        Ok(tree.embedded == tree.entries)
    })?;
    report.time("all vectors are there after", "filled_ms", started.elapsed(), "");
    let quiet = recalls(&client, wanted.recalls, wanted.recalls, || Ok(true))?;
    report.recalls("a recall while vectors fill in", "recall_filling", &filling);
    report.recalls("a recall when they are there", "recall_quiet", &quiet);
    for (name, key, share) in [("p50", "p50_ratio", 0.5), ("p99", "p99_ratio", 0.99)] {
        let slower = ratio(filling.quantile(share), quiet.quantile(share));
        report.figure(&format!("{name} while vectors fill in / when they are there"), key, slower, "");
    }
    if let Some(idle) = idle::watch(&daemon, wanted.idle)? {
        output::line(&idle.told());
        report.figures.insert("idle".to_owned(), idle.figures());
    }
    daemon.stop()?;
    let again = planted::changed(&home, &marked)?;
    report.number("vectors that were known and made again", "made_again", again);
    Ok(Value::Object(report.figures))
}

/// What was measured, told at once.
#[derive(Default)]
struct Report {
    figures: Map<String, Value>,
}

impl Report {
    fn row(&mut self, name: &str, key: &str, told: &str, figure: Value) {
        output::line(&format!("{name:<52}  {told}"));
        self.figures.insert(key.to_owned(), figure);
    }

    fn time(&mut self, name: &str, key: &str, took: Duration, most: &str) {
        self.row(name, key, format!("{:>10}  {most}", shown(took)).trim_end(), millis(took).into());
    }

    fn figure(&mut self, name: &str, key: &str, figure: f64, unit: &str) {
        self.row(name, key, format!("{figure:>10.2} {unit}").trim_end(), rounded(figure).into());
    }

    fn number(&mut self, name: &str, key: &str, number: u64) {
        self.row(name, key, &format!("{number:>10}"), number.into());
    }

    fn recalls(&mut self, name: &str, key: &str, took: &Durations) {
        let told = format!("{:>10} p50  {:>10} p99", shown(took.median()), shown(took.quantile(0.99)));
        self.row(name, key, &told, took.figures());
    }
}

/// How many of these texts the model embeds in a second, while nothing else happens.
fn alone(texts: &[String]) -> anyhow::Result<f64> {
    let threads = std::thread::available_parallelism()?.min(4.try_into()?);
    let model = Onnx::bundled(threads)?;
    let texts: Vec<&str> = texts.iter().take(ALONE).map(String::as_str).collect();
    let (took, _) = timed(|| Ok(model.embed(&texts)?))?;
    Ok(count(texts.len()) / took.as_secs_f64())
}

/// Starts a daemon, and waits until the last entry is found by its words.
fn begin(home: &Home, wanted: &Tree, report: &mut Report, what: &str, key: &str) -> anyhow::Result<Daemon> {
    let started = Instant::now();
    let daemon = home.start("")?;
    let client = daemon.client();
    let last = planted::marker(wanted.entries - 1);
    until(&client, || Ok(found(&client, &last)? == 1))?;
    report.time(&format!("searchable by words after {what}"), key, started.elapsed(), "at most 10 s");
    Ok(daemon)
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

/// How many vectors are made in a second, while nobody asks anything else.
fn pace(client: &Client, wanted: &Tree) -> anyhow::Result<f64> {
    let window = Duration::from_secs(wanted.window as u64);
    let (before, begun) = (tree(client)?.embedded, Instant::now());
    let mut now = before;
    until(client, || {
        let tree = tree(client)?;
        now = tree.embedded;
        Ok(now == tree.entries || begun.elapsed() >= window)
    })?;
    Ok(count(usize::try_from(now - before)?) / begun.elapsed().as_secs_f64())
}

/// Recalls of fresh texts, the first of them of that number, while it is wanted.
fn recalls(
    client: &Client,
    most: usize,
    first: usize,
    mut wanted: impl FnMut() -> anyhow::Result<bool>,
) -> anyhow::Result<Durations> {
    let agent: AgentName = "finder".parse()?;
    let mut blocks = Vec::new();
    for start in (0..most).step_by(BLOCK) {
        let block = measure::one(BLOCK.min(most - start), |number| {
            let question = Texts::Synthetic.question(first + start + number);
            client.call(Recall::new(agent.clone(), &question))?;
            Ok(())
        })?;
        if !wanted()? {
            break;
        }
        blocks.push(block);
    }
    if blocks.is_empty() {
        bail!("All vectors were there before a recall was made: ask for more entries or a longer window");
    }
    Ok(Durations::pooled(blocks.iter()))
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

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and not many")]
fn rounded_up(number: f64) -> usize {
    number.ceil() as usize
}
