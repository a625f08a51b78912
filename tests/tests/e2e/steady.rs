//! Work leaves nothing behind in the process (fault 15), and a lost socket is named (fault 2).

use std::io::Write;

use memoryd_proto::{Code, Ping, Recall, Remember, Request, frame};
use memoryd_tests::{Home, Process, agent, confidence};

use crate::hostility::{greet, rest};

/// Open files and threads of a process, where the system tells.
fn held(daemon: &Process) -> Option<(usize, usize)> {
    let count = |what| Some(std::fs::read_dir(format!("/proc/{}/{what}", daemon.pid())).ok()?.count());
    Some((count("fd")?, count("task")?))
}

/// Connects, recalls, and hangs up once the daemon has too.
fn visit(home: &Home) {
    let mut stream = greet(home);
    let recall = Request::from(Recall::new(agent("finder"), "retry a failed download"));
    stream.write_all(&frame::encode(&recall).unwrap()).unwrap();
    assert!(rest(stream).len() > frame::HEADER);
}

#[test]
fn fault_15_thousands_of_visits_leave_files_and_threads_as_they_were() {
    let home = Home::new();
    let daemon = Process::start(&home);
    let lesson = Remember::new(agent("finder"), "error_handling", confidence(0.8), "Retry a failed download");
    daemon.client().call(lesson).unwrap();
    (0..100).for_each(|_| visit(&home));
    let before = held(&daemon);
    (0..3000).for_each(|_| visit(&home));
    let after = held(&daemon);
    if let (Some(before), Some(after)) = (before, after) {
        // Readers' connections and idle workers come and go; a leak would show by the thousand.
        assert!(after.0 <= before.0 + 16 && after.1 <= before.1 + 16, "before {before:?}, after {after:?}");
    }
}

#[test]
fn fault_2_a_daemon_whose_socket_was_deleted_is_named_unavailable() {
    let home = Home::new();
    let _daemon = Process::start(&home);
    std::fs::remove_file(home.socket()).unwrap();
    let fault = home.client().call(Ping {}).unwrap_err();
    assert_eq!(fault.code, Code::Unavailable);
    assert!(fault.message.contains(&home.socket().display().to_string()), "{fault}");
}
