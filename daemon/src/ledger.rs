//! What the daemon knows beyond the memory itself: usage, outcomes, contexts, recalls, reports, projects,
//! uses of notes, runs of jobs, and what a Chroma server knows.
//!
//! Outcomes are append-only events. What follows from them, such as counts and Q-values, is kept beside them and
//! computed again when a report is undone.

pub mod contexts;
pub mod mirror;
pub mod note;
pub mod noted;
pub mod outbox;
pub mod outcomes;
pub mod projects;
pub mod recalls;
pub mod reports;
pub mod retired;
pub mod runs;
pub mod usage;
pub mod week;
