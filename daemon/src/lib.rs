//! memoryd: a memory daemon for AI agents.
//!
//! This is where a contributor starts. `main` is a few lines; [`boot`] puts everything together.

pub mod archive;
pub mod boot;
pub mod clock;
pub mod config;
pub mod database;
pub mod domain;
pub mod embed;
pub mod error;
pub mod index;
pub mod journal;
pub mod ledger;
pub mod logging;
pub mod project;
pub mod server;
pub mod service;
pub mod shutdown;
pub mod store;
pub mod view;
