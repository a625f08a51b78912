//! The `memoryd` executable, as a process of its own.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use memoryd_client::Client;
use rustix::process::{Pid, Signal, kill_process};

use crate::Home;

/// An executable that this build made: two folders up from the test's own.
#[must_use]
pub fn executable(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.ancestors().nth(2).unwrap().join(name);
    assert!(
        path.is_file(),
        "{} does not exist. Build it first: cargo build --workspace (`cargo test --workspace` does)",
        path.display()
    );
    path
}

/// An executable of this build in a home, with nothing else in its environment than where that is.
fn command(home: &Home, name: &str) -> Command {
    let mut command = Command::new(executable(name));
    command
        .env_clear()
        .env("HOME", home.path())
        .env("MEMORYD_SOCKET", home.socket())
        .env("MEMORYD_DATA_DIR", home.data_dir())
        .stdin(Stdio::null());
    if home.config_file().exists() {
        command.env("MEMORYD_CONFIG", home.config_file());
    }
    command
}

/// Runs an executable of this build in a home to its end. Returns whether it went well, and what it said.
#[must_use]
pub fn run(home: &Home, name: &str, arguments: &[&str]) -> (bool, String) {
    let output = command(home, name).args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

/// A process that was started, and is ready, about to be, or about to fail.
pub struct Spawned {
    child: Child,
    said: BufReader<std::process::ChildStderr>,
    client: Client,
}

/// How a process ended that never became ready.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// What it wrote to standard error.
    pub said: String,
}

/// A daemon that is ready. It is killed when dropped.
pub struct Process {
    child: Child,
    client: Client,
}

impl Spawned {
    /// Starts `memoryd` in a home, with nothing else in its environment than where that is, and `env`.
    #[must_use]
    pub fn new(home: &Home, env: &[(&str, &OsStr)]) -> Self {
        let mut child = command(home, "memoryd")
            .envs(env.iter().copied())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        Self { child, said, client: home.client() }
    }

    /// Waits until the daemon says that it is ready, or ends.
    ///
    /// # Errors
    /// How it ended.
    pub fn outcome(mut self) -> Result<Process, Ended> {
        let mut said = String::new();
        loop {
            let before = said.len();
            if self.said.read_line(&mut said).unwrap() == 0 {
                return Err(Ended { status: self.child.wait().unwrap(), said });
            }
            if said[before..].contains(": ready") {
                break;
            }
        }
        // Whatever it says later is taken off its hands, so that it never waits for a reader.
        std::thread::spawn(move || std::io::copy(&mut self.said, &mut std::io::sink()));
        Ok(Process { child: self.child, client: self.client })
    }
}

impl Process {
    /// Starts `memoryd` in a home and waits until it is ready.
    #[must_use]
    pub fn start(home: &Home) -> Self {
        Spawned::new(home, &[]).outcome().unwrap_or_else(|ended| panic!("{}: {}", ended.status, ended.said))
    }

    /// A client at its socket.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Its number.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends it at once, without a chance to clean up.
    pub fn kill9(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end by SIGTERM, and waits until it has.
    #[must_use]
    pub fn terminate(self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.ended()
    }

    /// Waits until it has ended by itself.
    #[must_use]
    pub fn ended(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
