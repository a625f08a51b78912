//! `memoryctl import`

use std::io::{BufRead, Cursor, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use memoryd_client::proto::{
    AgentName, ChromaSource, Fault, Import, ImportChroma, ImportQ, ImportedQ, OperationId, Record, Serve,
};
use serde::Serialize;

use crate::exit::Outcome;
use crate::input;
use crate::output::Output;
use crate::render::{Page, bad, clean, count, faint, notable};

mod batches;
mod chroma;
pub mod progress;
mod qavr;

use batches::{Batch, Batches};

#[derive(Args, Debug)]
pub struct Arguments {
    /// Whose utilities a QAVR file holds
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
    /// An export with one record a line, a QAVR JSON, a Chroma directory, or the address of a Chroma server; - for standard input
    file: PathBuf,
}

/// What became of a file's records, counted over all its batches.
#[derive(Debug, Default, Serialize)]
struct Summary {
    dry_run: bool,
    added: u64,
    known: u64,
    refused: Vec<RefusedLine>,
    redacted: Vec<String>,
    operations: Vec<OperationId>,
}

#[derive(Debug, Serialize)]
struct RefusedLine {
    line: u64,
    reason: String,
}

pub fn run(
    arguments: &Arguments,
    service: &(impl Serve<Import> + Serve<ImportQ> + Serve<ImportChroma>),
    out: &mut Output,
) -> Outcome {
    if let Some(source) = chroma_source(&arguments.file)? {
        let summary = chroma::import(&source, arguments.dry_run, service)?;
        return out.reply(&summary, chroma::render);
    }
    let (mut reader, length) = input::open(&arguments.file)?;
    let mut first = String::new();
    reader.read_line(&mut first).map_err(|error| input::unreadable(&arguments.file, &error))?;
    if let Some(table) = qavr::table(&first, &mut reader, &arguments.file)? {
        let agent = whose(arguments)?;
        return out.reply(&service.serve(ImportQ { agent, table })?, render_utilities);
    }
    let batches = Batches::new(Cursor::new(first).chain(reader), &arguments.file);
    let summary = import(batches, length, arguments.dry_run, service)?;
    out.reply(&summary, render)
}

/// Where records of Chroma are, if the argument names a directory or a server.
fn chroma_source(named: &Path) -> Result<Option<ChromaSource>, Fault> {
    if let Some(url) =
        named.to_str().filter(|text| text.starts_with("http://") || text.starts_with("https://"))
    {
        return Ok(Some(ChromaSource::Server(url.to_owned())));
    }
    if !named.is_dir() {
        return Ok(None);
    }
    let directory = std::path::absolute(named).map_err(|error| {
        Fault::invalid(format!("{} cannot be found: {error}", named.display()), "Name a directory.")
    })?;
    Ok(Some(ChromaSource::Directory(directory)))
}

fn whose(arguments: &Arguments) -> Result<AgentName, Fault> {
    if arguments.dry_run {
        return Err(Fault::invalid(
            "A QAVR file cannot be imported for a trial",
            "Leave out --dry-run. The import can be undone.",
        ));
    }
    arguments
        .agent
        .clone()
        .ok_or_else(|| Fault::invalid("A QAVR file does not say whose it is", "Pass --agent."))
}

fn import(
    mut batches: Batches<impl BufRead>,
    length: Option<u64>,
    dry_run: bool,
    service: &impl Serve<Import>,
) -> Result<Summary, Fault> {
    let bar = progress::bytes(length);
    let mut summary = Summary { dry_run, ..Summary::default() };
    while let Some(Batch { records, lines }) = batches.next().map_err(|fault| partly(fault, &summary))? {
        let reply = service.serve(Import { records, dry_run }).map_err(|fault| partly(fault, &summary))?;
        summary.added += reply.added;
        summary.known += reply.known;
        summary.refused.extend(reply.refused.into_iter().map(|refused| {
            RefusedLine {
                line: usize::try_from(refused.index)
                    .ok()
                    .and_then(|index| lines.get(index))
                    .copied()
                    .unwrap_or_default(),
                reason: refused.reason,
            }
        }));
        summary.redacted.extend(reply.redacted);
        summary.operations.extend(reply.operation);
        bar.set_position(batches.bytes());
    }
    summary.redacted.sort();
    summary.redacted.dedup();
    bar.finish_and_clear();
    Ok(summary)
}

/// The fault of a batch, with what became of those before it.
fn partly(fault: Fault, summary: &Summary) -> Fault {
    if summary.dry_run || summary.operations.is_empty() {
        return fault;
    }
    let taken = count(summary.added, "record", "records");
    Fault {
        advice: format!("{} Before it, {taken} were taken in; importing again skips them.", fault.advice),
        ..fault
    }
}

fn render(page: &mut Page, summary: &Summary) {
    let taken = if summary.dry_run { "would be taken in" } else { "taken in" };
    page.line(format_args!("{} {taken}", count(summary.added, "record", "records")));
    if summary.known > 0 {
        page.line(format_args!("{} known already", count(summary.known, "record", "records")));
    }
    for refused in &summary.refused {
        page.prose(&format!("{}  ", bad(format_args!("line {} refused:", refused.line))), &refused.reason);
    }
    for kind in &summary.redacted {
        page.line(notable(format_args!("A secret was redacted: {}", clean(kind))));
    }
    for operation in &summary.operations {
        page.line(faint(format_args!("To undo it: memoryctl undo {operation}")));
    }
}

fn render_utilities(page: &mut Page, reply: &ImportedQ) {
    let memories = count(reply.memories, "memory", "memories");
    page.line(format_args!("{memories} and {} set", count(reply.contexts, "context", "contexts")));
    if !reply.unknown.is_empty() {
        let unknown = count(reply.unknown.len() as u64, "id has", "ids have");
        page.prose("", &format!("{unknown} no improvement yet: {}", reply.unknown.join(", ")));
    }
    if let Some(operation) = reply.operation {
        page.line(faint(format_args!("To undo it: memoryctl undo {operation}")));
    }
}

/// The record on a line.
fn record(line: &str, number: u64, path: &Path) -> Result<Record, Fault> {
    serde_json::from_str(line).map_err(|error| {
        Fault::invalid(
            format!("Line {number} of {} is no record: {error}", path.display()),
            "Each line holds one record, as `memoryctl export` writes it.",
        )
    })
}
