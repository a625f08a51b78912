//! `memoryctl status`

use chrono::{DateTime, Utc};
use memoryd_client::proto::{JobState, Serve, Status, StatusReport};

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, bytes, count, good, grouped, notable, span, strong, word};
use crate::verbs::schedule;

pub fn run(service: &impl Serve<Status>, out: &mut Output) -> Outcome {
    out.reply(&service.serve(Status {})?, render)
}

fn render(page: &mut Page, status: &StatusReport) {
    let up = span(status.now - status.started_at);
    page.line(format_args!(
        "{} {} {} for {up}, process {}",
        strong("memoryd"),
        status.version,
        good("runs"),
        status.pid
    ));
    if let Some(degraded) = &status.degraded {
        page.prose(&notable("degraded ").to_string(), degraded);
    }
    for job in &status.failing {
        page.prose(&notable("failing  ").to_string(), &failing(job, status.now));
    }
    page.gap();
    page.fields([
        ("agents", Some(grouped(status.agents))),
        ("improvements", Some(grouped(status.improvements))),
        ("evaluations", Some(grouped(status.evaluations))),
        ("open recalls", Some(grouped(status.open_recalls))),
        ("last operation", Some(status.last_operation.map_or_else(|| "none".to_owned(), grouped))),
        ("next job", Some(status.next_job.as_ref().map_or_else(|| "none".to_owned(), upcoming))),
    ]);
    page.gap();
    page.fields([
        ("model", Some(format!("{}, {} dimensions", status.model, status.dimension))),
        ("utility", Some(word(&status.estimator))),
        ("store", Some(format!("{}, {}", status.store, bytes(status.database_bytes)))),
        ("data", Some(status.data_dir.clone())),
        ("configuration", status.config_file.clone()),
        ("socket", Some(status.socket.clone())),
        ("memory", status.resident_bytes.map(bytes)),
        ("requests", Some(grouped(status.requests))),
        ("connections", Some(grouped(status.connections))),
    ]);
}

fn upcoming(job: &JobState) -> String {
    format!("{}, {}", job.job, schedule::next(job))
}

/// Which job fails, why, and when it is tried again.
fn failing(job: &JobState, now: DateTime<Utc>) -> String {
    let why = job.last.as_ref().and_then(|last| last.failed.as_deref()).unwrap_or("no reason is known");
    let again = job.next.map_or_else(String::new, |next| format!(", again in {}", span(next - now)));
    let times = count(job.failures.into(), "time", "times in a row");
    format!("{} failed {times}{again}: {why}", job.job)
}
