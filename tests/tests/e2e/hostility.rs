//! Whatever comes over the socket, the daemon serves the others all along (spec C1).

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use memoryd::clock::TurnedClock;
use memoryd_client::Client;
use memoryd_proto::{Code, Fault, Ping, Pong, Recall, Remember, Report, Request, Status, frame, handshake};
use memoryd_tests::{Home, Running, agent, confidence, start_of_time};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

fn daemon(home: &Home) -> Running {
    home.daemon(&Arc::new(TurnedClock::new(start_of_time())))
}

/// A connection that was greeted, and has not greeted back.
fn connect(home: &Home) -> UnixStream {
    let mut stream = UnixStream::connect(home.socket()).unwrap();
    let mut greeting = [0; handshake::LENGTH];
    stream.read_exact(&mut greeting).unwrap();
    assert_eq!(greeting, handshake::greeting());
    stream
}

/// A connection on which greetings were exchanged.
pub fn greet(home: &Home) -> UnixStream {
    let mut stream = connect(home);
    stream.write_all(&handshake::greeting()).unwrap();
    stream
}

/// Says no more, and returns all that the daemon answers until it closes. Writing may have failed before: the daemon
/// closes on what it cannot read.
pub fn rest(mut stream: UnixStream) -> Vec<u8> {
    let _ = stream.shutdown(Shutdown::Write);
    let mut rest = Vec::new();
    // A daemon that closes with bytes unread resets the connection; what it said before that has arrived.
    let _ = stream.read_to_end(&mut rest);
    rest
}

/// The fault in an answer that is nothing else.
fn fault(answer: &[u8]) -> Fault {
    let length = frame::length(answer[..frame::HEADER].try_into().unwrap()).unwrap();
    assert_eq!(answer.len(), frame::HEADER + length);
    frame::decode::<Result<(), Fault>>(&answer[frame::HEADER..]).unwrap().unwrap_err()
}

/// A client is served, reading and writing.
fn serves(client: &Client) {
    assert_eq!(client.call(Ping {}), Ok(Pong {}));
    let lesson = Remember::new(
        agent("finder"),
        "error_handling",
        confidence(0.8),
        "Retry a failed download with backoff",
    );
    client.call(lesson).unwrap();
    let recalled = client.call(Recall::new(agent("finder"), "retry a failed download")).unwrap();
    assert_eq!(recalled.items.len(), 1);
}

#[test]
fn c1_four_gigabytes_announced_are_refused_before_they_are_read() {
    let home = Home::new();
    let daemon = daemon(&home);
    for length in [u32::MAX, u32::try_from(frame::CAP).unwrap() + 1] {
        let mut stream = greet(&home);
        stream.write_all(&length.to_le_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let fault = fault(&answer);
        assert_eq!(fault.code, Code::Invalid);
        assert!(fault.message.contains(&length.to_string()), "{fault}");
        serves(daemon.client());
    }
}

#[test]
fn c1_a_garbage_greeting_is_hung_up_on() {
    let home = Home::new();
    let daemon = daemon(&home);
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 64], &[0xff; 12], b"memoryd"] {
        let mut stream = connect(&home);
        let _ = stream.write_all(garbage);
        assert_eq!(rest(stream), [0; 0]);
        serves(daemon.client());
    }
}

#[test]
fn c1_another_protocol_version_gets_the_daemons_greeting_and_no_answer() {
    let home = Home::new();
    let daemon = daemon(&home);
    let mut stream = connect(&home);
    let mut greeting = handshake::greeting();
    greeting[8..].copy_from_slice(&(handshake::PROTOCOL + 1).to_le_bytes());
    stream.write_all(&greeting).unwrap();
    let _ = stream.write_all(&frame::encode(&Request::from(Ping {})).unwrap());
    assert_eq!(rest(stream), [0; 0]);
    serves(daemon.client());
}

#[test]
fn c1_a_frame_that_is_no_call_is_answered_with_a_fault() {
    let home = Home::new();
    let daemon = daemon(&home);
    let trailing = {
        let mut bytes = frame::encode(&Request::from(Ping {})).unwrap();
        bytes.push(0);
        bytes[0] += 1;
        bytes
    };
    let unknown = [2, 0, 0, 0, 250, 250].to_vec();
    let empty = [0; 4].to_vec();
    for bytes in [trailing, unknown, empty] {
        let mut stream = greet(&home);
        stream.write_all(&bytes).unwrap();
        let fault = fault(&rest(stream));
        assert_eq!(fault.code, Code::Invalid);
        assert!(fault.advice.contains("same version"), "{fault}");
        serves(daemon.client());
    }
}

#[test]
fn c1_a_name_that_breaks_the_rule_is_refused_on_the_wire_too() {
    let home = Home::new();
    let daemon = daemon(&home);
    let mut bytes = frame::encode(&Request::from(Recall::new(agent("aaaa"), "anything"))).unwrap();
    let at = bytes.windows(4).position(|window| window == b"aaaa").unwrap();
    bytes[at..at + 4].copy_from_slice(b"../x");
    let mut stream = greet(&home);
    stream.write_all(&bytes).unwrap();
    let fault = fault(&rest(stream));
    assert_eq!(fault.code, Code::Invalid);
    assert!(fault.message.contains("../x") && fault.message.contains("agent name"), "{fault}");
    serves(daemon.client());
}

#[test]
fn c1_half_a_frame_is_given_up_with_its_connection() {
    let home = Home::new();
    let daemon = daemon(&home);
    let whole =
        frame::encode(&Request::from(Report::new("r1".parse().unwrap(), agent("finder"), "a task", true)));
    let whole = whole.unwrap();
    for end in [1, 3, 4, 5, whole.len() - 1] {
        let mut stream = greet(&home);
        stream.write_all(&whole[..end]).unwrap();
        assert_eq!(rest(stream), [0; 0]);
    }
    serves(daemon.client());
    assert_eq!(daemon.client().call(Status {}).unwrap().evaluations, 0);
}

#[test]
fn c1_a_frame_in_single_bytes_is_answered() {
    let home = Home::new();
    let _daemon = daemon(&home);
    let mut stream = connect(&home);
    for byte in handshake::greeting().into_iter().chain(frame::encode(&Request::from(Ping {})).unwrap()) {
        stream.write_all(&[byte]).unwrap();
    }
    assert_eq!(rest(stream), frame::encode(&Ok::<_, Fault>(Pong {})).unwrap());
}

#[test]
fn c1_a_thousand_idle_connections_leave_the_daemon_to_the_others() {
    let files = memoryd::server::raise_file_limit();
    assert!(files >= 2200, "this test needs 2,200 open files, and the system allows {files}");
    let home = Home::new();
    let daemon = daemon(&home);
    // Half of them greeted and fell silent, the others never said a word.
    let idle: Vec<UnixStream> =
        (0..1000).map(|n| if n % 2 == 0 { greet(&home) } else { connect(&home) }).collect();
    serves(daemon.client());
    assert!(daemon.client().call(Status {}).unwrap().connections > 1000);
    drop(idle);
    serves(daemon.client());
}

#[test]
fn c1_connections_beyond_the_limit_are_told_that_the_daemon_is_busy() {
    let home = Home::new();
    home.configure("[server]\nconnections = 2\n");
    let daemon = daemon(&home);
    serves(daemon.client());
    let other = greet(&home);
    let fault = home.client().call(Ping {}).unwrap_err();
    assert_eq!(fault.code, Code::Busy);
    assert!(fault.advice.contains("server.connections"), "{fault}");
    serves(daemon.client());
    drop(other);
}

#[test]
fn c1_random_bytes_after_the_greeting_never_stop_the_daemon() {
    let home = Home::new();
    let daemon = daemon(&home);
    let client = daemon.client();
    let mut lesson = Remember::new(agent("bender"), "error_handling", confidence(0.8), "Bend a frame");
    lesson.tags = vec!["one".to_owned(), "two".to_owned()];
    let valid = frame::encode(&Request::from(lesson)).unwrap();

    let noise = prop::collection::vec(any::<u8>(), 0..600);
    // A payload of the announced length, and a frame of a real call with some bytes changed.
    let framed = prop::collection::vec(any::<u8>(), 0..200).prop_map(|payload| {
        let length = u32::try_from(payload.len()).unwrap();
        [length.to_le_bytes().as_slice(), &payload].concat()
    });
    let bent = prop::collection::vec((4..valid.len(), any::<u8>()), 1..6).prop_map(move |changes| {
        let mut bytes = valid.clone();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        bytes
    });
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 256,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&prop_oneof![noise, framed, bent], |bytes| {
            let asks_to_stop = bytes
                .get(4..)
                .is_some_and(|payload| matches!(frame::decode::<Request>(payload), Ok(Request::Shutdown(_))));
            prop_assume!(!asks_to_stop);
            let mut stream = greet(&home);
            let _ = stream.write_all(&bytes);
            rest(stream);
            prop_assert_eq!(client.call(Ping {}), Ok(Pong {}));
            Ok(())
        })
        .unwrap();
    serves(client);
}
