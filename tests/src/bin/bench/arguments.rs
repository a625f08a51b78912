//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Measure memoryd through its socket
#[derive(Parser, Debug)]
#[command(name = "bench")]
pub struct Arguments {
    /// What to measure
    #[command(subcommand)]
    pub bench: Bench,
    /// Also print the figures, as one JSON object on the last line
    #[arg(long, global = true)]
    pub json: bool,
    /// Change a setting of the daemon, such as recall.candidates=10
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// What to measure.
#[derive(Subcommand, Debug)]
pub enum Bench {
    /// Retrieval: does recall bring the evidence, and nothing where there is none?
    Locomo(Locomo),
    /// Learned utility: does recall learn from outcomes?
    Outcomes(Outcomes),
    /// How long calls take, beside a raw socket and the embedding alone
    Latency(Latency),
    /// How cost grows with the number of memories, with the embedding left out
    Scale(Scale),
    /// How long jobs take, and what recalls notice of them
    Maintenance(Maintenance),
    /// How soon the memory tree is searchable, and what following it costs
    Tree(Tree),
    /// Is what is said told apart: what is worth keeping, and what is not?
    Capture(Capture),
    /// The daemon that is measured
    #[command(hide = true)]
    Daemon,
    /// The server that sends back what it gets
    #[command(hide = true)]
    Echo {
        /// Where it listens
        socket: PathBuf,
        /// How it serves
        kind: Echo,
    },
}

/// How an echo server serves its clients.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Echo {
    /// On a runtime like the daemon's
    Runtime,
    /// Each on a blocking thread of its own
    Threads,
}

/// What `locomo` is told.
#[derive(Args, Debug)]
pub struct Locomo {
    /// The folder with NAME.memories.jsonl and NAME.queries.jsonl
    pub dir: PathBuf,
}

/// What `outcomes` is told.
#[derive(Args, Debug)]
pub struct Outcomes {
    /// The folder with lessons.jsonl and tasks.jsonl
    pub dir: PathBuf,
    /// How learned utility is estimated
    #[arg(long, value_enum, default_value = "contextual")]
    pub estimator: Estimator,
    /// Leave deprecation and the gate on the success rate on: the whole system, not ranking alone
    #[arg(long)]
    pub whole: bool,
}

/// How learned utility is estimated.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Estimator {
    /// One Q-value for each memory
    Global,
    /// Usefulness near the query
    Contextual,
}

/// What `latency` is told.
#[derive(Args, Debug)]
pub struct Latency {
    /// A folder with NAME.memories.jsonl and NAME.queries.jsonl to take texts from [default: synthetic texts]
    pub dir: Option<PathBuf>,
    /// Memories that the daemon holds
    #[arg(long, default_value_t = 10_000)]
    pub memories: usize,
    /// Requests of each kind
    #[arg(long, default_value_t = 400)]
    pub requests: usize,
    /// Also watch the daemon do nothing for so many seconds
    #[arg(long, default_value_t = 0, value_name = "SECONDS")]
    pub idle: u64,
    /// Where memory is kept; with chroma, recalls are measured beside the embedded store and a raw query of Chroma
    #[arg(long, value_enum, default_value = "embedded")]
    pub store: Store,
}

/// Where memory is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Store {
    /// In the daemon's database alone
    Embedded,
    /// In a Chroma server too
    Chroma,
}

/// What `scale` is told.
#[derive(Args, Debug)]
pub struct Scale {
    /// Memories in one collection; several numbers, separated by commas, are measured one after the other
    #[arg(long, value_delimiter = ',', default_value = "100000")]
    pub memories: Vec<u64>,
    /// Searches to time
    #[arg(long, default_value_t = 200)]
    pub searches: usize,
}

/// What `maintenance` is told.
#[derive(Args, Debug)]
pub struct Maintenance {
    /// Agents
    #[arg(long, default_value_t = 100, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub agents: usize,
    /// Improvements of each agent
    #[arg(long, default_value_t = 1000)]
    pub improvements: usize,
    /// Evaluations of all agents
    #[arg(long, default_value_t = 100_000)]
    pub evaluations: usize,
    /// Improvements of all agents that are consolidated
    #[arg(long, default_value_t = 20_000)]
    pub consolidated: usize,
    /// Recalls while nothing else happens
    #[arg(long, default_value_t = 400)]
    pub recalls: usize,
    /// How often the jobs of a day are measured, each time on a fresh store
    #[arg(long, default_value_t = 3)]
    pub rounds: usize,
}

/// What `tree` is told.
#[derive(Args, Debug)]
pub struct Tree {
    /// Files
    #[arg(long, default_value_t = 2000, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub files: usize,
    /// Entries in them
    #[arg(long, default_value_t = 50_000, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub entries: usize,
    /// Saves to time
    #[arg(long, default_value_t = 20)]
    pub saves: usize,
    /// Recalls to time, while vectors fill in and when they are there
    #[arg(long, default_value_t = 400)]
    pub recalls: usize,
    /// How long to count the vectors that are made
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    pub window: usize,
    /// How long to watch the daemon do nothing
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    pub idle: u64,
    /// Wait until all vectors are made: minutes
    #[arg(long)]
    pub whole: bool,
}

/// What `capture` is told.
#[derive(Args, Debug)]
pub struct Capture {
    /// Files of sentences: on each line what it is, a tab, and the sentence
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}
