//! Following the memory tree: what is saved there is found without being asked for, however it is saved; what is away is
//! not deleted; and where the system does not tell of changes, nothing is missed.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use memoryd::clock::TurnedClock;
use memoryd::watch::Hear;
use memoryd_client::Client;
use memoryd_proto::{
    Happening, InitNotes, LearningKind, LogNote, NewNote, SearchNotes, Status, TreeState, Watch,
};
use memoryd_tests::{Home, Process, everywhere, start_of_time};
use notify::{Config, ErrorKind, EventHandler, RecursiveMode, Watcher, WatcherKind};

/// What a client sees of a daemon that follows the tree.
struct Seen<'a> {
    client: &'a Client,
    /// The last event that was heard.
    number: u64,
}

impl<'a> Seen<'a> {
    fn new(client: &'a Client) -> Self {
        Self { client, number: 0 }
    }

    /// Waits for events until `done`.
    fn until(&mut self, what: &str, done: impl Fn(&Client) -> bool) {
        while !done(self.client) {
            let watched = self.client.call(Watch { after: Some(self.number), wait_ms: 20_000 }).unwrap();
            assert!(!watched.events.is_empty(), "nothing happened while waiting: {what}");
            self.number = watched.next;
        }
    }

    /// Waits until the words find so many notes.
    fn finds(&mut self, words: &str, notes: u64) {
        self.until(&format!("{words} × {notes}"), |client| found(client, words) == Some(notes));
    }
}

fn found(client: &Client, words: &str) -> Option<u64> {
    client.call(SearchNotes { words: words.to_owned(), ..SearchNotes::default() }).ok().map(|page| page.total)
}

fn tree(client: &Client) -> TreeState {
    client.call(Status {}).unwrap().tree
}

fn init(client: &Client) {
    client.call(InitNotes::default()).unwrap();
}

/// A daemon of its own process that has a tree and watches it.
fn watching(home: &Home) -> Process {
    let daemon = Process::start(home);
    init(daemon.client());
    let mut seen = Seen::new(daemon.client());
    seen.until("watched", |client| tree(client).watched && found(client, "nothing") == Some(0));
    daemon
}

type Save = fn(&Path, &str);

/// As vim saves: the old file becomes a backup, the new one is written, the backup goes.
fn as_vim(path: &Path, text: &str) {
    let backup = path.with_extension("md~");
    if path.exists() {
        fs::rename(path, &backup).unwrap();
    }
    fs::write(path, text).unwrap();
    let _ = fs::remove_file(backup);
}

/// Writes beside, and renames over.
fn as_replacement(path: &Path, text: &str) {
    let draft = path.with_extension("md.tmp");
    fs::write(&draft, text).unwrap();
    fs::rename(draft, path).unwrap();
}

/// Truncates, and writes in two pieces.
fn in_place(path: &Path, text: &str) {
    let mut file = File::create(path).unwrap();
    let (one, other) = text.split_at(text.len() / 2);
    file.write_all(one.as_bytes()).unwrap();
    file.sync_all().unwrap();
    file.write_all(other.as_bytes()).unwrap();
}

#[test]
fn every_way_to_save_is_seen() {
    let home = Home::new();
    let daemon = watching(&home);
    let mut seen = Seen::new(daemon.client());
    let saves: [(&str, Save); 3] = [("vim", as_vim), ("rename", as_replacement), ("truncate", in_place)];
    for path in ["memory.md", "domains/code.md"].map(|inner| home.tree().join(inner)) {
        for (name, save) in saves {
            for animal in ["goldfish", "tomcat"] {
                save(&path, &format!("# Rules\n\n- Feed the {animal} by {name}\n"));
                seen.finds(&format!("{animal} {name}"), 1);
            }
        }
        fs::remove_file(&path).unwrap();
        seen.finds("feed", 0);
    }
}

#[test]
fn a_hundred_files_at_once_and_new_folders_are_seen() {
    let home = Home::new();
    let daemon = watching(&home);
    let mut seen = Seen::new(daemon.client());
    let put = |n: u32, rule: &str| {
        let folder = home.tree().join(format!("projects/group{}/deep", n % 7));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("p{n}.md")), format!("- {rule} {n}\n")).unwrap();
    };
    (0..100).for_each(|n| put(n, "Walk the dog"));
    seen.finds("walk dog", 100);
    (0..100).for_each(|n| put(n, "Comb the cat"));
    seen.finds("comb cat", 100);
    seen.finds("walk dog", 0);
    fs::rename(home.tree().join("projects/group0"), home.tree().join("domains/group0")).unwrap();
    fs::write(home.tree().join("domains/group0/deep/more.md"), "- Comb the cat twice\n").unwrap();
    seen.finds("comb cat", 101);
    fs::remove_dir_all(home.tree().join("domains/group0")).unwrap();
    seen.finds("comb cat", 85);
}

#[test]
fn a_tree_that_appears_goes_and_comes_back_is_seen() {
    let home = Home::new();
    let daemon = Process::start(&home);
    let mut seen = Seen::new(daemon.client());
    for rule in ["Water the tomatoes", "Feed the goldfish"] {
        fs::create_dir_all(home.tree().join("domains")).unwrap();
        fs::write(home.tree().join("domains/home.md"), format!("- {rule}\n")).unwrap();
        seen.finds(rule, 1);
        let text = format!("- {rule}\n- Turn off the lights\n");
        fs::write(home.tree().join("domains/home.md"), text).unwrap();
        seen.finds("lights", 1);
        fs::remove_dir_all(home.tree()).unwrap();
    }
}

#[test]
fn fault_17_what_is_away_is_not_deleted() {
    everywhere(|world| {
        let project = world.home.folder("work/app");
        world.ask(InitNotes { project: Some(project.clone()) });
        let entry = NewNote::Learning {
            kind: LearningKind::Error,
            summary: "Linking fails".to_owned(),
            context: "building".to_owned(),
            situation: "Out of memory".to_owned(),
            rule: "Link with one job".to_owned(),
        };
        world.ask(LogNote { entry, project: Some(project.clone()) });
        fs::write(world.home.tree().join("memory.md"), "- Feed the goldfish\n").unwrap();
        let found = |words: &str| {
            world.ask(SearchNotes { words: words.to_owned(), ..SearchNotes::default() }).notes.len()
        };
        let entries = || world.ask(Status {}).tree.entries;
        assert_eq!((found("goldfish"), found("link")), (1, 1));
        let known = entries();
        let away = world.home.path().join("away");
        for (root, words) in [(world.home.tree(), "goldfish"), (project, "link")] {
            fs::rename(&root, &away).unwrap();
            world.ask(memoryd_proto::Maintain { job: None, dry_run: false });
            if words == "link" {
                assert_eq!(found(words), 0, "nothing is cited that is not there");
            }
            assert_eq!(entries(), known, "it is kept");
            fs::rename(&away, &root).unwrap();
            assert_eq!(found(words), 1);
            assert_eq!(entries(), known);
        }
    });
}

#[test]
fn fault_17_a_watched_tree_that_is_renamed_away_and_back_is_whole() {
    let home = Home::new();
    let daemon = watching(&home);
    let mut seen = Seen::new(daemon.client());
    fs::write(home.tree().join("memory.md"), "- Feed the goldfish\n").unwrap();
    seen.finds("goldfish", 1);
    let away = home.path().join("away");
    fs::rename(home.tree(), &away).unwrap();
    assert_eq!(found(daemon.client(), "goldfish"), None, "there is no tree");
    fs::write(away.join("memory.md"), "- Feed the goldfish\n- Feed the tomcat\n").unwrap();
    fs::rename(&away, home.tree()).unwrap();
    seen.finds("feed", 2);
    fs::write(home.tree().join("memory.md"), "- Feed the parrot\n").unwrap();
    seen.finds("parrot", 1);
}

/// A watcher of a system whose limit is reached.
struct Limited;

impl Watcher for Limited {
    fn new<F: EventHandler>(_: F, _: Config) -> notify::Result<Self> {
        Ok(Self)
    }

    fn watch(&mut self, path: &Path, _: RecursiveMode) -> notify::Result<()> {
        Err(notify::Error::new(ErrorKind::MaxFilesWatch).add_path(path.to_owned()))
    }

    fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
        Ok(())
    }

    fn kind() -> WatcherKind {
        WatcherKind::NullWatcher
    }
}

#[test]
fn fault_18_at_the_limit_of_watches_it_is_said_and_nothing_is_missed() {
    let limited = |_: Hear| -> notify::Result<Box<dyn Watcher + Send>> { Ok(Box::new(Limited)) };
    let deaf = |_: Hear| -> notify::Result<Box<dyn Watcher + Send>> {
        Err(notify::Error::io(std::io::Error::from_raw_os_error(24)))
    };
    for (open, said) in [(limited as memoryd::watch::Open, "max_user_watches"), (deaf, "Too many open files")]
    {
        let home = Home::new();
        let daemon = home.following_daemon(&Arc::new(TurnedClock::new(start_of_time())), open);
        init(daemon.client());
        fs::write(home.tree().join("memory.md"), "- Feed the goldfish\n").unwrap();
        // Whoever asks gets what is there, at once.
        assert_eq!(found(daemon.client(), "goldfish"), Some(1));
        // And nobody needs to ask.
        fs::write(home.tree().join("memory.md"), "- Feed the goldfish\n- Feed the tomcat\n").unwrap();
        let mut seen = Seen::new(daemon.client());
        seen.until("polled", |client| tree(client).polled.is_some() && tree(client).entries == 2);
        let why = tree(daemon.client()).polled.unwrap();
        assert!(why.contains("every 2 seconds") && why.contains(said), "{why}");
        assert!(!tree(daemon.client()).watched);
    }
}

#[test]
fn no_link_is_followed_out_of_a_watched_tree() {
    let home = Home::new();
    let daemon = watching(&home);
    let mut seen = Seen::new(daemon.client());
    let outside = home.folder("outside");
    fs::write(outside.join("secret.md"), "- A secret about goldfish\n").unwrap();
    symlink(&outside, home.tree().join("domains/out")).unwrap();
    symlink(outside.join("secret.md"), home.tree().join("domains/secret.md")).unwrap();
    fs::write(home.tree().join("domains/inside.md"), "- Water the tomatoes\n").unwrap();
    symlink(home.tree().join("domains/inside.md"), home.tree().join("projects/link.md")).unwrap();
    seen.finds("tomatoes", 2);
    fs::write(home.tree().join("domains/inside.md"), "- Water the roses\n").unwrap();
    seen.finds("roses", 2);
    assert_eq!(found(daemon.client(), "goldfish"), Some(0));
}

#[test]
fn what_a_project_learns_is_seen_from_its_first_entry_on() {
    let home = Home::new();
    let daemon = watching(&home);
    let mut seen = Seen::new(daemon.client());
    let project = home.folder("work/app");
    daemon.client().call(InitNotes { project: Some(project.clone()) }).unwrap();
    let learnings = project.join(".learnings/LEARNINGS.md");
    as_replacement(&learnings, "- Link with one job\n");
    seen.finds("link job", 1);
    fs::remove_dir_all(project.join(".learnings")).unwrap();
    seen.finds("link job", 0);
    fs::create_dir(project.join(".learnings")).unwrap();
    fs::write(&learnings, "- Link with two jobs\n").unwrap();
    seen.finds("link jobs", 1);
}

#[test]
fn vectors_come_by_themselves_and_are_not_made_again() {
    let home = Home::new();
    let lines: Vec<String> = (0..40).map(|n| format!("- Rule {n}: feed animal number {n}")).collect();
    fs::create_dir_all(home.tree()).unwrap();
    fs::write(home.tree().join("memory.md"), lines.join("\n")).unwrap();
    let embedded = |client: &Client| tree(client).embedded == 40;
    let daemon = Process::start(&home);
    Seen::new(daemon.client()).until("vectors", embedded);
    let watched = daemon.client().call(Watch { after: Some(0), wait_ms: 0 }).unwrap();
    let told =
        |what: &Happening| matches!(what, Happening::NotesEmbedded { done: 40, of: 40, left_seconds: None });
    assert!(watched.events.iter().any(|event| told(&event.what)), "{watched:?}");
    assert!(daemon.terminate().success());

    let database = rusqlite::Connection::open(home.data_dir().join("memory.db")).unwrap();
    let kept = || database.query_row("SELECT count(*) FROM note_vector", [], |row| row.get::<_, u64>(0));
    assert_eq!(kept(), Ok(40));
    let texts = "SELECT count(*) FROM note WHERE instr(sketch, 'animal') OR instr(id, 'animal')";
    assert_eq!(database.query_row(texts, [], |row| row.get::<_, u64>(0)), Ok(0));
    // A vector that is known is taken as it is.
    let planted = vec![1_u8; 384];
    database.execute("UPDATE note_vector SET vector = ?1", [&planted]).unwrap();
    let daemon = Process::start(&home);
    Seen::new(daemon.client()).until("vectors", embedded);
    assert!(daemon.terminate().success());
    let made = "SELECT count(*) FROM note_vector WHERE vector <> ?1";
    assert_eq!(database.query_row(made, [&planted], |row| row.get::<_, u64>(0)), Ok(0));
}

#[test]
fn m6_a_light_edit_keeps_who_a_note_is() {
    let home = Home::new();
    let clock = Arc::new(TurnedClock::new(start_of_time()));
    let memory = home.tree().join("memory.md");
    let put = |text: &str| {
        fs::create_dir_all(home.tree()).unwrap();
        fs::write(&memory, text).unwrap();
    };
    let asked = |words: &str| {
        let daemon = home.daemon(&clock);
        let page = daemon.client().call(SearchNotes { words: words.to_owned(), ..SearchNotes::default() });
        let id = page.unwrap().notes.swap_remove(0).id;
        let view = daemon.app().journal.view();
        let identity = view.read(|connection| memoryd::ledger::note::identity(connection, &id)).unwrap();
        (id, identity)
    };
    // Each time in another daemon.
    put("- Use tabs in makefiles of the project\n- Water the roses\n");
    let (first, identity) = asked("makefiles");
    assert_eq!(identity, first);
    put("- Use tabs in all makefiles of the project\n- Water the roses\n");
    let (second, identity) = asked("makefiles");
    assert_eq!((second != first, &identity), (true, &first));
    // A file that is saved in two steps is empty in between.
    put("");
    home.daemon(&clock)
        .client()
        .call(SearchNotes { words: "tabs".to_owned(), ..SearchNotes::default() })
        .unwrap();
    put("- Use tabs in all makefiles of the new project\n- Water the roses\n");
    let (third, identity) = asked("makefiles");
    assert_eq!((third != second, &identity), (true, &first));
    // Another meaning is another note, and a copy leaves the use with the first.
    put("- Never use tabs in all makefiles of the new project\n- Water the roses\n");
    let (other, identity) = asked("makefiles");
    assert_eq!(identity, other);
}
