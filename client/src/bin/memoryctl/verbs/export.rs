//! `memoryctl export`

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use memoryd_client::proto::{AgentName, Export, ExportQ, Fault, Serve};
use serde::Serialize;

use crate::exit::{Failure, Outcome};
use crate::output::Output;
use crate::render::count;

pub mod replace;

use super::import::progress;
use replace::Replacement;

#[derive(Args, Debug)]
pub struct Arguments {
    /// Only this agent
    #[arg(long, value_name = "NAME", required_if_eq("format", "qavr"))]
    agent: Option<AgentName>,
    /// The file, replaced as a whole [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What to write
    #[arg(long, default_value = "jsonl")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Everything, one record a line
    Jsonl,
    /// An agent's learned utilities, as QAVR writes them
    Qavr,
}

#[derive(Serialize)]
struct Exported {
    file: PathBuf,
    records: u64,
}

pub fn run(
    arguments: Arguments,
    service: &(impl Serve<Export> + Serve<ExportQ>),
    out: &mut Output,
) -> Outcome {
    let Some(file) = arguments.output.clone() else {
        write(arguments, service, &mut BufWriter::new(out.raw()), &ProgressBar::hidden())?;
        return Ok(());
    };
    let unwritable = |error: &io::Error| unwritable(&file, error);
    let mut replacement = Replacement::of(&file).map_err(|error| unwritable(&error))?;
    let records = write(arguments, service, &mut BufWriter::new(replacement.writer()), &progress::records())
        .map_err(|failure| match failure {
            Failure::Output(error) => Failure::Fault(unwritable(&error)),
            failure @ (Failure::Fault(_) | Failure::Found) => failure,
        })?;
    replacement.finish().map_err(|error| unwritable(&error))?;
    out.reply(&Exported { file, records }, |page, exported| {
        let records = count(exported.records, "record", "records");
        page.line(format_args!("{records} written to {}", exported.file.display()));
    })
}

fn write(
    arguments: Arguments,
    service: &(impl Serve<Export> + Serve<ExportQ>),
    writer: &mut impl Write,
    bar: &ProgressBar,
) -> Result<u64, Failure> {
    let records = match (arguments.format, arguments.agent) {
        (Format::Qavr, Some(agent)) => {
            let table = service.serve(ExportQ { agent })?;
            serde_json::to_writer_pretty(&mut *writer, &table).map_err(io::Error::from)?;
            writeln!(writer)?;
            table.memories.len() as u64
        }
        (_, agent) => write_records(agent.as_ref(), service, writer, bar)?,
    };
    writer.flush()?;
    Ok(records)
}

fn write_records(
    agent: Option<&AgentName>,
    service: &impl Serve<Export>,
    writer: &mut impl Write,
    bar: &ProgressBar,
) -> Result<u64, Failure> {
    let mut after = None;
    loop {
        let page = service.serve(Export { agent: agent.cloned(), after })?;
        bar.set_length(page.total);
        for record in &page.records {
            serde_json::to_writer(&mut *writer, record).map_err(io::Error::from)?;
            writeln!(writer)?;
        }
        bar.inc(page.records.len() as u64);
        after = page.next;
        if after.is_none() {
            bar.finish_and_clear();
            return Ok(bar.position());
        }
    }
}

fn unwritable(file: &Path, error: &io::Error) -> Fault {
    Fault::invalid(
        format!("{} cannot be written: {error}", file.display()),
        "Nothing was changed there. Check the path, its permissions and the space left.",
    )
}
