//! `memoryctl stop`

use std::thread;
use std::time::{Duration, Instant};

use memoryd_client::Client;
use memoryd_client::proto::{Code, Fault, Shutdown};
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;

mod process;

/// How long the daemon may take to finish what it does.
const GONE: Duration = Duration::from_secs(10);

/// How often it is looked for.
const STEP: Duration = Duration::from_millis(10);

#[derive(Serialize)]
struct Stopped {
    /// Absent when no daemon ran.
    pid: Option<u32>,
}

pub fn run(timeout: Duration, out: &mut Output) -> Outcome {
    let pid = stop(&Client::here()?.with_deadline(timeout))?;
    out.reply(&Stopped { pid }, |page, stopped| match stopped.pid {
        Some(pid) => page.line(format_args!("memoryd stopped, process {pid}")),
        None => page.line("memoryd does not run"),
    })
}

/// Stops the daemon, waits until it is gone, and returns its process id; `None` when no daemon ran.
pub fn stop(client: &Client) -> Result<Option<u32>, Fault> {
    let pid = match client.call(Shutdown {}) {
        Ok(reply) => Some(reply.pid),
        Err(fault) if fault.code == Code::Unavailable => None,
        // A daemon of another version cannot be asked, but told.
        Err(fault) if fault.code == Code::Version => Some(process::terminate(client.path()).ok_or(fault)?),
        Err(fault) => return Err(fault),
    };
    if let Some(pid) = pid {
        wait(pid)?;
    }
    Ok(pid)
}

/// Waits for the process, and does not ask the socket: a service manager that holds it would start the next daemon.
fn wait(pid: u32) -> Result<(), Fault> {
    let until = Instant::now() + GONE;
    while process::runs(pid) {
        if Instant::now() >= until {
            return Err(Fault::new(
                Code::Deadline,
                format!("The daemon, process {pid}, still runs after {} seconds", GONE.as_secs()),
                "It may be finishing a job. Look again with `memoryctl status`.",
            ));
        }
        thread::sleep(STEP);
    }
    Ok(())
}
