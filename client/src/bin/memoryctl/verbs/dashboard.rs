//! `memoryctl dashboard`

use clap::Args;
use memoryd_client::proto::{Dashboard, DashboardView, Improvement, Serve, Snapshot};

use crate::arguments::SomeAgent;
use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, context, faint, grouped, milliseconds, percent, percent_if, strong, time, trend};

#[derive(Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    agent: SomeAgent,
}

pub fn run(arguments: Arguments, service: &impl Serve<Dashboard>, out: &mut Output) -> Outcome {
    out.reply(&service.serve(Dashboard { agent: arguments.agent.agent })?, render)
}

fn render(page: &mut Page, view: &DashboardView) {
    let whose = view.agent.as_ref().map_or_else(|| "all agents".to_owned(), ToString::to_string);
    page.line(format_args!("{}  {}", strong(format_args!("Memory of {whose}")), faint(time(view.at))));
    page.gap();
    let quality =
        view.recent_quality.map_or_else(|| "–".to_owned(), |quality| format!("{quality:.0} of 100"));
    page.fields([
        ("improvements", Some(grouped(view.total_improvements))),
        ("  active", Some(grouped(view.active_improvements))),
        ("  candidates", Some(grouped(view.candidates))),
        ("  deprecated", Some(grouped(view.deprecated_improvements))),
        ("  of the last 7 days", Some(grouped(view.improvements_last_7_days))),
        ("evaluations", Some(grouped(view.total_evaluations))),
        ("success, 30 days", Some(percent_if(view.recent_success_rate))),
        ("quality, 30 days", Some(quality)),
    ]);
    if let Some(snapshot) = &view.latest_snapshot {
        performance(page, snapshot);
    }
    best(page, "Best by success", &view.top_improvements);
    best(page, "Most useful", &view.top_q);
    if !view.contexts.is_empty() {
        page.heading("Contexts");
        view.contexts.iter().for_each(|state| page.line(context(state)));
    }
}

fn performance(page: &mut Page, snapshot: &Snapshot) {
    page.heading(&format!("Performance on {}", snapshot.day));
    let improving = if snapshot.improving { ", improving" } else { "" };
    page.fields([
        ("success", Some(percent(snapshot.success_rate))),
        ("quality", Some(format!("{:.0} of 100", snapshot.avg_quality.get()))),
        ("trend", Some(format!("{}{improving}", trend(snapshot.quality_trend)))),
        ("tasks", Some(grouped(snapshot.total_tasks))),
        ("time", snapshot.avg_time_ms.map(|time| format!("{} a task", milliseconds(time)))),
        ("tokens", snapshot.avg_tokens.map(|tokens| format!("{tokens:.0} a task"))),
    ]);
}

fn best(page: &mut Page, heading: &str, improvements: &[Improvement]) {
    if improvements.is_empty() {
        return;
    }
    page.heading(heading);
    let rows = improvements.iter().map(|improvement| {
        [
            percent_if(improvement.usage.success_rate),
            grouped(improvement.usage.usage_count),
            format!("{:.2}", improvement.usage.q_value.get()),
            improvement.id.to_string(),
            improvement.document.clone(),
        ]
    });
    page.table(["success", "uses", "q", "id", "text"], rows);
}

#[cfg(test)]
mod tests {
    use memoryd_client::proto::{ContextState, Mode};

    use super::*;
    use crate::verbs::testing::{sample, shown};

    #[test]
    fn figures_come_first_and_the_best_below() {
        let view = DashboardView {
            agent: None,
            at: sample::noon(),
            total_improvements: 1204,
            active_improvements: 1100,
            deprecated_improvements: 4,
            candidates: 100,
            total_evaluations: 0,
            recent_success_rate: None,
            recent_quality: Some(81.6),
            improvements_last_7_days: 12,
            latest_snapshot: Some(sample::snapshot()),
            top_improvements: vec![sample::improvement()],
            top_q: Vec::new(),
            contexts: vec![ContextState {
                warm_from: 100,
                name: "coding".parse().unwrap(),
                interactions: 1,
                mode: Mode::Cold,
            }],
        };
        let text = shown(|page| render(page, &view));
        let at = time(sample::noon());
        assert_eq!(
            text,
            format!(
                "\
Memory of all agents  {at}

improvements          1,204
  active              1,100
  candidates          100
  deprecated          4
  of the last 7 days  12
evaluations           0
success, 30 days      –
quality, 30 days      82 of 100

Performance on 2026-01-26
success  75 %
quality  82 of 100
trend    ↗ rises by 4.2, improving
tasks    40
time     1.5 s a task
tokens   5200 a task

Best by success
success  uses  q     id     text
67 %     3     0.55  imp_1  Retry idempotent requests with backoff

Contexts
coding (cold, 1 of 100 interactions)
"
            )
        );
    }
}
