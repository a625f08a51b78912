//! Taking in the records of Chroma, from a directory on disk or from a server (spec D4).

use memoryd_proto::{
    ChromaCollection, ChromaSource, Fault, Import, ImportChroma, ImportedChroma, RefusedRecord, Serve,
};

use crate::chroma::Directory;
use crate::chroma::Server;
use crate::domain::seed::{Collection, Written};
use crate::error::Error;
use crate::service::App;

/// Records that are taken in at once: as many as are embedded within a few seconds.
const PAGE: usize = 200;

/// The places in a server's collection that a number tells.
const PLACES: u64 = 1 << 32;

/// A part of what Chroma has.
struct Page {
    collections: Vec<ChromaCollection>,
    /// Records, beside the names of their collections.
    records: Vec<(String, Written)>,
    next: Option<u64>,
}

impl Serve<ImportChroma> for App {
    fn serve(&self, call: ImportChroma) -> Result<ImportedChroma, Fault> {
        Ok(self.import_chroma(&call)?)
    }
}

impl App {
    fn import_chroma(&self, call: &ImportChroma) -> Result<ImportedChroma, Error> {
        let page = match &call.source {
            ChromaSource::Directory(directory) => of_directory(&Directory::open(directory)?, call.after)?,
            ChromaSource::Server(url) => of_server(self.sharing.visit(url)?.as_ref(), call.after)?,
        };
        let mut reply =
            ImportedChroma { collections: page.collections, next: page.next, ..ImportedChroma::default() };
        let (mut records, mut places) = (Vec::new(), Vec::new());
        for (name, written) in page.records {
            let Some(collection) = Collection::named(&name) else { continue };
            let id = written.id.clone();
            match collection.record(written) {
                Ok(record) => {
                    records.push(record);
                    places.push((name, id));
                }
                Err(fault) => {
                    reply.refused.push(RefusedRecord { collection: name, id, reason: fault.message });
                }
            }
        }
        let imported = self.import(Import { records, dry_run: call.dry_run })?;
        for refused in imported.refused {
            let known = usize::try_from(refused.index).ok().and_then(|index| places.get(index).cloned());
            let (collection, id) = known.unwrap_or_default();
            reply.refused.push(RefusedRecord { collection, id, reason: refused.reason });
        }
        Ok(ImportedChroma {
            added: imported.added,
            known: imported.known,
            redacted: imported.redacted,
            operation: imported.operation,
            ..reply
        })
    }
}

fn of_directory(directory: &Directory, after: u64) -> Result<Page, Error> {
    let collections = directory.collections()?.into_iter().map(|one| collection(one.name, one.records));
    let rows = directory.page(i64::try_from(after).unwrap_or(i64::MAX), PAGE)?;
    let last = rows.last().filter(|_| rows.len() == PAGE);
    Ok(Page {
        next: last.and_then(|row| u64::try_from(row.number).ok()),
        collections: collections.collect(),
        records: rows.into_iter().map(|row| (row.collection, row.written)).collect(),
    })
}

/// Collections are read one after the other, in the order of their names.
fn of_server(server: &dyn Server, after: u64) -> Result<Page, Error> {
    let mut remotes = server.collections()?;
    remotes.sort_by(|one, other| one.name.cmp(&other.name));
    let mut collections = Vec::new();
    for remote in &remotes {
        collections.push(collection(remote.name.clone(), server.count(remote)?));
    }
    let (place, offset) = (usize::try_from(after / PLACES), usize::try_from(after % PLACES));
    let (mut place, offset) = (place.unwrap_or(usize::MAX), offset.unwrap_or(usize::MAX));
    let taken = |place: usize| collections.get(place).is_some_and(|one: &ChromaCollection| one.taken);
    let mut records = Vec::new();
    if taken(place) {
        let page = server.page(&remotes[place], offset, PAGE)?;
        if page.len() == PAGE {
            let next = Some(place as u64 * PLACES + (offset + PAGE) as u64);
            let records = page.into_iter().map(|written| (remotes[place].name.clone(), written)).collect();
            return Ok(Page { collections, records, next });
        }
        records = page.into_iter().map(|written| (remotes[place].name.clone(), written)).collect();
    }
    place = place.saturating_add(1);
    let next = (place < remotes.len()).then(|| place as u64 * PLACES);
    Ok(Page { collections, records, next })
}

fn collection(name: String, records: u64) -> ChromaCollection {
    ChromaCollection { taken: Collection::named(&name).is_some(), name, records }
}
