//! What becomes of notes that prove themselves: rules of a project, skills, and what could be done better (spec
//! M11–M13).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{AgentName, Note, Place, Written};

/// Make a project's learning a rule of its `CLAUDE.md`, or of another file of the project (spec M11).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromoteLearning {
    /// The learning: its id, the beginning of its id, or words that it alone has.
    pub note: String,
    /// A folder in the project.
    pub project: Option<PathBuf>,
    /// The file, from the project's root; absent for `CLAUDE.md`.
    pub to: Option<PathBuf>,
    /// The rule, in a line; absent for that of the learning.
    pub rule: Option<String>,
    /// Only say what would be written.
    pub dry_run: bool,
}

/// Make a learning a skill (spec M12).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractSkill {
    /// The learning: its id, the beginning of its id, or words that it alone has.
    pub note: String,
    /// A folder in the project whose learnings are searched too, though it may not be known yet.
    pub project: Option<PathBuf>,
    /// The skill's name: lower-case letters, digits and hyphens; absent for one that follows from the learning's title.
    pub name: Option<String>,
    /// The folder that the skill's folder is made in; absent for `skills/` in the memory tree.
    pub into: Option<PathBuf>,
    /// Only say what would be written.
    pub dry_run: bool,
}

/// What was made of a note, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distilled {
    /// Where it is written, what was redacted, and the operation; absent when nothing had to be written, or was to be.
    pub written: Written,
    /// What is added to files. None when everything is there already.
    pub additions: Vec<AddedLines>,
}

/// Lines that are added to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedLines {
    /// The file.
    pub file: String,
    /// The first one's number, from 1.
    pub line: u64,
    /// The lines.
    pub lines: Vec<String>,
}

/// The learnings that are worth being a skill (spec M12).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skills {
    /// How many to return; 0 for the default of 20. More than 1,000 are never returned at once.
    pub limit: u64,
}

/// The learnings that are worth being a skill.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkillList {
    /// Those that meet the most criteria first; of equals, those that were used in the most tasks.
    pub candidates: Vec<SkillCandidate>,
    /// How many there are in all.
    pub total: u64,
    /// Files that could not be read, and why.
    pub unread: Vec<String>,
}

/// A learning that is worth being a skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillCandidate {
    /// The learning; of several that say the same, the most specific.
    pub note: Note,
    /// Every place where it is noted.
    pub places: Vec<Place>,
    /// The criteria that it meets, in their order.
    pub met: Vec<SkillEvidence>,
    /// The name that the skill would have; absent when it needs to be given one.
    pub name: Option<String>,
}

/// Why a learning meets a criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillEvidence {
    /// The criterion.
    pub criterion: SkillCriterion,
    /// What it is met by, in a few words.
    pub evidence: String,
}

/// A reason to make a learning a skill, in the order of the seed. Any one is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillCriterion {
    /// It comes up again and again.
    Recurring,
    /// It was used in tasks that succeeded.
    Verified,
    /// It took an investigation to find out.
    NonObvious,
    /// It applies beyond one project.
    Broad,
    /// The user asked for it.
    Asked,
}

/// What could be done better, going by recent work (spec M13).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortcomings {
    /// Only the tasks of this agent.
    pub agent: Option<AgentName>,
    /// How many days back; 0 for the default of 14.
    pub days: u32,
}

/// What could be done better.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShortcomingList {
    /// How many days were looked at.
    pub days: u32,
    /// Tasks that were reported in them.
    pub tasks: u64,
    /// What could be done better: by kind, and of each kind what weighs most first.
    pub points: Vec<Shortcoming>,
    /// Files that could not be read, and why.
    pub unread: Vec<String>,
}

/// One thing that could be done better.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortcoming {
    /// What kind of thing.
    pub kind: ShortcomingKind,
    /// What it is, in a sentence.
    pub said: String,
    /// What it was taken from: files with lines, evaluations and improvements; at most five.
    pub sources: Vec<String>,
}

/// What kind of thing could be done better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShortcomingKind {
    /// Tasks of a type fail.
    TaskType,
    /// Tasks have the same weakness.
    Weakness,
    /// The user had to put the same thing right again, or the same gap or error came up again.
    Repeated,
    /// What is known was used, and did not help.
    Misleading,
}
