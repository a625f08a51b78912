//! Jobs that change files: what a plan is made of, what a person edits meanwhile, and taking it back.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memoryd::clock::TurnedClock;
use memoryd::journal::{Carried, Change, Plan, Step};
use memoryd::service::App;
use memoryd_proto::{Code, InitNotes, Journal, OperationId, Undo};
use memoryd_tests::{Home, Running, start_of_time};

const ACTOR: &str = "job tidy";

/// A daemon with a memory tree.
fn tree(home: &Home) -> Running {
    let daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
    daemon.client().call(InitNotes::default()).unwrap();
    daemon
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// A step that changes files from what they say to what is given.
fn step(why: &str, files: &[(&Path, Option<&str>)]) -> Step {
    let change = |(path, after): &(&Path, Option<&str>)| Change::file(path, read(path).as_deref(), *after);
    Step { why: why.to_owned(), changes: files.iter().map(change).collect(), ..Step::default() }
}

fn plan(steps: Vec<Step>) -> Plan {
    Plan { reason: "tidy".to_owned(), steps, notes: Vec::new() }
}

fn carry_out(app: &App, plan: Plan) -> Carried {
    app.journal.carry_out(ACTOR, plan, &|_, _| ControlFlow::Continue(())).unwrap()
}

fn complete(app: &App) -> Option<OperationId> {
    app.journal.complete(ACTOR, |_, _| Ok(())).unwrap()
}

#[test]
fn s3_a_step_whose_file_was_edited_is_left_out_whole_and_the_rest_is_made() {
    let home = Home::new();
    let daemon = tree(&home);
    let at = |name: &str| -> PathBuf { home.tree().join(name) };
    let (hot, cold, other) = (at("memory.md"), at("archive/hot.md"), at("domains/code.md"));
    fs::write(&other, "one\n").unwrap();
    let moved = step("move", &[(&cold, Some("moved\n")), (&hot, Some("# Global Memory\n"))]);
    let made = step("change", &[(&other, Some("two\n"))]);
    fs::write(&hot, "mine\n").unwrap();
    let carried = carry_out(daemon.app(), plan(vec![moved, made]));
    assert_eq!((carried.left_out, carried.edited), (vec![0], true));
    assert_eq!((read(&hot).as_deref(), read(&cold)), (Some("mine\n"), None));
    assert_eq!(read(&other).as_deref(), Some("two\n"));
    // Planned again, the rest goes into the same operation.
    let again = step("move", &[(&cold, Some("mine\n")), (&hot, Some(""))]);
    assert_eq!(carry_out(daemon.app(), plan(vec![again])), Carried::default());
    let operation = complete(daemon.app()).unwrap();
    let page = daemon.client().call(Journal::default()).unwrap();
    assert_eq!((page.operations[0].id, page.operations[0].changes.len()), (operation, 3));
    // Undo takes all of it back, or nothing.
    fs::write(&hot, "more\n").unwrap();
    let fault = daemon.client().call(Undo { operation }).unwrap_err();
    assert_eq!(fault.code, Code::Conflict, "{fault}");
    assert_eq!((read(&cold).as_deref(), read(&other).as_deref()), (Some("mine\n"), Some("two\n")));
    fs::write(&hot, "").unwrap();
    let undone = daemon.client().call(Undo { operation }).unwrap().operation;
    assert_eq!((read(&hot).as_deref(), read(&cold)), (Some("mine\n"), None));
    assert_eq!(read(&other).as_deref(), Some("one\n"));
    daemon.client().call(Undo { operation: undone }).unwrap();
    assert_eq!((read(&hot).as_deref(), read(&cold).as_deref()), (Some(""), Some("mine\n")));
}

#[test]
fn a_file_that_cannot_be_written_costs_its_step_only() {
    let home = Home::new();
    let daemon = tree(&home);
    let at = |name: &str| -> PathBuf { home.tree().join(name) };
    let (binary, other) = (at("domains/binary.md"), at("domains/code.md"));
    let steps = vec![
        step("one", &[(&other, Some("x\n")), (&binary, Some("y\n"))]),
        step("two", &[(&at("domains/b.md"), Some("z\n"))]),
    ];
    fs::write(&binary, [0xff, 0xfe]).unwrap();
    let carried = carry_out(daemon.app(), plan(steps));
    assert_eq!((carried.left_out, carried.edited), (vec![0], false));
    assert_eq!(carried.unwritten, [format!("{} is no UTF-8 text", binary.display())]);
    assert_eq!((read(&other), read(&at("domains/b.md")).as_deref()), (None, Some("z\n")));
    complete(daemon.app()).unwrap();
}
