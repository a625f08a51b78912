//! memoryd: a memory daemon for AI agents, as a library and a small `main`.
//!
//! This is where a contributor starts.
//!
//! # What it is
//!
//! One process keeps what agents learned (*improvements*), answers a task with the few that bear on it (*recall*), and
//! takes the task's *report*, from which it learns which of them helped. It is one binary: SQLite, the embedding model
//! and the search index are in it. Beside that it tends a tree of markdown files that people and agents edit ([`vault`]), whose
//! entries (*notes*) are recalled, credited and tended like improvements.
//!
//! # The way of a request
//!
//! [`server`] reads a frame and hands it to a bounded blocking pool. There `request.answer(&app)` calls the one
//! `impl Serve<…> for App` in [`service`]. A recall embeds its query ([`embed`]), searches the collections in the
//! process ([`store`], [`index`]) and the notes ([`notes`]), ranks what it found ([`domain::ranking`]) and leaves a
//! receipt. What changes memory
//! ends in [`journal::Journal::commit`].
//!
//! # Layers
//!
//! A module imports only from its own layer and those below. A test reads the imports and fails otherwise.
//!
//! | layer | modules | |
//! |---|---|---|
//! | 7 composition | [`boot`], [`logging`] | parse, build, bind; run, drain |
//! | 6 edges | [`courier`], [`manager`], [`scheduler`], [`server`], [`shutdown`], [`watch`] | async; the only ones that know the runtime |
//! | 5 requests | [`service`] | one file for each noun |
//! | 4 jobs | [`jobs`] | one file for each job: what maintenance plans |
//! | 3 journal | [`journal`] | owns the writer: operations, changes, undo |
//! | 2 view | [`view`], [`error`] | the bundle of readers; the one conversion to a fault |
//! | 1 resources | [`database`], [`store`], [`ledger`], [`index`], [`embed`], [`archive`], [`backup`], [`chroma`], [`events`], [`lock`], [`project`], [`vault`], [`notes`], [`config`] | blocking |
//! | 0 rules | [`domain`], [`clock`], `memoryd-proto` | pure: no I/O, no clock, cannot block |
//!
//! # Invariants
//!
//! - **The database is the state.** One SQLite file holds everything. Vectors, postings and facts in the process are
//!   rebuilt from it at start and refreshed from it after each commit.
//! - **Only the journal writes.** [`view::View`] has no way to. A plan runs while the writer is held and returns a
//!   draft; the draft is committed in one transaction, or not at all. So what a plan read still holds when its changes
//!   are applied, and every change can be shown and undone.
//! - **Files are the truth of the memory tree.** People and agents edit them at any time. Their
//!   entries in the process follow them ([`watch`]); where nobody watches, each question looks first. A file is written
//!   as a whole, only if it is as it was read; whatever is not understood stays as it is.
//!   What somebody saves at the same moment is put back or merged in, line by line.
//! - **Files and journal agree.** What is about to be written to files is kept first. What was written and not recorded
//!   is taken back at the next start, but where somebody edited it since.
//! - **Outcomes are append-only.** Usage and Q-values follow from them; undoing a report voids its outcomes and
//!   computes what follows again.
//! - **A shared memory is whole on both sides.** With a Chroma server ([`chroma`], [`courier`]), the database stays the
//!   state. What changes in it is entered in an outbox by the same transaction and told in that order; what others write
//!   there comes in through the journal. So search, gates and jobs are the same with and without a server, and go on while
//!   it is away.
//! - **What is removed is archived first**, on disk, before the transaction ends.
//! - **Nothing grows for ever.** Evaluations, operations and their outcomes leave for the archive when they are old;
//!   usage goes on from a baseline that outcomes are folded into. Receipts of recalls expire.
//! - **A copy of the database is of one moment**, checked, and whole under its name or absent. A restore keeps what it
//!   replaces.
//! - **Relevance is absolute.** It depends on the query and the text, never on what else was found, so memory with
//!   nothing to say returns nothing.
//! - **Search is exact.** Every document is scored by both signals; there are no candidate lists and no approximation,
//!   and a filter is applied before anything is cut.
//! - **Same input, same bytes out.** Time comes from [`clock::Clock`], nothing is random, and ties are broken by id.
//! - **No secret is stored.** Every path that stores text goes through [`domain::secrets`].
//!
//! What is *absent*, on purpose: a network but for the Chroma server that is configured, telemetry, a thread for each connection, an error that is only prose, and
//! any `process::exit` below `main`.
//!
//! # Where things go
//!
//! A new job is a file in [`jobs`] and an entry in [`jobs::ALL`]: it gets dry-run, report, journal and undo for free, and
//! cannot write. A new call is a struct and a line in the table of `memoryd-proto`, and an `impl Serve<…>` here. A new rule is a
//! function in [`domain`], with its numbers in [`config`] and a test that names it.

pub mod archive;
pub mod backup;
pub mod boot;
pub mod chroma;
pub mod clock;
pub mod config;
pub mod courier;
pub mod database;
pub mod domain;
pub mod embed;
pub mod error;
pub mod events;
pub mod index;
pub mod jobs;
pub mod journal;
pub mod ledger;
pub mod lock;
pub mod logging;
pub mod manager;
pub mod notes;
pub mod project;
pub mod scheduler;
pub mod server;
pub mod service;
pub mod shutdown;
pub mod store;
pub mod vault;
pub mod view;
pub mod watch;
