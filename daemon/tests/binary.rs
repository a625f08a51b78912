//! The executable at its command line. That there is a test of it also makes `cargo test --workspace` build it, which
//! the end-to-end tests start as a process.

#![allow(clippy::unwrap_used, reason = "a test fails where it is wrong")]

use std::process::{Command, Output};

fn memoryd(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memoryd")).args(arguments).env_clear().output().unwrap()
}

#[test]
fn it_tells_its_version() {
    let output = memoryd(&["--version"]);
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("memoryd {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_configuration_it_prints_is_the_documented_one() {
    let output = memoryd(&["--print-config"]);
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), memoryd::config::DEFAULTS);
}

#[test]
fn an_argument_that_it_does_not_know_is_answered_with_the_usage() {
    let output = memoryd(&["--frobnicate"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("Usage: memoryd"));
    assert_eq!(output.stdout, b"");
}
