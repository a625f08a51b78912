//! `memoryctl performance`

use clap::Args;
use memoryd_client::proto::{Serve, Snapshot, SnapshotPage, Snapshots};

use crate::arguments::{Paging, SomeAgent};
use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, faint, grouped, milliseconds, percent, trend};

#[derive(Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    agent: SomeAgent,
    #[command(flatten)]
    paging: Paging,
}

pub fn run(arguments: Arguments, service: &impl Serve<Snapshots>, out: &mut Output) -> Outcome {
    let reply = service.serve(Snapshots {
        agent: arguments.agent.agent,
        since: None,
        offset: arguments.paging.offset,
        limit: arguments.paging.limit,
    })?;
    out.reply(&reply, render)
}

fn render(page: &mut Page, reply: &SnapshotPage) {
    if reply.snapshots.is_empty() {
        page.line("No snapshots.");
        return page.line(faint("The job metrics keeps one a day of each agent: memoryctl maintain metrics"));
    }
    page.table(
        ["day", "agent", "tasks", "success", "quality", "time", "tokens", "trend"],
        reply.snapshots.iter().map(row),
    );
    page.gap();
    page.line(faint(format_args!("{} of {}", grouped(reply.snapshots.len() as u64), grouped(reply.total))));
    page.line(faint(
        "Each is over an agent's newest tasks of the last 30 days; the trend is of their quality.",
    ));
}

fn row(snapshot: &Snapshot) -> [String; 8] {
    [
        snapshot.day.to_string(),
        snapshot.agent.to_string(),
        grouped(snapshot.total_tasks),
        percent(snapshot.success_rate),
        format!("{:.0}", snapshot.avg_quality.get()),
        snapshot.avg_time_ms.map_or_else(|| "–".to_owned(), milliseconds),
        snapshot.avg_tokens.map_or_else(|| "–".to_owned(), |tokens| format!("{tokens:.0}")),
        trend(snapshot.quality_trend),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::testing::{sample, shown};

    #[test]
    fn a_line_tells_a_day_of_an_agent() {
        let worse = Snapshot {
            day: "2026-01-25".parse().unwrap(),
            quality_trend: -1.26,
            avg_time_ms: None,
            avg_tokens: None,
            ..sample::snapshot()
        };
        let reply = SnapshotPage { snapshots: vec![sample::snapshot(), worse], total: 12 };
        assert_eq!(
            shown(|page| render(page, &reply)),
            "\
day         agent  tasks  success  quality  time   tokens  trend
2026-01-26  ada    40     75 %     82       1.5 s  5200    ↗ rises by 4.2
2026-01-25  ada    40     75 %     82       –      –       ↘ falls by 1.3

2 of 12
Each is over an agent's newest tasks of the last 30 days; the trend is of their quality.
"
        );
    }
}
