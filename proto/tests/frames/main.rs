//! Frames: what crosses the wire, byte for byte.
//!
//! `golden/v2.txt` holds one encoded frame for each call and each reply. When a frame changes, the wire has changed:
//! raise [`handshake::PROTOCOL`], then write the file of the new version with `MEMORYD_GOLDEN=write`.

#![allow(clippy::unwrap_used, reason = "a test fails where it is wrong")]

use std::fmt::Write;
use std::path::PathBuf;

use memoryd_proto::handshake::{self, Peer};
use memoryd_proto::{Code, Fault, Ping, Request, frame};

mod samples;

fn golden_file() -> PathBuf {
    let name = format!("tests/golden/v{}.txt", handshake::PROTOCOL);
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

#[test]
fn no_frame_changes_without_a_new_protocol() {
    let mut now = format!("greeting {}\n", hex(&handshake::greeting()));
    for sample in samples::all() {
        writeln!(now, "{}.request {}", sample.name, hex(&sample.request)).unwrap();
        writeln!(now, "{}.reply {}", sample.name, hex(&sample.reply)).unwrap();
    }
    writeln!(now, "fault {}", hex(&samples::fault())).unwrap();
    let path = golden_file();
    if std::env::var_os("MEMORYD_GOLDEN").is_some_and(|value| value == "write") {
        std::fs::write(&path, &now).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    for (line, (is, was)) in (1..).zip(now.lines().zip(golden.lines())) {
        let name = is.split(' ').next().unwrap_or_default();
        assert!(
            is == was,
            "the bytes of {name} are no longer those of {}:{line}. What is on the wire has changed: raise \
             handshake::PROTOCOL, then run this test with MEMORYD_GOLDEN=write",
            path.display()
        );
    }
    assert_eq!(now.lines().count(), golden.lines().count(), "{} lacks lines", path.display());
}

#[test]
fn every_call_of_the_table_has_a_golden_frame() {
    let sampled: Vec<&str> = samples::all().iter().map(|sample| sample.name).collect();
    let table: Vec<&str> = Request::TABLE.iter().map(|(name, _)| *name).collect();
    assert_eq!(sampled, table);
}

#[test]
fn what_is_encoded_is_decoded_to_the_same() {
    for sample in samples::all() {
        let (header, payload) = sample.request.split_first_chunk::<{ frame::HEADER }>().unwrap();
        assert_eq!(frame::length(*header).unwrap(), payload.len());
        let request: Request = frame::decode(payload).unwrap();
        assert_eq!(request.name(), sample.name);
        assert_eq!(frame::encode(&request).unwrap(), sample.request);
        assert_eq!((sample.reencode)(&sample.reply[frame::HEADER..]), sample.reply);
    }
}

#[test]
fn every_call_says_what_it_is_for() {
    for (name, about) in Request::TABLE {
        assert!(about.trim().ends_with('.'), "{name}: {about:?}");
    }
}

#[test]
fn a_length_over_the_cap_is_refused() {
    let cap = u32::try_from(frame::CAP).unwrap();
    assert_eq!(frame::length(cap.to_le_bytes()).unwrap(), frame::CAP);
    for over in [cap + 1, u32::MAX] {
        let fault = frame::length(over.to_le_bytes()).unwrap_err();
        assert_eq!(fault.code, Code::Invalid);
        assert!(fault.message.contains(&over.to_string()), "{fault}");
    }
    assert!(frame::encode(&vec![0_u8; frame::CAP]).is_err());
}

#[test]
fn a_payload_that_is_cut_or_has_bytes_left_over_is_refused() {
    for sample in samples::all() {
        let payload = &sample.request[frame::HEADER..];
        for end in 0..payload.len() {
            assert!(frame::decode::<Request>(&payload[..end]).is_err(), "{} cut at {end}", sample.name);
        }
        let fault = frame::decode::<Request>(&[payload, &[0]].concat()).unwrap_err();
        assert!(fault.message.contains("1 bytes are left over"), "{fault}");
    }
}

#[test]
fn a_length_inside_a_payload_allocates_nothing() {
    // A list that claims 2^60 records.
    let import = Request::TABLE.iter().position(|(name, _)| *name == "Import").unwrap();
    let mut payload = vec![u8::try_from(import).unwrap(), 253];
    payload.extend((1_u64 << 60).to_le_bytes());
    assert!(frame::decode::<Request>(&payload).is_err());
}

#[test]
fn greetings_of_two_versions_say_which_side_is_older() {
    assert_eq!(handshake::check(handshake::greeting(), Peer::Daemon), Ok(()));
    let of = |version: u32| {
        let mut greeting = handshake::greeting();
        greeting[8..].copy_from_slice(&version.to_le_bytes());
        greeting
    };
    for (version, peer, older) in [
        (handshake::PROTOCOL + 1, Peer::Daemon, "The client is older"),
        (handshake::PROTOCOL - 1, Peer::Daemon, "The daemon is older"),
        (handshake::PROTOCOL + 1, Peer::Client, "The daemon is older"),
        (handshake::PROTOCOL - 1, Peer::Client, "The client is older"),
    ] {
        let fault = handshake::check(of(version), peer).unwrap_err();
        assert_eq!(fault.code, Code::Version);
        assert!(fault.advice.starts_with(older), "{fault}");
    }
    let fault = handshake::check(*b"HTTP/1.1 400", Peer::Daemon).unwrap_err();
    assert!(fault.message.contains("does not speak"), "{fault}");
}

#[test]
fn a_fault_reads_as_what_happened_and_what_to_do() {
    let fault = Fault::invalid("\"../x\" is no agent name", "Use letters.");
    assert_eq!(fault.to_string(), "\"../x\" is no agent name. Use letters.");
    let answer = frame::encode(&Err::<memoryd_proto::Pong, _>(fault.clone())).unwrap();
    let read = frame::decode::<Result<memoryd_proto::Pong, Fault>>(&answer[frame::HEADER..]).unwrap();
    assert_eq!(read, Err(fault));
    assert_eq!(Request::from(Ping {}).name(), "Ping");
}
