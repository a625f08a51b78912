//! The names of copies: when each was made, and for what.

use chrono::{DateTime, NaiveDateTime, Utc};
use memoryd_proto::BackupKind;

const STAMP: &str = "memory-%Y-%m-%dT%H%M%SZ";

/// The name of the copy of a kind that is made at `at`.
#[must_use]
pub fn name(kind: BackupKind, at: DateTime<Utc>) -> String {
    format!("{}{}.db", at.format(STAMP), suffix(kind))
}

/// When the copy of that name was made, and for what; none when it is no name of a copy.
pub(super) fn read(text: &str) -> Option<(DateTime<Utc>, BackupKind)> {
    let stem = text.strip_suffix(".db")?;
    BackupKind::ALL.into_iter().find_map(|kind| {
        let stamp = stem.strip_suffix(suffix(kind))?;
        let at = NaiveDateTime::parse_from_str(stamp, STAMP).ok()?.and_utc();
        (name(kind, at) == text).then_some((at, kind))
    })
}

/// The name of the log that a damaged database is kept with.
pub(super) fn log(name: &str) -> String {
    format!("{name}-wal")
}

/// Whether a file is what a crash left of a copy that was being made.
pub(super) fn is_unfinished(text: &str) -> bool {
    text.split_once(".part").is_some_and(|(name, _)| read(name.trim_end_matches("-wal")).is_some())
}

fn suffix(kind: BackupKind) -> &'static str {
    match kind {
        BackupKind::Scheduled => "",
        BackupKind::ByHand => "-by-hand",
        BackupKind::BeforeRestore => "-before-restore",
        BackupKind::Damaged => "-damaged",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_written() {
        let at: DateTime<Utc> = "2026-01-05T09:00:07Z".parse().unwrap();
        for kind in BackupKind::ALL {
            assert_eq!(read(&name(kind, at)), Some((at, kind)));
        }
        assert_eq!(name(BackupKind::Scheduled, at), "memory-2026-01-05T090007Z.db");
    }

    #[test]
    fn what_is_no_copy_is_left_alone() {
        for other in [
            "memory.db",
            "memory-2026-01-05.db",
            "memory-2026-1-5T090007Z.db",
            "memory-2026-01-05T090007Z-mine.db",
            "memory-2026-01-05T090007Z.db-wal",
            "notes.part",
        ] {
            assert_eq!(read(other), None, "{other}");
            assert!(!is_unfinished(other), "{other}");
        }
        assert!(is_unfinished("memory-2026-01-05T090007Z-by-hand.db.part"));
        assert!(is_unfinished("memory-2026-01-05T090007Z-damaged.db-wal.part"));
    }
}
