//! What is wrong with a memory and its daemon, and what to do about it.

use serde::{Deserialize, Serialize};

/// Look for everything that can be wrong. Nothing is changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Examine {}

/// What was looked at, and what is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Examined {
    /// What was looked at, in order.
    pub checks: Vec<String>,
    /// What is wrong.
    pub findings: Vec<Trouble>,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// Where: one of the checks.
    pub check: String,
    /// What, in one line.
    pub problem: String,
    /// What to do, in one line.
    pub advice: String,
    /// The file that others than the user may read, if that is what is wrong.
    pub open: Option<String>,
}

impl Examined {
    /// Notes what a check found, if anything.
    pub fn note(&mut self, check: &str, found: impl IntoIterator<Item = (String, String)>) {
        self.checks.push(check.to_owned());
        self.findings.extend(found.into_iter().map(|(problem, advice)| Trouble {
            check: check.to_owned(),
            problem,
            advice,
            open: None,
        }));
    }
}
