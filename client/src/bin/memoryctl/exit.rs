//! How the process ends: the exit codes, and what is said of a failure.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::error::ErrorKind as Usage;
use memoryd_client::proto::{Code, Fault};

use crate::render::{advice, bad};

/// Shown at the end of the help.
pub const CODES: &str = "\
Answers go to standard output, everything else to standard error.
Times are local for people, and UTC in JSON.

Exit codes:
  0  done
  1  internal: stored data could not be read or written, or a defect
  2  invalid: the command or the request breaks a rule
  3  not found
  4  conflict with what is stored
  5  unavailable: no daemon answers
  6  deadline: no answer in time
  7  version: client and daemon do not speak the same protocol
  8  busy: try again
  9  doctor found something

Environment:
  MEMORYD_SOCKET  the daemon's socket
  MEMORYD_AGENT   the agent, for verbs that need one
  NO_COLOR        no colour";

/// The exit code when something is wrong, and the answer says what.
const FOUND: u8 = 9;

/// What becomes of a verb.
pub type Outcome = Result<(), Failure>;

/// Why a verb failed.
#[derive(Debug)]
pub enum Failure {
    /// With a message for whoever called.
    Fault(Fault),
    /// The answer could not be written.
    Output(io::Error),
    /// The answer says that something is wrong.
    Found,
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Says what went wrong, if anything did, and gives the exit code.
pub fn code(json: bool, outcome: Outcome) -> ExitCode {
    let fault = match outcome {
        Ok(()) => return ExitCode::SUCCESS,
        // Whoever read the answer has enough of it.
        Err(Failure::Found) => return ExitCode::from(FOUND),
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(Failure::Output(error)) => Fault::new(
            Code::Internal,
            format!("The answer cannot be written: {error}"),
            "Check where the output goes.",
        ),
        Err(Failure::Fault(fault)) => fault,
    };
    say(json, &fault);
    ExitCode::from(number(fault.code))
}

/// Says what is wrong with the command line, or what was asked of it: help or the version.
pub fn usage(json: bool, error: &clap::Error) -> ExitCode {
    let asked = matches!(error.kind(), Usage::DisplayHelp | Usage::DisplayVersion);
    if json && !asked {
        let text = error.render().to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        say(true, &Fault::invalid(message, "See `memoryctl --help`."));
        return ExitCode::from(number(Code::Invalid));
    }
    // When even that cannot be written, nobody is there to be told.
    let _ = error.print();
    if asked { ExitCode::SUCCESS } else { ExitCode::from(number(Code::Invalid)) }
}

fn number(code: Code) -> u8 {
    match code {
        Code::Internal => 1,
        Code::Invalid => 2,
        Code::NotFound => 3,
        Code::Conflict => 4,
        Code::Unavailable => 5,
        Code::Deadline => 6,
        Code::Version => 7,
        Code::Busy => 8,
    }
}

fn say(json: bool, fault: &Fault) {
    let mut stderr = anstream::stderr().lock();
    let said = if json {
        serde_json::to_writer_pretty(&mut stderr, fault)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(stderr))
    } else {
        writeln!(stderr, "{} {}\n{}", bad("error:"), fault.message, advice(&fault.advice))
    };
    // When even that cannot be written, nobody is there to be told.
    let _ = said;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_own_number_in_the_help() {
        let codes = [
            Code::Internal,
            Code::Invalid,
            Code::NotFound,
            Code::Conflict,
            Code::Unavailable,
            Code::Deadline,
            Code::Version,
            Code::Busy,
        ];
        for code in codes {
            let line = format!(
                "\n  {}  {}",
                number(code),
                format!("{code:?}").to_lowercase().replace("notf", "not f")
            );
            assert!(CODES.contains(&line), "{line:?}");
        }
    }
}
