//! What must hold of the memory tree every morning.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use memoryd::domain::markdown;
use memoryd_proto::NoteKind;
use memoryd_tests::Home;

use crate::notes::files;

/// Days after which an insight may be gone that is no longer shared.
const GONE: i64 = 30;

/// What was ever seen in the files, to be found in them for ever.
#[derive(Default)]
pub struct Tree {
    /// Each note, and when it was last seen outside the archive of what was shared.
    seen: BTreeMap<String, NaiveDate>,
    /// Notes that were ever only shared.
    shared: BTreeSet<String>,
    /// The notes of each file, and the text that has them.
    read: BTreeMap<PathBuf, (String, Vec<String>)>,
}

/// Every file of the tree and of the project.
pub fn snapshot(home: &Home) -> BTreeMap<PathBuf, String> {
    let mut all = files(&home.tree());
    all.extend(files(&home.path().join("work")));
    all
}

impl Tree {
    /// Checks that every file keeps its cap, that every preference is where it was, and that no note is lost.
    pub fn check(&mut self, home: &Home, preferences: &[String], today: NaiveDate) {
        let all = snapshot(home);
        let of = |folder: &str| {
            let folder = home.tree().join(folder);
            all.iter().filter(move |(path, _)| path.starts_with(&folder))
        };
        let memory = &all[&home.tree().join("memory.md")];
        assert!(memory.lines().count() <= 100, "{} lines", memory.lines().count());
        for (path, text) in of("projects").chain(of("domains")) {
            assert!(text.lines().count() <= 200, "{} has {} lines", path.display(), text.lines().count());
        }
        assert!(ids(&all[&home.tree().join("corrections.md")]).len() <= 50);
        assert!(of("shared").count() <= 20);
        for preference in preferences {
            assert!(memory.contains(preference.as_str()), "{preference} is lost");
        }
        let (mut here, mut archived) = (BTreeSet::new(), BTreeSet::new());
        self.read.retain(|path, (text, _)| all.get(path) == Some(text));
        for (path, text) in all.clone() {
            self.read.entry(path).or_insert_with(|| {
                let ids = ids(&text);
                (text, ids)
            });
        }
        for (path, (_, ids)) in &self.read {
            let shared = path.starts_with(home.tree().join("shared"));
            if path.starts_with(home.tree().join("archive/shared")) {
                archived.extend(ids.iter().cloned());
            } else if !path.ends_with("index.md") {
                for id in ids.iter().cloned() {
                    if shared && !self.seen.contains_key(&id) {
                        self.shared.insert(id.clone());
                    } else if !shared {
                        self.shared.remove(&id);
                    }
                    self.seen.insert(id.clone(), today);
                    here.insert(id);
                }
            }
        }
        for (id, last) in &self.seen {
            let may_be_gone = self.shared.contains(id) && (today - *last).num_days() >= GONE;
            assert!(here.contains(id) || archived.contains(id) || may_be_gone, "{id} is lost since {last}");
        }
    }
}

fn ids(text: &str) -> Vec<String> {
    let entries = markdown::entries(text, &markdown::parse(text));
    entries.iter().filter(|entry| entry.kind != NoteKind::Prose).map(markdown::Entry::id).collect()
}

/// Somebody pastes lines into a file by hand.
pub fn paste(path: &Path, lines: &[String]) {
    let text = fs::read_to_string(path).unwrap_or_else(|_| "# app\n\n## Rules\n".to_owned());
    fs::write(path, text.replacen("## Rules\n", &format!("## Rules\n\n{}", lines.concat()), 1)).unwrap();
}
