//! `memoryctl status`

use chrono::{DateTime, Utc};
use memoryd_client::proto::{ChromaState, JobState, Serve, Status, StatusReport, TreeState};

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, bytes, clean, count, good, grouped, notable, span, strong, word};
use crate::verbs::{schedule, watch::left};

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
    if let Some(trouble) = status.chroma.as_ref().and_then(|chroma| chroma.trouble.as_ref()) {
        page.prose(&notable("away     ").to_string(), trouble);
    }
    for aside in status.chroma.iter().flat_map(|chroma| &chroma.aside) {
        let which = format!("{} in {}", clean(&aside.id), clean(&aside.collection));
        page.prose(&notable("refused  ").to_string(), &format!("{which}: {}", aside.reason));
    }
    if let Some(why) = &status.tree.polled {
        page.prose(&notable("polling  ").to_string(), why);
    }
    page.gap();
    page.fields([
        ("agents", Some(grouped(status.agents))),
        ("improvements", Some(grouped(status.improvements))),
        ("evaluations", Some(grouped(status.evaluations))),
        ("memory tree", Some(tree(&status.tree))),
        ("open recalls", Some(grouped(status.open_recalls))),
        ("last operation", Some(status.last_operation.map_or_else(|| "none".to_owned(), grouped))),
        ("next job", Some(status.next_job.as_ref().map_or_else(|| "none".to_owned(), upcoming))),
    ]);
    page.gap();
    page.fields([
        ("model", Some(format!("{}, {} dimensions", status.model, status.dimension))),
        ("utility", Some(word(&status.estimator))),
        ("store", Some(format!("{}, {}", status.store, bytes(status.database_bytes)))),
        ("chroma", status.chroma.as_ref().map(|chroma| shared(chroma, status.now))),
        ("data", Some(status.data_dir.clone())),
        ("configuration", status.config_file.clone()),
        ("socket", Some(status.socket.clone())),
        ("memory", status.resident_bytes.map(bytes)),
        ("requests", Some(grouped(status.requests))),
        ("connections", Some(grouped(status.connections))),
    ]);
}

/// Where memory is shared, and how fresh that is.
fn shared(chroma: &ChromaState, now: DateTime<Utc>) -> String {
    let ago = |at: Option<DateTime<Utc>>| {
        at.map_or_else(|| "not yet".to_owned(), |at| format!("{} ago", span(now - at)))
    };
    let mut told =
        format!("{}, read {}, counted {}", chroma.url, ago(chroma.read_at), ago(chroma.counted_at));
    if chroma.waiting > 0 {
        told = format!("{told}, {} to be told", count(chroma.waiting, "record", "records"));
    }
    if chroma.refused > 0 {
        told = format!("{told}, {} refused", count(chroma.refused, "record", "records"));
    }
    told
}

fn upcoming(job: &JobState) -> String {
    format!("{}, {}", job.job, schedule::next(job))
}

/// How much of the memory tree is searched, and how.
fn tree(tree: &TreeState) -> String {
    let (entries, files) = (count(tree.entries, "entry", "entries"), count(tree.files, "file", "files"));
    let all = format!("{entries} in {files}");
    if tree.embedded == tree.entries {
        return all;
    }
    let left = left(tree.left_seconds);
    format!("{all}, {} % embedded{left}", tree.embedded * 100 / tree.entries.max(1))
}

/// Which job fails, why, and when it is tried again.
fn failing(job: &JobState, now: DateTime<Utc>) -> String {
    let why = job.last.as_ref().and_then(|last| last.failed.as_deref()).unwrap_or("no reason is known");
    let again = job.next.map_or_else(String::new, |next| format!(", again in {}", span(next - now)));
    let times = count(job.failures.into(), "time", "times in a row");
    format!("{} failed {times}{again}: {why}", job.job)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use memoryd_client::proto::{Cadence, Estimator, JobName, JobRun};

    use super::*;
    use crate::verbs::testing::{sample, shown};

    #[test]
    fn a_job_that_fails_is_told_first_and_the_next_one_by_its_own_clock() {
        let now = sample::noon();
        let failed = JobRun {
            started_at: now,
            took_ms: 1,
            operation: None,
            total: 0,
            failed: Some("The disk is full".to_owned()),
        };
        let job = JobState {
            job: JobName::Metrics,
            cadence: Cadence::Daily,
            cron: "0 0 3 * * *".to_owned(),
            next: Some(now + TimeDelta::minutes(4)),
            next_offset: 3600,
            running: false,
            last: Some(failed),
            failures: 3,
        };
        let status = StatusReport {
            version: "0.1.0".to_owned(),
            pid: 4711,
            started_at: now - TimeDelta::hours(3),
            now,
            data_dir: "/data".to_owned(),
            config_file: None,
            socket: "/socket".to_owned(),
            store: "embedded".to_owned(),
            chroma: None,
            database_bytes: 4096,
            model: "all-MiniLM-L6-v2".to_owned(),
            dimension: 384,
            degraded: None,
            estimator: Estimator::Global,
            agents: 1,
            improvements: 2,
            evaluations: 3,
            open_recalls: 0,
            last_operation: Some(17),
            tree: TreeState {
                files: 2000,
                entries: 50_000,
                embedded: 15_500,
                left_seconds: Some(734),
                watched: false,
                polled: Some("It is on a network".to_owned()),
            },
            failing: vec![job.clone()],
            next_job: Some(job),
            requests: 1,
            connections: 1,
            resident_bytes: None,
        };
        let text = shown(|page| render(page, &status));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "memoryd 0.1.0 runs for 3 h 0 min, process 4711");
        assert_eq!(lines[1], "failing  metrics failed 3 times in a row, again in 4 min: The disk is full");
        assert_eq!(lines[2], "polling  It is on a network");
        assert!(
            lines
                .contains(&"memory tree     50,000 entries in 2,000 files, 31 % embedded, about 12 min left"),
            "{text}"
        );
        assert!(lines.contains(&"next job        metrics, Mon 2026-01-26 13:04"), "{text}");
    }
}
