//! Taking in the records of Chroma, page after page.

use memoryd_client::proto::{
    ChromaCollection, ChromaSource, Fault, ImportChroma, ImportedChroma, OperationId, RefusedRecord, Serve,
};
use serde::Serialize;

use super::progress;
use crate::render::{Page, bad, clean, count, faint, notable};

/// What became of the records, counted over all pages.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    dry_run: bool,
    added: u64,
    known: u64,
    refused: Vec<RefusedRecord>,
    redacted: Vec<String>,
    collections: Vec<ChromaCollection>,
    operations: Vec<OperationId>,
}

pub fn import(
    source: &ChromaSource,
    dry_run: bool,
    service: &impl Serve<ImportChroma>,
) -> Result<Summary, Fault> {
    let bar = progress::records();
    let mut summary = Summary { dry_run, ..Summary::default() };
    let mut after = Some(0);
    while let Some(from) = after {
        let reply = service.serve(ImportChroma { source: source.clone(), after: from, dry_run })?;
        let ImportedChroma { added, known, refused, redacted, operation, next, collections } = reply;
        bar.set_length(collections.iter().filter(|one| one.taken).map(|one| one.records).sum());
        bar.inc(added + known + refused.len() as u64);
        summary.added += added;
        summary.known += known;
        summary.refused.extend(refused);
        summary.redacted.extend(redacted);
        summary.operations.extend(operation);
        summary.collections = collections;
        after = next;
    }
    summary.redacted.sort();
    summary.redacted.dedup();
    bar.finish_and_clear();
    Ok(summary)
}

pub fn render(page: &mut Page, summary: &Summary) {
    let taken = if summary.dry_run { "would be taken in" } else { "taken in" };
    page.line(format_args!("{} {taken}", count(summary.added, "record", "records")));
    if summary.known > 0 {
        page.line(format_args!("{} known already", count(summary.known, "record", "records")));
    }
    for refused in &summary.refused {
        let which = format!("{} in {} refused:", clean(&refused.id), clean(&refused.collection));
        page.prose(&format!("{}  ", bad(which)), &refused.reason);
    }
    for other in summary.collections.iter().filter(|one| !one.taken) {
        let records = count(other.records, "record", "records");
        page.line(faint(format_args!(
            "Left out: {} with {records}, as its name is not that of an agent's memory",
            clean(&other.name)
        )));
    }
    for kind in &summary.redacted {
        page.line(notable(format_args!("A secret was redacted: {}", clean(kind))));
    }
    for operation in &summary.operations {
        page.line(faint(format_args!("To undo it: memoryctl undo {operation}")));
    }
}
