//! `memoryctl maintain`

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use indicatif::ProgressBar;
use memoryd_client::Client;
use memoryd_client::proto::{Happening, JobName, JobReport, Maintain, Maintained, Serve, Watch};

use super::import::progress;
use super::watch::doing;
use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, count, faint, notable, strong};

/// How long jobs may take, unless told otherwise.
const DEADLINE: Duration = Duration::from_hours(1);

#[derive(Args, Debug)]
pub struct Arguments {
    /// Only this job, as `memoryctl schedule` lists them
    job: Option<JobName>,
    /// Only show what would change, and why
    #[arg(long)]
    dry_run: bool,
}

pub fn run(arguments: &Arguments, timeout: Option<Duration>, out: &mut Output) -> Outcome {
    let client = Client::here()?.with_deadline(timeout.unwrap_or(DEADLINE));
    client.greet()?;
    let bar = out.is_for_people().then(|| Bar::follow(Client::at(client.path())));
    let maintained = ask(arguments, &client);
    drop(bar);
    out.reply(&maintained?, render)
}

fn ask(
    arguments: &Arguments,
    service: &impl Serve<Maintain>,
) -> Result<Maintained, memoryd_client::proto::Fault> {
    service.serve(Maintain { job: arguments.job, dry_run: arguments.dry_run })
}

/// Shows how far jobs are, as the daemon tells it over a connection of its own.
struct Bar {
    bar: ProgressBar,
    over: Arc<AtomicBool>,
}

impl Bar {
    fn follow(client: Client) -> Self {
        let (bar, over) = (progress::jobs(), Arc::new(AtomicBool::new(false)));
        let follows = Self { bar: bar.clone(), over: over.clone() };
        if !bar.is_hidden() {
            std::thread::spawn(move || {
                let mut after = None;
                while let Ok(watched) = client.call(Watch { after, wait_ms: 1000 }) {
                    for event in watched.events {
                        if let Happening::JobProgress { job, phase, done, of } = event.what
                            && !over.load(Ordering::Relaxed)
                        {
                            bar.set_message(format!("{job}: {}", doing(phase)));
                            bar.set_length(of);
                            bar.set_position(done);
                        }
                    }
                    after = Some(watched.next);
                }
            });
        }
        follows
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.bar.finish_and_clear();
    }
}

fn render(page: &mut Page, maintained: &Maintained) {
    let (idle, busy): (Vec<_>, Vec<_>) = maintained.jobs.iter().partition(|job| is_idle(job));
    for job in busy {
        page.heading(job.job.as_str());
        planned(page, job);
        for note in &job.notes {
            page.prose("  ", note);
        }
        if job.left_out > 0 {
            let touched = count(job.left_out, "step was", "steps were");
            page.prose(
                "  ",
                &format!("{touched} left out: something touched them meanwhile. The next run looks again."),
            );
        }
        if let Some(operation) = job.operation {
            page.line(faint(format_args!("  To undo it: memoryctl undo {operation}")));
        }
    }
    if !page.text().is_empty() && !idle.is_empty() {
        page.gap();
    }
    if !idle.is_empty() {
        let names: Vec<&str> = idle.iter().map(|job| job.job.as_str()).collect();
        page.prose("", &format!("Nothing to do: {}.", names.join(", ")));
    }
    if maintained.dry_run {
        page.line(notable("Nothing was changed."));
    }
}

fn is_idle(job: &JobReport) -> bool {
    job.total == 0 && job.operation.is_none() && job.notes.is_empty()
}

/// What is done and why, one agent after the other.
fn planned(page: &mut Page, job: &JobReport) {
    let mut agents: Vec<_> = job.planned.iter().map(|step| &step.agent).collect();
    agents.sort();
    agents.dedup();
    for agent in agents {
        let whose = agent.as_ref().map_or_else(|| "all agents".to_owned(), ToString::to_string);
        page.line(format_args!("  {}", strong(whose)));
        for step in job.planned.iter().filter(|step| step.agent == *agent) {
            page.prose("    ", &step.why);
            for change in &step.changes {
                page.prose("      ", change);
            }
        }
    }
    let shown = job.planned.len() as u64;
    if job.total > shown {
        page.line(format_args!("  and {}", count(job.total - shown, "more step", "more steps")));
    }
}

#[cfg(test)]
mod tests {
    use memoryd_client::proto::{OperationId, PlannedChange};

    use super::*;
    use crate::verbs::testing::shown;

    fn maintained(dry_run: bool) -> Maintained {
        let step = |agent: &str, why: &str| PlannedChange {
            agent: agent.parse().ok(),
            why: why.to_owned(),
            changes: vec!["changed improvement imp_1: confidence".to_owned()],
        };
        let report = |job, planned: Vec<PlannedChange>, notes: &[&str]| JobReport {
            job,
            operation: (!dry_run && !planned.is_empty()).then_some(OperationId(17)),
            total: planned.len() as u64,
            planned,
            left_out: 0,
            notes: notes.iter().map(|note| (*note).to_owned()).collect(),
            took_ms: 4,
        };
        let steps = vec![
            step("writer", "promote imp_1"),
            step("ada", "promote imp_2"),
            step("writer", "promote imp_3"),
        ];
        Maintained {
            dry_run,
            jobs: vec![
                report(JobName::Metrics, Vec::new(), &[]),
                JobReport { total: 250, left_out: 1, ..report(JobName::Promote, steps, &[]) },
                report(JobName::Decay, Vec::new(), &["3 of 9 Q-values fade"]),
            ],
        }
    }

    #[test]
    fn changes_are_told_with_their_reason_and_how_to_undo_them() {
        assert_eq!(
            shown(|page| render(page, &maintained(false))),
            "\
promote
  ada
    promote imp_2
      changed improvement imp_1: confidence
  writer
    promote imp_1
      changed improvement imp_1: confidence
    promote imp_3
      changed improvement imp_1: confidence
  and 247 more steps
  1 step was left out: something touched them meanwhile. The next run looks again.
  To undo it: memoryctl undo 17

decay
  3 of 9 Q-values fade

Nothing to do: metrics.
"
        );
    }

    #[test]
    fn a_rehearsal_says_that_nothing_was_changed() {
        let text = shown(|page| render(page, &maintained(true)));
        assert!(text.contains("promote imp_2") && !text.contains("undo"), "{text}");
        assert!(text.ends_with("\nNothing was changed.\n"), "{text}");
    }
}
