//! The store of improvements, evaluations, profiles, snapshots of performance and reviews.
//!
//! The rows of the database are the truth. [`Memory`] holds, for each collection, what a search needs in the process:
//! vectors, postings and the facts that gates look at. It is built from the rows at start and refreshed from them
//! after each commit.

pub mod collection;
pub mod export;
pub mod listing;
pub mod memory;
pub mod performance;
pub mod reviews;
pub mod rows;
pub mod tally;

pub use collection::{Collection, Facts, Past};
pub use memory::{Candidate, Found, Memory, Search};
