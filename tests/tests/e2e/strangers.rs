//! Only the daemon's own user is served (spec C1).

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

use memoryd_proto::{Ping, Pong, handshake};
use memoryd_tests::{Home, Process};

/// Set in the child of the test, to the socket that it is to try.
const SOCKET: &str = "MEMORYD_TEST_STRANGER";

/// The user that the child becomes: nobody.
const STRANGER: u32 = 65534;

#[test]
fn c1_another_user_gets_no_greeting_even_where_the_files_would_let_it_in() {
    if let Some(socket) = std::env::var_os(SOCKET) {
        return print_what_is_heard(&socket);
    }
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: only root can become another user");
        return;
    }
    let home = Home::new();
    let daemon = Process::start(&home);
    // Only the check of the peer is left to protect it.
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(home.path(), 0o755);
    open(home.socket().parent().unwrap(), 0o755);
    open(&home.socket(), 0o666);
    let heard = |uid: u32| {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture"])
            .arg("strangers::c1_another_user_gets_no_greeting_even_where_the_files_would_let_it_in")
            .env(SOCKET, home.socket())
            .current_dir("/")
            .uid(uid)
            .gid(uid)
            .output()
            .unwrap();
        let said = String::from_utf8(child.stdout).unwrap();
        assert!(child.status.success(), "{said}{}", String::from_utf8_lossy(&child.stderr));
        let heard = said.split("heard ").nth(1).and_then(|rest| rest.split(' ').next());
        heard.unwrap_or_else(|| panic!("{said}")).parse::<usize>().unwrap()
    };
    assert_eq!(heard(0), handshake::LENGTH, "its own user is greeted");
    assert_eq!(heard(STRANGER), 0);
    assert_eq!(daemon.client().call(Ping {}), Ok(Pong {}));
}

/// What the child does: it connects, and prints how many bytes it hears.
#[allow(clippy::print_stdout, reason = "the parent reads it there")]
fn print_what_is_heard(socket: &std::ffi::OsStr) {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut heard = Vec::new();
    let _ = stream.read_to_end(&mut heard);
    println!("heard {} bytes", heard.len());
}
