//! A real user manager: systemd's `--user` instance in a home of its own, on a bus of its own. It needs no machine that
//! was booted by systemd, only its programs and a folder that says so.
//!
//! Where it cannot run, tests say so and pass by, unless `MEMORYD_DEMANDS` has `systemd`.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::process::executable;
use crate::{Home, demanded};

/// How long the manager may take to start before something is wrong with it.
const PATIENCE: Duration = Duration::from_mins(1);

/// A user manager whose home is a test's. It ends, with all that it runs, when it is dropped.
pub struct UserManager<'a> {
    home: &'a Home,
    child: Child,
    /// Two of them would share their control groups, and end each other's daemons.
    _alone: File,
}

impl<'a> UserManager<'a> {
    /// Starts one; none where none can run.
    pub fn start(home: &'a Home) -> Option<Self> {
        match Self::try_start(home) {
            Ok(manager) => Some(manager),
            Err(error) => {
                demanded("systemd", &format!("no user manager of systemd can be started here: {error}"));
                None
            }
        }
    }

    fn try_start(home: &'a Home) -> io::Result<Self> {
        // What sd_booted(3) looks for.
        fs::create_dir_all("/run/systemd/system")?;
        let alone = File::create(std::env::temp_dir().join("memoryd-user-manager.lock"))?;
        alone.lock()?;
        DirBuilder::new().recursive(true).mode(0o700).create(runtime(home))?;
        let programs = ["/usr/lib/systemd/systemd", "/lib/systemd/systemd"].map(Path::new);
        let systemd = programs.into_iter().find(|path| path.exists()).ok_or(io::ErrorKind::NotFound)?;
        let told = home.path().join("notify");
        let notify = UnixDatagram::bind(&told)?;
        notify.set_read_timeout(Some(PATIENCE))?;
        let log = File::create(home.path().join("manager.log"))?;
        let child = in_home(home, Path::new("dbus-run-session"))
            // The bus would say that it is ready, too.
            .args(["--", "env", &format!("NOTIFY_SOCKET={}", told.display())])
            .arg(systemd)
            .arg("--user")
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let manager = Self { home, child, _alone: alone };
        let mut message = [0; 4096];
        loop {
            let length = notify.recv(&mut message)?;
            if String::from_utf8_lossy(&message[..length]).lines().any(|line| line == "READY=1") {
                return Ok(manager);
            }
        }
    }

    /// The daemon's socket.
    pub fn socket(&self) -> PathBuf {
        runtime(self.home).join("memoryd/memoryd.sock")
    }

    /// Runs `memoryctl` as the manager's user has it. Returns whether it went well, and what it said.
    pub fn memoryctl(&self, arguments: &[&str]) -> (bool, String) {
        said(in_home(self.home, &executable("memoryctl")).args(arguments))
    }

    /// Runs `systemctl --user`. Returns what it said.
    ///
    /// # Panics
    /// When it fails.
    pub fn systemctl(&self, arguments: &[&str]) -> String {
        let (done, said) = said(in_home(self.home, Path::new("systemctl")).arg("--user").args(arguments));
        assert!(done, "systemctl {arguments:?}: {said}{}", self.log());
        said
    }

    /// A property of the daemon's unit.
    pub fn property(&self, name: &str) -> String {
        let property = format!("--property={name}");
        self.systemctl(&["show", "--value", &property, "memoryd.service"]).trim().to_owned()
    }

    /// The daemon's process.
    pub fn pid(&self) -> u32 {
        self.property("MainPID").parse().unwrap()
    }

    /// Waits until a daemon greets at the socket, however long that takes.
    pub fn greeted(&self) {
        let mut stream = UnixStream::connect(self.socket()).unwrap();
        stream.read_exact(&mut [0]).unwrap();
    }

    /// What the manager said of itself.
    pub fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("manager.log")).unwrap_or_default()
    }
}

impl Drop for UserManager<'_> {
    fn drop(&mut self) {
        let ended = in_home(self.home, Path::new("systemctl")).args(["--user", "exit"]).output();
        if !ended.is_ok_and(|output| output.status.success()) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// The runtime directory of a home's manager.
fn runtime(home: &Home) -> PathBuf {
    home.path().join("rt")
}

/// A program in the environment of a home's manager.
fn in_home(home: &Home, program: &Path) -> Command {
    let mut command = Command::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command
        .env_clear()
        .env("PATH", path)
        .env("HOME", home.path())
        .env("USER", OsStr::new("tester"))
        .env("XDG_RUNTIME_DIR", runtime(home))
        .stdin(Stdio::null());
    command
}

fn said(command: &mut Command) -> (bool, String) {
    let output = command.output().unwrap();
    (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}
