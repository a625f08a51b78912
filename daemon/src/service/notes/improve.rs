//! What could be done better, going by recent work (spec M13).

use chrono::{DateTime, TimeDelta, Utc};
use memoryd_proto::{Evaluations, Fault, Note, Serve, ShortcomingList, Shortcomings};

use super::{App, Reading};
use crate::database::span::Span;
use crate::domain::shortcomings::{self, Used};
use crate::domain::text::excerpt;
use crate::error::Error;
use crate::ledger::{noted, week};
use crate::store::listing::{self, Order, Wanted};

/// Tasks that are looked at.
const TASKS: u64 = 1000;

/// Characters of an improvement that are told.
const TOLD: usize = 160;

impl Serve<Shortcomings> for App {
    fn serve(&self, call: Shortcomings) -> Result<ShortcomingList, Fault> {
        Ok(self.shortcomings(&call)?)
    }
}

impl App {
    fn shortcomings(&self, call: &Shortcomings) -> Result<ShortcomingList, Error> {
        let rule = self.config.reflection;
        let days = if call.days == 0 { rule.days } else { call.days };
        let now = self.now();
        let since = now.checked_sub_signed(TimeDelta::days(days.into())).unwrap_or(DateTime::<Utc>::MIN_UTC);
        let wanted = Evaluations { agent: call.agent.clone(), since: Some(since), ..Evaluations::default() };
        let (tasks, all) =
            self.view().read(|connection| listing::evaluations(connection, &wanted, (0, TASKS)))?;
        let reading = if self.view().vault.exists() { self.reading()? } else { Reading::default() };
        let notes = reading.notes();
        let mut points = shortcomings::of_tasks(&tasks, &rule);
        points.extend(shortcomings::of_notes(&notes, self.tender.zone.day(since), &rule));
        points.extend(shortcomings::of_uses(
            self.lessons_used(call, [since, now + TimeDelta::microseconds(1)], &notes)?,
            &rule,
        ));
        let mut entry = self.entry();
        for point in &mut points {
            point.said = entry.text(&point.said);
        }
        Ok(ShortcomingList { days, tasks: all, points, unread: reading.unread })
    }

    /// The improvements and notes that were used in a span. Those that are gone are passed over.
    fn lessons_used(&self, call: &Shortcomings, span: Span, notes: &[Note]) -> Result<Vec<Used>, Error> {
        let showing = self.showing();
        self.view().read(|connection| {
            let mut all = week::used(connection, span)?;
            all.retain(|one| call.agent.as_ref().is_none_or(|agent| *agent == one.agent));
            let mut told = Vec::new();
            for one in all {
                let (uses, successes) = (one.uses, one.successes);
                if let Some(id) = noted::note(&one.id) {
                    told.extend(notes.iter().find(|note| note.id == id).map(|note| Used {
                        said: excerpt(note.rule.as_deref().unwrap_or(&note.title), TOLD),
                        source: format!("{}:{}", note.file, note.line),
                        uses,
                        successes,
                    }));
                    continue;
                }
                let wanted = Wanted::one(&one.agent, &one.id);
                let found = listing::improvements(connection, &wanted, Order::Export, (0, 1), &showing)?;
                let Some((_, improvement)) = found.into_iter().next() else { continue };
                told.push(Used {
                    said: excerpt(&improvement.document, TOLD),
                    source: format!("improvement {} of {}", one.id, one.agent),
                    uses,
                    successes,
                });
            }
            Ok::<_, Error>(told)
        })
    }
}
