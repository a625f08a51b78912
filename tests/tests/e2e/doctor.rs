//! What is wrong is found, in one line each, with what to do. Each fault is planted for real.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;

use memoryd::clock::TurnedClock;
use memoryd_tests::{Chroma, Home, Process, free_port, run, shared_at, start_of_time};

fn doctor(home: &Home, arguments: &[&str]) -> (bool, String) {
    run(home, "memoryctl", &[&["doctor"], arguments].concat())
}

/// A home with a memory, a copy of it, an archive and a memory tree, and no daemon.
fn lived_in(config: &str) -> Home {
    let home = Home::new();
    home.configure(&format!("{config}\n[tree]\nroot = \"{}\"\n", home.tree().display()));
    let daemon = Process::start(&home);
    for arguments in [
        &["init"][..],
        &[
            "remember",
            "--agent",
            "finder",
            "--category",
            "x",
            "--confidence",
            "0.8",
            "--no-project",
            "Ask twice",
        ],
        &["backup"],
    ] {
        let (well, said) = run(&home, "memoryctl", arguments);
        assert!(well, "{arguments:?}: {said}");
    }
    assert!(daemon.terminate().success());
    home
}

/// The file of the database, with everything in it and nothing in its log.
fn database(home: &Home) -> PathBuf {
    let file = home.data_dir().join("memory.db");
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    connection.close().unwrap();
    file
}

/// With a daemon that runs, or after one.
#[derive(Clone, Copy, PartialEq)]
enum When {
    Running,
    Down,
}

/// Plants a fault, and returns what doctor says of it.
fn planted(when: When, plant: impl FnOnce(&Home)) -> (Home, String) {
    planted_in("", when, plant)
}

fn planted_in(config: &str, when: When, plant: impl FnOnce(&Home)) -> (Home, String) {
    let home = lived_in(config);
    let daemon = (when == When::Running).then(|| Process::start(&home));
    plant(&home);
    let (well, said) = doctor(&home, &[]);
    assert!(!well, "it found nothing: {said}");
    drop(daemon);
    (home, said)
}

#[test]
fn nothing_is_found_in_a_healthy_home() {
    let home = lived_in("");
    let daemon = Process::start(&home);
    let (well, said) = doctor(&home, &[]);
    assert!(well && said.contains("Nothing is wrong."), "{said}");
    let (_, json) = doctor(&home, &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["findings"], serde_json::json!([]));
    drop(daemon);
}

#[test]
fn a_daemon_that_does_not_run_is_said() {
    let (_home, said) = planted(When::Down, |_| ());
    assert!(said.contains("memoryctl start"), "{said}");
}

#[test]
fn a_file_in_the_place_of_the_socket_is_named() {
    let (home, said) = planted(When::Down, |home| fs::write(home.socket(), "mine").unwrap());
    assert!(said.contains("is no socket"), "{said}");
    doctor(&home, &["--fix"]);
    assert_eq!(fs::read_to_string(home.socket()).unwrap(), "mine", "what somebody put there stays");
}

#[test]
fn a_socket_that_nobody_listens_at_is_found_and_removed_when_asked() {
    let (home, said) = planted(When::Down, |home| drop(UnixListener::bind(home.socket()).unwrap()));
    assert!(said.contains("Nobody listens"), "{said}");
    doctor(&home, &["--fix"]);
    assert!(!home.socket().exists());
}

#[test]
fn a_socket_that_others_may_reach_is_closed_when_asked() {
    let home = lived_in("");
    let _daemon = Process::start(&home);
    fs::set_permissions(home.socket(), Permissions::from_mode(0o666)).unwrap();
    let (well, said) = doctor(&home, &[]);
    assert!(!well && said.contains("Others may reach") && said.contains("chmod 600"), "{said}");
    assert!(doctor(&home, &["--fix"]).0);
    assert_eq!(home.socket().metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_folder_of_the_socket_that_others_may_enter_is_named() {
    let (_home, said) = planted(When::Running, |home| {
        fs::set_permissions(home.path().join("run"), Permissions::from_mode(0o755)).unwrap();
    });
    assert!(said.contains("/run") && said.contains("chmod 700"), "{said}");
}

#[test]
fn a_database_that_others_may_read_is_closed_when_asked() {
    let file = |home: &Home| home.data_dir().join("memory.db");
    let (home, said) =
        planted(When::Down, |home| fs::set_permissions(file(home), Permissions::from_mode(0o644)).unwrap());
    assert!(said.contains("Others may read") && said.contains("memory.db"), "{said}");
    doctor(&home, &["--fix"]);
    assert_eq!(file(&home).metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_unknown_key_of_the_configuration_is_named() {
    let (_home, said) = planted(When::Down, |home| home.configure("[recall]\nitmes = 3\n"));
    assert!(said.contains("itmes"), "{said}");
}

#[test]
fn a_number_out_of_its_range_is_named() {
    let (_home, said) = planted(When::Down, |home| home.configure("[learning]\nlearning_rate = 2.0\n"));
    assert!(said.contains("learning.learning_rate"), "{said}");
}

#[test]
fn a_zone_that_is_unknown_is_named() {
    let (_home, said) =
        planted(When::Down, |home| home.configure("[maintenance]\nzone = \"Mars/Olympus\"\n"));
    assert!(said.contains("maintenance.zone"), "{said}");
}

#[test]
fn a_database_that_is_none_is_found_with_its_newest_copy() {
    let (_home, said) = planted(When::Down, |home| {
        let file = database(home);
        fs::write(file, "This is no database, and long enough to be looked at as one. ".repeat(100)).unwrap();
    });
    assert!(said.contains("damaged") && said.contains("--restore"), "{said}");
}

#[test]
fn a_damaged_page_of_the_database_is_found() {
    let (_home, said) = planted(When::Down, |home| {
        let file = database(home);
        let mut bytes = fs::read(&file).unwrap();
        // The third page on; the first hold the schema, which is read at once.
        let length = bytes.len();
        bytes[length - 40_960..].fill(0xAA);
        fs::write(&file, bytes).unwrap();
    });
    assert!(said.contains("damaged"), "{said}");
}

#[test]
fn a_copy_that_cannot_be_read_is_named() {
    let (_home, said) = planted(When::Running, |home| {
        let copy = fs::read_dir(home.data_dir().join("backups")).unwrap().next().unwrap().unwrap().path();
        fs::write(copy, "nothing").unwrap();
    });
    assert!(said.contains("The copy") && said.contains("cannot be read"), "{said}");
}

#[test]
fn a_file_of_the_archive_that_is_damaged_is_named() {
    let (_home, said) = planted(When::Running, |home| {
        let (well, listed) = run(home, "memoryctl", &["--json", "improvements", "list", "--agent", "finder"]);
        assert!(well, "{listed}");
        let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let id = listed["improvements"][0]["id"].as_str().unwrap();
        assert!(run(home, "memoryctl", &["improvements", "delete", id]).0);
        let file = fs::read_dir(home.data_dir().join("archive")).unwrap().next().unwrap().unwrap().path();
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..].fill(0);
        fs::write(&file, bytes).unwrap();
    });
    assert!(said.contains("archive") && said.contains("cannot be read"), "{said}");
}

#[test]
fn vectors_of_another_model_are_said() {
    let (_home, said) = planted(When::Down, |home| {
        let database = rusqlite::Connection::open(home.data_dir().join("memory.db")).unwrap();
        database.execute("UPDATE meta SET value = 'another 384' WHERE key = 'model'", []).unwrap();
    });
    assert!(said.contains("only words are searched"), "{said}");
}

#[test]
fn a_model_that_is_not_there_is_named() {
    let (_home, said) = planted(When::Down, |home| {
        home.configure(
            "[embedding]\nmodel = \"/nowhere/model.onnx\"\ntokenizer = \"/nowhere/tokenizer.json\"\n",
        );
    });
    assert!(said.contains("/nowhere/"), "{said}");
}

#[test]
fn a_clock_that_was_set_back_is_said() {
    let (_home, said) = planted(When::Down, |home| {
        let database = rusqlite::Connection::open(home.data_dir().join("memory.db")).unwrap();
        database.execute("UPDATE operation SET at = at + 86400000000", []).unwrap();
    });
    assert!(said.contains("Set the clock"), "{said}");
}

#[test]
fn a_file_of_the_tree_beyond_its_cap_is_named() {
    let (_home, said) = planted(When::Running, |home| {
        let memory = home.tree().join("memory.md");
        let text = fs::read_to_string(&memory).unwrap();
        let rules = (0..150).map(|n| format!("- Rule {n}")).collect::<Vec<_>>().join("\n");
        fs::write(memory, format!("{text}\n{rules}")).unwrap();
    });
    assert!(said.contains("memory.md has") && said.contains("more than 100"), "{said}");
}

#[test]
fn a_file_of_the_tree_that_is_no_text_is_named() {
    let (_home, said) = planted(When::Running, |home| {
        fs::write(home.tree().join("domains/x.md"), [0xFF, 0xFE, 0x00]).unwrap();
    });
    assert!(said.contains("x.md"), "{said}");
}

#[test]
fn a_data_directory_that_another_daemon_holds_is_said() {
    let (_home, said) = planted(When::Running, |home| fs::remove_file(home.socket()).unwrap());
    assert!(said.contains("Another daemon"), "{said}");
}

#[test]
fn a_chroma_server_that_is_away_and_records_that_it_refuses_are_said() {
    let home = Home::new();
    home.configure(&shared_at(free_port(), "default_database"));
    let daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
    let why = daemon.app().exchange().unwrap_err();
    let _ = daemon.app().patience(&why);
    let (well, said) = doctor(&home, &[]);
    assert!(!well && said.contains("cannot be reached") && said.contains("chroma.url"), "{said}");
    drop(daemon);

    let Some(chroma) = Chroma::start() else { return };
    chroma.python(
        "default_database",
        "client.create_collection('agent_finder_improvements').add(ids=['x'], documents=['y'], embeddings=[[0.1] * 3])",
    );
    let home = Home::new();
    home.configure(&chroma.config("default_database"));
    let daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
    let call = memoryd_proto::Remember::new(
        memoryd_tests::agent("finder"),
        "x",
        memoryd_tests::confidence(0.8),
        "Ask three times",
    );
    daemon.client().call(call).unwrap();
    daemon.app().exchange().unwrap();
    let (well, said) = doctor(&home, &[]);
    assert!(!well && said.contains("Chroma refuses"), "{said}");
}
