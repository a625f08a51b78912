//! memoryd as its users meet it: a real daemon, its real socket, one file for each theme. A test's name says the rule
//! that it holds the daemon to, with the id of the specification where there is one.

#![allow(clippy::unwrap_used, reason = "a test fails where it is wrong")]

mod agent_file;
mod archive;
mod backup;
mod boot;
mod capture;
mod cases;
mod chroma;
mod closing;
mod configuration;
mod consolidation;
mod crash;
mod dashboard;
mod doctor;
mod explain;
mod files;
mod follow;
mod hostility;
mod intake;
mod joined;
mod ledger;
mod maintenance;
mod names;
mod notes;
mod principles;
mod profile;
mod promote;
mod prune;
mod qavr;
mod recall;
mod report;
mod review;
mod schedule;
mod scopes;
mod secrets;
mod service;
mod sharing;
mod skills;
mod steady;
mod strangers;
mod texts;
mod transfer;
mod tree;
mod twice;
mod undo;
mod usage;
mod utility;
mod watch;
mod writers;
mod year;
