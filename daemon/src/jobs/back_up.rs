//! Daily: a copy of the database. Of older ones, those of the last days and weeks stay.
//!
//! What is in the folder decides, not what was recorded: a copy that was made and not recorded, because of a crash, is
//! the copy of its day.

use chrono::NaiveDate;
use memoryd_proto::{Backup, BackupKind, Cadence, JobName};

use super::{Job, Tending};
use crate::backup;
use crate::domain::retention;
use crate::error::Error;
use crate::journal::{Change, DailyCopy, Edit, Plan, Step};

/// The job.
pub struct BackUp;

impl Job for BackUp {
    fn name(&self) -> JobName {
        JobName::BackUp
    }

    fn cadence(&self) -> Cadence {
        Cadence::Daily
    }

    fn plan(&self, tending: &Tending<'_>) -> Result<Plan, Error> {
        let mut plan = Plan { reason: "a copy of the database each day".to_owned(), ..Plan::default() };
        let mut copies = tending.view.copies.list()?;
        copies.retain(|copy| copy.kind == BackupKind::Scheduled);
        let day = tending.zone.day(tending.now);
        if let Some(copy) = copies.iter().find(|copy| tending.zone.day(copy.made_at) == day) {
            plan.notes.push(format!("The copy for {day} is there: {}", copy.name));
            return Ok(plan);
        }
        let replaces = replaced(tending, day, &copies);
        plan.notes.extend(
            replaces.iter().map(|name| format!("{name} goes: newer copies stand for its day and week")),
        );
        let copy = DailyCopy { day, name: backup::name(BackupKind::Scheduled, tending.now), replaces };
        let why = format!("copy the database: there is no copy for {day}");
        let changes = vec![Change::Backup(Edit { before: None, after: Some(copy) })];
        plan.steps.push(Step { why, changes, ..Step::default() });
        Ok(plan)
    }
}

/// The copies that go when there is one of today.
fn replaced(tending: &Tending<'_>, today: NaiveDate, newest_first: &[Backup]) -> Vec<String> {
    let rule = &tending.config.maintenance;
    let days: Vec<NaiveDate> =
        [today].into_iter().chain(newest_first.iter().map(|copy| tending.zone.day(copy.made_at))).collect();
    let stay = retention::stay(&days, rule.daily_copies, rule.weekly_copies);
    let gone = newest_first.iter().zip(&stay[1..]).filter(|(_, stays)| !**stays);
    gone.map(|(copy, _)| copy.name.clone()).collect()
}
