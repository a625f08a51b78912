//! `memoryctl`: everything that memoryd does, for people and scripts.

use std::process::ExitCode;

mod arguments;
mod exit;
mod input;
mod output;
mod render;
mod verbs;

fn main() -> ExitCode {
    let json = std::env::args_os().any(|argument| argument == "--json");
    match verbs::Command::from_arguments() {
        Ok(command) => exit::code(json, verbs::run(command)),
        Err(error) => exit::usage(json, &error),
    }
}
