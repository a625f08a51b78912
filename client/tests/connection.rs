//! Both clients against peers that misbehave in every way a daemon could.

#![allow(clippy::unwrap_used, reason = "a test fails where it is wrong")]

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use memoryd_client::Client;
use memoryd_client::proto::{Code, Fault, Ping, Pong, frame, handshake};
use tempfile::TempDir;

/// A fake daemon. Its first connection is handled by the first of its scripts, and so on.
struct Peer {
    dir: TempDir,
    /// Told each time that a script has ended, and so closed its connection.
    ended: Receiver<()>,
}

type Script = fn(UnixStream);

impl Peer {
    fn new(scripts: &'static [Script]) -> Self {
        let (end, ended) = channel();
        let peer = Self { dir: TempDir::new().unwrap(), ended };
        let listener = UnixListener::bind(peer.socket()).unwrap();
        thread::spawn(move || {
            for script in scripts {
                let (stream, _) = listener.accept().unwrap();
                script(stream);
                let _ = end.send(());
            }
        });
        peer
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("memoryd.sock")
    }

    /// Asks through both clients; each needs the whole list of scripts for itself.
    fn ask(scripts: &'static [Script], deadline: Duration) -> Vec<Result<Pong, Fault>> {
        let blocking = Self::new(scripts);
        let replies = vec![Client::at(blocking.socket()).with_deadline(deadline).call(Ping {})];
        #[cfg(feature = "async")]
        let replies = {
            let mut replies = replies;
            let asynchronous = Self::new(scripts);
            let client = memoryd_client::AsyncClient::at(asynchronous.socket()).with_deadline(deadline);
            replies.push(runtime().block_on(client.call(Ping {})));
            replies
        };
        replies
    }
}

#[cfg(feature = "async")]
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(150);

fn greet(stream: &mut UnixStream) {
    stream.write_all(&handshake::greeting()).unwrap();
    stream.read_exact(&mut [0; handshake::LENGTH]).unwrap();
}

/// Reads a request; `None` when the client hung up.
fn request(stream: &mut UnixStream) -> Option<()> {
    let mut header = [0; frame::HEADER];
    stream.read_exact(&mut header).ok()?;
    stream.read_exact(&mut vec![0; frame::length(header).unwrap()]).ok()
}

fn answer(stream: &mut UnixStream) {
    greet(stream);
    request(stream).unwrap();
    stream.write_all(&frame::encode(&Ok::<_, Fault>(Pong {})).unwrap()).unwrap();
}

fn code(reply: Result<Pong, Fault>) -> Code {
    reply.unwrap_err().code
}

#[test]
fn a_daemon_is_answered() {
    for reply in Peer::ask(&[|mut stream| answer(&mut stream)], LONG) {
        assert_eq!(reply, Ok(Pong {}));
    }
}

#[test]
fn a_missing_daemon_is_an_error_that_says_how_to_start_it() {
    let dir = TempDir::new().unwrap();
    let fault = Client::at(dir.path().join("memoryd.sock")).call(Ping {}).unwrap_err();
    assert_eq!(fault.code, Code::Unavailable);
    assert!(fault.advice.contains("`memoryctl start`"), "{fault}");
}

#[test]
fn a_socket_without_a_listener_is_a_missing_daemon() {
    let dir = TempDir::new().unwrap();
    let socket = dir.path().join("memoryd.sock");
    drop(UnixListener::bind(&socket).unwrap());
    let fault = Client::at(socket).greet().unwrap_err();
    assert_eq!(fault.code, Code::Unavailable);
    assert!(fault.advice.contains("`memoryctl start`"), "{fault}");
}

#[test]
fn another_protocol_version_is_told_apart() {
    let script: &[Script] = &[|mut stream| {
        let mut greeting = handshake::greeting();
        greeting[8] = 99;
        stream.write_all(&greeting).unwrap();
    }];
    for reply in Peer::ask(script, LONG) {
        let fault = reply.unwrap_err();
        assert_eq!(fault.code, Code::Version);
        assert!(fault.advice.starts_with("The client is older"), "{fault}");
    }
}

#[test]
fn a_stranger_at_the_socket_is_named() {
    for reply in Peer::ask(&[|mut stream| stream.write_all(b"HTTP/1.1 400 Bad Request").unwrap()], LONG) {
        assert_eq!(code(reply), Code::Version);
    }
}

#[test]
fn a_peer_that_closes_instead_of_greeting_is_unavailable() {
    for reply in Peer::ask(&[drop], LONG) {
        assert_eq!(code(reply), Code::Unavailable);
    }
}

#[test]
fn death_in_the_middle_of_a_request_is_an_error_at_once() {
    let script: &[Script] = &[|mut stream| {
        greet(&mut stream);
        request(&mut stream).unwrap();
    }];
    let start = Instant::now();
    for reply in Peer::ask(script, LONG) {
        let fault = reply.unwrap_err();
        assert_eq!(fault.code, Code::Unavailable);
        assert!(fault.message.contains("went away"), "{fault}");
    }
    assert!(start.elapsed() < LONG);
}

#[test]
fn death_in_the_middle_of_a_reply_is_an_error_at_once() {
    let script: &[Script] = &[|mut stream| {
        greet(&mut stream);
        request(&mut stream).unwrap();
        stream.write_all(&[200, 0, 0, 0, 1, 2]).unwrap();
    }];
    for reply in Peer::ask(script, LONG) {
        assert_eq!(code(reply), Code::Unavailable);
    }
}

#[test]
fn a_reply_beyond_the_cap_is_refused_before_it_is_read() {
    let script: &[Script] = &[|mut stream| {
        greet(&mut stream);
        request(&mut stream).unwrap();
        stream.write_all(&u32::MAX.to_le_bytes()).unwrap();
        let _ = request(&mut stream);
    }];
    for reply in Peer::ask(script, LONG) {
        assert_eq!(code(reply), Code::Invalid);
    }
}

#[test]
fn a_stalled_daemon_meets_the_deadline() {
    let script: &[Script] = &[|mut stream| {
        greet(&mut stream);
        // The second wait ends when the client gives up.
        request(&mut stream).unwrap();
        assert!(request(&mut stream).is_none());
    }];
    for reply in Peer::ask(script, SHORT) {
        assert_eq!(code(reply), Code::Deadline);
    }
}

#[test]
fn a_daemon_that_does_not_greet_meets_the_deadline() {
    let script: &[Script] = &[|mut stream| while stream.read(&mut [0; 64]).is_ok_and(|read| read > 0) {}];
    for reply in Peer::ask(script, SHORT) {
        assert_eq!(code(reply), Code::Deadline);
    }
}

#[test]
fn dripping_bytes_do_not_stretch_the_deadline() {
    let script: &[Script] = &[|mut stream| {
        greet(&mut stream);
        request(&mut stream).unwrap();
        stream.write_all(&1000u32.to_le_bytes()).unwrap();
        while stream.write_all(&[0]).is_ok() {
            thread::park_timeout(Duration::from_millis(5));
        }
    }];
    for reply in Peer::ask(script, SHORT) {
        assert_eq!(code(reply), Code::Deadline);
    }
}

#[test]
fn a_busy_daemon_may_answer_before_it_reads() {
    let script: &[Script] = &[|mut stream| {
        greet(&mut stream);
        let busy = Fault::new(Code::Busy, "Busy", "Try again.");
        stream.write_all(&frame::encode(&Err::<Pong, _>(busy)).unwrap()).unwrap();
        stream.shutdown(std::net::Shutdown::Read).unwrap();
        // Let the client find the closed side, and the reply behind it.
        let _ = stream.read(&mut [0]);
    }];
    for reply in Peer::ask(script, LONG) {
        assert_eq!(code(reply), Code::Busy);
    }
}

const RESTARTED: &[Script] = &[|mut stream| answer(&mut stream), |mut stream| answer(&mut stream)];

#[test]
fn a_connection_that_the_daemon_closed_is_renewed() {
    let peer = Peer::new(RESTARTED);
    let client = Client::at(peer.socket());
    assert_eq!(client.call(Ping {}), Ok(Pong {}));
    peer.ended.recv().unwrap();
    assert_eq!(client.call(Ping {}), Ok(Pong {}));
}

#[test]
fn a_connection_serves_many_calls() {
    let peer = Peer::new(&[|mut stream| {
        answer(&mut stream);
        while request(&mut stream).is_some() {
            stream.write_all(&frame::encode(&Ok::<_, Fault>(Pong {})).unwrap()).unwrap();
        }
    }]);
    let client = Client::at(peer.socket());
    for _ in 0..3 {
        assert_eq!(client.call(Ping {}), Ok(Pong {}));
    }
}

#[test]
fn after_a_deadline_the_connection_is_not_used_again() {
    let peer = Peer::new(&[
        |mut stream| {
            greet(&mut stream);
            request(&mut stream).unwrap();
            assert!(request(&mut stream).is_none());
        },
        |mut stream| answer(&mut stream),
    ]);
    let client = Client::at(peer.socket()).with_deadline(SHORT);
    assert_eq!(code(client.call(Ping {})), Code::Deadline);
    assert_eq!(client.with_deadline(LONG).call(Ping {}), Ok(Pong {}));
}

#[cfg(feature = "async")]
#[test]
fn a_connection_that_the_daemon_closed_is_renewed_on_tokio() {
    let peer = Peer::new(RESTARTED);
    let client = memoryd_client::AsyncClient::at(peer.socket());
    runtime().block_on(async {
        assert_eq!(client.call(Ping {}).await, Ok(Pong {}));
        peer.ended.recv().unwrap();
        assert_eq!(client.call(Ping {}).await, Ok(Pong {}));
    });
}
