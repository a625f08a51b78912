//! The call table: every request that the daemon answers, each tied to its reply by type.
//!
//! Adding a call touches two places: its struct and a line of the table here, and an `impl Serve<…>` in the daemon.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::fault::Fault;
use crate::frame;
use crate::{
    AgentList, Agents, ArchiveList, ArchivePage, Archives, BackUp, BackedUp, BackupList, Backups, Capture,
    Captured, Consolidatable, ConsumeNote, ContextList, Contexts, CrossValidated, Dashboard, DashboardView,
    DeleteImprovement, Deleted, Deprecate, Distilled, Edit, Edited, EvaluationPage, Evaluations, Examine,
    Examined, Explain, Explanation, Export, ExportPage, ExportQ, ExtractSkill, FindImprovement, ForgetNotes,
    Forgotten, Import, ImportChroma, ImportQ, Imported, ImportedChroma, ImportedQ, Improvement,
    ImprovementPage, Improvements, InitNotes, Initialise, Initialised, Journal, JournalPage, Learned,
    LearnedNotes, LogNote, Maintain, Maintained, MarkCrossValidated, Migrate, Migrated, NoteFiles, NotePage,
    NoteStats, NoteStatus, Ping, Pong, Profile, ProfileOf, ProjectList, ProjectNotes, Projects,
    PromoteLearning, PromoteNote, QTable, Recall, Recalled, ReceivePrinciple, Remember, Remembered, Report,
    Restore, RestoreEvaluation, RestoredEvaluation, Review, ReviewList, ReviewOf, Reviews, Schedule,
    ScheduleView, SearchArchive, SearchNotes, SetProfile, ShareNote, SharedNotes, ShortcomingList,
    Shortcomings, ShowNotes, Shutdown, ShuttingDown, SkillList, Skills, SnapshotPage, Snapshots, Status,
    StatusReport, Undo, Undone, Watch, Watched, Written,
};

/// A request, tied to its reply.
pub trait Call: Into<Request> + Clone {
    /// What the daemon answers.
    type Reply: Serialize + DeserializeOwned;
    /// The name of the call, as tools and logs show it.
    const NAME: &'static str;
    /// What the call is for, in one line.
    const ABOUT: &'static str;
}

/// Answers one kind of call. The daemon implements it for each call, and the client for all of them at once, so code
/// that takes a [`Service`] cannot tell a daemon in its process from one behind a socket.
pub trait Serve<C: Call> {
    /// The answer to `call`.
    ///
    /// # Errors
    /// A [`Fault`], when the call cannot be answered. Nothing was changed then.
    fn serve(&self, call: C) -> Result<C::Reply, Fault>;
}

macro_rules! table {
    ($($(#[doc = $about:literal])+ $call:ident => $reply:ty,)+) => {
        /// Any call, as it crosses the wire.
        #[derive(Clone, Debug, Serialize, serde::Deserialize)]
        #[allow(clippy::large_enum_variant, reason = "a request lives as long as its answer takes")]
        pub enum Request {
            $($(#[doc = $about])+ $call($call),)+
        }

        /// Answers every call.
        pub trait Service: $(Serve<$call> +)+ {}
        impl<S: $(Serve<$call> +)+ ?Sized> Service for S {}

        impl Request {
            /// The name and purpose of every call, in the order of the table.
            pub const TABLE: &'static [(&'static str, &'static str)] = &[$(($call::NAME, $call::ABOUT),)+];

            /// The call's name.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $(Self::$call(_) => $call::NAME,)+ }
            }

            /// Serves the call and encodes its `Result<Reply, Fault>` as a frame.
            ///
            /// # Errors
            /// When the answer cannot be encoded.
            pub fn answer(self, service: &(impl Service + ?Sized)) -> Result<Vec<u8>, Fault> {
                match self { $(Self::$call(call) => frame::encode(&service.serve(call)),)+ }
            }
        }

        $(
            impl From<$call> for Request {
                fn from(call: $call) -> Self { Self::$call(call) }
            }

            impl Call for $call {
                type Reply = $reply;
                const NAME: &'static str = stringify!($call);
                const ABOUT: &'static str = concat!($($about),+);
            }
        )+
    };
}

table! {
    /// Ask whether the daemon answers.
    Ping => Pong,
    /// How the daemon is and what it holds.
    Status => StatusReport,
    /// Let the daemon finish what it does and exit.
    Shutdown => ShuttingDown,
    /// Learned patterns worth knowing before a task.
    Recall => Recalled,
    /// What happened in a task: evaluate it, learn from it.
    Report => Learned,
    /// Why a recall answered what it did.
    Explain => Explanation,
    /// Keep a learned pattern.
    Remember => Remembered,
    /// Decide whether a sentence is worth keeping.
    Capture => Captured,
    /// List improvements.
    Improvements => ImprovementPage,
    /// Show one improvement.
    FindImprovement => Improvement,
    /// Change an improvement's text or fields.
    Edit => Edited,
    /// Stop recalling an improvement, but keep it.
    Deprecate => Edited,
    /// Bring back a deprecated or archived improvement.
    Restore => Edited,
    /// Archive an improvement and remove it.
    DeleteImprovement => Deleted,
    /// List what was evaluated after tasks.
    Evaluations => EvaluationPage,
    /// An agent's quality criteria and insight categories.
    ProfileOf => Profile,
    /// Set an agent's quality criteria and insight categories.
    SetProfile => Profile,
    /// The agents that have memory here.
    Agents => AgentList,
    /// An agent's static text and all it learned.
    Initialise => Initialised,
    /// An agent's improvements that may be consolidated.
    Consolidatable => ImprovementPage,
    /// Mark an improvement as confirmed by other agents.
    MarkCrossValidated => CrossValidated,
    /// Receive a principle that other agents established.
    ReceivePrinciple => Remembered,
    /// The contexts and how warm they are.
    Contexts => ContextList,
    /// Figures about an agent's memory, or all of it.
    Dashboard => DashboardView,
    /// An agent's performance over time.
    Snapshots => SnapshotPage,
    /// How a week went.
    ReviewOf => Review,
    /// The reviews that are kept.
    Reviews => ReviewList,
    /// Tend memory now, or only say what would be done.
    Maintain => Maintained,
    /// When jobs run next, and how they last went.
    Schedule => ScheduleView,
    /// Wait for what happens: changes, and how far jobs are.
    Watch => Watched,
    /// What changed the memory: who, when, why.
    Journal => JournalPage,
    /// Undo an operation.
    Undo => Undone,
    /// The files of the archive.
    Archives => ArchiveList,
    /// Search what left the memory.
    SearchArchive => ArchivePage,
    /// Bring back an archived evaluation.
    RestoreEvaluation => RestoredEvaluation,
    /// Keep a copy of the database now.
    BackUp => BackedUp,
    /// The copies of the database.
    Backups => BackupList,
    /// Take in records from an export.
    Import => Imported,
    /// A page of everything, for a file.
    Export => ExportPage,
    /// Take in learned utilities in the QAVR format.
    ImportQ => ImportedQ,
    /// Learned utilities in the QAVR format.
    ExportQ => QTable,
    /// Create the markdown memory tree.
    InitNotes => Written,
    /// Write a correction, learning, preference or reflection to the memory tree.
    LogNote => Written,
    /// Search the memory tree.
    SearchNotes => NotePage,
    /// The files of the memory tree, and what is in them.
    ShowNotes => NoteFiles,
    /// Recent corrections, and the rules that are always loaded.
    LearnedNotes => NotePage,
    /// The patterns of a project.
    ProjectNotes => NotePage,
    /// Count what is in the memory tree.
    NoteStats => NoteStatus,
    /// Archive what the memory tree says about something.
    ForgetNotes => Forgotten,
    /// Share an insight with other sessions.
    ShareNote => Written,
    /// The insights that were shared lately.
    SharedNotes => NotePage,
    /// Archive a shared insight that was applied.
    ConsumeNote => Written,
    /// Make a shared insight a rule that stays.
    PromoteNote => Written,
    /// The projects that something was logged in.
    Projects => ProjectList,
    /// Make a project's learning a rule of its CLAUDE.md.
    PromoteLearning => Distilled,
    /// The learnings that are worth being a skill.
    Skills => SkillList,
    /// Make a learning a skill.
    ExtractSkill => Distilled,
    /// What could be done better, going by recent work.
    Shortcomings => ShortcomingList,
    /// Take in the records of a Chroma directory on disk, or of a server.
    ImportChroma => ImportedChroma,
    /// Move all records to a Chroma server, or take all over from there.
    Migrate => Migrated,
    /// Look for everything that can be wrong.
    Examine => Examined,
}
