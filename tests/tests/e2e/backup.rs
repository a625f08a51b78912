//! Copies of the database: whole or absent, kept for days and weeks, and put back whatever became of the database.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use chrono::{NaiveDate, TimeDelta};
use memoryd::clock::TurnedClock;
use memoryd_proto::{
    BackUp, Backup, BackupKind, Backups, Code, Export, JobName, Maintain, Remember, Shutdown, Status, Undo,
};
use memoryd_tests::{
    Home, Process, Spawned, World, agent, confidence, everywhere, everywhere_with, run, start_of_time,
};

use crate::maintenance::there_and_back;

fn folder(home: &Home) -> PathBuf {
    home.data_dir().join("backups")
}

fn database(home: &Home) -> PathBuf {
    home.data_dir().join("memory.db")
}

/// Restores without a daemon. Returns whether that went well, and what was said.
fn restore(home: &Home, named: &str) -> (bool, String) {
    run(home, "memoryd", &["--restore", named])
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names: BTreeSet<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.into_iter().collect()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

fn copies(world: &World<'_>) -> Vec<Backup> {
    world.ask(Backups {}).backups
}

/// A daemon's export, as lines.
fn export(home: &Home) -> String {
    let (mut lines, mut after) = (String::new(), None);
    loop {
        let page = home.client().call(Export { agent: None, after }).unwrap();
        for record in &page.records {
            lines += &serde_json::to_string(record).unwrap();
            lines.push('\n');
        }
        after = page.next;
        if after.is_none() {
            return lines;
        }
    }
}

/// What a copy holds, as the daemon shows it that starts on it.
fn exported_from(copy: &Path) -> String {
    let home = Home::new();
    let (done, said) = restore(&home, copy.to_str().unwrap());
    assert!(done, "{said}");
    let _daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
    export(&home)
}

/// A home with a memory of some size, whose daemon has ended, and its export.
fn filled(lessons: u32) -> (Home, String) {
    let home = Home::new();
    let clock = Arc::new(TurnedClock::new(start_of_time()));
    let daemon = home.daemon(&clock);
    for n in 0..lessons {
        daemon.client().call(lesson(n)).unwrap();
        clock.turn(TimeDelta::seconds(1));
    }
    let before = export(&home);
    (home, before)
}

fn lesson(n: u32) -> Remember {
    let text = format!("Rule {n}: check pump {n} before valve {n}");
    Remember::new(agent("finder"), "error_handling", confidence(0.8), &text)
}

fn copied(home: &Home) -> String {
    let daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
    daemon.client().call(BackUp {}).unwrap().backup.name
}

/// Overwrites a part of a file.
fn spoil(path: &Path, share: f64, bytes: usize) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "roughly"
    )]
    let at = (file.metadata().unwrap().len() as f64 * share) as u64;
    file.write_all_at(&vec![0xa5; bytes], at).unwrap();
}

#[test]
fn s1_the_job_keeps_one_copy_a_day_and_undo_takes_it_away() {
    everywhere(|world| {
        world.remember("Retry a failed download with exponential backoff");
        let done = there_and_back(world, JobName::BackUp);
        assert_eq!(done.total, 1);
        let listed = copies(world);
        assert_eq!(listed.len(), 1, "one after undo and redo");
        assert_eq!((listed[0].kind, listed[0].improvements), (BackupKind::Scheduled, Some(1)));
        assert_eq!(listed[0].name, "memory-2026-01-05T090000Z.db");
        world.ask(Undo { operation: done.operation.unwrap() });
        assert_eq!(copies(world), []);
        assert_eq!(names(&folder(world.home)), Vec::<String>::new());
        let again = world.ask(Maintain { job: Some(JobName::BackUp), dry_run: false });
        assert_eq!(again.jobs[0].total, 0, "what was undone is not done again that day");
        world.clock.turn(TimeDelta::days(1));
        assert_eq!(there_and_back(world, JobName::BackUp).total, 1);
    });
}

#[test]
fn a_day_is_that_of_the_configured_zone() {
    everywhere_with("[maintenance]\nzone = \"Pacific/Kiritimati\"\n", |world| {
        let run = || world.ask(Maintain { job: Some(JobName::BackUp), dry_run: false }).jobs[0].total;
        assert_eq!(run(), 1, "23:00 there");
        world.clock.turn(TimeDelta::hours(1));
        assert_eq!(run(), 1, "midnight there");
        world.clock.turn(TimeDelta::hours(23));
        assert_eq!(run(), 0);
    });
}

#[test]
fn copies_are_private() {
    everywhere(|world| {
        world.ask(BackUp {});
        world.ask(Maintain { job: Some(JobName::BackUp), dry_run: false });
        assert_eq!(mode(&folder(world.home)), 0o700);
        let names = names(&folder(world.home));
        assert_eq!(names, ["memory-2026-01-05T090000Z-by-hand.db", "memory-2026-01-05T090000Z.db"]);
        for name in names {
            assert_eq!(mode(&folder(world.home).join(name)), 0o600);
        }
    });
}

#[test]
fn after_sixty_days_seven_days_and_four_weeks_are_left_and_nothing_else_is_touched() {
    everywhere_with("[maintenance]\nzone = \"UTC\"\n", |world| {
        let by_hand = world.ask(BackUp {}).backup.name;
        let note = folder(world.home).join("memory-of-mine.db");
        fs::write(&note, "mine").unwrap();
        for _ in 0..60 {
            let done = world.ask(Maintain { job: Some(JobName::BackUp), dry_run: false });
            assert_eq!(done.jobs[0].total, 1);
            world.clock.turn(TimeDelta::days(1));
        }
        let scheduled: Vec<NaiveDate> = copies(world)
            .into_iter()
            .filter(|copy| copy.kind == BackupKind::Scheduled)
            .map(|copy| copy.made_at.date_naive())
            .collect();
        // The last day is Thursday, the 5th of March: seven days, and the Sundays of three weeks of which one is among
        // the days.
        let expected = [(3, 5), (3, 4), (3, 3), (3, 2), (3, 1), (2, 28), (2, 27), (2, 22), (2, 15)]
            .map(|(month, day)| NaiveDate::from_ymd_opt(2026, month, day).unwrap());
        assert_eq!(scheduled, expected);
        assert_eq!(copies(world).len(), 10, "and the one by hand");
        assert!(folder(world.home).join(by_hand).exists());
        assert_eq!(fs::read_to_string(note).unwrap(), "mine");
    });
}

#[test]
fn what_retention_removes_is_told_before() {
    everywhere_with("[maintenance]\ndaily_copies = 1\nweekly_copies = 0\n", |world| {
        world.ask(Maintain { job: Some(JobName::BackUp), dry_run: false });
        world.clock.turn(TimeDelta::days(1));
        let told = world.ask(Maintain { job: Some(JobName::BackUp), dry_run: true });
        assert!(told.jobs[0].notes[0].starts_with("memory-2026-01-05T090000Z.db goes"), "{told:?}");
        assert_eq!(copies(world).len(), 1);
        world.ask(Maintain { job: Some(JobName::BackUp), dry_run: false });
        assert_eq!(names(&folder(world.home)), ["memory-2026-01-06T090000Z.db"]);
    });
}

#[test]
fn copies_by_hand_are_never_mixed_up_and_only_the_newest_stay() {
    everywhere_with("[maintenance]\ndaily_copies = 3\n", |world| {
        let made: Vec<_> = (0..5).map(|_| world.ask(BackUp {})).collect();
        let all: BTreeSet<&str> = made.iter().map(|made| made.backup.name.as_str()).collect();
        assert_eq!(all.len(), 5, "each has a name of its own, even within a second");
        assert_eq!(made[4].removed, [made[1].backup.name.as_str()]);
        let left: Vec<String> = copies(world).into_iter().map(|copy| copy.name).collect();
        assert_eq!(left, [4, 3, 2].map(|n: usize| made[n].backup.name.clone()));
    });
}

#[test]
fn a_copy_that_is_restored_gives_the_export_byte_for_byte() {
    let (home, before) = filled(40);
    let name = copied(&home);
    {
        let daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
        daemon.client().call(lesson(1000)).unwrap();
    }
    let (done, said) = restore(&home, &name);
    assert!(done, "{said}");
    assert!(said.contains("improvements 40") && said.contains("improvements 41"), "{said}");
    let way_back = said.lines().find_map(|line| line.strip_prefix("To go back: memoryctl restore "));
    let way_back = way_back.unwrap().to_owned();
    assert_eq!(mode(&database(&home)), 0o600);
    {
        let _daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
        assert_eq!(export(&home), before);
    }
    let (done, said) = restore(&home, &way_back);
    assert!(done, "{said}");
    let daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
    assert_eq!(daemon.client().call(Status {}).unwrap().improvements, 41);
    let kinds: Vec<BackupKind> =
        daemon.client().call(Backups {}).unwrap().backups.into_iter().map(|copy| copy.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == BackupKind::BeforeRestore).count(), 2);
}

#[test]
fn reports_go_on_while_copies_are_made_and_each_copy_is_of_one_moment() {
    let (home, _) = filled(60);
    let daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
    let (stop, (tell, told)) = (AtomicBool::new(false), mpsc::channel());
    let (acknowledged, made) = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let client = home.client();
            let mut n = 0;
            while !stop.load(Ordering::Relaxed) {
                // Always two, by one call: a copy of one moment holds both or none.
                let mut report = memoryd_proto::Report::new(
                    format!("report-{n}").parse().unwrap(),
                    agent("finder"),
                    &format!("Task {n}"),
                    true,
                );
                report.insights.push(memoryd_proto::Insight {
                    text: format!("Insight {n}: open shutter {n} when lamp {n} is lit"),
                    category: "error_handling".to_owned(),
                    confidence: confidence(0.8),
                });
                client.call(report).unwrap();
                n += 1;
                let _ = tell.send(n);
            }
            n
        });
        let mut made = Vec::new();
        for _ in 0..5 {
            let before = told.recv().unwrap();
            // Whatever was acknowledged by now is in the copy.
            let known = told.try_iter().last().unwrap_or(before);
            made.push((known, daemon.client().call(BackUp {}).unwrap().backup));
        }
        stop.store(true, Ordering::Relaxed);
        (writer.join().unwrap(), made)
    });
    assert_eq!(daemon.client().call(Status {}).unwrap().evaluations, acknowledged);
    for (known, copy) in made {
        assert!(copy.evaluations.unwrap() >= known, "{known} were acknowledged: {copy:?}");
        let lines = exported_from(&folder(&home).join(&copy.name));
        let count = |what: &str| lines.lines().filter(|line| line.contains(what)).count() as u64;
        assert_eq!(count("{\"evaluation\""), copy.evaluations.unwrap());
        assert_eq!(count("\"document\":\"Insight "), copy.evaluations.unwrap());
    }
}

#[test]
fn kill_9_while_copying_leaves_no_broken_copy_and_no_litter() {
    let home = Home::new();
    home.configure("[maintenance]\ndaily_copies = 100\n");
    let mut daemon = Process::start(&home);
    for n in 0..60 {
        daemon.client().call(lesson(n)).unwrap();
    }
    for round in 0..4 {
        let (tell, told) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let tell = tell.clone();
                let client = home.client();
                scope.spawn(move || {
                    while client.call(BackUp {}).is_ok() {
                        let _ = tell.send(());
                    }
                });
            }
            // Others are being made when it dies.
            for _ in 0..=round {
                told.recv().unwrap();
            }
            daemon.kill9();
        });
        daemon = Process::start(&home);
        let listed = daemon.client().call(Backups {}).unwrap().backups;
        assert!(listed.len() > round);
        assert!(listed.iter().all(|copy| copy.improvements == Some(60)), "{listed:?}");
        assert_eq!(names(&folder(&home)).len(), listed.len(), "{:?}", names(&folder(&home)));
    }
    let newest = daemon.client().call(Backups {}).unwrap().backups.swap_remove(0).name;
    let before = export(&home);
    assert_eq!(exported_from(&folder(&home).join(newest)), before);
}

#[test]
fn a_copy_that_a_crash_left_unrecorded_is_the_copy_of_its_day() {
    everywhere(|world| {
        let made = world.ask(BackUp {}).backup.name;
        let day = folder(world.home).join("memory-2026-01-05T043000Z.db");
        fs::rename(folder(world.home).join(made), &day).unwrap();
        let done = world.ask(Maintain { job: Some(JobName::BackUp), dry_run: false });
        assert_eq!((done.jobs[0].total, copies(world).len()), (0, 1));
        assert!(done.jobs[0].notes[0].contains("memory-2026-01-05T043000Z.db"), "{done:?}");
    });
}

#[test]
fn a_damaged_database_is_replaced_and_kept_as_it_was() {
    let (home, before) = filled(60);
    let name = copied(&home);
    // The header: no daemon starts on this.
    spoil(&database(&home), 0.0, 4096);
    let spoilt = fs::read(database(&home)).unwrap();
    assert!(Spawned::new(&home, &[]).outcome().is_err());
    let (done, said) = restore(&home, &name);
    assert!(done, "{said}");
    assert!(said.contains("is damaged"), "{said}");
    let kept = names(&folder(&home)).into_iter().find(|name| name.ends_with("-damaged.db")).unwrap();
    assert_eq!(fs::read(folder(&home).join(&kept)).unwrap(), spoilt);
    let daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
    assert_eq!(export(&home), before);
    let listed = daemon.client().call(Backups {}).unwrap().backups;
    let kept = listed.iter().find(|copy| copy.name == kept).unwrap();
    assert_eq!((kept.kind, kept.improvements), (BackupKind::Damaged, None));
}

#[test]
fn a_database_that_is_damaged_in_the_middle_is_replaced() {
    for share in [0.3, 0.6] {
        let (home, before) = filled(60);
        let name = copied(&home);
        spoil(&database(&home), share, 32 * 1024);
        let (done, said) = restore(&home, &name);
        assert!(done, "{said}");
        assert!(said.contains("is damaged"), "{said}");
        let _daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
        assert_eq!(export(&home), before);
    }
}

#[test]
fn a_damaged_database_says_which_copy_to_restore_and_drives_no_good_copy_out() {
    let (home, _) = filled(60);
    let name = copied(&home);
    spoil(&database(&home), 0.3, 64 * 1024);
    match Spawned::new(&home, &[]).outcome() {
        Err(ended) => assert!(ended.said.contains(&format!("memoryd --restore {name}")), "{}", ended.said),
        Ok(daemon) => {
            let fault = daemon.client().call(BackUp {}).unwrap_err();
            assert!(fault.message.contains("damaged"), "{fault}");
        }
    }
    assert_eq!(names(&folder(&home)), [name]);
}

#[test]
fn restore_refuses_what_is_no_sound_copy_and_changes_nothing() {
    let (home, _) = filled(60);
    let name = copied(&home);
    let (copy, before) = (folder(&home).join(&name), fs::read(database(&home)).unwrap());
    let case = |file: &str| home.path().join(file);

    fs::write(case("text"), "no database at all\n".repeat(1000)).unwrap();
    fs::write(case("empty"), "").unwrap();
    for (file, share) in [("spoilt-early", 0.3), ("spoilt-late", 0.7)] {
        fs::copy(&copy, case(file)).unwrap();
        spoil(&case(file), share, 32 * 1024);
    }
    fs::copy(&copy, case("cut")).unwrap();
    let half = copy.metadata().unwrap().len() / 2;
    fs::OpenOptions::new().write(true).open(case("cut")).unwrap().set_len(half).unwrap();
    // The schema's number stands at byte 60.
    fs::copy(&copy, case("newer")).unwrap();
    let newer = fs::OpenOptions::new().write(true).open(case("newer")).unwrap();
    newer.write_all_at(&1000_u32.to_be_bytes(), 60).unwrap();

    for (file, why) in [
        ("text", "no database of memoryd"),
        ("empty", "no database of memoryd"),
        ("spoilt-early", "is damaged"),
        ("spoilt-late", "is damaged"),
        ("cut", "is damaged"),
        ("newer", "newer version"),
        ("missing", "There is no copy"),
    ] {
        let path = case(file);
        let held = fs::read(&path).ok();
        let (done, said) = restore(&home, path.to_str().unwrap());
        assert!(!done && said.contains(why) && said.contains(file), "{file}: {said}");
        assert_eq!(fs::read(database(&home)).unwrap(), before, "{file}");
        assert_eq!(names(&folder(&home)), [name.as_str()], "{file}");
        assert_eq!(fs::read(&path).ok(), held);
    }
    let left = names(&home.data_dir());
    assert!(!left.iter().any(|name| name.contains("part")), "{left:?}");
    let beside = names(home.path());
    assert!(!beside.iter().any(|name| name.contains("-wal") || name.contains("-shm")), "{beside:?}");
}

#[test]
fn restore_waits_for_no_daemon_and_says_how_to_stop_it() {
    let (home, _) = filled(1);
    let name = copied(&home);
    let daemon = Process::start(&home);
    let (done, said) = restore(&home, &name);
    assert!(!done && said.contains("memoryctl stop"), "{said}");
    daemon.client().call(Shutdown {}).unwrap();
    assert!(daemon.ended().success());
    assert!(restore(&home, &name).0);
}

#[test]
fn the_database_of_another_folder_is_restored_with_its_log() {
    let other = Home::new();
    let daemon = Process::start(&other);
    daemon.client().call(lesson(1)).unwrap();
    let before = export(&other);
    // What was remembered is only in the log.
    daemon.kill9();
    let home = Home::new();
    let (done, said) = restore(&home, database(&other).to_str().unwrap());
    assert!(done && said.contains("There was no database before"), "{said}");
    let _daemon = home.daemon(&Arc::new(TurnedClock::new(start_of_time())));
    assert_eq!(export(&home), before);
}

#[test]
fn what_a_killed_daemon_left_in_its_log_is_kept_when_it_is_replaced() {
    let (home, _) = filled(3);
    let name = copied(&home);
    let daemon = Process::start(&home);
    daemon.client().call(lesson(77)).unwrap();
    let latest = export(&home);
    daemon.kill9();
    let (done, said) = restore(&home, &name);
    assert!(done, "{said}");
    let kept = names(&folder(&home)).into_iter().find(|name| name.ends_with("-before-restore.db")).unwrap();
    assert_eq!(exported_from(&folder(&home).join(kept)), latest);
}

#[test]
fn a_folder_that_cannot_be_used_is_a_clear_fault_and_leaves_no_litter() {
    everywhere(|world| {
        world.remember("Retry a failed download with exponential backoff");
        fs::write(folder(world.home), "in the way").unwrap();
        let fault = world.fault(BackUp {});
        assert_eq!(fault.code, Code::Internal);
        assert!(fault.message.contains("backups"), "{fault}");
        let fault = world.fault(Maintain { job: Some(JobName::BackUp), dry_run: false });
        assert!(fault.message.contains("backups"), "{fault}");
        assert_eq!(fs::read_to_string(folder(world.home)).unwrap(), "in the way");
        assert!(!names(&world.home.data_dir()).iter().any(|name| name.contains("part")));
        fs::remove_file(folder(world.home)).unwrap();
        let done = world.ask(Maintain { job: Some(JobName::BackUp), dry_run: false });
        assert_eq!(done.jobs[0].total, 1, "it goes on once the way is free");
    });
}

#[test]
fn memoryctl_restores_past_a_daemon_that_runs_and_starts_it_again() {
    let (home, before) = filled(3);
    let ctl = |arguments: &[&str]| run(&home, "memoryctl", arguments);
    assert!(ctl(&["start"]).0);
    let (done, said) = ctl(&["backup"]);
    assert!(done && said.contains("It holds 3 improvements and 0 evaluations"), "{said}");
    let name = home.client().call(Backups {}).unwrap().backups.swap_remove(0).name;
    assert!(said.contains(&format!("memoryctl restore {name}")), "{said}");
    home.client().call(lesson(77)).unwrap();

    let pid = home.client().call(Status {}).unwrap().pid;
    let (done, said) = ctl(&["restore", &name]);
    assert!(!done && said.contains("--yes"), "nobody is there to be asked: {said}");
    let (done, said) = ctl(&["restore", "--yes", "memory-2020-01-01T000000Z.db"]);
    assert!(!done && said.contains("backup list"), "{said}");
    assert_eq!(home.client().call(Status {}).unwrap().pid, pid, "it was not stopped for nothing");

    let text = home.path().join("text");
    fs::write(&text, "no database at all\n".repeat(1000)).unwrap();
    let (done, said) = ctl(&["restore", "--yes", text.to_str().unwrap()]);
    assert!(!done && said.contains("is no database of memoryd"), "{said}");
    assert_eq!(
        home.client().call(Status {}).unwrap().improvements,
        4,
        "the daemon runs again, on what was there"
    );

    let (done, said) = ctl(&["restore", "--yes", &name]);
    assert!(done && said.contains("memoryd stopped") && said.contains("memoryd started"), "{said}");
    assert_eq!(export(&home), before);
    assert!(ctl(&["stop"]).0);
    let (done, said) = ctl(&["restore", "--yes", &name]);
    assert!(done && !said.contains("memoryd started"), "what did not run is not started: {said}");
}
