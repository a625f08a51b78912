//! `memoryctl initialise`

use std::path::PathBuf;

use clap::Args;
use memoryd_client::proto::{Initialise, Initialised, Serve};

use crate::arguments::{Agent, Workplace};
use crate::exit::Outcome;
use crate::input;
use crate::output::Output;
use crate::render::{Page, clean, faint, one_line};

#[derive(Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    agent: Agent,
    #[command(flatten)]
    workplace: Workplace,
    /// The agent's own file, which is read and never written
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

pub fn run(arguments: Arguments, service: &impl Serve<Initialise>, out: &mut Output) -> Outcome {
    let absolute = |path: PathBuf| path.canonicalize().map_err(|error| input::unreadable(&path, &error));
    let reply = service.serve(Initialise {
        agent: arguments.agent.agent,
        file: arguments.file.map(absolute).transpose()?,
        project: arguments.workplace.project()?,
    })?;
    out.reply(&reply, render)
}

/// Markdown, so that an agent can take it as it is.
fn render(page: &mut Page, reply: &Initialised) {
    if let Some(text) = &reply.static_text {
        page.line(clean(text).trim_end());
        page.gap();
    }
    page.line(format_args!("## What {} learned", reply.agent));
    page.gap();
    if reply.learned_improvements.is_empty() {
        page.line("Nothing yet.");
    }
    for improvement in &reply.learned_improvements {
        let about = format!("({}, {})", one_line(&improvement.category), improvement.id);
        page.line(format_args!("- {} {}", one_line(&improvement.document), faint(about)));
    }
}
