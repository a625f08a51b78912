//! `maintenance`: how long the jobs take, and what recalls notice of them.

mod busy;
mod population;

use std::time::Duration;

use memoryd_proto::{Code, JobName, Maintain};
use serde_json::{Value, json};

use crate::arguments::Maintenance;
use crate::daemon::{Daemon, Home};
use crate::measure::{Durations, millis, ratio, rounded, shown, timed};
use crate::output::{self, Table};

use population::Population;

/// The jobs of a day.
const DAILY: [JobName; 5] =
    [JobName::Metrics, JobName::Deprecate, JobName::Promote, JobName::Decay, JobName::BackUp];

/// Runs the bench.
pub fn run(wanted: &Maintenance, set: &[String]) -> anyhow::Result<Value> {
    let days = (0..wanted.rounds)
        .map(|round| {
            output::note(&format!("day {} of {}", round + 1, wanted.rounds));
            day(wanted, set)
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    output::note("week");
    let week = week(wanted, set)?;
    Ok(print(wanted, &days, &week))
}

/// What was measured of the jobs of a day.
struct Day {
    jobs: Vec<Job>,
    quiet: Durations,
    busy: Durations,
}

/// How long a job took, and how much it planned.
struct Job {
    name: JobName,
    took: Duration,
    planned: u64,
}

fn day(wanted: &Maintenance, set: &[String]) -> anyhow::Result<Day> {
    let home = Home::new(set)?;
    let population = Population::of_a_day(wanted);
    population.write(&home)?;
    let daemon = home.start("")?;
    let mut asked = busy::Questions::new(&daemon, &population);
    // What is read for the first time is slower than what follows.
    asked.ask(wanted.recalls / 4)?;
    let quiet = asked.ask(wanted.recalls)?;
    let (jobs, busy) = asked.ask_while(|| DAILY.iter().map(|&name| maintain(&daemon, name)).collect())?;
    daemon.stop()?;
    Ok(Day { jobs, quiet, busy })
}

fn week(wanted: &Maintenance, set: &[String]) -> anyhow::Result<Job> {
    let home = Home::new(set)?;
    Population::of_a_week(wanted).write(&home)?;
    let daemon = home.start("")?;
    let job = maintain(&daemon, JobName::Consolidate)?;
    daemon.stop()?;
    Ok(job)
}

fn maintain(daemon: &Daemon, name: JobName) -> anyhow::Result<Job> {
    let client = daemon.client();
    loop {
        let (took, answer) = timed(|| Ok(client.call(Maintain { job: Some(name), dry_run: false })))?;
        match answer {
            Ok(answer) => {
                return Ok(Job { name, took, planned: answer.jobs.iter().map(|job| job.total).sum() });
            }
            // Right after the start it looks what is due.
            Err(fault) if fault.code == Code::Busy => std::thread::sleep(Duration::from_millis(10)),
            Err(fault) => return Err(fault.into()),
        }
    }
}

fn print(wanted: &Maintenance, days: &[Day], week: &Job) -> Value {
    let mut table = Table::new(&["job", "planned", "took"]);
    for job in days.iter().flat_map(|day| &day.jobs).chain([week]) {
        table.row([job.name.to_string(), job.planned.to_string(), shown(job.took)]);
    }
    table.print();
    let mut table = Table::new(&["recall of a fresh text", "p50", "p99", "requests/s"]);
    for day in days {
        table.row(std::iter::once("quiet".to_owned()).chain(day.quiet.cells()));
        table.row(std::iter::once("while the jobs run".to_owned()).chain(day.busy.cells()));
    }
    table.print();
    let longest = days.iter().map(|day| day.jobs.iter().map(|job| job.took).sum()).max();
    let longest: Duration = longest.unwrap_or_default();
    let pooled = |of: fn(&Day) -> &Durations| Durations::pooled(days.iter().map(of));
    let (quiet, busy) = (pooled(|day| &day.quiet), pooled(|day| &day.busy));
    let slower = ratio(busy.quantile(0.99), quiet.quantile(0.99));
    let targets = [
        ("jobs of a day, s", longest.as_secs_f64(), 5.0),
        ("p99 of recalls, while jobs run / quiet", slower, 2.0),
        ("consolidation of a week, s", week.took.as_secs_f64(), 60.0),
    ];
    let mut table = Table::new(&["target", "measured", "at most"]);
    for (name, measured, most) in targets {
        table.row([name.to_owned(), format!("{measured:.2}"), format!("{most}")]);
    }
    table.print();
    output::say(&format!(
        "{} agents with {} improvements each and {} evaluations in all; consolidation of {} improvements.",
        wanted.agents, wanted.improvements, wanted.evaluations, wanted.consolidated
    ));
    json!({
        "day_s": rounded(longest.as_secs_f64()),
        "jobs": days.iter().flat_map(|day| &day.jobs).chain([week]).map(|job| json!({
            "job": job.name.as_str(), "planned": job.planned, "ms": millis(job.took),
        })).collect::<Vec<_>>(),
        "recall_quiet": quiet.figures(),
        "recall_busy": busy.figures(),
        "p99_ratio": rounded(slower),
        "consolidation_s": rounded(week.took.as_secs_f64()),
    })
}
