//! Taking over what others wrote to the server (spec D2).

use std::collections::{BTreeSet, HashMap};

use memoryd_proto::{Import, Improvement, Record, Scope, Usage};
use rusqlite::Connection;

use crate::chroma::server::{DEADLINE, Remote};
use crate::domain::decay;
use crate::domain::seed::agree::{Base, agree};
use crate::domain::seed::{self, Collection, Kind, Written};
use crate::domain::utility::Ledgered;
use crate::error::Error;
use crate::journal::{Change, Draft, Edit, Event, Planning};
use crate::ledger::outbox::{self, Item};
use crate::ledger::{mirror, usage};
use crate::service::App;
use crate::service::transfer::clean;
use crate::store::{listing, rows};

/// Records that are read at once.
pub(super) const PAGE: usize = 200;

/// Who takes over what others wrote, as the journal has it.
const ACTOR: &str = "chroma";

impl App {
    /// Takes over what others wrote: by a look at every record, or only at collections that have more or fewer than is
    /// known.
    ///
    /// # Errors
    /// When the server cannot be asked. What was taken over by then stays.
    pub(super) fn collect(&self, all: bool) -> Result<(), Error> {
        let _turn = self.sharing.turn.lock();
        let there = self.remotes()?;
        self.miss_remotes(&there)?;
        for (collection, remote) in &there {
            if self.counters.stop.is_cancelled() {
                return Ok(());
            }
            let known = self.view().read(|connection| mirror::count(connection, collection))?;
            if all || self.sharing.server()?.count(remote)? != known {
                self.read_remote(collection, remote)?;
            }
        }
        let now = self.now();
        let mut state = self.sharing.state.lock();
        state.counted_at = Some(now);
        if all {
            state.read_at = Some(now);
        }
        Ok(())
    }

    /// Whoever removes a collection as a whole does not mean the memory here: the server is told of it again.
    fn miss_remotes(&self, there: &[(Collection, Remote)]) -> Result<(), Error> {
        let known = self.view().read(mirror::collections)?;
        for gone in known.iter().filter(|known| there.iter().all(|(collection, _)| collection != *known)) {
            tracing::warn!("the collection {} is gone from Chroma: it is told again", gone.name());
            self.journal.note(|connection| {
                mirror::forget_all(connection, gone)?;
                outbox::enter_all(connection, Some(gone))
            })?;
        }
        Ok(())
    }

    fn read_remote(&self, collection: &Collection, remote: &Remote) -> Result<(), Error> {
        let known = self.view().read(|connection| mirror::ids(connection, collection))?;
        let (mut seen, mut offset) = (BTreeSet::new(), 0);
        loop {
            let page = self.sharing.server()?.page(remote, offset, PAGE)?;
            offset += page.len();
            let last = page.len() < PAGE;
            seen.extend(page.iter().map(|written| written.id.clone()));
            self.take_over(collection, page)?;
            if last {
                break;
            }
        }
        // Pages shift when others remove records meanwhile.
        let missed: Vec<String> = known.difference(&seen).cloned().collect();
        for ids in missed.chunks(PAGE) {
            let there = self.sharing.server()?.get(remote, ids, DEADLINE)?;
            let gone: Vec<&String> = ids.iter().filter(|id| there.iter().all(|one| one.id != **id)).collect();
            self.remove_gone(collection, &gone)?;
        }
        Ok(())
    }

    /// The records that are new at the server, or others than they were.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) fn news(&self, collection: &Collection, page: Vec<Written>) -> Result<Vec<Written>, Error> {
        let now = self.now();
        self.view().read(|connection| {
            let mut news = Vec::new();
            for written in page {
                let item = Item { collection: collection.clone(), id: written.id.clone() };
                let base = mirror::find(connection, &item)?;
                if base.is_none_or(|base| !base.is_theirs(&written)) {
                    news.push(Written { at: now, ..written });
                }
            }
            Ok::<_, Error>(news)
        })
    }

    /// Takes over what others wrote among some records. Nothing may be told to the server since they were read: what it
    /// heard from here would look like a change of theirs.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) fn take_over(&self, collection: &Collection, page: Vec<Written>) -> Result<(), Error> {
        let news = self.news(collection, page)?;
        match &collection.kind {
            _ if news.is_empty() => Ok(()),
            Kind::Improvements(scope) => self.take_improvements(collection, scope, &news),
            Kind::Evaluations | Kind::Performance => self.take_records(collection, news),
        }
    }

    /// Evaluations and snapshots are written once.
    fn take_records(&self, collection: &Collection, news: Vec<Written>) -> Result<(), Error> {
        let (mut bases, mut records) = (Vec::new(), Vec::new());
        for written in news {
            let item = Item { collection: collection.clone(), id: written.id.clone() };
            bases.push((item, Base::told(&written)));
            match collection.record(written).and_then(|record| clean(record, &mut self.entry())) {
                Ok(record) => records.push(record),
                Err(fault) => tracing::warn!("a record of {} is left out: {fault}", collection.name()),
            }
        }
        self.import_as(ACTOR, "what others wrote to Chroma", Import { records, dry_run: false })?;
        self.keep_bases(&bases)
    }

    fn take_improvements(
        &self,
        collection: &Collection,
        scope: &Scope,
        news: &[Written],
    ) -> Result<(), Error> {
        let vectors = self.vectors_of(news)?;
        let plan = |planning: &Planning<'_>| {
            let mut draft = Draft { agent: Some(collection.agent.clone()), vectors, ..Draft::default() };
            let mut bases = Vec::new();
            for theirs in news {
                let item = Item { collection: collection.clone(), id: theirs.id.clone() };
                let base = self.reconcile(planning, scope, &item, theirs, &mut draft.changes)?;
                bases.extend(base.map(|base| (item, base)));
            }
            let records =
                draft.changes.iter().filter(|change| matches!(change, Change::Improvement { .. })).count();
            draft.reason = format!("what others wrote to Chroma, {records} of {}", collection.name());
            if !draft.changes.is_empty() {
                let agreed = bases.drain(..).map(|(item, base)| Event::Agreed { item, base: Box::new(base) });
                draft.events.extend(agreed);
            }
            Ok((draft, bases))
        };
        let (_, bases) = self.journal.commit(ACTOR, plan)?;
        self.keep_bases(&bases)
    }

    /// Plans to bring one improvement together with the server's. Returns what holds then; nothing where ours is about to be
    /// removed there.
    fn reconcile(
        &self,
        planning: &Planning<'_>,
        scope: &Scope,
        item: &Item,
        theirs: &Written,
        changes: &mut Vec<Change>,
    ) -> Result<Option<Base>, Error> {
        let showing = self.showing();
        let agent = &item.collection.agent;
        let (mine, base, waits) = planning.view.read(|connection| {
            let row = item
                .id
                .parse()
                .ok()
                .map(|id| rows::find(connection, agent, scope, &id))
                .transpose()?
                .flatten();
            let found = row.map(|row| listing::at_row(connection, row, &showing)).transpose()?.flatten();
            let mine = row.zip(found.map(|(one, _)| one));
            Ok::<_, Error>((mine, mirror::find(connection, item)?, outbox::has(connection, item)?))
        })?;
        let Some((row, before)) = mine else {
            if waits && base.is_some() {
                return Ok(None);
            }
            let Some(one) = self.improvement(&item.collection, theirs.clone()) else {
                return Ok(Some(Base::told(theirs)));
            };
            let known = planning.view.read(|connection| usage::find(connection, agent, &one.id))?;
            changes.push(Change::improvement(None, None, Some(one.clone())));
            if known.is_none() && one.usage != Usage::default() {
                changes.push(counted(&one, None, decay::day(planning.now)));
            }
            return Ok(Some(Base::of(&seed::improvement(&one), theirs)));
        };
        let agreement = agree(base, &seed::improvement(&before), theirs);
        let Some(both) = self.improvement(&item.collection, agreement.record.clone()) else {
            return Ok(Some(agreement.refused()));
        };
        let after = Improvement {
            agent: before.agent.clone(),
            corroborations: before.corroborations,
            evidence: before.evidence.clone(),
            promotion: match (both.promotion, &before.promotion) {
                (Some(theirs), Some(mine)) if theirs.at == mine.at => Some(mine.clone()),
                (theirs, _) => theirs,
            },
            usage: Usage {
                access_count: before.usage.access_count,
                last_accessed: before.usage.last_accessed,
                q_value: before.usage.q_value,
                ..both.usage
            },
            ..both
        };
        let base = agreement.base(&seed::improvement(&after));
        if after.usage != before.usage {
            let known = planning.view.read(|connection| usage::find(connection, agent, &after.id))?;
            changes.push(counted(&after, known, decay::day(planning.now)));
        }
        let (before, after) = (
            Improvement { usage: Usage::default(), ..before },
            Improvement { usage: Usage::default(), ..after },
        );
        if before != after {
            changes.push(Change::improvement(Some(row), Some(before), Some(after)));
        }
        Ok(Some(base))
    }

    /// The improvement that a written record stands for, free of secrets; nothing if it breaks a rule.
    fn improvement(&self, collection: &Collection, written: Written) -> Option<Improvement> {
        let id = written.id.clone();
        match collection.record(written).and_then(|record| clean(record, &mut self.entry())) {
            Ok(Record::Improvement(one)) => Some(one),
            Ok(_) => None,
            Err(fault) => {
                tracing::warn!(id, "a record of {} is left as it is: {fault}", collection.name());
                None
            }
        }
    }

    /// The vectors of the texts that may be stored, so that the writer does not wait for them.
    fn vectors_of(&self, news: &[Written]) -> Result<HashMap<String, Vec<f32>>, Error> {
        let mut entry = self.entry();
        let texts: Vec<String> = news
            .iter()
            .filter_map(|written| entry.document(written.document.as_deref()?).ok())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let texts_here: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = self.view().embed_all(&texts_here)?.into_iter().map(|one| one.vector);
        Ok(texts.iter().cloned().zip(vectors).collect())
    }

    /// Removes what others removed. It is archived, and can be brought back.
    fn remove_gone(&self, collection: &Collection, gone: &[&String]) -> Result<(), Error> {
        let items: Vec<Item> =
            gone.iter().map(|id| Item { collection: collection.clone(), id: (*id).clone() }).collect();
        if let Kind::Improvements(_) = &collection.kind {
            let plan = |planning: &Planning<'_>| {
                let mut draft = Draft { agent: Some(collection.agent.clone()), ..Draft::default() };
                for item in &items {
                    let found = planning.view.read(|connection| {
                        // What changed here since is told again.
                        if outbox::has(connection, item)? {
                            return Ok(None);
                        }
                        here(connection, item)
                    })?;
                    if let Some((row, one)) = found {
                        draft.changes.push(Change::improvement(Some(row), Some(one), None));
                    }
                }
                draft.reason = format!("others removed {} of {}", draft.changes.len(), collection.name());
                Ok((draft, ()))
            };
            self.journal.commit(ACTOR, plan)?;
        }
        self.journal
            .recollect(|connection| items.iter().try_for_each(|item| mirror::forget(connection, item)))
    }

    fn keep_bases(&self, bases: &[(Item, Base)]) -> Result<(), Error> {
        if bases.is_empty() {
            return Ok(());
        }
        self.journal.recollect(|connection| {
            bases.iter().try_for_each(|(item, base)| mirror::put(connection, item, base))
        })
    }
}

/// An improvement as it is here, without its usage, and its row.
fn here(connection: &Connection, item: &Item) -> Result<Option<(i64, Improvement)>, Error> {
    let (Kind::Improvements(scope), Ok(id)) = (&item.collection.kind, item.id.parse()) else {
        return Ok(None);
    };
    let row = rows::find(connection, &item.collection.agent, scope, &id)?;
    let one = row.map(|row| rows::at(connection, row)).transpose()?.flatten();
    Ok(row.zip(one))
}

/// Usage as others count it.
fn counted(one: &Improvement, known: Option<Ledgered>, today: i64) -> Change {
    let counts = Ledgered::adopted(&one.usage, today);
    let after = match known.clone() {
        Some(known) => Ledgered {
            usage_count: counts.usage_count,
            success_count: counts.success_count,
            failure_count: counts.failure_count,
            last_used: counts.last_used,
            ..known
        },
        None => counts,
    };
    Change::Usage {
        agent: one.agent.clone(),
        id: one.id.clone(),
        edit: Edit { before: known, after: Some(after) },
    }
}
