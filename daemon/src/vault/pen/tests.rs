#![allow(clippy::unwrap_used, reason = "a test fails where it is wrong")]

use std::io::Read;

use super::*;

struct Tree {
    _folder: tempfile::TempDir,
    pen: Pen,
    path: PathBuf,
}

fn tree() -> Tree {
    let folder = tempfile::tempdir().unwrap();
    let pen = Pen::new(Vault::new(folder.path().join("tree")), folder.path().join("replaced"));
    let path = folder.path().join("tree/memory.md");
    for folder in ["tree", "replaced"] {
        fs::create_dir(pen.vault().root().with_file_name(folder)).unwrap();
    }
    Tree { _folder: folder, pen, path }
}

impl Tree {
    fn says(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }

    /// What lies beside the file, hidden.
    fn beside(&self) -> usize {
        fs::read_dir(self.path.parent().unwrap()).unwrap().count() - usize::from(self.path.exists())
    }

    /// A file that says `before`, whose new text lies beside it.
    fn drawn(&self, before: &str, after: &str) -> PathBuf {
        fs::write(&self.path, before).unwrap();
        self.pen.draw(&self.path, after).unwrap()
    }

    /// Saves as most editors do.
    fn save(&self, text: &str) {
        let draft = self.path.with_extension("tmp");
        fs::write(&draft, text).unwrap();
        fs::rename(draft, &self.path).unwrap();
    }
}

#[test]
fn what_is_saved_before_the_exchange_goes_back() {
    let tree = tree();
    let swap = tree.drawn("a\n", "a\nours\n");
    tree.save("a\ntheirs\n");
    exchange(&swap, &tree.path).unwrap();
    let given_back = tree.pen.give_back(&tree.path, &swap, "a\n", "a\nours\n");
    assert!(matches!(given_back, Err(Error::Changed { .. })));
    assert_eq!((tree.says().as_str(), tree.beside()), ("a\ntheirs\n", 0));
}

#[test]
fn what_is_saved_before_and_after_the_exchange_is_brought_together() {
    let tree = tree();
    let swap = tree.drawn("a\n", "a\nours\n");
    tree.save("a\none\n");
    exchange(&swap, &tree.path).unwrap();
    tree.save("two\na\n");
    tree.pen.give_back(&tree.path, &swap, "a\n", "a\nours\n").unwrap();
    assert_eq!((tree.says().as_str(), tree.beside()), ("two\na\none\nours\n", 0));
}

#[test]
fn a_file_that_is_removed_after_it_was_saved_keeps_what_was_saved() {
    let tree = tree();
    let swap = tree.drawn("a\n", "a\nours\n");
    tree.save("a\ntheirs\n");
    exchange(&swap, &tree.path).unwrap();
    fs::remove_file(&tree.path).unwrap();
    assert!(tree.pen.give_back(&tree.path, &swap, "a\n", "a\nours\n").is_err());
    assert_eq!((tree.says().as_str(), tree.beside()), ("a\ntheirs\n", 0));
}

/// Somebody who saves as those do who make the old file the backup, and who is about to write the new one.
fn taken_away(tree: &mut Tree, text: &'static str) {
    fs::rename(&tree.path, tree.path.with_extension("md~")).unwrap();
    let path = tree.path.clone();
    tree.pen.pause = Box::new(move || fs::write(&path, text).unwrap());
}

#[test]
fn fault_20_a_file_that_is_taken_away_to_be_saved_is_waited_for() {
    let mut tree = tree();
    fs::write(&tree.path, "a\n").unwrap();
    assert!(tree.pen.vault().read(&tree.path).unwrap().is_some());
    for _ in 0..2 {
        taken_away(&mut tree, "a\ntheirs\n");
        let written = tree.pen.write(&tree.path, None, Some("ours\n"));
        assert!(matches!(written, Err(Error::Changed { .. })));
        assert_eq!(tree.says(), "a\ntheirs\n");
        // It was not read since.
        tree.pen.write(&tree.path, Some("a\ntheirs\n"), Some("a\n")).unwrap();
    }

    let swap = tree.drawn("a\n", "a\nours\n");
    tree.save("a\none\n");
    exchange(&swap, &tree.path).unwrap();
    taken_away(&mut tree, "a\nours\ntwo\n");
    tree.pen.give_back(&tree.path, &swap, "a\n", "a\nours\n").unwrap();
    assert_eq!(tree.says(), "a\nours\ntwo\none\n");

    let mut late = OpenOptions::new().append(true).open(&tree.path).unwrap();
    tree.pen.write(&tree.path, Some("a\nours\ntwo\none\n"), Some("a\ntwo\none\n")).unwrap();
    late.write_all(b"late\n").unwrap();
    taken_away(&mut tree, "a\ntwo\none\nmore\n");
    tree.pen.look_back();
    assert!(tree.says().contains("late\n") && tree.says().contains("more\n"), "{}", tree.says());
}

#[test]
fn a_file_that_was_removed_is_made_anew() {
    let mut tree = tree();
    tree.pen.pause = Box::new(|| ());
    fs::write(&tree.path, "a\n").unwrap();
    assert!(tree.pen.vault().read(&tree.path).unwrap().is_some());
    fs::remove_file(&tree.path).unwrap();
    tree.pen.write(&tree.path, None, Some("ours\n")).unwrap();
    assert_eq!(tree.says(), "ours\n");
}

#[test]
fn who_had_the_file_open_writes_into_it_later() {
    let tree = tree();
    fs::write(&tree.path, "a\n").unwrap();
    let mut appending = OpenOptions::new().append(true).open(&tree.path).unwrap();
    let mut rewriting = OpenOptions::new().read(true).write(true).open(&tree.path).unwrap();
    tree.pen.write(&tree.path, Some("a\n"), Some("a\nours\n")).unwrap();
    appending.write_all(b"theirs\n").unwrap();
    tree.pen.look_back();
    assert_eq!(tree.says(), "a\nours\ntheirs\n");
    let mut text = String::new();
    rewriting.read_to_string(&mut text).unwrap();
    rewriting.set_len(0).unwrap();
    tree.pen.look_back();
    assert_eq!(tree.says(), "a\nours\ntheirs\n", "it is being written");
    rewriting.write_all_at(format!("first\n{text}").as_bytes(), 0).unwrap();
    tree.pen.look_back();
    assert_eq!((tree.says().as_str(), tree.beside()), ("first\na\nours\ntheirs\n", 0));
}

#[test]
fn fault_20_what_is_written_late_is_found_after_a_kill() {
    let mut tree = tree();
    fs::write(&tree.path, "a\nb\n").unwrap();
    let mut appending = OpenOptions::new().append(true).open(&tree.path).unwrap();
    tree.pen.write(&tree.path, Some("a\nb\n"), Some("a\nours\n")).unwrap();
    tree.pen.write(&tree.path, Some("a\nours\n"), Some("ours\n")).unwrap();
    appending.write_all(b"theirs\n").unwrap();
    let anew = Pen::new(tree.pen.vault().clone(), tree.pen.held.clone());
    std::mem::forget(std::mem::replace(&mut tree.pen, anew));
    for _ in 0..2 {
        tree.pen.sweep(&[], &|_, _| false);
        assert_eq!(tree.says(), "ours\ntheirs\n");
        assert_eq!(fs::read_dir(&tree.pen.held).unwrap().count(), 0);
    }
}

#[test]
fn what_is_in_the_place_of_a_file_is_no_file_to_be_written() {
    let tree = tree();
    fs::write(tree.path.with_extension("other"), "a\n").unwrap();
    let swap = tree.drawn("a\n", "ours\n");
    fs::remove_file(&tree.path).unwrap();
    std::os::unix::fs::symlink("memory.other", &tree.path).unwrap();
    exchange(&swap, &tree.path).unwrap();
    assert!(tree.pen.give_back(&tree.path, &swap, "a\n", "ours\n").is_err());
    assert!(tree.path.is_symlink());
    assert_eq!(fs::read_to_string(tree.path.with_extension("other")).unwrap(), "a\n");
}

#[test]
fn fault_20_what_a_dead_process_left_is_brought_to_its_end() {
    let ours = |_: &Path, text: &str| ["a\n", "a\nours\n"].contains(&text);
    // Before the exchange, after it, and after it with what somebody had saved just before; then somebody saved since.
    let cases = [
        ("a\n", "a\nours\n", "a\n"),
        ("a\nours\n", "a\n", "a\nours\n"),
        ("a\nours\n", "a\ntheirs\n", "a\ntheirs\n"),
        ("a\nmore\n", "a\ntheirs\n", "a\nmore\ntheirs\n"),
    ];
    for (file, swap, after) in cases {
        let tree = tree();
        let beside = tree.drawn(file, swap);
        fs::write(beside.with_extension("draft"), "hal").unwrap();
        tree.pen.sweep(&[], &ours);
        assert_eq!((tree.says().as_str(), tree.beside()), (after, 0), "{file:?} {swap:?}");
    }
    let tree = tree();
    fs::write(tree.path.with_file_name(".memory.md.1.0.swap"), "a living process's").unwrap();
    fs::write(tree.path.with_file_name(".gitignore"), "theirs").unwrap();
    tree.pen.sweep(&[], &ours);
    assert_eq!(tree.beside(), 2);
}

/// Two writers that know nothing of one another, as fast as they can.
#[test]
fn no_line_of_two_writers_is_lost() {
    const LINES: usize = 400;
    let tree = tree();
    fs::write(&tree.path, "# Lines\n").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..LINES {
                let mut file = OpenOptions::new().append(true).open(&tree.path).unwrap();
                file.write_all(format!("theirs {n}\n").as_bytes()).unwrap();
            }
        });
        for n in 0..LINES {
            loop {
                let is = tree.says();
                let after = is.replacen("# Lines\n", &format!("# Lines\nours {n}\n"), 1);
                match tree.pen.write(&tree.path, Some(&is), Some(&after)) {
                    Err(Error::Changed { .. }) => {}
                    written => break written.unwrap(),
                }
            }
        }
    });
    tree.pen.look_back();
    let text = tree.says();
    for n in 0..LINES {
        assert!(text.lines().any(|line| line == format!("ours {n}")), "ours {n}");
        assert!(text.lines().any(|line| line == format!("theirs {n}")), "theirs {n}");
    }
    assert_eq!((text.lines().count(), tree.beside()), (2 * LINES + 1, 0));
}
