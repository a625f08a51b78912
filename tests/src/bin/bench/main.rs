//! The benches of memoryd. Each but `capture` starts the real daemon in a temporary folder and measures it through its
//! socket.
//!
//! `cargo run --release -p memoryd-tests --bin bench -- --help` tells what there is.

mod affinity;
mod arguments;
mod capture;
mod daemon;
mod echo;
mod jsonl;
mod latency;
mod locomo;
mod maintenance;
mod measure;
mod outcomes;
mod output;
mod process;
mod random;
mod records;
mod scale;
mod texts;
mod tree;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Bench, Store};
use daemon::Home;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments.bench, &arguments.set) {
        Ok(figures) => {
            if arguments.json
                && let Some(figures) = figures
            {
                output::figures(&figures);
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            output::note(&format!("bench: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs a bench and returns its figures; none for the helper processes.
fn run(bench: &Bench, set: &[String]) -> anyhow::Result<Option<serde_json::Value>> {
    Ok(match bench {
        Bench::Locomo(wanted) => Some(locomo::run(wanted, &Home::new(set)?)?),
        Bench::Outcomes(wanted) => Some(outcomes::run(wanted, &Home::new(set)?)?),
        Bench::Latency(wanted) => Some(match wanted.store {
            Store::Embedded => latency::run(wanted, &Home::new(set)?)?,
            Store::Chroma => latency::stores::run(wanted, &Home::new(set)?, &Home::new(set)?)?,
        }),
        Bench::Scale(wanted) => Some(scale::run(wanted, set)?),
        Bench::Maintenance(wanted) => Some(maintenance::run(wanted, set)?),
        Bench::Tree(wanted) => Some(tree::run(wanted, set)?),
        Bench::Capture(wanted) => Some(capture::run(wanted)),
        Bench::Daemon => {
            process::end_with_parent();
            memoryd::boot::run()?;
            None
        }
        Bench::Echo { socket, kind } => {
            process::end_with_parent();
            echo::serve(socket, *kind)?;
            None
        }
    })
}
