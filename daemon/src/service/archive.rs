//! Looking at what left the memory (spec S6).

use memoryd_proto::{
    ArchiveFile, ArchiveKind, ArchiveList, ArchivePage, Archived, ArchivedRecord, Archives, Fault,
    SearchArchive, Serve,
};

use super::{App, PAGE, page};
use crate::error::Error;
use crate::journal;

impl Serve<Archives> for App {
    fn serve(&self, _: Archives) -> Result<ArchiveList, Fault> {
        Ok(self.archives()?)
    }
}

impl Serve<SearchArchive> for App {
    fn serve(&self, call: SearchArchive) -> Result<ArchivePage, Fault> {
        Ok(self.search_archive(&call)?)
    }
}

impl App {
    fn archives(&self) -> Result<ArchiveList, Error> {
        let archive = &self.view().archive;
        let mut files = Vec::new();
        for month in archive.months(None)? {
            let mut records = 0;
            let damaged = archive.read(&month, |line| {
                // Among operations lies what belongs to them.
                let counts = month.kind != ArchiveKind::Operations || line.starts_with(r#"{"operation""#);
                records += u64::from(counts);
            })?;
            files.push(ArchiveFile {
                bytes: std::fs::metadata(&month.path).map_or(0, |metadata| metadata.len()),
                name: month.name,
                kind: month.kind,
                month: month.month,
                records,
                damaged: damaged.iter().map(|one| one.bytes).sum(),
            });
        }
        Ok(ArchiveList { folder: archive.folder().display().to_string(), files })
    }

    fn search_archive(&self, call: &SearchArchive) -> Result<ArchivePage, Error> {
        let archive = &self.view().archive;
        let limit = usize::try_from(page(call.limit, PAGE)).unwrap_or(usize::MAX);
        let words: Vec<String> = call.text.split_whitespace().map(str::to_lowercase).collect();
        let mut page = ArchivePage { records: Vec::new(), more: false, damaged: Vec::new() };
        for month in archive.months(call.kind)? {
            let damaged = archive.read(&month, |line| {
                let Some(record) = record(month.kind, line) else { return };
                if matches(&record, call, &words) {
                    page.records.push(Archived { file: month.name.clone(), record });
                }
                if page.records.len() >= 2 * limit {
                    newest(&mut page, limit);
                }
            })?;
            page.damaged.extend(damaged);
        }
        newest(&mut page, limit);
        Ok(page)
    }
}

/// The record in a line, if it holds one.
fn record(kind: ArchiveKind, line: &str) -> Option<ArchivedRecord> {
    match kind {
        ArchiveKind::Improvements => serde_json::from_str(line).ok().map(ArchivedRecord::Improvement),
        ArchiveKind::Evaluations => serde_json::from_str(line).ok().map(ArchivedRecord::Evaluation),
        ArchiveKind::Operations => journal::archived_operation(line).map(ArchivedRecord::Operation),
    }
}

fn matches(record: &ArchivedRecord, call: &SearchArchive, words: &[String]) -> bool {
    if call.agent.is_some() && record.agent() != call.agent.as_ref()
        || call.id.as_ref().is_some_and(|id| *id != record.id())
    {
        return false;
    }
    let text = text(record).to_lowercase();
    words.iter().all(|word| text.contains(word))
}

/// Everything of a record that is searched.
fn text(record: &ArchivedRecord) -> String {
    let id = record.id();
    let mut parts: Vec<&str> = vec![&id];
    match record {
        ArchivedRecord::Improvement(one) => {
            parts.extend([one.category.as_str(), &one.document]);
            parts.extend(
                one.tags.iter().chain(&one.context_tags).chain(&one.learned_from).map(String::as_str),
            );
            parts.extend(one.deprecation.iter().map(|known| known.reason.as_str()));
        }
        ArchivedRecord::Evaluation(one) => {
            parts.extend([one.task.as_str(), &one.task_type]);
            parts.extend(one.strengths.iter().chain(&one.weaknesses).chain(&one.notes).map(String::as_str));
            parts.extend(one.insights.iter().map(|insight| insight.text.as_str()));
        }
        ArchivedRecord::Operation(one) => {
            parts.extend([one.actor.as_str(), &one.reason]);
            parts.extend(one.changes.iter().map(String::as_str));
        }
    }
    parts.join("\n")
}

/// Leaves the newest records, each once: what was archived again after an undo lies there twice.
fn newest(page: &mut ArchivePage, limit: usize) {
    page.records.sort_by(|a, b| {
        (b.record.at(), b.record.id(), &b.file).cmp(&(a.record.at(), a.record.id(), &a.file))
    });
    page.records.dedup_by(|later, kept| later.record == kept.record);
    page.more |= page.records.len() > limit;
    page.records.truncate(limit);
}
