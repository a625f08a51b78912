//! What the end-to-end tests stand on: real daemons, in this process or as the `memoryd` executable, each in a
//! temporary home of its own, with real sockets and a clock that only the test turns.
//!
//! Nothing here sleeps or polls. A daemon in this process is served before [`Home::daemon`] returns; one of its own
//! process says on its standard error that it is ready.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::print_stderr,
    reason = "a test's harness panics where it fails and says where it was, and a call is often made for its effect"
)]

mod chroma;
mod gate;
mod home;
mod process;
pub mod sentences;
mod systemd;
mod world;

pub use chroma::{Chroma, free_port, shared_at};
pub use gate::{Gate, Pass};
pub use home::{Home, Running, start_of_time};
pub use process::{Ended, Process, Spawned, executable, run};
pub use systemd::UserManager;
pub use world::{World, agent, confidence, documents, everywhere, everywhere_with, quality, shared_with};

/// Says that a test passes by because something is not here.
///
/// # Panics
/// When `MEMORYD_DEMANDS` has it.
pub fn demanded(what: &str, told: &str) {
    let demands = std::env::var("MEMORYD_DEMANDS").unwrap_or_default();
    assert!(!demands.split(',').any(|demand| demand == what), "{told}");
    eprintln!("SKIPPED: {told}");
}
