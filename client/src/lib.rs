//! The client of memoryd, the memory daemon for AI agents.
//!
//! An agent recalls what it learned, works, and reports how it went:
//!
//! ```no_run
//! use memoryd_client::Client;
//! use memoryd_client::proto::{AgentName, Confidence, Fault, Insight, Recall, Report};
//!
//! fn work(task: &str, lessons: &[&str]) -> bool {
//!     // The agent's own work.
//!     true
//! }
//!
//! fn main() -> Result<(), Fault> {
//!     let memory = Client::start_or_connect()?;
//!     let agent: AgentName = "code-finder".parse()?;
//!     let task = "Find where retries are configured";
//!
//!     let recalled = memory.call(Recall::new(agent.clone(), task))?;
//!     let lessons: Vec<&str> = recalled.items.iter().map(|item| item.document.as_str()).collect();
//!     let success = work(task, &lessons);
//!
//!     let mut report = Report::new("task-4711".parse()?, agent, task, success);
//!     report.recall = Some(recalled.recall);
//!     report.used = recalled.items.iter().take(1).map(|item| item.id.clone()).collect();
//!     report.insights.push(Insight {
//!         text: "Search configuration files before code".to_owned(),
//!         category: "search_strategy".to_owned(),
//!         confidence: Confidence::new(0.8)?,
//!     });
//!     let learned = memory.call(report)?;
//!     for item in learned.items {
//!         println!("{}: {} -> {}", item.id, item.q_before, item.q_after);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! [`Client`] also implements [`Service`](proto::Service), so code that takes one cannot tell a daemon behind a
//! socket from one in its own process.
//!
//! # What holds for every call
//!
//! - It ends by its deadline, 30 seconds unless [set](Client::with_deadline), even if the daemon is stopped or sends
//!   one byte at a time.
//! - A missing daemon is an error at once, not after a wait.
//! - A connection that the daemon closed in the meantime is renewed without notice. A request is sent again only if
//!   the daemon cannot have read it whole. Otherwise the call fails, and its fault says that resending is safe for
//!   what carries an id.
//! - Errors are [`Fault`](proto::Fault)s: a code to branch on, what happened, and what to do next.
//!
//! # Features
//!
//! Agents link the library alone: `default-features = false`. That compiles 18 crates, this one included, and brings
//! no runtime. `async` adds [`AsyncClient`] on tokio. `cli`, the default, adds the `memoryctl` command.

#[cfg(feature = "async")]
mod asynchronous;
mod blocking;
mod connection;
mod launch;

pub use memoryd_proto as proto;

#[cfg(feature = "async")]
pub use asynchronous::AsyncClient;
pub use blocking::Client;
