//! What becomes of notes: where they stand in the memory tree, how much may stand there, and what leaves it (spec M3–M7).
//!
//! The rules edit a [`Draft`]: the files as they are, and as they are to be. What they say of a note they know from its
//! use ([`Use`]), else from its date. What a person prefers is never moved by them, and what a person took back is left
//! alone. Whatever leaves a file is in another one, or in the archive.

pub mod compaction;
pub mod draft;
pub mod expiry;
pub mod movement;
pub mod topics;

#[cfg(test)]
mod tests;

pub use draft::{Draft, Item, Move, Page};

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, Utc};

/// What is known of the use of a note, over all agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// When it was last used in a task.
    pub last_used: Option<DateTime<Utc>>,
    /// Tasks in which it was used lately, and that succeeded.
    pub recent_successes: u64,
    /// Projects in which it was used.
    pub projects: u64,
    /// Since when it is known.
    pub since: Option<NaiveDate>,
}

/// What is known of the use of notes, at a time.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// By the id of the note.
    pub uses: &'a HashMap<String, Use>,
    /// The time.
    pub now: DateTime<Utc>,
    /// The day.
    pub today: NaiveDate,
}

impl Known<'_> {
    /// The use of a note.
    #[must_use]
    pub fn of(&self, id: &str) -> Use {
        self.uses.get(id).copied().unwrap_or_default()
    }

    /// Days since a note was last used; if it never was, since it was noted, or seen first. None when nothing is known.
    #[must_use]
    pub fn idle(&self, item: &Item) -> Option<i64> {
        let known = self.of(&item.id);
        let since_use = known.last_used.map(|at| (self.now - at).num_days());
        since_use.or_else(|| item.date.or(known.since).map(|day| (self.today - day).num_days()))
    }

    /// Days since a note was last used; none when it never was.
    fn unused(&self, item: &Item) -> Option<i64> {
        self.of(&item.id).last_used.map(|at| (self.now - at).num_days())
    }

    /// The month, as files of the archive are named by it.
    fn month(&self) -> String {
        self.today.format("%Y-%m").to_string()
    }
}

/// How many lines a text has.
#[must_use]
pub fn lines(text: &str) -> usize {
    text.lines().count()
}
