//! `memoryctl schedule`

use chrono::FixedOffset;
use memoryd_client::proto::{JobState, Schedule, ScheduleView, Serve};

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, count, faint, span, word};

pub fn run(service: &impl Serve<Schedule>, out: &mut Output) -> Outcome {
    out.reply(&service.serve(Schedule {})?, render)
}

fn render(page: &mut Page, view: &ScheduleView) {
    let rows = view.jobs.iter().map(|job| {
        let ago = job.last.as_ref().map(|last| format!("{} ago", span(view.now - last.started_at)));
        let next = if job.running { "running".to_owned() } else { next(job) };
        [
            job.job.to_string(),
            word(&job.cadence),
            next,
            ago.unwrap_or_else(|| "never".to_owned()),
            went(job).unwrap_or_default(),
        ]
    });
    page.table(["job", "cadence", "next", "last run", "how it went"], rows);
    page.gap();
    let zone = if view.zone == "local" { "that of the daemon's system" } else { &view.zone };
    page.line(faint(format_args!("The zone of the schedule is {zone}.")));
}

/// When a job runs next, by the clocks of the schedule's zone.
pub fn next(job: &JobState) -> String {
    let zone = FixedOffset::east_opt(job.next_offset);
    job.next.zip(zone).map_or_else(
        || "off".to_owned(),
        |(next, zone)| next.with_timezone(&zone).format("%a %F %H:%M").to_string(),
    )
}

/// How the last run went.
fn went(job: &JobState) -> Option<String> {
    let last = job.last.as_ref()?;
    Some(match (&last.failed, last.operation) {
        (Some(why), _) => format!("failed {}: {why}", count(job.failures.into(), "time", "times in a row")),
        (None, Some(operation)) => {
            format!("{}, operation {operation}", count(last.total, "change", "changes"))
        }
        (None, None) => "nothing to do".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use memoryd_client::proto::{Cadence, JobName, JobRun, OperationId};

    use super::*;
    use crate::verbs::testing::{sample, shown};

    #[test]
    fn a_job_tells_when_it_runs_next_and_how_it_went() {
        let now = sample::noon();
        let run = |failed: Option<&str>, operation| JobRun {
            started_at: now - TimeDelta::hours(9),
            took_ms: 12,
            operation,
            total: 3,
            failed: failed.map(str::to_owned),
        };
        let state = |job, last, failures, next| JobState {
            job,
            cadence: Cadence::Daily,
            cron: "0 0 3 * * *".to_owned(),
            next,
            next_offset: 3600,
            running: false,
            last,
            failures,
        };
        let tomorrow = Some(now + TimeDelta::hours(14));
        let view = ScheduleView {
            now,
            zone: "Europe/Berlin".to_owned(),
            jobs: vec![
                state(JobName::Metrics, Some(run(None, Some(OperationId(17)))), 0, tomorrow),
                state(JobName::Decay, Some(run(None, None)), 0, tomorrow),
                state(JobName::Deprecate, Some(run(Some("The disk is full"), None)), 2, tomorrow),
                JobState { running: true, ..state(JobName::Promote, None, 0, tomorrow) },
                state(JobName::BackUp, None, 0, None),
            ],
        };
        assert_eq!(
            shown(|page| render(page, &view)),
            "\
job        cadence  next                  last run       how it went
metrics    daily    Tue 2026-01-27 03:00  9 h 0 min ago  3 changes, operation 17
decay      daily    Tue 2026-01-27 03:00  9 h 0 min ago  nothing to do
deprecate  daily    Tue 2026-01-27 03:00  9 h 0 min ago  failed 2 times in a row: The disk is full
promote    daily    running               never
back-up    daily    off                   never

The zone of the schedule is Europe/Berlin.
"
        );
    }
}
