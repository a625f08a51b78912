//! `memoryctl doctor`

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use clap::Args;
use memoryd_client::Client;
use memoryd_client::proto::{Code, Examine, Examined, Fault, Status, socket};

use crate::exit::{Failure, Outcome};
use crate::output::Output;
use crate::render::{Page, bad, clean, count, good};

#[derive(Args, Debug)]
pub struct Arguments {
    /// Mend what is safe to mend: permissions, and a socket that nobody listens at
    #[arg(long)]
    fix: bool,
}

/// What is wrong, and what to do.
type Found = Vec<(String, String)>;

pub fn run(arguments: &Arguments, timeout: Duration, out: &mut Output) -> Outcome {
    let mut examined = Examined::default();
    let uid = rustix::process::geteuid().as_raw();
    match socket::path(|name| std::env::var_os(name), uid) {
        Ok(path) => examined.note("socket", at_socket(&path, arguments.fix)),
        Err(fault) => examined.note("socket", [(fault.message, fault.advice)]),
    }
    let asked = Client::here().and_then(|client| {
        let client = client.with_deadline(timeout);
        client.greet()?;
        Ok((client.call(Status {})?, client.call(Examine {})?))
    });
    match asked {
        Ok((status, more)) => {
            let ours = env!("CARGO_PKG_VERSION");
            let other = (status.version != ours).then(|| {
                (
                    format!("memoryctl is {ours}, and the daemon that runs is {}", status.version),
                    "Restart the daemon: memoryctl stop, memoryctl start".to_owned(),
                )
            });
            examined.note("daemon", other);
            add(&mut examined, more);
        }
        Err(fault) if fault.code == Code::Unavailable => {
            examined.note("daemon", [(fault.message, "Start it: memoryctl start".to_owned())]);
            match without_daemon() {
                Ok(more) => add(&mut examined, more),
                Err(fault) => examined.note("start", [(fault.message, fault.advice)]),
            }
        }
        Err(fault) => examined.note("daemon", [(fault.message, fault.advice)]),
    }
    if arguments.fix {
        examined.findings.retain(|trouble| !trouble.open.as_deref().is_some_and(close));
    }
    out.reply(&examined, render)?;
    if examined.findings.is_empty() { Ok(()) } else { Err(Failure::Found) }
}

fn add(examined: &mut Examined, more: Examined) {
    examined.checks.extend(more.checks);
    examined.findings.extend(more.findings);
}

/// What the daemon finds that cannot be reached, or cannot start.
fn without_daemon() -> Result<Examined, Fault> {
    let program = Client::program();
    let output = Command::new(&program).arg("--examine").output().map_err(|error| {
        Fault::unavailable(
            format!("{} cannot be run: {error}", program.display()),
            "Install memoryd beside memoryctl, or in a directory of PATH.",
        )
    })?;
    serde_json::from_slice(&output.stdout).map_err(|_| {
        Fault::unavailable(
            format!("{} is of another version", program.display()),
            "Install memoryd and memoryctl together.",
        )
    })
}

/// What is wrong with the socket and its folder.
fn at_socket(path: &Path, fix: bool) -> Found {
    let mut found = Vec::new();
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return found,
        Err(error) => {
            return vec![(
                format!("{} cannot be looked at: {error}", path.display()),
                "Check its folder's permissions.".to_owned(),
            )];
        }
    };
    let shown = path.display();
    if !metadata.file_type().is_socket() {
        found.push((
            format!("{shown} is no socket, and is in its place"),
            "Move it away, or set MEMORYD_SOCKET to another path.".to_owned(),
        ));
        return found;
    }
    let refused = UnixStream::connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
    if refused && !(fix && fs::remove_file(path).is_ok()) {
        found.push((
            format!("Nobody listens at the socket {shown}: a daemon was killed"),
            "The next start replaces it: memoryctl start, or memoryctl doctor --fix".to_owned(),
        ));
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    for (place, private) in [(path, 0o600), (folder, 0o700)] {
        let Ok(metadata) = place.metadata() else { continue };
        let open = metadata.permissions().mode() & 0o077 != 0;
        if open && !(fix && fs::set_permissions(place, Permissions::from_mode(private)).is_ok()) {
            found.push((
                format!("Others may reach {}", place.display()),
                format!("Close it: chmod {private:o} '{}', or memoryctl doctor --fix", place.display()),
            ));
        }
    }
    found
}

/// Closes a file to others. Whether that went well.
fn close(path: &str) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    let mode = metadata.permissions().mode() & 0o700;
    fs::set_permissions(path, Permissions::from_mode(mode)).is_ok()
}

fn render(page: &mut Page, examined: &Examined) {
    for check in &examined.checks {
        let findings: Vec<_> = examined.findings.iter().filter(|finding| finding.check == *check).collect();
        if findings.is_empty() {
            page.line(format_args!("{}  {}", good("ok"), clean(check)));
        }
        for finding in findings {
            page.prose(&format!("{}  {}: ", bad("!!"), clean(check)), &finding.problem);
            page.prose("    ", &finding.advice);
        }
    }
    page.gap();
    let found = examined.findings.len() as u64;
    if found == 0 {
        page.line("Nothing is wrong.");
    } else {
        page.line(format_args!("{} to mend", count(found, "thing", "things")));
    }
}
