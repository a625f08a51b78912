//! Starting the daemon when it is wanted and missing.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use memoryd_proto::{Code, Fault};

mod log;

use crate::Client;
use log::Log;

/// How long the daemon may take to become ready.
const READY: Duration = Duration::from_secs(10);

/// How long another daemon may take to become ready, when ours made way for it.
const OTHER: Duration = Duration::from_secs(2);

/// How often readiness is tried.
const STEP: Duration = Duration::from_millis(10);

/// Starts the daemon, unless one answers, and waits until it is ready.
pub fn unless_running(client: &Client) -> Result<(), Fault> {
    match client.greet() {
        Err(fault) if fault.code == Code::Unavailable => start(client),
        other => other,
    }
}

fn start(client: &Client) -> Result<(), Fault> {
    let program = program();
    let log = Log::open().ok();
    let errors = log.as_ref().and_then(|log| log.file.try_clone().ok());
    let mut child = Command::new(&program)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors.map_or_else(Stdio::null, Stdio::from))
        .process_group(0)
        .spawn()
        .map_err(|error| cannot_start(&program, &error))?;
    let (ended, exit) = mpsc::sync_channel(1);
    // Waiting for the child also keeps it from becoming a zombie of a long-lived agent.
    thread::spawn(move || ended.send(child.wait()));
    wait(client, &exit, log)
}

fn wait(client: &Client, exit: &Receiver<io::Result<ExitStatus>>, log: Option<Log>) -> Result<(), Fault> {
    let mut until = Instant::now() + READY;
    let mut status = None;
    loop {
        let fault = match client.greet() {
            Err(fault) if matches!(fault.code, Code::Unavailable | Code::Deadline) => fault,
            other => return other,
        };
        if Instant::now() >= until {
            return Err(match status {
                Some(status) => failed(status, log),
                None => slow(&fault),
            });
        }
        match exit.recv_timeout(STEP) {
            // It also exits when another one is starting at the same time.
            Ok(Ok(ended)) => {
                status = Some(ended);
                until = until.min(Instant::now() + OTHER);
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => thread::sleep(STEP),
        }
    }
}

/// The daemon installed beside this program, else the one in `PATH`.
pub fn program() -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join("memoryd")));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from("memoryd"))
}

fn cannot_start(program: &Path, error: &io::Error) -> Fault {
    Fault::unavailable(
        format!("The daemon cannot be started as `{}`: {error}", program.display()),
        "Install memoryd beside memoryctl, or in a directory of PATH.",
    )
}

fn failed(status: ExitStatus, log: Option<Log>) -> Fault {
    let advice = match log.and_then(Log::last_words) {
        Some(words) => words,
        None => "It said nothing. Run `memoryd` by hand to see why.".to_owned(),
    };
    Fault::unavailable(format!("The daemon ended before it was ready ({status})"), advice)
}

fn slow(fault: &Fault) -> Fault {
    Fault::new(
        Code::Deadline,
        format!(
            "The daemon was started, but is not ready after {} seconds: {}",
            READY.as_secs(),
            fault.message
        ),
        "It may still become ready; ask again with `memoryctl status`.",
    )
}
