//! Pure rules. Nothing here reads a clock, a file or a database; time and weights are arguments.

pub mod assessment;
pub mod capture;
pub mod consolidation;
pub mod corroboration;
pub mod criteria;
pub mod decay;
pub mod intake;
pub mod judgement;
pub mod markdown;
pub mod performance;
pub mod profile;
pub mod ranking;
pub mod retention;
pub mod schedule;
pub mod scoping;
pub mod secrets;
pub mod seed;
pub mod text;
pub mod utility;
