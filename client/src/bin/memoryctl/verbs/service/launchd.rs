//! launchd, as an agent of this user.

use std::path::{Path, PathBuf};

use memoryd_client::proto::Fault;

use super::place::Place;
use super::steps::{Step, is_written, output, run};
use super::{ManagedBy, State};

const PLIST: &str = include_str!("../../../../../../launchd/memoryd.plist");

const LABEL: &str = "org.memoryd.memoryd";

/// Why it cannot be used here, if so.
pub fn absent() -> Option<String> {
    (!Path::new("/bin/launchctl").exists()).then(|| "launchd does not run here".to_owned())
}

fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

/// The name by which launchd knows it.
fn target() -> String {
    format!("{}/{LABEL}", domain())
}

/// The agent's file.
pub fn file(place: &Place) -> PathBuf {
    place.home.join("Library/LaunchAgents").join(format!("{LABEL}.plist"))
}

/// Where it logs to.
fn log(place: &Place) -> PathBuf {
    place.home.join("Library/Logs/memoryd/memoryd.log")
}

fn plist(place: &Place) -> String {
    // launchd knows no runtime directory, so the socket's path is told.
    let socket = ("MEMORYD_SOCKET".to_owned(), place.socket.to_string_lossy().into_owned());
    let environment: Vec<String> = place
        .environment
        .iter()
        .chain([&socket])
        .map(|(name, value)| {
            format!("        <key>{name}</key>\n        <string>{}</string>", escaped(value))
        })
        .collect();
    PLIST
        .replace("@MEMORYD@", &escaped(&place.program.to_string_lossy()))
        .replace("@HOME@", &escaped(&place.home.to_string_lossy()))
        .replace("@ENVIRONMENT@", &environment.join("\n"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// What installs it. What is there already is not done again.
pub fn install(place: &Place, loaded: bool) -> Vec<Step> {
    let (path, text) = (file(place), plist(place));
    let mut steps = Vec::new();
    let written = is_written(&path, &text);
    if !written {
        steps.extend(log(place).parent().map(|folder| Step::Folder(folder.to_owned())));
        steps.push(Step::Write { path, text });
    }
    if loaded && !written {
        steps.push(run(&format!("launchctl bootout {}", target())));
    }
    steps.push(run(&format!("launchctl enable {}", target())));
    if !loaded || !written {
        steps.push(bootstrap(place));
    }
    steps.extend(start());
    steps
}

fn bootstrap(place: &Place) -> Step {
    let mut words: Vec<String> = ["launchctl", "bootstrap"].map(str::to_owned).into();
    words.extend([domain(), file(place).to_string_lossy().into_owned()]);
    Step::Run(words)
}

/// What removes it.
pub fn uninstall(place: &Place, loaded: bool) -> Vec<Step> {
    let unload = loaded.then(|| run(&format!("launchctl bootout {}", target())));
    unload.into_iter().chain([Step::Remove(file(place))]).collect()
}

pub fn start() -> Vec<Step> {
    vec![run(&format!("launchctl kickstart {}", target()))]
}

/// It ends well when it is told to, so it is not started again.
pub fn stop() -> Vec<Step> {
    vec![run(&format!("launchctl kill SIGTERM {}", target()))]
}

pub fn restart() -> Vec<Step> {
    vec![run(&format!("launchctl kickstart -k {}", target()))]
}

/// What the manager says of it.
pub fn state(place: &Place) -> Result<State, Fault> {
    let said = output(&["launchctl", "print", &target()].map(str::to_owned))?;
    Ok(read(place, said.status.success(), &String::from_utf8_lossy(&said.stdout)))
}

fn read(place: &Place, loaded: bool, said: &str) -> State {
    let of = |name: &str| {
        let mut pairs = said.lines().filter_map(|line| line.trim().split_once(" = "));
        pairs.find(|(found, _)| *found == name).map(|(_, value)| value.to_owned())
    };
    let state = of("state").unwrap_or_else(|| "not loaded".to_owned());
    State {
        manager: ManagedBy::Launchd,
        installed: file(place).exists(),
        file: file(place),
        at_login: loaded,
        running: state == "running",
        pid: of("pid").and_then(|pid| pid.parse().ok()),
        restarts: of("runs").and_then(|runs| runs.parse::<u64>().ok()).map(|runs| runs.saturating_sub(1)),
        said: state,
    }
}

/// What shows its log; `None` when there is none.
pub fn logs(place: &Place, count: u32, follow: bool) -> Option<Vec<String>> {
    let path = log(place);
    let follow = follow.then(|| "-f".to_owned());
    path.exists().then(|| {
        let head = ["tail".to_owned(), "-n".to_owned(), count.to_string()];
        head.into_iter().chain(follow).chain([path.to_string_lossy().into_owned()]).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_launchd_prints_is_understood() {
        let place = Place {
            home: "/Users/ada".into(),
            program: "/opt/a & b/memoryd".into(),
            socket: "/tmp/memoryd-501/memoryd.sock".into(),
            config: "/Users/ada/.config".into(),
            environment: Vec::new(),
        };
        let said = "gui/501/org.memoryd.memoryd = {\n\tactive count = 1\n\tstate = running\n\n\tpid = 4711\n\truns = 3\n}";
        let state = read(&place, true, said);
        assert_eq!((state.running, state.pid, state.restarts), (true, Some(4711), Some(2)));
        let state = read(&place, false, "");
        assert_eq!((state.running, state.at_login, state.said.as_str()), (false, false, "not loaded"));
        assert!(plist(&place).contains("<string>/opt/a &amp; b/memoryd</string>"));
    }
}
