//! Two writers at once: somebody edits `memory.md` in every way that editors save files, and the daemon changes it and is
//! killed now and then. No line of either is lost, and nobody ever reads half a file (faults 16, 20).
//!
//! `MEMORYD_ROUNDS` sets how often the file is saved, `MEMORYD_SEED` repeats a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use memoryd_client::Client;
use memoryd_proto::{Fault, ForgetNotes, InitNotes, JobName, Journal, LogNote, Maintain, NewNote};
use memoryd_tests::{Home, Process};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::crash::{Dice, number};

/// What the lines of the daemon and of the editor are about.
const OURS: &str = "Daemon keeps lamp";
const THEIRS: &str = "Editor keeps shutter";

fn theirs(n: u64) -> String {
    format!("- {THEIRS}{n}x shut")
}

fn ours(n: u64) -> String {
    format!("{OURS}{n}x lit")
}

/// The line that says something, in any of the files.
fn line<'a>(files: &'a BTreeMap<PathBuf, String>, says: &str) -> Option<&'a str> {
    files.values().flat_map(|text| text.lines()).find(|line| line.contains(says))
}

/// Somebody at an editor, who looks at the file before saving it.
struct Editor {
    path: PathBuf,
    dice: Dice,
    saved: u64,
}

impl Editor {
    /// Adds a line, in one of the ways in which files are saved.
    fn save(&mut self) {
        let line = theirs(self.saved);
        match self.dice.below(4) {
            0 => self.rename(&line),
            1 => self.rewrite(&line),
            2 => self.append(&line),
            _ => self.back_up(&line),
        }
        self.saved += 1;
    }

    /// Adds a line where a person would.
    fn edited(&mut self, text: &str, line: &str) -> String {
        whole(text);
        let mut lines: Vec<&str> = text.lines().collect();
        let below = usize::try_from(self.dice.below(lines.len() as u64 + 1)).unwrap();
        lines.insert(below.max(1).min(lines.len()), line);
        lines.join("\n") + "\n"
    }

    /// A new file takes the name of the old one. Whoever finds that they replaced what they had not read puts it in again.
    fn rename(&mut self, line: &str) {
        let draft = self.path.with_extension("tmp");
        let mut seen = fs::read_to_string(&self.path).unwrap();
        let mut text = self.edited(&seen, line);
        loop {
            fs::write(&draft, &text).unwrap();
            renameat_with(CWD, &draft, CWD, &self.path, RenameFlags::EXCHANGE).unwrap();
            let replaced = fs::read_to_string(&draft).unwrap();
            fs::remove_file(&draft).unwrap();
            if replaced == seen {
                return;
            }
            let missed: Vec<&str> = replaced
                .lines()
                .filter(|line| !line.is_empty() && !text.lines().any(|said| said == *line))
                .collect();
            if missed.is_empty() {
                return;
            }
            text = missed.iter().fold(text.clone(), |text, line| text + line + "\n");
            seen = replaced;
        }
    }

    /// The file is emptied and written anew.
    fn rewrite(&mut self, line: &str) {
        let mut file = OpenOptions::new().read(true).write(true).open(&self.path).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        let text = self.edited(&text, line);
        file.set_len(0).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        let (one, other) = text.split_at(text.len() / 2);
        file.write_all(one.as_bytes()).unwrap();
        file.write_all(other.as_bytes()).unwrap();
    }

    fn append(&mut self, line: &str) {
        let mut file = OpenOptions::new().append(true).open(&self.path).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The old file becomes the backup, and the new one is written in its place.
    fn back_up(&mut self, line: &str) {
        let backup = self.path.with_extension("md~");
        fs::rename(&self.path, &backup).unwrap();
        let text = fs::read_to_string(&backup).unwrap();
        let text = self.edited(&text, line);
        fs::write(&self.path, text).unwrap();
    }
}

/// Nobody reads half a line.
fn whole(text: &str) {
    assert!(text.is_empty() || text.ends_with('\n'), "{text:?}");
    for line in text.lines() {
        let of_theirs = line.starts_with("- Editor") && line.ends_with("x shut");
        let of_ours = line.starts_with("- **Daemon") && line.ends_with(')');
        let of_the_seed = ["", "---", "# Global Memory", "## Rules", "## Preferences", "## Patterns"];
        assert!(of_theirs || of_ours || of_the_seed.contains(&line), "{line:?} in {text:?}");
    }
}

/// What the daemon acknowledged.
#[derive(Default)]
struct Acknowledged {
    logged: BTreeSet<u64>,
    forgotten: BTreeSet<u64>,
}

/// Has the daemon change the file until it is gone, or nobody listens any more.
fn work(
    client: &Client,
    next: &mut u64,
    acknowledged: &mut Acknowledged,
    done: &Sender<()>,
) -> Result<(), Fault> {
    while done.send(()).is_ok() {
        let n = *next;
        *next += 1;
        let entry = NewNote::Preference { rule: ours(n) };
        client.call(LogNote { entry, project: None })?;
        acknowledged.logged.insert(n);
        if n.is_multiple_of(5) {
            client.call(Maintain { job: Some(JobName::CompactNotes), dry_run: false })?;
        }
        if n.is_multiple_of(3) {
            let words = format!("lamp{}x", n / 2);
            let found = client.call(ForgetNotes { words: words.clone(), confirmed: Vec::new() })?;
            let confirmed = found.notes.into_iter().map(|note| note.id).collect();
            if client.call(ForgetNotes { words, confirmed })?.operation.is_some() {
                acknowledged.forgotten.insert(n / 2);
            }
        }
    }
    Ok(())
}

/// Every file of the tree, hidden ones too.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if !path.ends_with("memory.md~") {
            all.insert(path.clone(), fs::read_to_string(path).unwrap());
        }
    }
    all
}

#[test]
fn fault_20_no_line_of_two_writers_is_lost() {
    let (rounds, seed) = (number("MEMORYD_ROUNDS", 60), number("MEMORYD_SEED", 0x2b1));
    let home = Home::new();
    home.configure("tree.hot_lines = 40\n");
    let mut daemon = Process::start(&home);
    daemon.client().call(InitNotes::default()).unwrap();
    let (mut dice, mut next, mut kills) = (Dice(seed), 0, 0);
    let mut acknowledged = Acknowledged::default();
    // The editor saves once for each change of the daemon, and a few times while it is down.
    let (go, gone): (Sender<u64>, Receiver<u64>) = mpsc::channel();
    let path = home.tree().join("memory.md");
    let editor = std::thread::spawn(move || {
        let mut editor = Editor { path, dice: Dice(seed ^ 0x5eed), saved: 0 };
        for pause in gone {
            std::thread::sleep(Duration::from_micros(pause));
            editor.save();
        }
        editor
    });
    let mut round = 0;
    while round < rounds {
        let (tell, told) = mpsc::channel();
        let until = (round + 1 + dice.below(40)).min(rounds);
        std::thread::scope(|scope| {
            let (client, next, acknowledged) = (home.client(), &mut next, &mut acknowledged);
            scope.spawn(move || work(&client, next, acknowledged, &tell));
            while round < until && told.recv().is_ok() {
                go.send(dice.below(6_000)).unwrap();
                round += 1;
            }
            std::thread::sleep(Duration::from_micros(dice.below(6_000)));
            daemon.kill9();
            kills += 1;
            drop(told);
        });
        (0..2).for_each(|_| go.send(dice.below(2_000)).unwrap());
        daemon = Process::start(&home);
    }
    drop(go);
    let editor = editor.join().unwrap();
    // What was written at last to a file that was replaced by then is brought in with the next change.
    daemon.client().call(LogNote { entry: NewNote::Preference { rule: ours(next) }, project: None }).unwrap();

    let files = files(&home.tree());
    whole(&files[&home.tree().join("memory.md")]);
    let hidden = files.keys().filter(|path| path.file_name().unwrap().as_encoded_bytes().starts_with(b"."));
    assert_eq!(hidden.collect::<Vec<_>>(), Vec::<&PathBuf>::new());
    for n in 0..editor.saved {
        assert!(line(&files, &theirs(n)).is_some(), "{} was saved, round {n}", theirs(n));
    }
    for n in &acknowledged.logged {
        assert!(line(&files, &ours(*n)).is_some(), "{} was acknowledged", ours(*n));
    }
    let page = daemon.client().call(Journal { limit: 1000, ..Journal::default() }).unwrap();
    let made = |actor: &str| page.operations.iter().filter(|operation| operation.actor == actor).count();
    let (recorded, compacted) = (made("log"), made("job compact-notes"));
    assert!(compacted > 0, "compaction was among what the daemon did");
    let there = (0..=next).filter(|n| line(&files, &ours(*n)).is_some()).count();
    // What was written and not yet recorded at a kill is taken back, but where the editor saved on top of it since.
    assert!(
        recorded <= there && there - recorded <= kills,
        "{recorded} recorded, {there} there, {kills} kills"
    );
    println!(
        "{rounds} rounds with seed {seed:#x}: {} lines saved by the editor, {} logged and {} forgotten by the daemon, \
         which compacted the file {compacted} times, {kills} kills; every line is there",
        editor.saved,
        acknowledged.logged.len(),
        acknowledged.forgotten.len()
    );
}
