//! Taking in a Chroma directory (spec D4).

use memoryd_proto::{ChromaCollection, Fault, Import, ImportChroma, ImportedChroma, RefusedRecord, Serve};

use crate::chroma::Directory;
use crate::domain::seed::Collection;
use crate::error::Error;
use crate::service::App;

/// Records that are taken in at once: as many as are embedded within a few seconds.
const PAGE: usize = 200;

impl Serve<ImportChroma> for App {
    fn serve(&self, call: ImportChroma) -> Result<ImportedChroma, Fault> {
        Ok(self.import_chroma(&call)?)
    }
}

impl App {
    fn import_chroma(&self, call: &ImportChroma) -> Result<ImportedChroma, Error> {
        let directory = Directory::open(&call.directory)?;
        let collections = directory.collections()?.into_iter().map(|one| ChromaCollection {
            taken: Collection::named(&one.name).is_some(),
            name: one.name,
            records: one.records,
        });
        let rows = directory.page(i64::try_from(call.after).unwrap_or(i64::MAX), PAGE)?;
        let mut reply = ImportedChroma { collections: collections.collect(), ..ImportedChroma::default() };
        let last = rows.last().filter(|_| rows.len() == PAGE);
        reply.next = last.and_then(|row| u64::try_from(row.number).ok());
        let (mut records, mut places) = (Vec::new(), Vec::new());
        for row in rows {
            let Some(collection) = Collection::named(&row.collection) else { continue };
            let id = row.written.id.clone();
            match collection.record(row.written) {
                Ok(record) => {
                    records.push(record);
                    places.push((row.collection, id));
                }
                Err(fault) => {
                    let reason = fault.message;
                    reply.refused.push(RefusedRecord { collection: row.collection, id, reason });
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
