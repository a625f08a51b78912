//! Whatever a server does, nothing is lost here, recalls are answered in time, and it is said what is wrong.

use memoryd_proto::{Fault, Status};
use memoryd_tests::{Chroma, Gate, Pass, free_port, shared_at};

use super::{Living, Shared, agrees};

const LESSON: &str = "Retry a failed download with exponential backoff";

fn answer(status: &str, body: &str) -> Pass {
    Pass::Answer(format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    ))
}

/// Lives through a fault of the server that begins after a first lesson, and ends before all is told.
fn through(pass: &Pass, told: &str) {
    let Some(chroma) = Chroma::shared() else { return };
    let gate = Gate::before(chroma.port());
    let living = Living::new(&shared_at(gate.port(), &chroma.database()));
    let world = living.world();
    world.remember(LESSON);
    living.daemon.app().exchange().unwrap();
    gate.set(pass.clone());
    let recalled = world.recall("retry the failed download");
    assert_eq!(recalled.items.len(), 1, "{pass:?}");
    let degraded = recalled.degraded.unwrap_or_default();
    assert!(degraded.contains(told), "{pass:?}: {degraded}");
    world.remember("Quote shell arguments that hold spaces");
    let why = Fault::from(living.daemon.app().exchange().unwrap_err());
    assert!(why.message.contains(told) || why.message.contains("did not answer"), "{pass:?}: {why}");
    assert!(!why.advice.is_empty());
    let state = world.ask(Status {}).chroma.unwrap();
    assert!(state.waiting > 0 && state.refused == 0, "{pass:?}: {state:?}");
    gate.set(Pass::Through);
    living.daemon.app().exchange().unwrap();
    assert_eq!(world.recall("quote shell arguments").degraded, None);
    agrees(&world);
}

#[test]
fn d3_a_server_that_fails_is_told_later() {
    through(&answer("500 Internal Server Error", r#"{"error":"disk is full"}"#), "disk is full");
}

#[test]
fn d3_a_server_that_is_too_busy_is_told_later() {
    through(&answer("429 Too Many Requests", "{}"), "429");
}

#[test]
fn d3_a_server_that_answers_garbage_is_told_later() {
    through(&answer("200 OK", "<html>Please log in</html>"), "not understood");
}

#[test]
fn d3_a_server_that_refuses_the_token_is_told_later() {
    through(&answer("401 Unauthorized", r#"{"error":"Unauthorized"}"#), "refuses the token");
}

#[test]
fn d3_a_server_that_is_silent_is_told_later() {
    through(&Pass::Silence, "did not answer within");
}

#[test]
fn d2_a_database_that_is_not_there_is_named_and_nothing_is_lost() {
    let Some(chroma) = Chroma::shared() else { return };
    let living = Living::new(&shared_at(chroma.port(), "no_such_database"));
    let world = living.world();
    world.remember(LESSON);
    let why = Fault::from(living.daemon.app().exchange().unwrap_err());
    assert!(why.message.contains("no_such_database"), "{why}");
    assert!(why.advice.contains("chroma.database"), "{why}");
    assert_eq!(world.recall("retry the failed download").items.len(), 1);
}

#[test]
fn d2_another_tenant_is_another_memory() {
    let Some(chroma) = Chroma::shared() else { return };
    chroma.post("/api/v2/tenants", r#"{"name":"other_tenant"}"#);
    chroma.post("/api/v2/tenants/other_tenant/databases", r#"{"name":"theirs"}"#);
    let living = Living::new(&format!("{}tenant = \"other_tenant\"\n", shared_at(chroma.port(), "theirs")));
    let world = living.world();
    world.remember(LESSON);
    living.daemon.app().exchange().unwrap();
    agrees(&world);
    let script = "other = chromadb.HttpClient(host='127.0.0.1', port=client.get_settings().chroma_server_http_port, \
                  tenant='other_tenant', database='theirs')\nprint(other.list_collections())";
    let told = chroma.python("default_database", script);
    assert!(told.contains("agent_finder_improvements"), "{told}");
}

#[test]
fn d3_a_record_that_is_refused_is_set_aside_and_holds_up_no_other() {
    let Some(shared) = Shared::new() else { return };
    // A collection whose vectors are of another dimension takes none of ours.
    shared.python(
        "client.create_collection('agent_finder_improvements').add(ids=['x'], documents=['y'], embeddings=[[0.1] * 3])",
    );
    let world = shared.world();
    let id = world.remember(LESSON);
    world.ask(world.report("r1", "retry the failed download", true));
    shared.settle();
    let state = shared.status().chroma.unwrap();
    assert_eq!((state.waiting, state.refused), (0, 1), "{state:?}");
    assert_eq!(state.aside[0].id, id.as_str());
    assert!(state.aside[0].reason.contains("dimension"), "{state:?}");
    let told = shared.python("print(client.get_collection('agent_finder_evaluations').count())");
    assert_eq!(told.trim(), "1", "the evaluation was told");
    // Once it can be taken and changes, it is.
    shared.python("client.delete_collection('agent_finder_improvements')");
    shared.settle();
    let state = shared.status().chroma.unwrap();
    assert_eq!((state.waiting, state.refused), (0, 0), "{state:?}");
    agrees(&world);
}

#[test]
fn d2_a_server_that_was_never_there_is_no_reason_not_to_start() {
    let living = Living::new(&shared_at(free_port(), "default_database"));
    let world = living.world();
    world.remember(LESSON);
    assert!(living.daemon.app().exchange().is_err());
    assert_eq!(world.recall("retry the failed download").items.len(), 1);
}
