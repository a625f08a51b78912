//! A sample of every call of the memory tree.

#[allow(clippy::wildcard_imports, reason = "nearly all of its vocabulary is sampled")]
use memoryd_proto::*;

use super::{Sample, at, hash, name, sample, text, texts};

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

pub fn written() -> Written {
    Written {
        places: vec![Place { file: "/tree/memory.md".to_owned(), line: Some(5) }],
        redacted: texts(&["iban"]),
        operation: Some(OperationId(4)),
    }
}

fn candidate() -> SkillCandidate {
    SkillCandidate {
        note: note(),
        places: written().places,
        met: vec![SkillEvidence { criterion: SkillCriterion::NonObvious, evidence: "why".to_owned() }],
        name: text("use-tabs"),
    }
}

fn distilled() -> Distilled {
    let lines = texts(&["- Use tabs"]);
    Distilled {
        written: written(),
        additions: vec![AddedLines { file: "/home/app/CLAUDE.md".to_owned(), line: 3, lines }],
    }
}

pub fn all() -> Vec<Sample> {
    let insight = "2026-01-05-auth".to_owned();
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
        sample(ConsumeNote { name: insight.clone() }, written()),
        sample(PromoteNote { name: insight, domain: text("code") }, written()),
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

/// What learnings become: rules, skills, better work.
pub fn distilling() -> Vec<Sample> {
    vec![
        sample(
            PromoteLearning {
                note: "0123".to_owned(),
                project: Some("/home/app".into()),
                to: Some("AGENTS.md".into()),
                rule: text("Use tabs"),
                dry_run: true,
            },
            distilled(),
        ),
        sample(
            Skills { limit: 3 },
            SkillList { candidates: vec![candidate()], total: 2, unread: texts(&["/tree/x.md"]) },
        ),
        sample(
            ExtractSkill {
                note: "0123".to_owned(),
                project: Some("/home/app".into()),
                name: text("use-tabs"),
                into: Some("/home/skills".into()),
                dry_run: true,
            },
            distilled(),
        ),
        sample(
            Shortcomings { agent: Some(name("finder")), days: 7 },
            ShortcomingList {
                days: 7,
                tasks: 3,
                points: vec![Shortcoming {
                    kind: ShortcomingKind::Misleading,
                    said: "It failed".to_owned(),
                    sources: texts(&["eval_1"]),
                }],
                unread: texts(&["/tree/x.md"]),
            },
        ),
    ]
}
