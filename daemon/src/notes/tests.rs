use std::fs;

use chrono::TimeDelta;
use tempfile::TempDir;

use super::*;

struct Tree {
    folder: TempDir,
    vault: Vault,
    notes: Notes,
}

impl Tree {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::new(folder.path().join("tree"));
        fs::create_dir_all(vault.root()).unwrap();
        Self { folder, vault, notes: Notes::new(Settings { dimension: 2, k1: 1.2, b: 0.75 }) }
    }

    fn memory(&self) -> PathBuf {
        self.vault.root().join("memory.md")
    }

    /// Writes the file, and returns when.
    fn put(&self, text: &str) -> DateTime<Utc> {
        fs::write(self.memory(), text).unwrap();
        fs::metadata(self.memory()).unwrap().modified().unwrap().into()
    }

    fn scan(&self, now: DateTime<Utc>) -> usize {
        self.notes.scan(&self.vault, &[], now).unwrap()
    }

    fn titles(&self) -> Vec<String> {
        self.notes.of(Tier::Hot).into_iter().map(|note| note.title).collect()
    }
}

#[test]
fn fault_16_a_save_of_the_same_size_in_the_same_second_is_seen() {
    let tree = Tree::new();
    for rule in ["one", "two", "six"] {
        let now = tree.put(&format!("- {rule}\n"));
        assert_eq!(tree.scan(now), 1, "{rule}");
        assert_eq!(tree.scan(now), 0);
        assert_eq!(tree.titles(), [rule]);
    }
    // Also when it takes over the time of the file before.
    let now = tree.put("- one\n") + TimeDelta::hours(1);
    assert_eq!(tree.scan(now), 1);
    let before = fs::metadata(tree.memory()).unwrap().modified().unwrap();
    tree.put("- two\n");
    fs::File::options().write(true).open(tree.memory()).unwrap().set_modified(before).unwrap();
    assert_eq!(tree.scan(now), 1);
    assert_eq!(tree.titles(), ["two"]);
}

#[test]
fn entries_that_only_moved_keep_their_vectors() {
    let tree = Tree::new();
    tree.scan(tree.put("- one\n- two\n"));
    let bare = tree.notes.bare(10);
    let vectors: Vec<_> = bare.iter().map(|one| (one, Some(&[1.0, 0.0][..]))).collect();
    tree.notes.clothe(&vectors);
    assert_eq!(tree.notes.counts(), Counts { files: 1, entries: 2, vectors: 2 });
    tree.scan(tree.put("- two\n\n- new\n- one\n"));
    assert_eq!(tree.notes.counts(), Counts { files: 1, entries: 3, vectors: 2 });
    let bare = tree.notes.bare(10);
    assert_eq!(bare.len(), 1);
    // One that changes while its vector is computed goes without.
    tree.scan(tree.put("- other\n"));
    tree.notes.clothe(&[(&bare[0], Some(&[0.0, 1.0]))]);
    assert_eq!(tree.notes.counts(), Counts { files: 1, entries: 1, vectors: 0 });
}

#[test]
fn fault_17_what_is_away_is_kept_and_not_told() {
    let tree = Tree::new();
    let now = tree.put("- one\n");
    tree.scan(now);
    let away = tree.folder.path().join("away");
    fs::rename(tree.vault.root(), &away).unwrap();
    assert!(!tree.notes.are_in_place(&tree.vault, &[]));
    assert_eq!(tree.scan(now), 0);
    assert_eq!((tree.titles().len(), tree.notes.counts().entries), (0, 1));
    fs::rename(&away, tree.vault.root()).unwrap();
    assert_eq!(tree.scan(now), 0);
    assert_eq!(tree.titles(), ["one"]);
    // A file that is gone while its tree is there is a deletion.
    fs::remove_file(tree.memory()).unwrap();
    assert_eq!(tree.notes.look(&tree.vault, &[], &[tree.memory()], now).unwrap(), 1);
    assert_eq!(tree.notes.counts(), Counts::default());
}

#[test]
fn a_file_that_cannot_be_read_is_told_until_it_can() {
    let tree = Tree::new();
    let now = tree.put("- one\n");
    fs::write(tree.memory(), [0xff]).unwrap();
    assert_eq!(tree.scan(now), 1);
    assert_eq!(tree.scan(now), 0);
    assert!(tree.notes.unread()[0].contains("no UTF-8 text"));
    tree.scan(tree.put("- one\n"));
    assert_eq!((tree.notes.unread().len(), tree.titles().len()), (0, 1));
}
