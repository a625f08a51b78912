//! The daemon as a process of the system.

use std::path::Path;

use rustix::process::{Pid, test_kill_process};

/// Whether a process runs. One that ended and only waits for its parent to take notice does not.
pub fn runs(pid: u32) -> bool {
    let Some(process) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    let ended = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('Z'))
    };
    test_kill_process(process).is_ok() && !ended()
}

/// Tells the daemon that listens at `socket` to end. `None` where it cannot be told for sure that the listener is one:
/// a service manager may hold the socket for it, and a stranger is never signalled.
#[cfg(target_os = "linux")]
pub fn terminate(socket: &Path) -> Option<u32> {
    use std::os::unix::net::UnixStream;

    use rustix::process::{Signal, geteuid, kill_process};

    let stream = UnixStream::connect(socket).ok()?;
    let peer = rustix::net::sockopt::socket_peercred(&stream).ok()?;
    let pid = peer.pid.as_raw_pid();
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    if name.trim_end() != "memoryd" || peer.uid != geteuid() {
        return None;
    }
    kill_process(peer.pid, Signal::TERM).ok()?;
    u32::try_from(pid).ok()
}

/// Nothing is known of the listener here.
#[cfg(not(target_os = "linux"))]
pub fn terminate(_: &Path) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_runs_until_it_ended() {
        assert!(runs(std::process::id()));
        let mut child = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        assert!(runs(child.id()));
        drop(child.stdin.take());
        while runs(child.id()) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }

    #[test]
    fn a_stranger_is_not_signalled() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("memoryd.sock");
        let _listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(terminate(&socket), None);
    }
}
