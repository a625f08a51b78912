//! The vocabulary of memoryd and the calls that its daemon answers.
//!
//! This crate does no I/O and reads no clock. It holds
//!
//! - the words: [`AgentName`], [`Confidence`], [`Improvement`], [`Evaluation`], …;
//! - the calls: one [table](call) ties each request to its reply by type, and generates the wire enum, the dispatch
//!   and the list of tools;
//! - the wire: [`frame`] (a length and a bincode payload) and [`handshake`] (the version check that comes first);
//! - [`Fault`]: what went wrong, with what, and what to do.
//!
//! # Wire rules
//!
//! bincode does not describe itself: adding a field to any type here changes the wire, so it needs a new
//! [`handshake::PROTOCOL`]. The golden frames in this crate's tests fail until that is done. Types on the wire never
//! use serde's `flatten`, `untagged`, `tag` or `skip`, and never carry a `serde_json::Value`.

pub mod call;
pub mod fault;
pub mod frame;
pub mod handshake;
pub mod socket;

mod agent;
mod archive;
mod backup;
mod capture;
mod distil;
mod evaluation;
mod event;
mod examine;
mod id;
mod improvement;
mod journal;
mod maintenance;
mod name;
mod note;
mod performance;
mod profile;
mod recall;
mod remember;
mod review;
mod sharing;
mod status;
mod transfer;
mod units;
mod week;

pub use agent::*;
pub use archive::*;
pub use backup::*;
pub use call::{Call, Request, Serve, Service};
pub use capture::*;
pub use distil::*;
pub use evaluation::*;
pub use event::*;
pub use examine::*;
pub use fault::{Code, Fault};
pub use id::*;
pub use improvement::*;
pub use journal::*;
pub use maintenance::*;
pub use name::*;
pub use note::*;
pub use performance::*;
pub use profile::*;
pub use recall::*;
pub use remember::*;
pub use review::*;
pub use sharing::*;
pub use status::*;
pub use transfer::*;
pub use units::*;
pub use week::*;
