//! The daemon's entry: see the library for everything else.

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
memoryd, the memory daemon for AI agents

Usage: memoryd [--version | --help | --print-config | --examine | --restore NAME|PATH]

Without an argument it serves until it gets SIGTERM. memoryctl starts, stops and queries it.
--restore puts a copy of the database in its place; what was there is kept beside the copies. No daemon may run.
--examine looks for what keeps it from starting, and prints that as JSON; memoryctl doctor does so when nobody answers.
--print-config prints every setting with its default; save it as ~/.config/memoryd/memoryd.toml to change some.
MEMORYD_CONFIG, MEMORYD_DATA_DIR and MEMORYD_SOCKET name another configuration, data directory and socket.
";

#[allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line is answered there")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => match memoryd::boot::run() {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("memoryd: {error:#}");
                return ExitCode::FAILURE;
            }
        },
        ["--restore", named] => match memoryd::boot::restore(Path::new(named)) {
            Ok(restored) => println!("{restored}"),
            Err(error) => {
                eprintln!("memoryd: {error:#}");
                return ExitCode::FAILURE;
            }
        },
        ["--examine"] => match serde_json::to_string_pretty(&memoryd::boot::examine()) {
            Ok(told) => println!("{told}"),
            Err(error) => {
                eprintln!("memoryd: {error}");
                return ExitCode::FAILURE;
            }
        },
        ["--version" | "-V"] => println!("memoryd {}", env!("CARGO_PKG_VERSION")),
        ["--help" | "-h"] => print!("{USAGE}"),
        ["--print-config"] => print!("{}", memoryd::config::DEFAULTS),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
