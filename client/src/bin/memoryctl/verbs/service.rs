//! `memoryctl service`

use std::path::PathBuf;
use std::process::Command;

use clap::{Args, Subcommand, ValueEnum};
use memoryd_client::Client;
use memoryd_client::proto::Fault;
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::Page;

mod launchd;
mod place;
mod steps;
mod systemd;

use place::Place;
use steps::Step;

/// What to do with the service.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Show the files and commands, and do nothing
    #[arg(long, global = true)]
    dry_run: bool,
    /// The service manager [default: that of this system]
    #[arg(long, global = true, value_name = "NAME")]
    manager: Option<ManagedBy>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    /// Have the daemon run whenever you are logged in, and start it
    Install,
    /// Stop the daemon and remove it from the service manager; memory stays
    Uninstall,
    /// Start the daemon
    Start,
    /// Stop the daemon; it is not started by requests
    Stop,
    /// Put a new process in its place, such as after an upgrade; requests wait meanwhile
    Restart,
    /// Show how the service is
    Status,
    /// Show what the daemon logged
    Logs {
        /// How many lines
        #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 50)]
        lines: u32,
        /// Show new lines as they come
        #[arg(long, short)]
        follow: bool,
    },
}

/// A service manager.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ManagedBy {
    /// Of Linux
    Systemd,
    /// Of macOS
    Launchd,
}

/// How the service is.
#[derive(Debug, Serialize)]
pub struct State {
    manager: ManagedBy,
    /// Whether its file is there.
    installed: bool,
    /// What the manager reads.
    file: PathBuf,
    /// Whether it is started at login.
    at_login: bool,
    running: bool,
    pid: Option<u32>,
    /// How often the manager started it again.
    restarts: Option<u64>,
    /// The state in the manager's words.
    said: String,
}

#[derive(Serialize)]
struct Done {
    manager: ManagedBy,
    dry_run: bool,
    steps: Vec<Step>,
    /// Where memory is.
    data_dir: PathBuf,
    /// What else is worth knowing.
    note: String,
}

pub fn run(arguments: &Arguments, out: &mut Output) -> Outcome {
    let manager = arguments.manager.unwrap_or(ManagedBy::HERE);
    let client = Client::here()?;
    let place = Place::here(&client)?;
    let absent = manager.absent();
    match (arguments.verb, absent) {
        (Verb::Logs { lines, follow }, absent) => {
            let words = if absent.is_some() { None } else { manager.logs(&place, lines, follow) };
            logs(words, &place, arguments.dry_run, out)
        }
        (_, Some(why)) if !arguments.dry_run => Err(Fault::unavailable(
            format!("No service manager can take care of memoryd: {why}"),
            "`memoryctl start` runs it without one, until the machine stops. --dry-run shows what would be installed.",
        )
        .into()),
        (Verb::Status, Some(_)) => out.reply(&manager.nothing(&place), render_state),
        (Verb::Status, None) => out.reply(&manager.state(&place)?, render_state),
        (verb, absent) => {
            let state = if absent.is_some() { manager.nothing(&place) } else { manager.state(&place)? };
            change(verb, &state, &place, &client, arguments.dry_run, out)
        }
    }
}

/// Puts a new process in the place of the daemon that the service manager runs. Returns whether it runs one.
pub fn restart(client: &Client) -> Result<bool, Fault> {
    let manager = ManagedBy::HERE;
    if manager.absent().is_some() {
        return Ok(false);
    }
    let place = Place::here(client)?;
    let state = manager.state(&place)?;
    let runs = state.installed && state.running;
    if runs {
        manager.steps(Verb::Restart, &state, &place).iter().try_for_each(Step::take)?;
    }
    Ok(runs)
}

fn change(
    verb: Verb,
    state: &State,
    place: &Place,
    client: &Client,
    dry_run: bool,
    out: &mut Output,
) -> Outcome {
    let manager = state.manager;
    if !state.installed && !matches!(verb, Verb::Install | Verb::Uninstall) && !dry_run {
        return Err(Fault::not_found(
            format!("memoryd is not installed as a service: {} does not exist", state.file.display()),
            "Install it with `memoryctl service install`, or run it without: memoryctl start.",
        )
        .into());
    }
    let mut steps = Vec::new();
    if matches!(verb, Verb::Install | Verb::Start) && !state.running && manager.finds_another(client) {
        // One that was started by hand would keep the data directory.
        let own = std::env::current_exe()?.to_string_lossy().into_owned();
        steps.push(Step::Run(vec![own, "stop".to_owned()]));
    }
    steps.extend(manager.steps(verb, state, place));
    if !dry_run {
        steps.iter().try_for_each(Step::take)?;
    }
    let note = match verb {
        Verb::Install => manager.lingering(),
        Verb::Uninstall => {
            Some(format!("Memory stays in {}. Remove that folder to forget it.", place.data_dir().display()))
        }
        Verb::Stop => Some("`memoryctl service start` starts it; so does the next login.".to_owned()),
        Verb::Start | Verb::Restart | Verb::Status | Verb::Logs { .. } => None,
    };
    let done = Done { manager, dry_run, steps, data_dir: place.data_dir(), note: note.unwrap_or_default() };
    out.reply(&done, |page, done| render(page, verb, state, done))
}

fn render(page: &mut Page, verb: Verb, before: &State, done: &Done) {
    if done.dry_run {
        page.line("This would be done:");
        page.gap();
        done.steps.iter().for_each(|step| page.line(step));
        page.gap();
    } else {
        page.line(match verb {
            Verb::Install if before.installed => "memoryd is installed as a service, and runs",
            Verb::Install => "memoryd was installed as a service, and runs",
            Verb::Uninstall if !before.installed => "memoryd is not installed as a service",
            Verb::Uninstall => "memoryd is no longer a service, and was stopped",
            Verb::Start if before.running => "memoryd runs already",
            Verb::Start => "memoryd started",
            Verb::Stop if !before.running => "memoryd does not run",
            Verb::Stop => "memoryd stopped",
            Verb::Restart => "memoryd restarted",
            Verb::Status | Verb::Logs { .. } => "",
        });
        for step in &done.steps {
            if let Step::Write { path, .. } | Step::Remove(path) = step {
                let how = if verb == Verb::Install { "written" } else { "removed" };
                page.line(format_args!("{how}:  {}", path.display()));
            }
        }
    }
    if !done.note.is_empty() {
        page.line(&done.note);
    }
}

fn render_state(page: &mut Page, state: &State) {
    let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    page.fields([
        ("state", Some(state.said.clone())),
        ("process", state.pid.map(|pid| pid.to_string())),
        ("restarts", state.restarts.filter(|_| state.installed).map(|restarts| restarts.to_string())),
        ("installed", Some(yes(state.installed))),
        ("at login", Some(yes(state.at_login))),
        ("file", Some(state.file.display().to_string())),
    ]);
}

fn logs(words: Option<Vec<String>>, place: &Place, dry_run: bool, out: &mut Output) -> Outcome {
    let Some(words) = words else {
        let own = place.own_log();
        return Err(Fault::not_found(
            "The service manager has no log of memoryd",
            if own.exists() {
                format!("A daemon that `memoryctl start` started logs to {}.", own.display())
            } else {
                "No daemon has logged anything yet.".to_owned()
            },
        )
        .into());
    };
    if dry_run {
        return out.line(&words, words.join(" "));
    }
    out.raw().flush()?;
    let (program, arguments) =
        words.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let ended = Command::new(program).args(arguments).status()?;
    if ended.success() {
        return Ok(());
    }
    let advice = "Run it by hand to see why.";
    Err(Fault::unavailable(format!("`{}` failed ({ended})", words.join(" ")), advice).into())
}

impl ManagedBy {
    /// That of this system.
    const HERE: Self = if cfg!(target_os = "macos") { Self::Launchd } else { Self::Systemd };

    fn absent(self) -> Option<String> {
        match self {
            Self::Systemd => systemd::absent(),
            Self::Launchd => launchd::absent(),
        }
    }

    fn state(self, place: &Place) -> Result<State, Fault> {
        match self {
            Self::Systemd => systemd::state(place),
            Self::Launchd => launchd::state(place),
        }
    }

    /// The state where the manager does not run.
    fn nothing(self, place: &Place) -> State {
        let file = match self {
            Self::Systemd => systemd::file(place),
            Self::Launchd => launchd::file(place),
        };
        State {
            manager: self,
            installed: file.exists(),
            file,
            at_login: false,
            running: false,
            pid: None,
            restarts: None,
            said: "the service manager does not run here".to_owned(),
        }
    }

    /// Whether a daemon answers that this manager did not start. Where the manager holds the socket, nobody else can.
    fn finds_another(self, client: &Client) -> bool {
        let held = match self {
            Self::Systemd => systemd::holds_socket(),
            Self::Launchd => false,
        };
        !held && client.greet().is_ok()
    }

    fn steps(self, verb: Verb, state: &State, place: &Place) -> Vec<Step> {
        match (self, verb) {
            (Self::Systemd, Verb::Install) => systemd::install(place, state.running),
            (Self::Systemd, Verb::Uninstall) if state.installed => systemd::uninstall(place),
            (Self::Systemd, Verb::Start) => systemd::start(),
            (Self::Systemd, Verb::Stop) => systemd::stop(),
            (Self::Systemd, Verb::Restart) => systemd::restart(),
            (Self::Launchd, Verb::Install) => launchd::install(place, state.at_login),
            (Self::Launchd, Verb::Uninstall) if state.installed => launchd::uninstall(place, state.at_login),
            (Self::Launchd, Verb::Start) => launchd::start(),
            (Self::Launchd, Verb::Stop) => launchd::stop(),
            (Self::Launchd, Verb::Restart) => launchd::restart(),
            (_, Verb::Uninstall | Verb::Status | Verb::Logs { .. }) => Vec::new(),
        }
    }

    fn logs(self, place: &Place, count: u32, follow: bool) -> Option<Vec<String>> {
        match self {
            Self::Systemd => systemd::logs(count, follow),
            Self::Launchd => launchd::logs(place, count, follow),
        }
    }

    fn lingering(self) -> Option<String> {
        match self {
            Self::Systemd => systemd::lingering(),
            Self::Launchd => None,
        }
    }
}
