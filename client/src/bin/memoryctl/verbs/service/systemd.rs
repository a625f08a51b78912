//! systemd, by the manager of this user.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use memoryd_client::proto::Fault;

use super::place::Place;
use super::steps::{Step, is_written, output, run};
use super::{ManagedBy, State};

const SERVICE: &str = include_str!("../../../../../../systemd/memoryd.service");
const SOCKET: &str = include_str!("../../../../../../systemd/memoryd.socket");

/// Both units, the one that must stop first in front.
const UNITS: &str = "memoryd.socket memoryd.service";

/// Why it cannot be used here, if so.
pub fn absent() -> Option<String> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).unwrap_or_default();
    if !Path::new("/run/systemd/system").is_dir() {
        Some("systemd does not run here, as in a container".to_owned())
    } else if runtime.join("systemd/private").exists() || runtime.join("bus").exists() {
        None
    } else {
        Some("systemd runs here, but no manager of this user, as it is without a login".to_owned())
    }
}

/// The units of a place.
fn units(place: &Place) -> [(PathBuf, String); 2] {
    let folder = place.config.join("systemd/user");
    let mut environment = String::new();
    for (name, value) in &place.environment {
        environment += "Environment=";
        environment += &quoted(&format!("{name}={value}"));
        environment.push('\n');
    }
    let program = quoted(&place.program.to_string_lossy()).replace('$', "$$");
    let service = SERVICE.replace("@ENVIRONMENT@\n", &environment).replace("@MEMORYD@", &program);
    let socket = SOCKET.replace("@SOCKET@", &place.socket.to_string_lossy().replace('%', "%%"));
    [(folder.join("memoryd.service"), service), (folder.join("memoryd.socket"), socket)]
}

/// A word as units have it.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"))
}

/// The file that tells what was installed.
pub fn file(place: &Place) -> PathBuf {
    units(place)[0].0.clone()
}

/// What installs it. What is there already is not done again, and a daemon that runs as it should goes on.
pub fn install(place: &Place, running: bool) -> Vec<Step> {
    let units = units(place);
    let new: Vec<_> = units.into_iter().filter(|(path, text)| !is_written(path, text)).collect();
    let stop = running && !new.is_empty();
    let mut steps: Vec<Step> = new.into_iter().map(|(path, text)| Step::Write { path, text }).collect();
    steps.push(run("systemctl --user daemon-reload"));
    if stop {
        steps.push(run(&format!("systemctl --user stop {UNITS}")));
    }
    steps.push(run(&format!("systemctl --user enable {UNITS}")));
    steps.push(run(&format!("systemctl --user start {UNITS}")));
    steps
}

/// What removes it.
pub fn uninstall(place: &Place) -> Vec<Step> {
    let mut steps = vec![run(&format!("systemctl --user disable --now {UNITS}"))];
    steps.extend(units(place).map(|(path, _)| Step::Remove(path)));
    steps.push(run("systemctl --user daemon-reload"));
    steps
}

pub fn start() -> Vec<Step> {
    vec![run(&format!("systemctl --user start {UNITS}"))]
}

pub fn stop() -> Vec<Step> {
    vec![run(&format!("systemctl --user stop {UNITS}"))]
}

/// The socket stays open meanwhile: who asks waits, and is answered by the new daemon.
pub fn restart() -> Vec<Step> {
    vec![run("systemctl --user restart memoryd.service")]
}

/// What the manager says of it.
pub fn state(place: &Place) -> Result<State, Fault> {
    let question = "systemctl --user show memoryd.service --property=ActiveState,SubState,MainPID,NRestarts,\
                    UnitFileState,StatusText,Result";
    let words: Vec<String> = question.split(' ').map(str::to_owned).collect();
    let said = output(&words)?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let said: BTreeMap<&str, &str> = said.lines().filter_map(|line| line.split_once('=')).collect();
    let of = |name: &str| said.get(name).copied().unwrap_or_default().to_owned();
    let active = of("ActiveState");
    Ok(State {
        manager: ManagedBy::Systemd,
        installed: file(place).exists(),
        file: file(place),
        at_login: of("UnitFileState") == "enabled",
        running: ["active", "activating", "reloading"].contains(&active.as_str()),
        pid: of("MainPID").parse().ok().filter(|pid| *pid != 0),
        restarts: of("NRestarts").parse().ok(),
        said: match of("Result").as_str() {
            "success" | "" => format!("{active} ({})", of("SubState")),
            result => format!("{active} ({}), {result}", of("SubState")),
        },
    })
}

/// Whether the manager listens at the socket.
pub fn holds_socket() -> bool {
    let words = "systemctl --user --quiet is-active memoryd.socket".split(' ').map(str::to_owned);
    absent().is_none() && output(&words.collect::<Vec<_>>()).is_ok_and(|output| output.status.success())
}

/// What shows its log; `None` when the journal has nothing of it.
pub fn logs(count: u32, follow: bool) -> Option<Vec<String>> {
    let line = "journalctl --user --unit=memoryd.service --no-pager --quiet --lines=";
    let words = |count: u32| format!("{line}{count}").split(' ').map(str::to_owned).collect::<Vec<_>>();
    let found = output(&words(1)).is_ok_and(|output| output.status.success() && !output.stdout.is_empty());
    let follow = follow.then(|| "--follow".to_owned());
    found.then(|| words(count).into_iter().chain(follow).collect())
}

/// What keeps it running without a login, unless that is so already.
pub fn lingering() -> Option<String> {
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).ok()?;
    (!Path::new("/var/lib/systemd/linger").join(&user).exists()).then(|| {
        format!(
            "It runs while you are logged in. To have it run from the start of the machine: loginctl enable-linger {user}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place {
            home: "/home/ada".into(),
            program: "/opt/50% \"off\"/$x/memoryd".into(),
            socket: "/run/user/1000/memoryd/memoryd.sock".into(),
            config: "/no/such/folder".into(),
            environment: vec![("MEMORYD_DATA_DIR".to_owned(), "/data/a b".to_owned())],
        }
    }

    #[test]
    fn paths_arrive_as_they_are() {
        let [(_, service), (_, socket)] = units(&place());
        assert!(service.contains("\nExecStart=\"/opt/50%% \\\"off\\\"/$$x/memoryd\"\n"), "{service}");
        assert!(service.contains("\nEnvironment=\"MEMORYD_DATA_DIR=/data/a b\"\n"), "{service}");
        assert!(socket.contains("\nListenStream=/run/user/1000/memoryd/memoryd.sock\n"), "{socket}");
        assert!(!service.contains('@') || service.contains("@system-service"));
        assert!(!service.contains("@MEMORYD@") && !service.contains("@ENVIRONMENT@"));
    }

    #[test]
    fn a_daemon_is_stopped_only_for_new_units() {
        let stops = |steps: Vec<Step>| steps.contains(&stop()[0]);
        assert!(stops(install(&place(), true)));
        assert!(!stops(install(&place(), false)));
        let folder = tempfile::tempdir().unwrap();
        let place = Place { config: folder.path().to_owned(), ..place() };
        for step in install(&place, false).iter().filter(|step| matches!(step, Step::Write { .. })) {
            step.take().unwrap();
        }
        let again = install(&place, true);
        assert!(again.iter().all(|step| matches!(step, Step::Run(_))), "{again:?}");
        assert!(!stops(again));
    }
}
