//! Names that people and agents choose. Each is checked where it enters.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;

const LONGEST: usize = 64;

fn check(kind: &str, text: &str) -> Result<(), Fault> {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let valid = text.len() <= LONGEST
        && edge(text.chars().next())
        && edge(text.chars().next_back())
        && text.chars().all(inside);
    if valid {
        return Ok(());
    }
    let shown: String = text.chars().take(LONGEST).collect();
    Err(Fault::invalid(
        format!("{shown:?} is no {kind}"),
        format!(
            "Use 1 to {LONGEST} of the characters A-Z, a-z, 0-9, _ and -, with a letter or a digit at both ends."
        ),
    ))
}

/// The name of an agent: 1–64 of `A-Za-z0-9_-`, starting and ending alphanumeric (spec I3).
///
/// Case is kept for display, but two names that differ only in case are the same agent: comparison, order and hash
/// go by [`key`](Self::key).
///
/// ```
/// use memoryd_proto::AgentName;
/// let name: AgentName = "Code-Finder".parse()?;
/// assert_eq!(name, "code-finder".parse()?);
/// assert_eq!(name.as_str(), "Code-Finder");
/// assert!("../x".parse::<AgentName>().is_err());
/// # Ok::<(), memoryd_proto::Fault>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

impl AgentName {
    /// The name as it was first written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name in lower case: what identifies the agent.
    #[must_use]
    pub fn key(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl PartialEq for AgentName {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for AgentName {}

impl PartialOrd for AgentName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for AgentName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for AgentName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl FromStr for AgentName {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self, Fault> {
        check("agent name", text)?;
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for AgentName {
    type Error = Fault;
    fn try_from(text: String) -> Result<Self, Fault> {
        text.parse()
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The kind of work a recall is made for, such as `debugging`, `coding` or `research` (QAVR). Kept in lower case.
///
/// A context warms up as outcomes come in, see [`ContextState`](crate::ContextState).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContextName(String);

impl ContextName {
    /// The name, in lower case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for ContextName {
    fn default() -> Self {
        Self("coding".to_owned())
    }
}

impl FromStr for ContextName {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self, Fault> {
        check("context name", text)?;
        Ok(Self(text.to_ascii_lowercase()))
    }
}

impl TryFrom<String> for ContextName {
    type Error = Fault;
    fn try_from(text: String) -> Result<Self, Fault> {
        text.parse()
    }
}

impl From<ContextName> for String {
    fn from(name: ContextName) -> Self {
        name.0
    }
}

impl fmt::Display for ContextName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Twelve hex digits of the SHA-256 over a project's identity (spec I3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProjectHash(String);

impl ProjectHash {
    /// The twelve digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ProjectHash {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self, Fault> {
        if text.len() == 12 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
            return Ok(Self(text.to_owned()));
        }
        Err(Fault::invalid(
            format!("{text:?} is no project hash"),
            "A project hash has 12 hex digits in lower case. Give the project's folder instead.",
        ))
    }
}

impl TryFrom<String> for ProjectHash {
    type Error = Fault;
    fn try_from(text: String) -> Result<Self, Fault> {
        text.parse()
    }
}

impl From<ProjectHash> for String {
    fn from(hash: ProjectHash) -> Self {
        hash.0
    }
}

impl fmt::Display for ProjectHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
