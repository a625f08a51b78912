//! `memoryctl archive`

use clap::{Args, Subcommand, ValueEnum};
use memoryd_client::proto::{
    AgentName, ArchiveKind, ArchiveList, ArchivePage, ArchivedRecord, Archives, Fault, Restore,
    RestoreEvaluation, RestoredEvaluation, SearchArchive, Service,
};

use crate::arguments::SomeAgent;
use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, bad, bytes, faint, grouped, one_line, time};
use crate::verbs::improvements;

mod show;

/// The files are compressed JSON lines: `zstdcat` reads them too.
#[derive(Subcommand, Debug)]
pub enum Verb {
    /// List the files
    List,
    /// Find what left the memory, newest first
    Search(SearchArguments),
    /// Show everything with an id, or an operation by its number
    Show(OneArguments),
    /// Bring back an improvement or an evaluation
    Restore(OneArguments),
}

#[derive(Args, Debug)]
pub struct SearchArguments {
    /// Words that must all occur
    words: Vec<String>,
    /// Only this kind
    #[arg(long)]
    kind: Option<KindName>,
    #[command(flatten)]
    agent: SomeAgent,
    /// How many to show
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 20)]
    limit: u64,
}

#[derive(Args, Debug)]
pub struct OneArguments {
    /// The id, or the operation's number
    id: String,
    /// Whose; needed only where two agents use the same id
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KindName {
    /// Improvements that were removed
    Improvements,
    /// Evaluations that were old
    Evaluations,
    /// Operations of the journal that were old
    Operations,
}

impl From<KindName> for ArchiveKind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Improvements => Self::Improvements,
            KindName::Evaluations => Self::Evaluations,
            KindName::Operations => Self::Operations,
        }
    }
}

pub fn run(verb: Verb, service: &impl Service, out: &mut Output) -> Outcome {
    match verb {
        Verb::List => out.reply(&service.serve(Archives {})?, list),
        Verb::Search(arguments) => out.reply(&service.serve(arguments.call())?, found),
        Verb::Show(arguments) => {
            let page = service.serve(arguments.call())?;
            if page.records.is_empty() {
                return Err(Fault::not_found(
                    format!("The archive holds nothing with the id {}", arguments.id),
                    "`memoryctl archive search` shows what it holds.",
                )
                .into());
            }
            out.reply(&page, show::render)
        }
        Verb::Restore(arguments) => restore(arguments, service, out),
    }
}

impl SearchArguments {
    fn call(self) -> SearchArchive {
        SearchArchive {
            kind: self.kind.map(Into::into),
            agent: self.agent.agent,
            id: None,
            text: self.words.join(" "),
            limit: self.limit,
        }
    }
}

impl OneArguments {
    fn call(&self) -> SearchArchive {
        SearchArchive { agent: self.agent.clone(), id: Some(self.id.clone()), ..SearchArchive::default() }
    }
}

/// Finds out what the id is of, and brings that back.
fn restore(arguments: OneArguments, service: &impl Service, out: &mut Output) -> Outcome {
    let found = service.serve(arguments.call())?;
    let OneArguments { id, agent } = arguments;
    match found.records.first().map(|found| &found.record) {
        Some(ArchivedRecord::Evaluation(_)) => {
            out.reply(&service.serve(RestoreEvaluation { agent, id: id.parse()? })?, restored)
        }
        Some(ArchivedRecord::Operation(_)) => Err(Fault::invalid(
            format!("{id} is an operation: it comes back when the operation that moved it is undone"),
            format!("`memoryctl undo {id}` says which that is."),
        )
        .into()),
        Some(ArchivedRecord::Improvement(_)) | None => {
            out.reply(&service.serve(Restore { agent, id: id.parse()? })?, improvements::edited)
        }
    }
}

fn list(page: &mut Page, reply: &ArchiveList) {
    if reply.files.is_empty() {
        return page.line("The archive is empty.");
    }
    let rows = reply.files.iter().map(|file| {
        let damaged = if file.damaged > 0 { bytes(file.damaged) } else { String::new() };
        [
            file.kind.to_string(),
            file.month.clone(),
            grouped(file.records),
            bytes(file.bytes),
            damaged,
            file.name.clone(),
        ]
    });
    page.table(["kind", "month", "records", "size", "unreadable", "file"], rows);
    page.gap();
    page.line(faint(format_args!("In {}; zstdcat reads them too.", reply.folder)));
}

fn found(page: &mut Page, reply: &ArchivePage) {
    damage(page, reply);
    if reply.records.is_empty() {
        return page.line("Nothing found.");
    }
    let rows = reply.records.iter().map(|found| {
        let text = match &found.record {
            ArchivedRecord::Improvement(one) => one.document.clone(),
            ArchivedRecord::Evaluation(one) => one.task.clone(),
            ArchivedRecord::Operation(one) => format!("{}: {}", one.actor, one.reason),
        };
        let agent = found.record.agent().map(ToString::to_string).unwrap_or_default();
        [time(found.record.at()), found.record.id(), agent, found.file.clone(), one_line(&text)]
    });
    page.table(["at", "id", "agent", "file", "text"], rows);
    if reply.more {
        page.gap();
        page.line(faint("There are older ones: say more words, or pass a higher --limit."));
    }
}

/// Says which parts of the archive cannot be read.
fn damage(page: &mut Page, reply: &ArchivePage) {
    for part in &reply.damaged {
        page.line(bad(format_args!(
            "{}: {} from byte {} on cannot be read",
            part.file,
            bytes(part.bytes),
            grouped(part.at)
        )));
    }
}

fn restored(page: &mut Page, reply: &RestoredEvaluation) {
    show::evaluation(page, &reply.evaluation);
    page.gap();
    page.line(match reply.operation {
        Some(operation) => faint(format!("To undo it: memoryctl undo {operation}")),
        None => faint("It is there already.".to_owned()),
    });
}

#[cfg(test)]
mod tests {
    use memoryd_client::proto::{ArchiveFile, Archived, Damage, Edited, OperationId, Request};

    use super::*;
    use crate::verbs::testing::{Fake, sample, shown, written};

    fn page(record: ArchivedRecord) -> ArchivePage {
        let file = "operations-2026-04.jsonl.zst".to_owned();
        let damaged = vec![Damage { file: file.clone(), at: 4096, bytes: 512 }];
        ArchivePage { records: vec![Archived { file, record }], more: true, damaged }
    }

    fn one(id: &str) -> OneArguments {
        OneArguments { id: id.to_owned(), agent: None }
    }

    #[test]
    fn the_files_are_listed_with_what_cannot_be_read() {
        let file = ArchiveFile {
            name: "operations-2026-04.jsonl.zst".to_owned(),
            kind: ArchiveKind::Operations,
            month: "2026-04".to_owned(),
            records: 1234,
            bytes: 2048,
            damaged: 512,
        };
        let text =
            shown(|page| list(page, &ArchiveList { folder: "/archive".to_owned(), files: vec![file] }));
        assert_eq!(
            text,
            "\
kind        month    records  size     unreadable  file
operations  2026-04  1,234    2.0 KiB  512 B       operations-2026-04.jsonl.zst

In /archive; zstdcat reads them too.
"
        );
    }

    #[test]
    fn what_was_found_tells_where_it_lies() {
        let text = shown(|out| found(out, &page(ArchivedRecord::Improvement(sample::improvement()))));
        let at = time(sample::noon());
        assert_eq!(
            text,
            format!(
                "\
operations-2026-04.jsonl.zst: 512 B from byte 4,096 on cannot be read
at                id     agent  file                          text
{at}  imp_1  ada    operations-2026-04.jsonl.zst  Retry idempotent requests with backoff

There are older ones: say more words, or pass a higher --limit.
"
            )
        );
    }

    #[test]
    fn restore_finds_out_what_the_id_is_of() {
        let evaluation = sample::learned().evaluation;
        let restored = RestoredEvaluation { evaluation: evaluation.clone(), operation: Some(OperationId(7)) };
        let fake = Fake::default()
            .reply::<SearchArchive>(page(ArchivedRecord::Evaluation(evaluation)))
            .reply::<RestoreEvaluation>(restored);
        let (text, outcome) = written(false, |out| run(Verb::Restore(one("eval_1")), &fake, out));
        assert!(outcome.is_ok());
        assert!(text.ends_with("To undo it: memoryctl undo 7\n"), "{text}");

        let edited = Edited { improvement: sample::improvement(), operation: None, redacted: Vec::new() };
        let fake = Fake::default()
            .reply::<SearchArchive>(page(ArchivedRecord::Improvement(sample::improvement())))
            .reply::<Restore>(edited);
        assert!(written(false, |out| run(Verb::Restore(one("imp_1")), &fake, out)).1.is_ok());
        assert!(matches!(&fake.asked()[1], Request::Restore(call) if call.id.as_str() == "imp_1"));
    }
}
