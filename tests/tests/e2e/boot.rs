//! Starting beside whatever is there already, and stopping (faults 1, 3, 4, 5, 6, 19).

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};

use memoryd_proto::{Code, Ping, Pong, Remember, Shutdown, Status};
use memoryd_tests::{Ended, Home, Process, Spawned, agent, confidence, run};
use rustix::process::Signal;

fn mode(path: &std::path::Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn refused(home: &Home, env: &[(&str, &OsStr)]) -> String {
    match Spawned::new(home, env).outcome() {
        Ok(_) => panic!("it started"),
        Err(Ended { status, said }) => {
            assert_eq!(status.code(), Some(1), "{said}");
            said
        }
    }
}

fn serves(daemon: &Process) {
    assert_eq!(daemon.client().call(Ping {}), Ok(Pong {}));
}

#[test]
fn fault_1_the_socket_of_a_killed_daemon_is_replaced_and_memory_is_there() {
    let home = Home::new();
    let daemon = Process::start(&home);
    let lesson = Remember::new(agent("finder"), "error_handling", confidence(0.8), "Retry a failed download");
    daemon.client().call(lesson).unwrap();
    daemon.kill9();
    assert!(home.socket().exists());
    let fault = home.client().call(Ping {}).unwrap_err();
    assert_eq!(fault.code, Code::Unavailable);
    let daemon = Process::start(&home);
    assert_eq!(daemon.client().call(Status {}).unwrap().improvements, 1);
}

#[test]
fn c1_the_socket_is_private_and_so_is_everything_else() {
    let home = Home::new();
    let daemon = Process::start(&home);
    assert_eq!(mode(&home.socket()), 0o600);
    assert_eq!(mode(home.socket().parent().unwrap()), 0o700);
    assert_eq!(mode(&home.data_dir()), 0o700);
    for entry in fs::read_dir(home.data_dir()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
    serves(&daemon);
}

#[test]
fn fault_02_a_socket_that_was_deleted_under_a_live_daemon_is_told_with_what_to_do() {
    let home = Home::new();
    let daemon = Process::start(&home);
    let said = refused(&home, &[]);
    let told = format!("Another daemon (process {}) uses the data directory", daemon.pid());
    assert!(said.contains(&told) && said.contains("memoryctl stop"), "{said}");

    fs::remove_file(home.socket()).unwrap();
    let (done, said) = run(&home, "memoryctl", &["start"]);
    assert!(!done && said.contains(&told), "{said}");
    assert!(said.contains("is gone") && said.contains(&format!("kill {}", daemon.pid())), "{said}");
    // What it says to do helps.
    assert_eq!(daemon.terminate().code(), Some(0));
    serves(&Process::start(&home));
}

#[test]
fn fault_3_a_daemon_that_was_stopped_is_slow_and_not_dead() {
    let home = Home::new();
    let daemon = Process::start(&home);
    daemon.signal(Signal::STOP);
    let said = refused(&home, &[]);
    assert!(said.contains("uses the data directory"), "{said}");
    // Nor may one with other data take its socket.
    let other = home.path().join("other");
    let said = refused(&home, &[("MEMORYD_DATA_DIR", other.as_os_str())]);
    assert!(said.contains("already serves") && said.contains("memoryctl stop"), "{said}");
    assert!(fs::symlink_metadata(home.socket()).unwrap().file_type().is_socket());
    daemon.signal(Signal::CONT);
    serves(&daemon);
}

#[test]
fn fault_4_what_is_no_socket_is_left_alone() {
    let home = Home::new();
    let folder = home.folder("run");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let victim = home.path().join("victim");
    fs::write(&victim, "precious").unwrap();

    fs::write(home.socket(), "a file").unwrap();
    let said = refused(&home, &[]);
    assert!(said.contains("is no socket") && said.contains("MEMORYD_SOCKET"), "{said}");
    assert_eq!(fs::read_to_string(home.socket()).unwrap(), "a file");
    fs::remove_file(home.socket()).unwrap();

    fs::create_dir(home.socket()).unwrap();
    fs::write(home.socket().join("inside"), "kept").unwrap();
    refused(&home, &[]);
    assert_eq!(fs::read_to_string(home.socket().join("inside")).unwrap(), "kept");
    fs::remove_dir_all(home.socket()).unwrap();

    std::os::unix::fs::symlink(&victim, home.socket()).unwrap();
    refused(&home, &[]);
    assert_eq!(fs::read_link(home.socket()).unwrap(), victim);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    fs::remove_file(home.socket()).unwrap();
    serves(&Process::start(&home));
}

#[test]
fn c1_a_folder_that_others_may_write_to_is_refused() {
    let home = Home::new();
    let folder = home.folder("run");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let said = refused(&home, &[]);
    assert!(said.contains("nobody else may write"), "{said}");
    assert_eq!(mode(&folder), 0o777);
}

#[test]
fn fault_4_of_twenty_parallel_starts_one_wins() {
    let home = Home::new();
    // A dead daemon's socket lies in the way.
    Process::start(&home).kill9();
    let spawned: Vec<Spawned> = (0..20).map(|_| Spawned::new(&home, &[])).collect();
    let (won, lost): (Vec<_>, Vec<_>) = spawned.into_iter().map(Spawned::outcome).partition(Result::is_ok);
    assert_eq!(won.len(), 1);
    for ended in lost {
        let Err(ended) = ended else { unreachable!() };
        assert!(ended.said.contains("uses the data directory"), "{}", ended.said);
    }
    let winner = won.into_iter().next().unwrap().unwrap_or_else(|ended| panic!("{ended:?}"));
    assert_eq!(winner.client().call(Status {}).unwrap().pid, winner.pid());
}

#[test]
fn fault_19_a_second_daemon_on_the_same_data_is_refused() {
    let home = Home::new();
    let daemon = Process::start(&home);
    let socket = home.path().join("elsewhere/memoryd.sock");
    let said = refused(&home, &[("MEMORYD_SOCKET", socket.as_os_str())]);
    assert!(said.contains("uses the data directory"), "{said}");
    assert!(
        said.contains(&home.data_dir().display().to_string()) && said.contains("MEMORYD_DATA_DIR"),
        "{said}"
    );
    assert!(!socket.exists());
    serves(&daemon);
}

#[test]
fn fault_5_a_socket_path_that_is_too_long_is_refused_whole() {
    let home = Home::new();
    let long = home.path().join("x".repeat(120)).join("memoryd.sock");
    let said = refused(&home, &[("MEMORYD_SOCKET", long.as_os_str())]);
    assert!(said.contains("MEMORYD_SOCKET is longer than the 103 bytes"), "{said}");
    assert!(said.contains("shorter path"), "{said}");
    assert!(!home.data_dir().exists());
}

#[test]
fn fault_6_missing_folders_are_made_and_private() {
    let home = Home::new();
    let runtime = home.path().join("run/user/0");
    let inherit = [
        ("MEMORYD_SOCKET", OsStr::new("")),
        ("MEMORYD_DATA_DIR", OsStr::new("")),
        ("XDG_RUNTIME_DIR", runtime.as_os_str()),
    ];
    let daemon = Spawned::new(&home, &inherit).outcome().unwrap_or_else(|ended| panic!("{}", ended.said));
    let socket = runtime.join("memoryd/memoryd.sock");
    assert_eq!(memoryd_client::Client::at(&socket).call(Ping {}), Ok(Pong {}));
    assert_eq!(mode(socket.parent().unwrap()), 0o700);
    assert_eq!(mode(&runtime), 0o700);
    let data = home.path().join(".local/share/memoryd");
    assert!(data.join("memory.db").is_file());
    assert_eq!(mode(&data), 0o700);
    drop(daemon);
}

#[test]
fn sigterm_ends_the_daemon_well_and_takes_its_socket_away() {
    let home = Home::new();
    assert_eq!(Process::start(&home).terminate().code(), Some(0));
    assert!(!home.socket().exists());
}

#[test]
fn a_client_can_ask_the_daemon_to_stop() {
    let home = Home::new();
    let daemon = Process::start(&home);
    assert_eq!(daemon.client().call(Shutdown {}).unwrap().pid, daemon.pid());
    assert_eq!(daemon.ended().code(), Some(0));
    assert!(!home.socket().exists());
}
