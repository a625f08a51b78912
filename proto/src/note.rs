//! The markdown memory tree: files that people and agents edit, and what is written in them (spec M1–M15).

use std::path::PathBuf;

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use crate::{OperationId, ProjectHash};

/// Where in the tree a file belongs (spec M1, M3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// `.learnings/LEARNINGS.md` of a project.
    Local,
    /// `projects/`: patterns of one project.
    Project,
    /// `domains/`: patterns of a field of work.
    Domain,
    /// `shared/`: insights for other sessions.
    Shared,
    /// `memory.md`: rules and preferences that are always loaded.
    Hot,
    /// `corrections.md`: what the user put right.
    Corrections,
    /// `index.md`: topics and their files.
    Index,
    /// `archive/`: what is looked at only when asked for.
    Cold,
}

impl Tier {
    /// Every tier, the most specific first (spec M8).
    pub const ALL: [Self; 8] = [
        Self::Local,
        Self::Project,
        Self::Domain,
        Self::Shared,
        Self::Hot,
        Self::Corrections,
        Self::Index,
        Self::Cold,
    ];

    /// The tier's name, as arguments and answers have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Project => "project",
            Self::Domain => "domain",
            Self::Shared => "shared",
            Self::Hot => "hot",
            Self::Corrections => "corrections",
            Self::Index => "index",
            Self::Cold => "cold",
        }
    }
}

/// What kind of entry a note is (spec M2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// What the user put right.
    Correction,
    /// What failed.
    Error,
    /// What works again and again.
    Pattern,
    /// What was not known, or cannot be done yet.
    Gap,
    /// A list item: a rule, a preference, a pattern.
    Line,
    /// An insight for other sessions.
    Insight,
    /// What a task taught whoever did it.
    Reflection,
    /// Text of another form.
    Prose,
}

/// An entry of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Names what it says: the same wherever it is moved, whatever case, spacing, emphasis and dates it has.
    pub id: String,
    /// The file.
    pub file: String,
    /// Its first line there, from 1.
    pub line: u64,
    /// The file's tier.
    pub tier: Tier,
    /// What kind of entry it is.
    pub kind: NoteKind,
    /// The heading that it stands under.
    pub section: Option<String>,
    /// What it is about, in a line.
    pub title: String,
    /// When it was noted, if it says so.
    pub date: Option<NaiveDate>,
    /// The takeaway, if it has one apart from its title.
    pub rule: Option<String>,
    /// The entry as it is written.
    pub text: String,
    /// The words of the search that it has.
    pub words: Vec<String>,
}

/// Notes, and what they were taken from (spec M15).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NotePage {
    /// The notes.
    pub notes: Vec<Note>,
    /// How many there are in all; those beyond the limit were left out.
    pub total: u64,
    /// The files that were read.
    pub files: u64,
    /// Files that could not be read, and why.
    pub unread: Vec<String>,
}

/// What was written to files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// What was written where: files, with the line of an entry.
    pub places: Vec<Place>,
    /// The kinds of secrets that were redacted.
    pub redacted: Vec<String>,
    /// The operation, to be undone with `Undo`; absent when nothing had to be written.
    pub operation: Option<OperationId>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1; absent for the whole file.
    pub line: Option<u64>,
}

/// Create the memory tree, and a project's learnings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InitNotes {
    /// A folder in the project whose learnings are created too.
    pub project: Option<PathBuf>,
}

/// Write an entry to the memory tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogNote {
    /// The entry.
    pub entry: NewNote,
    /// A folder in the project that it belongs to.
    pub project: Option<PathBuf>,
}

/// An entry that is to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewNote {
    /// What the user put right; goes to `corrections.md`.
    Correction {
        /// What it is about, in a line.
        summary: String,
        /// What was happening.
        context: String,
        /// What the user said.
        correction: String,
        /// The permanent takeaway.
        rule: String,
    },
    /// What a project taught; goes to its learnings.
    Learning {
        /// Error, pattern or gap.
        kind: LearningKind,
        /// What it is about, in a line.
        summary: String,
        /// What was happening.
        context: String,
        /// What went wrong, or what was learned.
        situation: String,
        /// The takeaway, in a sentence.
        rule: String,
    },
    /// What the user prefers; goes to `memory.md`.
    Preference {
        /// The preference, in a sentence.
        rule: String,
    },
    /// What a task taught whoever did it; goes to the project's learnings, else to `domains/reflections.md`.
    Reflection {
        /// The type of task.
        context: String,
        /// What was noticed.
        reflection: String,
        /// What to do differently.
        lesson: String,
    },
}

/// What a project's learning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearningKind {
    /// What failed.
    Error,
    /// What works again and again.
    Pattern,
    /// What was not known, or cannot be done yet.
    Gap,
}

/// Search the memory tree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SearchNotes {
    /// Words; notes that share more and rarer ones come first.
    pub words: String,
    /// Whether the archive is searched too.
    pub archive: bool,
    /// How many to return; 0 for the default of 20. More than 1,000 are never returned at once.
    pub limit: u64,
}

/// Show the files of the memory tree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ShowNotes {
    /// A file of the tree, or all of a tier; absent for a list of the files.
    pub of: Option<String>,
}

/// Files of the memory tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteFiles {
    /// The folder of the tree.
    pub root: String,
    /// The files, in the order of their tiers.
    pub files: Vec<NoteFile>,
    /// Files that could not be read, or were left out for space.
    pub skipped: Vec<String>,
}

/// A file of the memory tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteFile {
    /// Its path.
    pub file: String,
    /// Its tier.
    pub tier: Tier,
    /// Its lines.
    pub lines: u64,
    /// Its entries, prose not counted.
    pub entries: u64,
    /// What is written in it, when it was asked for.
    pub text: Option<String>,
}

/// What was learned: recent corrections, newest first, and the rules that are always loaded.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LearnedNotes {
    /// How many corrections; 0 for the default of 10.
    pub corrections: u64,
}

/// What is known of a project: its file in `projects/` and its learnings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProjectNotes {
    /// The project's name, or a folder in it.
    pub project: String,
}

/// Count what is in the memory tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NoteStats {}

/// What is in the memory tree, by tier, and what happened in the last seven days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteStatus {
    /// Entries of `memory.md`.
    pub hot: u64,
    /// `projects/`.
    pub projects: Counted,
    /// `domains/`.
    pub domains: Counted,
    /// Files in `shared/`.
    pub shared: u64,
    /// Those of them that came since shared insights were last listed.
    pub shared_new: u64,
    /// Files in `archive/`.
    pub cold: u64,
    /// Corrections that are dated in the last seven days.
    pub corrections: u64,
    /// Promotions to `memory.md`.
    pub promotions: u64,
    /// Demotions to `projects/` and `domains/`.
    pub demotions: u64,
    /// Insights that were shared.
    pub written: u64,
    /// Shared insights that were consumed.
    pub consumed: u64,
}

/// Files, and the entries in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// The files.
    pub files: u64,
    /// Their entries, prose not counted.
    pub entries: u64,
}

/// Archive what the memory tree says about something. Nothing is deleted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ForgetNotes {
    /// Words that a note must all have.
    pub words: String,
    /// The ids of those that go; none to only show what would go.
    pub confirmed: Vec<String>,
}

/// What was archived, or would be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Forgotten {
    /// The notes.
    pub notes: Vec<Note>,
    /// The file that they went to, or would go to.
    pub archive: String,
    /// The operation; absent when nothing was archived.
    pub operation: Option<OperationId>,
}

/// Share an insight with other sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareNote {
    /// What it is about; the file is named after it.
    pub title: String,
    /// The project or task that it comes from.
    pub from: String,
    /// `writing`, `code`, `general` or a project's name.
    pub relevance: String,
    /// What was learned or discovered.
    pub insight: String,
    /// A sentence that the other session can apply.
    pub rule: String,
}

/// List shared insights, newest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SharedNotes {
    /// Only those of so many days; 0 for the default of 3.
    pub days: u32,
}

/// Archive a shared insight that was applied.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ConsumeNote {
    /// The name of its file.
    pub name: String,
}

/// Make a shared insight a rule that stays.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PromoteNote {
    /// The name of its file.
    pub name: String,
    /// The field of work whose file takes the rule; absent for `memory.md`.
    pub domain: Option<String>,
}

/// List the projects that are known.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Projects {}

/// The projects that are known, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectList {
    /// The projects.
    pub projects: Vec<KnownProject>,
}

/// A project that something was logged in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownProject {
    /// Its hash.
    pub hash: ProjectHash,
    /// Its name: that of its folder.
    pub name: String,
    /// The folder.
    pub root: String,
    /// Since when it is known.
    pub since: DateTime<Utc>,
    /// Whether the folder is there.
    pub present: bool,
}
