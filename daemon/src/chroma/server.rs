//! What is asked of a Chroma server.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::domain::seed::{Value, Written};

/// How long a call may take that nobody waits for.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// A Chroma server, with a tenant and a database.
///
/// Every call has a deadline, and may be made again: each leads to the same state. Nothing is assumed of what others do
/// meanwhile.
pub trait Server: Send + Sync {
    /// Where it is.
    fn url(&self) -> &str;

    /// Its collections.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn collections(&self) -> Result<Vec<Remote>, Error>;

    /// The collection of a name; it is created with `metadata` if there is none.
    ///
    /// # Errors
    /// When it cannot be asked, or refuses.
    fn ensure(&self, name: &str, metadata: &BTreeMap<String, Value>) -> Result<Remote, Error>;

    /// How many records a collection has.
    ///
    /// # Errors
    /// When it cannot be asked, or there is no such collection any more.
    fn count(&self, remote: &Remote) -> Result<u64, Error>;

    /// Some records of a collection, by their place.
    ///
    /// # Errors
    /// When it cannot be asked, or there is no such collection any more.
    fn page(&self, remote: &Remote, offset: usize, limit: usize) -> Result<Vec<Written>, Error>;

    /// Records by their ids. The order is the server's, and what is unknown is left out.
    ///
    /// # Errors
    /// When it cannot be asked, or there is no such collection any more.
    fn get(&self, remote: &Remote, ids: &[String], deadline: Duration) -> Result<Vec<Written>, Error>;

    /// Writes records as a whole, with their vectors. Values that a record has beyond these stay.
    ///
    /// # Errors
    /// When it cannot be asked, or refuses.
    fn upsert(&self, remote: &Remote, records: &[Put]) -> Result<(), Error>;

    /// Changes values of records that are there, and their text and vector, if all are given one. What is not there is
    /// left alone.
    ///
    /// # Errors
    /// When it cannot be asked, or refuses.
    fn update(&self, remote: &Remote, records: &[Put]) -> Result<(), Error>;

    /// Removes records.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn delete(&self, remote: &Remote, ids: &[String]) -> Result<(), Error>;

    /// Begins to ask for the records nearest to a vector in some collections, among those that are not deprecated.
    fn begin_query(
        &self,
        remotes: &[Remote],
        vector: &[f32],
        limit: usize,
        deadline: Duration,
    ) -> Box<dyn Answer>;
}

/// An answer that is on its way.
pub trait Answer: Send {
    /// Waits for it: the records that were found, beside the place of their collection.
    ///
    /// # Errors
    /// When it does not come in time, or cannot be read.
    fn wait(self: Box<Self>) -> Result<Vec<(usize, Written)>, Error>;
}

/// A collection of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Its name.
    pub name: String,
    /// Its id. A collection that is removed and created again has another.
    pub id: String,
}

/// What is written of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    /// Its id.
    pub id: String,
    /// Its text, with its vector.
    pub text: Option<(String, Vec<f32>)>,
    /// Its values; without a value, those that are removed.
    pub metadata: BTreeMap<String, Option<Value>>,
}

/// Why a Chroma server did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is not there, or fails.
    #[error("Chroma at {url} cannot be reached: {reason}")]
    Unreachable {
        /// Where it should be.
        url: String,
        /// Why not.
        reason: String,
    },
    /// It takes too long.
    #[error("Chroma at {url} did not answer within {} ms", deadline.as_millis())]
    Late {
        /// Where it is.
        url: String,
        /// How long it had.
        deadline: Duration,
    },
    /// It does not let us in.
    #[error("Chroma at {url} refuses the token: {reason}")]
    Denied {
        /// Where it is.
        url: String,
        /// What it said.
        reason: String,
    },
    /// There is no such tenant, database or collection.
    #[error("Chroma at {url} does not have what is asked for: {reason}")]
    Missing {
        /// Where it is.
        url: String,
        /// What it said.
        reason: String,
    },
    /// It refuses what it was asked.
    #[error("Chroma at {url} refuses it: {reason}")]
    Refused {
        /// Where it is.
        url: String,
        /// What it said.
        reason: String,
    },
    /// What it answers is not understood.
    #[error("Chroma at {url} answers what is not understood: {reason}")]
    Garbled {
        /// Where it is.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Error {
    /// Whether it would refuse the same again, however often it is asked.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }

    /// What to do about it.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } | Self::Late { .. } => {
                "Start it, or set chroma.url to where it is. What changes meanwhile is kept and told later."
            }
            Self::Denied { .. } => "Set chroma.token_file to a file with a token that it accepts.",
            Self::Missing { .. } => {
                "Create the tenant and database there, or set chroma.tenant and chroma.database."
            }
            Self::Refused { .. } => {
                "`memoryctl status` shows what was set aside; the rest is not held up by it."
            }
            Self::Garbled { .. } => {
                "Is it a Chroma server of version 1, and nothing in between? Check chroma.url."
            }
        }
    }
}
