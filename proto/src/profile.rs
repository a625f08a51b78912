//! How an agent judges its work (spec E3).

use serde::{Deserialize, Serialize};

use crate::AgentName;

/// An agent's quality criteria and insight categories.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Whose.
    pub agent: AgentName,
    /// What makes a good result. The weights sum to 100; none at all is allowed too.
    pub criteria: Vec<Criterion>,
    /// The categories of insights. Others are stored too, and flagged.
    pub categories: Vec<Category>,
}

/// One quality criterion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// Its name.
    pub name: String,
    /// Its share of the quality, in percent.
    pub weight: f64,
}

/// One category of insights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    /// Its name.
    pub name: String,
    /// When it applies.
    pub description: String,
}

/// An agent's profile; an empty one, if none was set.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProfileOf {
    /// Whose.
    pub agent: AgentName,
}

/// Set an agent's profile. The weights must sum to 100 and names must differ.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SetProfile {
    /// The new profile.
    pub profile: Profile,
}
