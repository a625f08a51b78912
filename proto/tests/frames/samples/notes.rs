//! A sample of every call of the memory tree.

#[allow(clippy::wildcard_imports, reason = "nearly all of its vocabulary is sampled")]
use memoryd_proto::*;

use super::{Sample, at, hash, sample, text, texts};

fn note() -> Note {
    Note {
        id: "0123".to_owned(),
        file: "/tree/memory.md".to_owned(),
        line: 5,
        tier: Tier::Hot,
        kind: NoteKind::Line,
        section: text("Rules"),
        title: "Use tabs".to_owned(),
        date: Some(at().date_naive()),
        rule: text("Always"),
        text: "- **Use tabs**".to_owned(),
        words: texts(&["tabs"]),
    }
}

fn page() -> NotePage {
    NotePage { notes: vec![note()], total: 2, files: 3, unread: texts(&["/tree/x.md"]) }
}

fn written() -> Written {
    Written {
        places: vec![Place { file: "/tree/memory.md".to_owned(), line: Some(5) }],
        redacted: texts(&["iban"]),
        operation: Some(OperationId(4)),
    }
}

pub fn all() -> Vec<Sample> {
    let name = "2026-01-05-auth".to_owned();
    vec![
        sample(InitNotes { project: Some("/home/app".into()) }, written()),
        sample(
            LogNote {
                entry: NewNote::Learning {
                    kind: LearningKind::Pattern,
                    summary: "a".to_owned(),
                    context: "b".to_owned(),
                    situation: "c".to_owned(),
                    rule: "d".to_owned(),
                },
                project: Some("/home/app".into()),
            },
            written(),
        ),
        sample(SearchNotes { words: "tabs".to_owned(), archive: true, limit: 3 }, page()),
        sample(
            ShowNotes { of: text("hot") },
            NoteFiles {
                root: "/tree".to_owned(),
                files: vec![NoteFile {
                    file: "/tree/memory.md".to_owned(),
                    tier: Tier::Hot,
                    lines: 9,
                    entries: 1,
                    text: text("# Global Memory"),
                }],
                skipped: texts(&["/tree/x.md"]),
            },
        ),
        sample(LearnedNotes { corrections: 3 }, page()),
        sample(ProjectNotes { project: "app".to_owned() }, page()),
        sample(
            NoteStats {},
            NoteStatus {
                hot: 1,
                projects: Counted { files: 2, entries: 3 },
                domains: Counted { files: 4, entries: 5 },
                shared: 6,
                shared_new: 7,
                cold: 8,
                corrections: 9,
                promotions: 10,
                demotions: 11,
                written: 12,
                consumed: 13,
            },
        ),
        sample(
            ForgetNotes { words: "tabs".to_owned(), confirmed: texts(&["0123"]) },
            Forgotten {
                notes: vec![note()],
                archive: "/tree/archive/forgotten-2026-01.md".to_owned(),
                operation: Some(OperationId(4)),
            },
        ),
        sample(
            ShareNote {
                title: "Auth".to_owned(),
                from: "app".to_owned(),
                relevance: "code".to_owned(),
                insight: "It needs a header".to_owned(),
                rule: "Send it".to_owned(),
            },
            written(),
        ),
        sample(SharedNotes { days: 3 }, page()),
        sample(ConsumeNote { name: name.clone() }, written()),
        sample(PromoteNote { name, domain: text("code") }, written()),
        sample(
            Projects {},
            ProjectList {
                projects: vec![KnownProject {
                    hash: hash(),
                    name: "app".to_owned(),
                    root: "/home/app".to_owned(),
                    since: at(),
                    present: true,
                }],
            },
        ),
    ]
}
