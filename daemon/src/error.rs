//! What can go wrong below the edges, and the one place where it becomes a [`Fault`].

use memoryd_proto::{Code, Fault};

use crate::chroma::{directory, server};
use crate::store::export;
use crate::{archive, backup, database, embed, project, vault};

/// Why a call cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The call breaks a rule, or contradicts what is stored.
    #[error(transparent)]
    Fault(Fault),
    /// The daemon is about to exit, and what a job began is completed at its next start.
    #[error("The daemon is stopping")]
    Stopping,
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] database::Error),
    /// An archive cannot be used.
    #[error(transparent)]
    Archive(#[from] archive::Error),
    /// A copy of the database cannot be made or used.
    #[error(transparent)]
    Backup(#[from] backup::Error),
    /// A Chroma directory cannot be read.
    #[error(transparent)]
    Chroma(#[from] directory::Error),
    /// A Chroma server did not do what it was asked.
    #[error(transparent)]
    Server(#[from] server::Error),
    /// A file of the memory tree cannot be read or written.
    #[error(transparent)]
    Vault(#[from] vault::Error),
    /// A text cannot be embedded.
    #[error("A text cannot be embedded: {0}")]
    Embed(#[from] embed::Error),
    /// A project's folder cannot be found.
    #[error(transparent)]
    Project(#[from] project::Error),
    /// An agent's file cannot be read.
    #[error("The agent's file {path} cannot be read: {source}")]
    AgentFile {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

impl From<export::Error> for Error {
    fn from(error: export::Error) -> Self {
        match error {
            export::Error::Fault(fault) => Self::Fault(fault),
            export::Error::Database(error) => Self::Database(error),
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        let disk = "Check free space and permissions of the data directory, then try again.";
        match error {
            Error::Fault(fault) => fault,
            Error::Stopping => {
                Self::unavailable(message, "What was begun is completed once the daemon has started again.")
            }
            Error::Database(_) | Error::Archive(_) => Self::new(Code::Internal, message, disk),
            Error::Backup(error) => Self::new(Code::Internal, message, backup_advice(&error)),
            Error::Chroma(directory::Error::Missing { .. }) => {
                Self::not_found(message, "Name the directory that Chroma was started with.")
            }
            Error::Chroma(directory::Error::Unreadable { .. }) => Self::invalid(
                message,
                "Nothing was changed. Directories of Chroma 0.4 and newer can be read, by whoever owns them.",
            ),
            Error::Server(error) => Self::unavailable(message, error.advice()),
            Error::Vault(vault::Error::Changed { .. }) => Self::conflict(
                message,
                "Nothing was written, as somebody edits the file. Try again when they are done.",
            ),
            Error::Vault(vault::Error::Outside { .. }) => Self::invalid(
                message,
                "Links are not followed out of the memory tree or a project. Put the file itself there.",
            ),
            Error::Vault(vault::Error::NoText { .. }) => {
                Self::invalid(message, "Nothing was changed. Save the file as UTF-8.")
            }
            Error::Vault(vault::Error::File { .. }) => Self::new(
                Code::Internal,
                message,
                "Nothing was changed. Check free space and permissions there, then try again.",
            ),
            Error::Embed(_) => {
                Self::new(Code::Internal, message, "The memory is unchanged; please report this.")
            }
            Error::Project(_) => Self::invalid(message, "Give a folder that exists, or none."),
            Error::AgentFile { .. } => Self::not_found(message, "Give a file that the daemon may read."),
        }
    }
}

/// What to do when a copy cannot be made or used.
#[must_use]
pub fn backup_advice(error: &backup::Error) -> String {
    match error {
        backup::Error::File { .. } | backup::Error::Copying { .. } | backup::Error::Database(_) => {
            "Check free space and permissions there, then try again.".to_owned()
        }
        backup::Error::Damaged { .. } => {
            "Nothing was changed. Restore a sound copy: memoryctl restore NAME; `memoryctl backup list` names them."
                .to_owned()
        }
        backup::Error::Foreign { .. } => {
            "Nothing was changed. Give a copy that memoryd made, or the database of another data directory."
                .to_owned()
        }
        backup::Error::Unknown { newest: Some(newest), .. } => format!("The newest copy is {newest}."),
        backup::Error::Unknown { newest: None, .. } => "There is no copy to restore.".to_owned(),
    }
}
