//! `memoryctl profile`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use memoryd_client::proto::{AgentName, Category, Criterion, Fault, Profile, ProfileOf, Serve, SetProfile};
use serde::Deserialize;

use crate::arguments::{Agent, pair, weight};
use crate::exit::Outcome;
use crate::input;
use crate::output::Output;
use crate::render::{Page, clean, one_line};

#[derive(Subcommand, Debug)]
pub enum Verb {
    /// Show an agent's profile
    Show(Agent),
    /// Set an agent's profile, from a file or from flags
    Set(Set),
}

#[derive(Args, Debug)]
pub struct Set {
    /// The agent [default: the one in the file]
    #[arg(long, env = "MEMORYD_AGENT", value_name = "NAME")]
    agent: Option<AgentName>,
    /// A quality criterion and its weight in percent; may be repeated, and the weights must sum to 100
    #[arg(long = "criterion", value_name = "NAME=WEIGHT", value_parser = weight, conflicts_with = "file")]
    criteria: Vec<(String, f64)>,
    /// An insight category and when it applies; may be repeated
    #[arg(long = "category", value_name = "NAME=DESCRIPTION", value_parser = pair, conflicts_with = "file")]
    categories: Vec<(String, String)>,
    /// A TOML or JSON file with `criteria` and `categories`, as tables of names; - for standard input
    file: Option<PathBuf>,
}

pub fn run(verb: Verb, service: &(impl Serve<ProfileOf> + Serve<SetProfile>), out: &mut Output) -> Outcome {
    let profile = match verb {
        Verb::Show(Agent { agent }) => service.serve(ProfileOf { agent })?,
        Verb::Set(set) => service.serve(SetProfile { profile: set.profile()? })?,
    };
    out.reply(&profile, render)
}

impl Set {
    fn profile(self) -> Result<Profile, Fault> {
        let given = match &self.file {
            Some(path) => Written::read(path)?,
            None => Written {
                agent: None,
                criteria: Named::Pairs(self.criteria),
                categories: Named::Pairs(self.categories),
            },
        };
        let agent = self.agent.or(given.agent).ok_or_else(|| {
            Fault::invalid(
                "The profile does not say whose it is",
                "Pass --agent, or add `agent` to the file.",
            )
        })?;
        Ok(Profile {
            agent,
            criteria: given.criteria.list(|(name, weight)| Criterion { name, weight }),
            categories: given.categories.list(|(name, description)| Category { name, description }),
        })
    }
}

/// A profile as people write it, or as `profile show --json` prints it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    agent: Option<AgentName>,
    #[serde(default)]
    criteria: Named<f64, Criterion>,
    #[serde(default)]
    categories: Named<String, Category>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Named<V, Full> {
    Full(Vec<Full>),
    Table(BTreeMap<String, V>),
    #[serde(skip)]
    Pairs(Vec<(String, V)>),
}

impl<V, Full> Default for Named<V, Full> {
    fn default() -> Self {
        Self::Full(Vec::new())
    }
}

impl<V, Full> Named<V, Full> {
    fn list(self, full: impl Fn((String, V)) -> Full) -> Vec<Full> {
        match self {
            Self::Full(list) => list,
            Self::Table(table) => table.into_iter().map(full).collect(),
            Self::Pairs(pairs) => pairs.into_iter().map(full).collect(),
        }
    }
}

impl Written {
    fn read(path: &Path) -> Result<Self, Fault> {
        let text = input::text(path)?;
        let json = text.trim_start().starts_with('{');
        let read = if json {
            serde_json::from_str(&text).map_err(|error| error.to_string())
        } else {
            toml::from_str(&text).map_err(|error| error.message().to_owned())
        };
        read.map_err(|error| {
            Fault::invalid(
                format!("{} holds no profile: {error}", path.display()),
                "Write it as `criteria = { accuracy = 60, speed = 40 }` and `categories = { name = \"when it applies\" }`.",
            )
        })
    }
}

fn render(page: &mut Page, profile: &Profile) {
    if profile.criteria.is_empty() && profile.categories.is_empty() {
        return page.line(format_args!("{} has no profile.", profile.agent));
    }
    page.line(format_args!("Profile of {}", profile.agent));
    page.heading("Quality criteria");
    for criterion in &profile.criteria {
        page.line(format_args!("{:>5} %  {}", criterion.weight, one_line(&criterion.name)));
    }
    page.heading("Insight categories");
    for category in &profile.categories {
        page.prose(&format!("  {}  ", one_line(&category.name)), &clean(&category.description));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(text: &str) -> Profile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let agent = "ada".parse().ok();
        let set =
            Set { agent, criteria: Vec::new(), categories: Vec::new(), file: Some(file.path().to_owned()) };
        set.profile().unwrap()
    }

    #[test]
    fn a_profile_is_read_from_toml_and_from_its_own_json() {
        let from_toml =
            profile("[criteria]\naccuracy = 60\nspeed = 40\n[categories]\nsql = \"About queries\"\n");
        assert_eq!(from_toml.criteria.len(), 2);
        assert_eq!(from_toml.categories[0].description, "About queries");
        assert_eq!(profile(&serde_json::to_string(&from_toml).unwrap()), from_toml);
    }
}
