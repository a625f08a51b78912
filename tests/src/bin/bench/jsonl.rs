//! Files with a JSON value on each line.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A text that is to be remembered.
#[derive(Clone, Debug, Deserialize)]
pub struct Memory {
    /// Its id.
    pub id: String,
    /// The text.
    pub text: String,
    /// When it was said; what was said at the same time belongs to one session.
    pub created_at: String,
}

impl Memory {
    /// When it was said.
    pub fn at(&self) -> anyhow::Result<DateTime<Utc>> {
        let at = DateTime::parse_from_rfc3339(&self.created_at);
        Ok(at.with_context(|| format!("{} of {} is no instant", self.created_at, self.id))?.to_utc())
    }
}

/// A question, with the memories that answer it.
#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    /// The question.
    pub text: String,
    /// The ids of the memories that answer it.
    pub gold: Vec<String>,
}

/// One conversation: what was said, and what is asked about it.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Its name.
    pub name: String,
    /// What was said, in order.
    pub memories: Vec<Memory>,
    /// What is asked.
    pub questions: Vec<Question>,
}

/// The conversations of a folder, by name.
pub fn conversations(dir: &Path) -> anyhow::Result<Vec<Conversation>> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .with_context(|| format!("The folder {} cannot be read", dir.display()))?
        .filter_map(|entry| {
            entry.ok()?.file_name().to_str()?.strip_suffix(".memories.jsonl").map(str::to_owned)
        })
        .collect();
    names.sort();
    ensure!(!names.is_empty(), "There is no NAME.memories.jsonl in {}", dir.display());
    names
        .into_iter()
        .map(|name| {
            let file = |kind: &str| -> PathBuf { dir.join(format!("{name}.{kind}.jsonl")) };
            Ok(Conversation {
                memories: lines(&file("memories"))?,
                questions: lines(&file("queries"))?,
                name,
            })
        })
        .collect()
}

/// The values of a file.
pub fn lines<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Vec<T>> {
    let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    text.lines()
        .zip(1..)
        .map(|(line, number)| {
            serde_json::from_str(line).with_context(|| format!("{}, line {number}", path.display()))
        })
        .collect()
}
