//! The store of improvements, evaluations, profiles and snapshots of performance.
//!
//! The rows of the database are the truth. [`Memory`] holds, for each collection, what a search needs in the process:
//! vectors, postings and the facts that gates look at. It is built from the rows at start and refreshed from them
//! after each commit.

pub mod collection;
pub mod export;
pub mod listing;
pub mod memory;
pub mod performance;
pub mod rows;

pub use collection::{Collection, Facts, Past};
pub use memory::{Candidate, Found, Memory, Search};
