//! Telling the server what changed here (spec D3).

use memoryd_proto::ImprovementId;
use rusqlite::Connection;

use super::at_server;
use crate::chroma::server::{DEADLINE, Put};
use crate::domain::seed::agree::Base;
use crate::domain::seed::{self, Kind, Written};
use crate::error::Error;
use crate::ledger::mirror;
use crate::ledger::outbox::{self, Entry, Item};
use crate::service::App;
use crate::store::listing::{self, Showing};
use crate::store::{performance, rows};

/// Records that are told at once.
const BATCH: usize = 100;

/// A record as it is here, with the vector of its text if that is known.
pub(super) struct Ours {
    pub(super) written: Written,
    pub(super) vector: Option<Vec<f32>>,
}

/// What the server is told of a record.
struct Told {
    entry: Entry,
    /// The record by its id there.
    item: Item,
    act: Act,
    /// What both sides hold once it has heard.
    after: Option<Base>,
}

#[derive(PartialEq)]
enum Act {
    /// It knows.
    Nothing,
    /// All of it.
    Whole(Put),
    /// What changed.
    Change(Put),
    /// That it is gone.
    Gone(String),
}

impl Told {
    /// Whether both can go in one call.
    fn is_like(&self, other: &Self) -> bool {
        let like = match (&self.act, &other.act) {
            (Act::Nothing, Act::Nothing) | (Act::Whole(_), Act::Whole(_)) | (Act::Gone(_), Act::Gone(_)) => {
                true
            }
            (Act::Change(some), Act::Change(other)) => some.text.is_some() == other.text.is_some(),
            _ => false,
        };
        like && self.entry.item.collection == other.entry.item.collection
    }
}

impl App {
    /// Tells the server of the first records of the outbox, in order. Returns of how many.
    ///
    /// # Errors
    /// When the server cannot be asked. What it has not heard stays in the outbox.
    pub(super) fn deliver(&self) -> Result<usize, Error> {
        if self.view().degraded.is_some() {
            // A record without a vector cannot be told, and none may be told in vectors of another model.
            return Ok(0);
        }
        let _turn = self.sharing.turn.lock();
        let entries = self.view().read(|connection| outbox::first(connection, BATCH))?;
        self.look_again(&entries)?;
        let told = entries.into_iter().map(|entry| self.to_tell(entry)).collect::<Result<Vec<_>, _>>()?;
        for batch in told.chunk_by(Told::is_like) {
            self.tell_server(batch)?;
        }
        Ok(told.len())
    }

    /// Takes over what others changed of records that are about to be told: what they counted is not to be overwritten.
    /// Between this and the telling they may still write; the server has no way to forbid it.
    fn look_again(&self, entries: &[Entry]) -> Result<(), Error> {
        for batch in entries.chunk_by(|one, other| one.item.collection == other.item.collection) {
            let collection = &batch[0].item.collection;
            if !matches!(collection.kind, Kind::Improvements(_)) {
                continue;
            }
            let mut known = Vec::new();
            self.view().read(|connection| {
                for entry in batch {
                    if mirror::find(connection, &entry.item)?.is_some() {
                        known.push(entry.item.id.clone());
                    }
                }
                Ok::<_, Error>(())
            })?;
            if known.is_empty() {
                continue;
            }
            let Some(remote) = self.known_remote(collection)? else { continue };
            let there = self.sharing.server()?.get(&remote, &known, DEADLINE)?;
            let is_there = |id: &String| there.iter().any(|written| written.id == *id);
            let gone: Vec<Item> = known
                .into_iter()
                .filter(|id| !is_there(id))
                .map(|id| Item { collection: collection.clone(), id })
                .collect();
            if !gone.is_empty() {
                // They are told as a whole.
                self.journal.recollect(|connection| {
                    gone.iter().try_for_each(|item| mirror::forget(connection, item))
                })?;
            }
            self.take_over(collection, there)?;
        }
        Ok(())
    }

    fn to_tell(&self, entry: Entry) -> Result<Told, Error> {
        let (showing, item) = (self.showing(), at_server(&entry.item));
        let (ours, base) = self.view().read(|connection| {
            Ok::<_, Error>((ours(connection, &entry.item, &showing)?, mirror::find(connection, &item)?))
        })?;
        let id = item.id.clone();
        let (act, after) = match (ours, base) {
            (None, None) => (Act::Nothing, None),
            (None, Some(_)) => (Act::Gone(id), None),
            (Some(ours), None) => {
                let metadata = ours.written.metadata.iter();
                let put = Put {
                    id,
                    text: self.text(&ours.written, ours.vector.as_deref())?,
                    metadata: metadata.map(|(key, value)| (key.clone(), Some(value.clone()))).collect(),
                };
                (Act::Whole(put), Some(Base::told(&ours.written)))
            }
            (Some(ours), Some(base)) => match base.patch(&ours.written) {
                None => (Act::Nothing, Some(base)),
                Some(patch) => {
                    let after = base.telling(&patch, &ours.written);
                    let text = match patch.document {
                        Some(_) => self.text(&ours.written, ours.vector.as_deref())?,
                        None => None,
                    };
                    (Act::Change(Put { id, text, metadata: patch.metadata }), Some(after))
                }
            },
        };
        Ok(Told { entry, item, act, after })
    }

    /// The text of a record, with its vector.
    fn text(&self, written: &Written, vector: Option<&[f32]>) -> Result<Option<(String, Vec<f32>)>, Error> {
        let Some(text) = &written.document else { return Ok(None) };
        let vector = match vector {
            Some(vector) => Some(vector.to_vec()),
            None => self.view().embed(text)?,
        };
        Ok(vector.map(|vector| (text.clone(), vector)))
    }

    /// Tells the server of records that go in one call. Those that it refuses are set aside, and hold up no others.
    fn tell_server(&self, batch: &[Told]) -> Result<(), Error> {
        match self.send(batch) {
            Ok(()) => self.heard(batch),
            Err(Error::Server(error)) if error.is_refusal() => match batch {
                [one] => {
                    tracing::warn!(id = one.entry.item.id, "{error}: it is set aside");
                    self.journal
                        .recollect(|connection| outbox::set_aside(connection, &one.entry, &error.to_string()))
                }
                _ => batch.iter().try_for_each(|one| self.tell_server(std::slice::from_ref(one))),
            },
            Err(error) => {
                self.sharing.fails(&error);
                // Collections may have gone. They are looked for again.
                let mut state = self.sharing.state.lock();
                state.remotes.clear();
                state.listed = false;
                Err(error)
            }
        }
    }

    fn send(&self, batch: &[Told]) -> Result<(), Error> {
        let Some(first) = batch.first() else { return Ok(()) };
        let puts =
            |puts: fn(&Told) -> Option<&Put>| batch.iter().filter_map(puts).cloned().collect::<Vec<_>>();
        let remote = || self.remote(&first.entry.item.collection);
        let server = self.sharing.server()?;
        match &first.act {
            Act::Nothing => {}
            Act::Whole(_) => {
                let records = puts(|one| if let Act::Whole(put) = &one.act { Some(put) } else { None });
                server.upsert(&remote()?, &records)?;
            }
            Act::Change(_) => {
                // Should the answer be lost, it is known what the server may have heard.
                self.journal.recollect(|connection| {
                    batch.iter().try_for_each(|one| match &one.after {
                        Some(base) => mirror::put(connection, &one.item, base),
                        None => Ok(()),
                    })
                })?;
                let records = puts(|one| if let Act::Change(put) = &one.act { Some(put) } else { None });
                server.update(&remote()?, &records)?;
            }
            Act::Gone(_) => {
                let ids: Vec<String> = batch
                    .iter()
                    .filter_map(|one| if let Act::Gone(id) = &one.act { Some(id.clone()) } else { None })
                    .collect();
                if let Some(remote) = self.known_remote(&first.entry.item.collection)? {
                    server.delete(&remote, &ids)?;
                }
            }
        }
        Ok(())
    }

    /// The server has heard of these.
    fn heard(&self, batch: &[Told]) -> Result<(), Error> {
        self.journal.recollect(|connection| {
            for one in batch {
                match &one.after {
                    Some(base) => mirror::put(connection, &one.item, &base.clone().heard())?,
                    None => mirror::forget(connection, &one.item)?,
                }
                outbox::done(connection, &one.entry)?;
            }
            Ok(())
        })
    }
}

/// A record as it is here, if it is.
pub(super) fn ours(connection: &Connection, item: &Item, showing: &Showing) -> Result<Option<Ours>, Error> {
    let agent = &item.collection.agent;
    Ok(match &item.collection.kind {
        Kind::Improvements(scope) => {
            let id: ImprovementId = item.id.parse()?;
            let row = rows::find(connection, agent, scope, &id)?;
            let found = row.map(|row| listing::at_row(connection, row, showing)).transpose()?.flatten();
            found.map(|(one, vector)| Ours { written: seed::improvement(&one), vector })
        }
        Kind::Evaluations => listing::evaluation(connection, agent, &item.id)?
            .map(|one| Ours { written: seed::evaluation(&one), vector: None }),
        Kind::Performance => {
            let found =
                item.id.parse().ok().map(|day| performance::find(connection, agent, day)).transpose()?;
            found.flatten().map(|one| Ours { written: seed::snapshot(&one), vector: None })
        }
    })
}
