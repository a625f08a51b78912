//! Counting what is in the memory tree (spec M13).

use std::collections::HashSet;
use std::path::Path;

use chrono::TimeDelta;
use memoryd_proto::{Counted, Fault, NoteKind, NoteStats, NoteStatus, Serve, Tier};

use super::share::{SEEN, name};
use super::{App, Sheet};
use crate::database::{self, from_json};
use crate::error::Error;
use crate::journal;

/// Days that activity is recent for.
const RECENT: i64 = 7;

impl Serve<NoteStats> for App {
    fn serve(&self, _: NoteStats) -> Result<NoteStatus, Fault> {
        Ok(self.note_stats()?)
    }
}

impl App {
    fn note_stats(&self) -> Result<NoteStatus, Error> {
        let reading = self.reading()?;
        let now = self.now();
        let since = now - TimeDelta::days(RECENT);
        let first = self.tender.zone.day(since);
        let of = |tier: Tier| reading.sheets.iter().filter(move |sheet| sheet.leaf.tier == tier);
        let counted =
            |tier| Counted { files: of(tier).count() as u64, entries: of(tier).map(Sheet::count).sum() };
        let corrections = of(Tier::Corrections).flat_map(Sheet::entries).filter(|entry| {
            entry.kind == NoteKind::Correction && entry.date().is_some_and(|day| day > first)
        });
        let root = self.view().vault.root();
        let (memory, warm) =
            (root.join("memory.md"), ["projects", "domains"].map(|folder| root.join(folder)));
        let (hot, corrections) = (counted(Tier::Hot).entries, corrections.count() as u64);
        self.view().read(|connection| {
            let seen = database::meta(connection, SEEN)?;
            let seen: HashSet<String> =
                seen.map(|seen| from_json("list", &seen)).transpose()?.unwrap_or_default();
            let made = |actor| journal::made(connection, actor, since);
            let moves = journal::moves(connection, since)?;
            let count = |wanted: &dyn Fn(&Path, &Path) -> bool| {
                moves.iter().filter(|(from, to)| wanted(from, to)).count() as u64
            };
            Ok::<_, Error>(NoteStatus {
                hot,
                projects: counted(Tier::Project),
                domains: counted(Tier::Domain),
                shared: counted(Tier::Shared).files,
                shared_new: of(Tier::Shared).filter(|sheet| !seen.contains(&name(&sheet.leaf.path))).count()
                    as u64,
                cold: counted(Tier::Cold).files,
                corrections,
                promotions: made("promote-hot")? + count(&|from, to| from != memory && to == memory),
                demotions: count(&|from, to| {
                    from == memory && warm.iter().any(|folder| to.starts_with(folder))
                }),
                written: made("share")?,
                consumed: made("consume")?,
            })
        })
    }
}
