//! Jobs that change files: what a plan is made of, what a person edits meanwhile, and taking it back.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memoryd::clock::TurnedClock;
use memoryd::journal::{Carried, Change, Plan, Step};
use memoryd::service::App;
use memoryd_proto::{Code, InitNotes, Journal, LogNote, NewNote, OperationId, Undo};
use memoryd_tests::{Home, Running, start_of_time};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

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

#[test]
fn s7_whatever_a_plan_does_to_files_is_made_step_by_step_and_undone_as_a_whole() {
    let home = Home::new();
    let daemon = tree(&home);
    let paths = ["domains/a.md", "archive/b.md", "projects/c.md"].map(|name| home.tree().join(name));
    let put = |path: &Path, text: Option<&str>| match text {
        Some(text) => fs::write(path, text).unwrap(),
        None => drop(fs::remove_file(path)),
    };
    let read_all = || paths.each_ref().map(|path| read(path));
    let text =
        || proptest::option::of(proptest::sample::select(vec!["", "a\n", "a\nb", "a\n記憶\nb\n", "記\nb\n"]));
    let texts = || [text(), text(), text()];
    let edit = proptest::option::of((0_usize..3, text()));
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(48) });
    let ran = runner.run(&(texts(), texts(), edit), |(before, after, edit)| {
        prop_assume!(before.iter().zip(&after).all(|(before, after)| before.is_some() || after.is_some()));
        paths.iter().zip(before).for_each(|(path, text)| put(path, text));
        let planned = plan(vec![
            step("two files", &[(&paths[0], after[0]), (&paths[1], after[1])]),
            step("one file", &[(&paths[2], after[2])]),
        ]);
        if let Some((at, text)) = edit {
            put(&paths[at], text);
        }
        let start = read_all();
        let carried = carry_out(daemon.app(), planned);
        let edited = |at: usize| start[at].as_deref() != before[at];
        let left_out: Vec<usize> = [edited(0) || edited(1), edited(2)]
            .iter()
            .enumerate()
            .filter_map(|(at, edited)| edited.then_some(at))
            .collect();
        prop_assert_eq!(&carried.left_out, &left_out);
        prop_assert_eq!(carried.edited, !left_out.is_empty());
        let step_of = [0, 0, 1];
        let wanted: [Option<String>; 3] = std::array::from_fn(|at| {
            if left_out.contains(&step_of[at]) { start[at].clone() } else { after[at].map(str::to_owned) }
        });
        prop_assert_eq!(read_all(), wanted.clone());
        if let Some(operation) = complete(daemon.app()) {
            let undone = daemon.client().call(Undo { operation }).unwrap().operation;
            prop_assert_eq!(read_all(), start);
            daemon.client().call(Undo { operation: undone }).unwrap();
            prop_assert_eq!(read_all(), wanted);
        }
        Ok(())
    });
    ran.unwrap();
}

/// As a daemon leaves files and database that is killed before it recorded what it wrote.
#[test]
fn fault_20_what_was_not_recorded_is_taken_back_where_nobody_edited_it() {
    let home = Home::new();
    drop(tree(&home));
    let at = |name: &str| -> PathBuf { home.tree().join(name) };
    let seed = read(&at("memory.md")).unwrap();
    let (moved, from) = (at("archive/a.md"), at("domains/a.md"));
    let cases = [
        // All was written, only the first, and all and edited since.
        (Some("gone\n"), "left\n", None, "note\nleft\n"),
        (Some("gone\n"), "note\nleft\n", None, "note\nleft\n"),
        (Some("gone\n"), "left\nmore\n", Some("gone\n"), "left\nmore\n"),
        (None, "mine\n", None, "mine\n"),
    ];
    for (cold, warm, cold_after, warm_after) in cases {
        let files = [
            Change::file(&moved, None, Some("gone\n")),
            Change::file(&from, Some("note\nleft\n"), Some("left\n")),
        ];
        let edit = |change| if let Change::File(edit) = change { Some(edit) } else { None };
        let pending: Vec<_> = files.into_iter().filter_map(edit).collect();
        let _ = fs::remove_file(&moved);
        cold.into_iter().for_each(|text| fs::write(&moved, text).unwrap());
        fs::write(&from, warm).unwrap();
        // What was displaced and not yet looked at was saved by somebody just before.
        fs::write(at(".memory.md.999999999.0.swap"), format!("{seed}- saved\n")).unwrap();
        let database = rusqlite::Connection::open(home.data_dir().join("memory.db")).unwrap();
        let pending = serde_json::to_string(&pending).unwrap();
        database.execute("INSERT INTO pending (files) VALUES (?1)", [pending]).unwrap();
        drop(database);
        let daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
        assert_eq!((read(&moved).as_deref(), read(&from).as_deref()), (cold_after, Some(warm_after)));
        assert_eq!(read(&at("memory.md")).unwrap(), format!("{seed}- saved\n"));
        assert!(!at(".memory.md.999999999.0.swap").exists());
        // It is over with: what is written now stays.
        let entry = NewNote::Preference { rule: format!("Case {warm}") };
        daemon.client().call(LogNote { entry, project: None }).unwrap();
        fs::write(at("memory.md"), &seed).unwrap();
    }
}
