//! `memoryctl evaluations`

use chrono::{DateTime, Utc};
use clap::{ArgGroup, Args};
use memoryd_client::proto::{EvaluationPage, Evaluations, Serve};

use crate::arguments::{Paging, SomeAgent, instant};
use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, faint, grouped, time};

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("outcome").args(["success", "failure"]))]
pub struct Arguments {
    #[command(flatten)]
    agent: SomeAgent,
    /// Only successes
    #[arg(long)]
    success: bool,
    /// Only failures
    #[arg(long)]
    failure: bool,
    /// Only from then on: 7d, 12h, a date or a time
    #[arg(long, value_name = "WHEN", value_parser = instant)]
    since: Option<DateTime<Utc>>,
    #[command(flatten)]
    paging: Paging,
}

pub fn run(arguments: Arguments, service: &impl Serve<Evaluations>, out: &mut Output) -> Outcome {
    let reply = service.serve(Evaluations {
        agent: arguments.agent.agent,
        success: (arguments.success || arguments.failure).then_some(arguments.success),
        since: arguments.since,
        offset: arguments.paging.offset,
        limit: arguments.paging.limit,
    })?;
    out.reply(&reply, render)
}

fn render(page: &mut Page, reply: &EvaluationPage) {
    if reply.evaluations.is_empty() {
        return page.line("No evaluations.");
    }
    let rows = reply.evaluations.iter().map(|evaluation| {
        [
            time(evaluation.at),
            evaluation.agent.to_string(),
            if evaluation.success { "success" } else { "failure" }.to_owned(),
            format!("{:.0}", evaluation.quality.get()),
            evaluation.task_type.clone(),
            evaluation.task.clone(),
        ]
    });
    page.table(["at", "agent", "outcome", "quality", "type", "task"], rows);
    page.gap();
    page.line(faint(format_args!("{} of {}", grouped(reply.evaluations.len() as u64), grouped(reply.total))));
}
