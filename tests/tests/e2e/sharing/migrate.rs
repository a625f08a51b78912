//! Moving a memory to a server and back, and taking in what a server holds.

use std::sync::Arc;

use memoryd::clock::TurnedClock;
use memoryd_tests::{Chroma, Home, Process, run, shared_at, start_of_time};

use super::Shared;

/// A configuration that knows the server and does not share.
fn apart(port: u16, database: &str) -> String {
    shared_at(port, database).replace("store = \"chroma\"", "store = \"embedded\"")
}

fn told(home: &Home, arguments: &[&str]) -> String {
    let (well, said) = run(home, "memoryctl", arguments);
    assert!(well, "{arguments:?}: {said}");
    said
}

#[test]
fn d2_everything_moves_to_a_server_and_is_compared() {
    let Some(chroma) = Chroma::shared() else { return };
    let (database, home) = (chroma.database(), Home::new());
    home.configure(&apart(chroma.port(), &database));
    let daemon = Process::start(&home);
    for n in 0..250 {
        let text = format!("Rule {n}: open valve {n} before pump {n} starts");
        let arguments = [
            "remember",
            "--agent",
            "finder",
            "--category",
            "error_handling",
            "--confidence",
            "0.8",
            "--no-project",
        ];
        told(&home, &[&arguments[..], &[text.as_str()]].concat());
    }
    let said = told(&home, &["migrate", "--to", "chroma"]);
    assert!(said.contains("agrees  agent_finder_improvements: 250 records here, 250 there"), "{said}");
    assert!(said.contains("store = \"chroma\""), "{said}");
    let again = told(&home, &["migrate", "--to", "chroma"]);
    assert_eq!(said, again);
    let json = told(&home, &["--json", "migrate", "--to", "chroma"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["agrees"], true);
    assert!(daemon.terminate().success());

    // The switch is one line, and nothing is told twice.
    home.configure(&shared_at(chroma.port(), &database));
    let daemon = Process::start(&home);
    let status = told(&home, &["--json", "status"]);
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["store"], "chroma");
    assert!(daemon.terminate().success());

    // Back again, with what others wrote meanwhile.
    chroma.python(
        &database,
        "client.get_collection('agent_finder_improvements').add(ids=['late'], documents=['Come late'], embeddings=[[0.1] * 384])",
    );
    home.configure(&apart(chroma.port(), &database));
    let daemon = Process::start(&home);
    let said = told(&home, &["migrate", "--to", "embedded"]);
    assert!(said.contains("agrees  agent_finder_improvements: 251 records here, 251 there"), "{said}");
    assert!(told(&home, &["improvements", "list", "--agent", "finder"]).contains("Come late"));
    assert!(daemon.terminate().success());
}

#[test]
fn d2_a_server_that_is_not_there_is_said_and_nothing_moves() {
    let home = Home::new();
    home.configure(&apart(memoryd_tests::free_port(), "default_database"));
    let daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
    let (well, said) = run(&home, "memoryctl", &["migrate", "--to", "chroma"]);
    assert!(!well && said.contains("cannot be reached") && said.contains("chroma.url"), "{said}");
    drop(daemon);
}

#[test]
fn d4_what_a_server_holds_is_taken_in_once() {
    let Some(shared) = Shared::new() else { return };
    shared.python(
        "c = client.create_collection('agent_finder_improvements')\n\
         c.add(ids=[f'i{n}' for n in range(450)], documents=[f'Rule {n}: open valve {n}' for n in range(450)], \
               embeddings=[[n / 450] * 384 for n in range(450)], metadatas=[{'category': 'valves'}] * 450)\n\
         c = client.create_collection('agent_finder_project_0123456789ab_improvements')\n\
         c.add(ids=['p1'], documents=['Name pumps by number'], embeddings=[[0.1] * 384])\n\
         client.create_collection('recipes').add(ids=['soup'], documents=['Boil it'], embeddings=[[0.1] * 3])",
    );
    let home = Home::new();
    home.configure(&apart(shared.chroma.port(), &shared.database));
    let _daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
    let url = format!("http://127.0.0.1:{}", shared.chroma.port());
    let trial = told(&home, &["import", "--dry-run", &url]);
    assert!(
        trial.contains("451 records would be taken in") && trial.contains("Left out: recipes"),
        "{trial}"
    );
    let taken = told(&home, &["import", &url]);
    assert!(taken.contains("451 records taken in"), "{taken}");
    let again = told(&home, &["import", &url]);
    assert!(again.contains("0 records taken in") && again.contains("451 records known already"), "{again}");
}
