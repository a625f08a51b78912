//! Moving all records to the server, or taking all over from there, and comparing both sides (spec D2).

use std::collections::BTreeMap;

use memoryd_proto::{ComparedCollection, Fault, Migrate, Migrated, MigrationStep, Serve, StoreKind};
use sha2::{Digest, Sha256};

use super::collect::PAGE;
use super::deliver::ours;
use super::{SHOWN, at_server};
use crate::chroma::server::Remote;
use crate::domain::seed::Collection;
use crate::domain::seed::agree::{self, Base};
use crate::domain::text;
use crate::error::Error;
use crate::ledger::{mirror, outbox};
use crate::service::App;

impl Serve<Migrate> for App {
    fn serve(&self, call: Migrate) -> Result<Migrated, Fault> {
        Ok(self.migrate(&call)?)
    }
}

/// Where a migration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At a record of a collection, by their places.
    Reading(usize, usize),
    Telling,
    Comparing,
}

impl Place {
    fn read(text: &str) -> Option<Self> {
        match text {
            "telling" => Some(Self::Telling),
            "comparing" => Some(Self::Comparing),
            _ => {
                let (collection, offset) = text.strip_prefix("reading ")?.split_once(' ')?;
                Some(Self::Reading(collection.parse().ok()?, offset.parse().ok()?))
            }
        }
    }

    fn told(self) -> String {
        match self {
            Self::Reading(collection, offset) => format!("reading {collection} {offset}"),
            Self::Telling => "telling".to_owned(),
            Self::Comparing => "comparing".to_owned(),
        }
    }
}

impl App {
    fn migrate(&self, call: &Migrate) -> Result<Migrated, Error> {
        if let Some(reason) = &self.view().degraded {
            return Err(Fault::conflict(
                reason.clone(),
                "Records are moved with their vectors. Nothing was moved; try again with the former model.",
            )
            .into());
        }
        let place = match &call.after {
            None => {
                self.share()?;
                Place::Reading(0, 0)
            }
            Some(text) => Place::read(text).ok_or_else(|| {
                Fault::invalid(
                    format!("{text:?} is no place of a migration"),
                    "Give what the step before returned.",
                )
            })?,
        };
        let answered = match place {
            Place::Reading(collection, offset) => self.migrate_read(call.to, collection, offset),
            Place::Telling => self.migrate_tell(),
            Place::Comparing => self.migrate_compare(),
        };
        if answered.is_ok() {
            self.sharing.works();
        }
        answered
    }

    fn step(&self, step: MigrationStep, (done, of): (u64, u64), next: Option<Place>) -> Migrated {
        Migrated {
            url: self.sharing.config.url.clone(),
            step,
            done,
            of,
            next: next.map(Place::told),
            collections: Vec::new(),
            aside: Vec::new(),
        }
    }

    fn migrate_read(&self, to: StoreKind, place: usize, offset: usize) -> Result<Migrated, Error> {
        let _turn = self.sharing.turn.lock();
        let there = self.remotes()?;
        let server = self.sharing.server()?;
        let counts = there.iter().map(|(_, remote)| server.count(remote)).collect::<Result<Vec<_>, _>>()?;
        let (before, of): (u64, u64) = (counts.iter().take(place).sum(), counts.iter().sum());
        let after = match to {
            StoreKind::Chroma => Place::Telling,
            StoreKind::Embedded => Place::Comparing,
        };
        let Some((collection, remote)) = there.get(place) else {
            return Ok(self.step(MigrationStep::Reading, (of, of), Some(after)));
        };
        let page = server.page(remote, offset, PAGE)?;
        let read = offset + page.len();
        let next = if page.len() < PAGE { Place::Reading(place + 1, 0) } else { Place::Reading(place, read) };
        self.take_over(collection, page)?;
        Ok(self.step(MigrationStep::Reading, (before + read as u64, of), Some(next)))
    }

    fn migrate_tell(&self) -> Result<Migrated, Error> {
        let told = self.deliver()? as u64;
        let (waiting, _) = self.view().read(outbox::count)?;
        let next = if waiting == 0 { Place::Comparing } else { Place::Telling };
        Ok(self.step(MigrationStep::Telling, (told, told + waiting), Some(next)))
    }

    fn migrate_compare(&self) -> Result<Migrated, Error> {
        let _turn = self.sharing.turn.lock();
        let there: BTreeMap<Collection, Remote> = self.remotes()?.into_iter().collect();
        let mut here: BTreeMap<Collection, Side> = BTreeMap::new();
        let showing = self.showing();
        self.view().read(|connection| {
            for item in outbox::everything(connection)? {
                let Some(ours) = ours(connection, &item, &showing)? else { continue };
                let at_server = at_server(&item);
                let base = mirror::find(connection, &at_server)?;
                let known = base.filter(|base| base.patch(&ours.written).is_none());
                let digest = known.as_ref().map_or_else(|| agree::digest(&ours.written), Base::digest);
                here.entry(item.collection).or_default().0.insert(at_server.id, digest);
            }
            Ok::<_, Error>(())
        })?;
        let mut compared = Vec::new();
        let names: Vec<Collection> = there.keys().chain(here.keys()).cloned().collect();
        for collection in names.into_iter().collect::<std::collections::BTreeSet<_>>() {
            let mut theirs = Side::default();
            if let Some(remote) = there.get(&collection) {
                self.read_side(remote, &mut theirs)?;
            }
            let ours = here.remove(&collection).unwrap_or_default();
            compared.push(ComparedCollection {
                name: self.as_written(&collection)?.name(),
                here: ours.0.len() as u64,
                there: theirs.0.len() as u64,
                digest_here: ours.digest(),
                digest_there: theirs.digest(),
            });
        }
        let aside = self.view().read(|connection| outbox::aside(connection, SHOWN))?;
        let of = compared.iter().map(|one| one.there).sum();
        Ok(Migrated {
            collections: compared,
            aside: aside.into_iter().map(super::told_aside).collect(),
            ..self.step(MigrationStep::Comparing, (of, of), None)
        })
    }

    fn read_side(&self, remote: &Remote, side: &mut Side) -> Result<(), Error> {
        let mut offset = 0;
        loop {
            let page = self.sharing.server()?.page(remote, offset, PAGE)?;
            offset += page.len();
            let last = page.len() < PAGE;
            side.0.extend(page.into_iter().map(|written| (written.id.clone(), agree::digest(&written))));
            if last {
                return Ok(());
            }
        }
    }
}

/// The records of one side, by their ids.
#[derive(Default)]
struct Side(BTreeMap<String, String>);

impl Side {
    fn digest(&self) -> String {
        let mut sha = Sha256::new();
        for (id, digest) in &self.0 {
            sha.update(format!("{id}\n{digest}\n"));
        }
        text::hex(&sha.finalize())
    }
}
