//! The command as scripts see it: exit codes, and what goes to which stream.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test fails where it is wrong")]

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

fn memoryctl(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memoryctl"));
    command.env_clear().env("MEMORYD_SOCKET", dir.join("memoryd.sock")).env("HOME", dir);
    command
}

fn run(arguments: &[&str]) -> Output {
    let dir = TempDir::new().unwrap();
    memoryctl(dir.path()).args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_missing_daemon_is_said_on_stderr_only() {
    let output = run(&["status"]);
    assert_eq!(output.status.code(), Some(5));
    assert!(output.stdout.is_empty());
    assert!(stderr(&output).contains("`memoryctl start`"), "{}", stderr(&output));
}

#[test]
fn programs_get_errors_as_json() {
    for (arguments, status, code) in
        [(&["--json", "ping"][..], 5, "unavailable"), (&["recall", "--json"], 2, "invalid")]
    {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(status));
        assert!(output.stdout.is_empty());
        let fault: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(fault["code"], code);
    }
}

#[test]
fn stopping_what_does_not_run_is_no_error() {
    let output = run(&["stop", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"{\n  \"pid\": null\n}\n");
}

#[test]
fn a_reader_that_has_enough_is_no_error() {
    let dir = TempDir::new().unwrap();
    let mut child = memoryctl(dir.path())
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0; 16]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}

#[test]
fn a_daemon_that_cannot_start_is_quoted() {
    let dir = TempDir::new().unwrap();
    // Written by a process of its own: a program cannot be run while a fork of this process has it open for writing.
    let install = r#"cp "$0" memoryctl; printf '#!/bin/sh\necho "the disk is full" >&2\nexit 1\n' >memoryd; chmod +x memoryd"#;
    let installed = Command::new("sh")
        .args(["-c", install, env!("CARGO_BIN_EXE_memoryctl")])
        .current_dir(dir.path())
        .status()
        .unwrap();
    assert!(installed.success());
    let output = Command::new(dir.path().join("memoryctl"))
        .arg("start")
        .env_clear()
        .env("MEMORYD_SOCKET", dir.path().join("memoryd.sock"))
        .env("HOME", dir.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert!(stderr(&output).contains("the disk is full"), "{}", stderr(&output));
    assert!(dir.path().join(".local/state/memoryd/memoryd.log").exists());
}
