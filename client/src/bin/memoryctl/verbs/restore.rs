//! `memoryctl restore`: a copy in the place of the database, put there by the daemon's own program.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args;
use memoryd_client::Client;
use memoryd_client::proto::{BackupList, Backups, Code, Fault, Status, StatusReport};
use serde::Serialize;

use crate::exit::Outcome;
use crate::input;
use crate::output::Output;
use crate::render::{Page, count};

use super::{backup, stop};

#[derive(Args, Debug)]
pub struct Arguments {
    /// The copy: a name that `memoryctl backup list` shows, or the path of a database
    #[arg(value_name = "NAME|PATH")]
    copy: PathBuf,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

#[derive(Serialize)]
struct Restored {
    /// The daemon that was stopped for it; absent when none ran.
    stopped: Option<u32>,
    /// What was done, line by line.
    told: Vec<String>,
    /// The daemon that runs now; absent when none ran before.
    started: Option<u32>,
}

pub fn run(arguments: &Arguments, timeout: Duration, out: &mut Output) -> Outcome {
    let client = Client::here()?.with_deadline(timeout);
    let status = match client.call(Status {}) {
        Ok(status) => Some(status),
        // A daemon of another version cannot be asked, but stopped.
        Err(fault) if matches!(fault.code, Code::Unavailable | Code::Version) => None,
        Err(fault) => return Err(fault.into()),
    };
    let held = match &status {
        Some(_) => held(&arguments.copy, &client.call(Backups {})?)?,
        None => None,
    };
    if !arguments.yes {
        let question = question(&arguments.copy, held.as_deref(), status.as_ref());
        input::confirmed(&question, "A restore replaces the memory")?;
    }
    let stopped = stop::stop(&client)?;
    let restored = restore(&arguments.copy, status.as_ref());
    // Whatever came of it, a daemon that ran runs again.
    let started = stopped.map(|_| start(&client, status.as_ref())).transpose();
    out.reply(&Restored { stopped, told: restored?, started: started? }, render)
}

/// What the copy of that name holds, where it is listed. A daemon is not stopped for what is not there.
fn held(copy: &Path, list: &BackupList) -> Result<Option<String>, Fault> {
    match list.backups.iter().find(|listed| Path::new(&listed.name) == copy) {
        Some(listed) => Ok(backup::held(listed)),
        None if copy.exists() => Ok(None),
        None => Err(Fault::not_found(
            format!("There is no copy {} in {}, and no such file", copy.display(), list.folder),
            "`memoryctl backup list` names the copies.",
        )),
    }
}

fn question(copy: &Path, held: Option<&str>, status: Option<&StatusReport>) -> String {
    let held = held.map_or_else(String::new, |held| format!(", which holds {held}"));
    let now = status.map_or_else(
        || "what is there now".to_owned(),
        |status| {
            let improvements = count(status.improvements, "improvement", "improvements");
            format!("{improvements} and {}", count(status.evaluations, "evaluation", "evaluations"))
        },
    );
    format!("Restore {}{held}? It replaces {now}, kept as a copy. [y/N] ", copy.display())
}

/// Lets the daemon's program restore, in the data directory of the daemon that ran.
fn restore(copy: &Path, status: Option<&StatusReport>) -> Result<Vec<String>, Fault> {
    let program = Client::program();
    let mut command = Command::new(&program);
    if let Some(status) = status {
        command.env("MEMORYD_DATA_DIR", &status.data_dir);
        if let Some(file) = &status.config_file {
            command.env("MEMORYD_CONFIG", file);
        }
    }
    let ended = command.args([OsStr::new("--restore"), copy.as_os_str()]).stdin(Stdio::null()).output();
    let ended = ended.map_err(|error| {
        Fault::unavailable(
            format!("The daemon's program cannot be run as `{}`: {error}", program.display()),
            "Install memoryd beside memoryctl, or in a directory of PATH.",
        )
    })?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if ended.status.success() {
        return Ok(said(&ended.stdout).lines().map(str::to_owned).collect());
    }
    let why = said(&ended.stderr);
    let (message, advice) = why.split_once(". ").unwrap_or((&why, "Nothing was changed."));
    Err(Fault::invalid(message.trim_start_matches("memoryd: "), advice))
}

/// Starts the daemon again, on the same data.
fn start(client: &Client, before: Option<&StatusReport>) -> Result<u32, Fault> {
    client.start()?;
    let now = client.call(Status {})?;
    match before {
        Some(before) if before.data_dir != now.data_dir => Err(Fault::conflict(
            format!(
                "The memory in {} was restored, but the daemon that was started uses {}",
                before.data_dir, now.data_dir
            ),
            "Stop it, and start the daemon as it was started before.",
        )),
        _ => Ok(now.pid),
    }
}

fn render(page: &mut Page, done: &Restored) {
    if let Some(pid) = done.stopped {
        page.line(format_args!("memoryd stopped, process {pid}"));
    }
    done.told.iter().for_each(|line| page.line(line));
    if let Some(pid) = done.started {
        page.line(format_args!("memoryd started, process {pid}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::testing::{sample, shown};

    #[test]
    fn what_is_replaced_by_what_is_asked_before() {
        let copy = Path::new("memory-2026-01-26T120000Z.db");
        assert_eq!(
            question(copy, Some("3 improvements and 1 evaluation"), None),
            "Restore memory-2026-01-26T120000Z.db, which holds 3 improvements and 1 evaluation? It replaces what is \
             there now, kept as a copy. [y/N] "
        );
    }

    #[test]
    fn a_copy_is_looked_for_before_anything_is_stopped() {
        let list = BackupList { folder: "/data/backups".to_owned(), backups: vec![sample::backup()] };
        let found = held(Path::new(&sample::backup().name), &list).unwrap();
        assert_eq!(found.unwrap(), "1,204 improvements and 1 evaluation");
        assert_eq!(held(Path::new("."), &list).unwrap(), None);
        assert_eq!(held(Path::new("/no/such/copy"), &list).unwrap_err().code, Code::NotFound);
    }

    #[test]
    fn what_was_done_is_told_in_order() {
        let done = Restored {
            stopped: Some(17),
            told: vec!["Restored it.".to_owned(), "To go back: memoryctl restore that".to_owned()],
            started: Some(18),
        };
        assert_eq!(
            shown(|page| render(page, &done)),
            "\
memoryd stopped, process 17
Restored it.
To go back: memoryctl restore that
memoryd started, process 18
"
        );
    }
}
