//! Pure rules. Nothing here reads a clock, a file or a database; time and weights are arguments.

pub mod assessment;
pub mod capture;
pub mod conflict;
pub mod consolidation;
pub mod corroboration;
pub mod criteria;
pub mod decay;
pub mod intake;
pub mod judgement;
pub mod markdown;
pub mod merge;
pub mod performance;
pub mod profile;
pub mod ranking;
pub mod retention;
pub mod rewording;
pub mod schedule;
pub mod scoping;
pub mod secrets;
pub mod seed;
pub mod shortcomings;
pub mod skills;
pub mod text;
pub mod tiers;
pub mod utility;
