//! The index of the memory tree: topics, and the files that say something of them (spec M1).

use std::collections::{BTreeMap, BTreeSet};

use memoryd_proto::{NoteKind, Tier};

use super::Draft;
use crate::domain::markdown;

/// Where the daemon's lines begin. People's lines are outside.
const BEGIN: &str = "<!-- topics, kept by memoryd -->";

/// Where they end.
const END: &str = "<!-- end of topics -->";

/// Sections that say nothing of what is in them.
const PLAIN: [&str; 3] = ["Rules", "Preferences", "Patterns"];

/// Writes the topics to the index, if there is an index. Returns false when the marks of its lines are broken, and it
/// was left alone.
pub fn index(draft: &mut Draft) -> bool {
    let Some((path, text)) = draft.of(Tier::Index).next().map(|(path, text)| (path.to_owned(), text)) else {
        return true;
    };
    let crlf = text.contains("\r\n");
    let (begins, ends) = (text.matches(BEGIN).count(), text.matches(END).count());
    let own = text.find(BEGIN).zip(text.find(END)).filter(|(begin, end)| begin < end);
    let topics = topics(draft);
    let block = format!("{BEGIN}\n\n{topics}\n{END}");
    let block = if crlf { block.replace('\n', "\r\n") } else { block };
    let after = match own {
        Some((begin, end)) if (begins, ends) == (1, 1) => {
            [&text[..begin], &block, &text[end + END.len()..]].concat()
        }
        None if (begins, ends) == (0, 0) => {
            if topics.is_empty() {
                return true;
            }
            let eol = if crlf { "\r\n" } else { "\n" };
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { eol };
            format!("{text}{gap}{eol}{block}{eol}")
        }
        Some(_) | None => return false,
    };
    draft.write(&path, Tier::Index, after);
    true
}

/// A line for each topic: what files are named after, what their sections are about, and titles of shared insights.
fn topics(draft: &Draft) -> String {
    let mut topics: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
    let mut add = |topic: &str, file: &str| {
        let topic = topic.split_whitespace().collect::<Vec<_>>().join(" ");
        if !topic.is_empty() {
            let (_, files) = topics.entry(topic.to_lowercase()).or_insert((topic, BTreeSet::new()));
            files.insert(file.to_owned());
        }
    };
    for tier in [Tier::Project, Tier::Domain, Tier::Shared] {
        for (path, text) in draft.of(tier) {
            let file = draft.name(path).display().to_string();
            let entries = markdown::entries(text, &markdown::parse(text));
            if tier != Tier::Shared {
                add(&path.file_stem().unwrap_or_default().to_string_lossy(), &file);
            }
            for entry in &entries {
                if tier == Tier::Shared && entry.kind == NoteKind::Insight {
                    add(&entry.title, &file);
                }
                let is_plain = |section: &str| PLAIN.iter().any(|plain| plain.eq_ignore_ascii_case(section));
                if let Some(section) = entry.section.filter(|section| !is_plain(section)) {
                    add(section, &file);
                }
            }
        }
    }
    let line = |(topic, files): &(String, BTreeSet<String>)| {
        format!("- {topic} → {}\n", files.iter().cloned().collect::<Vec<_>>().join(", "))
    };
    topics.values().map(line).collect()
}
