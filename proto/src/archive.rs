//! The archive: what left the memory, by kind and month, and bringing it back (spec S6).

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{AgentName, Evaluation, EvaluationId, Improvement, Operation, OperationId};

/// What an archive holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArchiveKind {
    /// Improvements that were removed.
    Improvements,
    /// Evaluations that were old.
    Evaluations,
    /// Operations of the journal that were old.
    Operations,
}

impl ArchiveKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Improvements, Self::Evaluations, Self::Operations];

    /// The kind's name, as files and arguments have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Improvements => "improvements",
            Self::Evaluations => "evaluations",
            Self::Operations => "operations",
        }
    }
}

impl fmt::Display for ArchiveKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// List the files of the archive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Archives {}

/// The files of the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveList {
    /// The folder they lie in.
    pub folder: String,
    /// The files, by kind and month.
    pub files: Vec<ArchiveFile>,
}

/// A file of the archive: compressed JSON lines, which `zstdcat` reads too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveFile {
    /// Its name in the folder.
    pub name: String,
    /// What it holds.
    pub kind: ArchiveKind,
    /// The month in which that left the memory, such as `2026-04`, in UTC.
    pub month: String,
    /// Records in it.
    pub records: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// Those of them that cannot be read.
    pub damaged: u64,
}

/// Search the archive.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SearchArchive {
    /// Only this kind.
    pub kind: Option<ArchiveKind>,
    /// Only of this agent's memory.
    pub agent: Option<AgentName>,
    /// Only the records with this id, or the operation with this number.
    pub id: Option<String>,
    /// Words that must all occur, in either case; empty for everything.
    pub text: String,
    /// How many to return; 0 for the default of 50. More than 1,000 are never returned at once.
    pub limit: u64,
}

/// What a search of the archive found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArchivePage {
    /// The records, newest first.
    pub records: Vec<Archived>,
    /// Whether there are older ones.
    pub more: bool,
    /// Parts of files that cannot be read. All others were searched.
    pub damaged: Vec<Damage>,
}

/// A record of the archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Archived {
    /// The file it lies in.
    pub file: String,
    /// The record.
    pub record: ArchivedRecord,
}

/// What left the memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "records live in pages, and most are of the large kind")]
pub enum ArchivedRecord {
    /// An improvement, as it was when it was removed.
    Improvement(Improvement),
    /// An evaluation.
    Evaluation(Evaluation),
    /// An operation.
    Operation(Operation),
}

impl ArchivedRecord {
    /// When it was stored, reported or made.
    #[must_use]
    pub fn at(&self) -> DateTime<Utc> {
        match self {
            Self::Improvement(one) => one.created_at,
            Self::Evaluation(one) => one.at,
            Self::Operation(one) => one.at,
        }
    }

    /// Its id, or its number.
    #[must_use]
    pub fn id(&self) -> String {
        match self {
            Self::Improvement(one) => one.id.to_string(),
            Self::Evaluation(one) => one.id.to_string(),
            Self::Operation(one) => one.id.to_string(),
        }
    }

    /// Whose memory it is about, if one agent's.
    #[must_use]
    pub fn agent(&self) -> Option<&AgentName> {
        match self {
            Self::Improvement(one) => Some(&one.agent),
            Self::Evaluation(one) => Some(&one.agent),
            Self::Operation(one) => one.agent.as_ref(),
        }
    }
}

/// A part of an archive's file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// The file.
    pub file: String,
    /// Where it begins.
    pub at: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// Bring an archived evaluation back.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RestoreEvaluation {
    /// Whose; needed only where two agents use the same id.
    pub agent: Option<AgentName>,
    /// Which.
    pub id: EvaluationId,
}

/// An evaluation that was brought back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RestoredEvaluation {
    /// The evaluation.
    pub evaluation: Evaluation,
    /// The operation; absent when it was there already.
    pub operation: Option<OperationId>,
}
