//! `memoryctl backup`

use clap::{Args, Subcommand};
use memoryd_client::proto::{BackUp, BackedUp, Backup, BackupKind, BackupList, Backups, Serve};

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, bytes, count, faint, grouped, time};

#[derive(Args, Debug)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List the copies, newest first
    List,
}

pub fn run(
    arguments: &Arguments,
    service: &(impl Serve<BackUp> + Serve<Backups>),
    out: &mut Output,
) -> Outcome {
    match arguments.verb {
        None => out.reply(&service.serve(BackUp {})?, made),
        Some(Verb::List) => out.reply(&service.serve(Backups {})?, list),
    }
}

fn made(page: &mut Page, reply: &BackedUp) {
    let Backup { name, bytes: size, .. } = &reply.backup;
    page.line(format_args!("Copied to {}/{name}, {}", reply.folder, bytes(*size)));
    if let Some(held) = held(&reply.backup) {
        page.line(format_args!("It holds {held}."));
    }
    for name in &reply.removed {
        page.line(format_args!("{name} is removed: only the newest made by hand are kept."));
    }
    page.line(faint(format_args!("To go back to it: memoryctl restore {name}")));
}

fn list(page: &mut Page, reply: &BackupList) {
    if reply.backups.is_empty() {
        return page.line(format_args!("No copies in {}.", reply.folder));
    }
    let rows = reply.backups.iter().map(|copy| {
        let number = |number: Option<u64>| number.map_or_else(|| "–".to_owned(), grouped);
        [
            time(copy.made_at),
            kind(copy.kind).to_owned(),
            bytes(copy.bytes),
            number(copy.improvements),
            number(copy.evaluations),
            copy.name.clone(),
        ]
    });
    page.table(["made", "kind", "size", "improvements", "evaluations", "name"], rows);
    page.gap();
    page.line(faint(format_args!("They are in {}", reply.folder)));
}

/// What a copy was made for.
fn kind(kind: BackupKind) -> &'static str {
    match kind {
        BackupKind::Scheduled => "scheduled",
        BackupKind::ByHand => "by hand",
        BackupKind::BeforeRestore => "before a restore",
        BackupKind::Damaged => "damaged",
    }
}

/// What a copy holds, where it can be read.
pub fn held(copy: &Backup) -> Option<String> {
    let improvements = count(copy.improvements?, "improvement", "improvements");
    Some(format!("{improvements} and {}", count(copy.evaluations?, "evaluation", "evaluations")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::testing::{sample, shown};

    #[test]
    fn a_copy_says_what_it_holds_and_how_to_go_back() {
        let reply = BackedUp {
            backup: sample::backup(),
            folder: "/data/backups".to_owned(),
            removed: vec!["memory-2026-01-01T120000Z-by-hand.db".to_owned()],
        };
        assert_eq!(
            shown(|page| made(page, &reply)),
            "\
Copied to /data/backups/memory-2026-01-26T120000Z-by-hand.db, 1.5 MiB
It holds 1,204 improvements and 1 evaluation.
memory-2026-01-01T120000Z-by-hand.db is removed: only the newest made by hand are kept.
To go back to it: memoryctl restore memory-2026-01-26T120000Z-by-hand.db
"
        );
    }

    #[test]
    fn copies_are_listed_with_what_they_hold() {
        let spoilt = Backup {
            name: "memory-2026-01-26T120000Z-damaged.db".to_owned(),
            kind: BackupKind::Damaged,
            improvements: None,
            evaluations: None,
            ..sample::backup()
        };
        let reply =
            BackupList { folder: "/data/backups".to_owned(), backups: vec![sample::backup(), spoilt] };
        let at = time(sample::noon());
        assert_eq!(
            shown(|page| list(page, &reply)),
            format!(
                "\
made              kind     size     improvements  evaluations  name
{at}  by hand  1.5 MiB  1,204         1            memory-2026-01-26T120000Z-by-hand.db
{at}  damaged  1.5 MiB  –             –            memory-2026-01-26T120000Z-damaged.db

They are in /data/backups
"
            )
        );
    }
}
