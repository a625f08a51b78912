//! `memoryctl watch`

use std::time::Duration;

use anstream::eprintln;
use chrono::TimeDelta;
use memoryd_client::Client;
use memoryd_client::proto::{Code, Event, Fault, Happening, Phase, Serve, Status, Watch, Watched};
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{bad, count, faint, good, grouped, notable, one_line, span, strong, time};

mod fill;

use fill::Fill;

/// How long one call waits for events.
const WAIT: Duration = Duration::from_secs(20);

/// How long to wait before the daemon is looked for again.
const PAUSE: Duration = Duration::from_millis(500);

pub fn run(timeout: Duration, out: &mut Output) -> Outcome {
    let wait = WAIT.min(timeout / 2);
    let client = Client::here()?.with_deadline(timeout);
    let mut place = Place::new(&client)?;
    let mut fill = Fill::new(out.is_on_terminal());
    let tree = client.call(Status {})?.tree;
    fill.show(tree.embedded, tree.entries, tree.left_seconds);
    let (mut since, mut away) = (place.at.since, false);
    loop {
        match place.more(wait) {
            Ok(watched) => {
                if watched.since != since {
                    fill.end();
                    note("The daemon was started again. What happens since then follows.");
                }
                (since, away) = (watched.since, false);
                show(&watched, &mut fill, out)?;
            }
            Err(fault) if fault.code == Code::Unavailable => {
                if !away {
                    fill.end();
                    note(&format!("{}. Waiting for it.", fault.message));
                }
                away = true;
                std::thread::sleep(PAUSE);
            }
            Err(fault) => return Err(fault.into()),
        }
    }
}

/// Where in the events of which daemon it is.
struct Place<'a, S> {
    service: &'a S,
    at: Watched,
}

impl<'a, S: Serve<Watch>> Place<'a, S> {
    /// Begins now.
    fn new(service: &'a S) -> Result<Self, Fault> {
        Ok(Self { service, at: service.serve(Watch { after: None, wait_ms: 0 })? })
    }

    /// The events that follow. After the daemon was started again these are all since then.
    fn more(&mut self, wait: Duration) -> Result<Watched, Fault> {
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let mut watched = self.service.serve(Watch { after: Some(self.at.next), wait_ms })?;
        if watched.since != self.at.since {
            watched = self.service.serve(Watch { after: Some(0), wait_ms: 0 })?;
        }
        self.at = Watched { events: Vec::new(), ..watched };
        Ok(watched)
    }
}

#[derive(Serialize)]
struct Missed {
    missed: u64,
}

fn show(watched: &Watched, fill: &mut Fill, out: &mut Output) -> Outcome {
    if watched.missed > 0 {
        let told = format!("{} missed", count(watched.missed, "event was", "events were"));
        fill.aside(|| out.line(&Missed { missed: watched.missed }, notable(told)))?;
    }
    for event in &watched.events {
        if let Happening::NotesEmbedded { done, of, left_seconds } = event.what
            && fill.show(done, of, left_seconds)
        {
            continue;
        }
        fill.aside(|| out.line(event, format_args!("{}  {}", faint(time(event.at)), told(event))))?;
    }
    Ok(())
}

fn told(event: &Event) -> String {
    match &event.what {
        Happening::Committed { operation, actor, reason, agent, changes } => {
            let whose = agent.as_ref().map(|agent| format!(" · {agent}")).unwrap_or_default();
            let changes = count(*changes, "change", "changes");
            format!(
                "{}  {}  {}",
                strong(format_args!("operation {operation}")),
                one_line(reason),
                faint(format_args!("{} · {changes}{whose}", one_line(actor)))
            )
        }
        Happening::Undone { undone, operation } => {
            format!("{}  undid operation {undone}", strong(format_args!("operation {operation}")))
        }
        Happening::JobStarted { job } => format!("{}  began", strong(format_args!("job {job}"))),
        Happening::JobProgress { job, phase, done, of } => {
            format!("{}  {}: {done} of {of}", strong(format_args!("job {job}")), doing(*phase))
        }
        Happening::JobEnded { job, operation, total, failed } => {
            let how = match (failed, operation) {
                (Some(why), _) => format!("{} {}", bad("failed:"), one_line(why)),
                (None, Some(operation)) => {
                    format!("{}, {}, operation {operation}", good("done"), count(*total, "step", "steps"))
                }
                (None, None) => format!("{}, nothing to do", good("done")),
            };
            format!("{}  {how}", strong(format_args!("job {job}")))
        }
        Happening::NotesRead { files, entries } => {
            let (files, entries) = (count(*files, "file", "files"), count(*entries, "entry", "entries"));
            format!("{}  {files} read, {entries} in all", strong("memory tree"))
        }
        Happening::NotesEmbedded { done, of, left_seconds } => {
            let (done, of, left) = (grouped(*done), grouped(*of), left(*left_seconds));
            format!("{}  {done} of {of} embedded{left}", strong("memory tree"))
        }
    }
}

/// How long it takes until all of the memory tree is embedded, if that is known.
pub fn left(seconds: Option<u64>) -> String {
    let left = seconds.and_then(|seconds| TimeDelta::try_seconds(i64::try_from(seconds).ok()?));
    left.map_or_else(String::new, |left| format!(", about {} left", span(left)))
}

/// What a job does in a phase.
pub fn doing(phase: Phase) -> &'static str {
    match phase {
        Phase::Planning => "planning",
        Phase::Changing => "changing",
    }
}

/// Says something to a person who reads along.
#[allow(clippy::print_stderr, reason = "events alone go to standard output")]
fn note(text: &str) {
    eprintln!("{}", notable(text));
}

#[cfg(test)]
mod tests {
    use memoryd_client::proto::{JobName, OperationId};

    use super::*;
    use crate::verbs::testing::{Fake, sample, written};

    fn watched(since_hours: i64, events: Vec<Happening>, next: u64, missed: u64) -> Watched {
        let at = sample::noon();
        let events = (1..).zip(events).map(|(number, what)| Event { number, at, what }).collect();
        Watched { since: at - TimeDelta::hours(since_hours), events, next, missed }
    }

    #[test]
    fn an_event_is_a_line_and_what_was_missed_is_said() {
        let (job, operation) = (JobName::Promote, OperationId(17));
        let reason = "a lesson on error_handling".to_owned();
        let agent = "ada".parse().ok();
        let events = vec![
            Happening::Committed { operation, actor: "remember".to_owned(), reason, agent, changes: 1 },
            Happening::Undone { undone: operation, operation: OperationId(18) },
            Happening::JobStarted { job },
            Happening::JobProgress { job, phase: Phase::Changing, done: 64, of: 130 },
            Happening::JobEnded { job, operation: Some(operation), total: 130, failed: None },
            Happening::JobEnded { job, operation: None, total: 0, failed: None },
            Happening::JobEnded {
                job,
                operation: None,
                total: 0,
                failed: Some("The disk is full".to_owned()),
            },
            Happening::NotesRead { files: 1, entries: 50_000 },
            Happening::NotesEmbedded { done: 14_500, of: 50_000, left_seconds: Some(734) },
            Happening::NotesEmbedded { done: 50_000, of: 50_000, left_seconds: None },
        ];
        let reply = watched(1, events, 7, 2);
        let (text, outcome) = written(false, |out| show(&reply, &mut Fill::new(false), out));
        assert!(outcome.is_ok());
        let at = time(sample::noon());
        assert_eq!(
            text,
            format!(
                "\
2 events were missed
{at}  operation 17  a lesson on error_handling  remember · 1 change · ada
{at}  operation 18  undid operation 17
{at}  job promote  began
{at}  job promote  changing: 64 of 130
{at}  job promote  done, 130 steps, operation 17
{at}  job promote  done, nothing to do
{at}  job promote  failed: The disk is full
{at}  memory tree  1 file read, 50,000 entries in all
{at}  memory tree  14,500 of 50,000 embedded, about 12 min left
{at}  memory tree  50,000 of 50,000 embedded
"
            )
        );
        let (text, _) = written(true, |out| show(&reply, &mut Fill::new(false), out));
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("{\"missed\":2}"));
        for (line, event) in lines.zip(&reply.events) {
            assert_eq!(serde_json::from_str::<Event>(line).unwrap(), *event);
        }
    }

    #[test]
    fn after_a_restart_all_events_of_the_new_daemon_follow() {
        let began = || vec![Happening::JobStarted { job: JobName::Metrics }];
        let fake = Fake::default()
            .reply::<Watch>(watched(1, Vec::new(), 40, 0))
            .reply::<Watch>(watched(1, began(), 41, 0))
            .reply::<Watch>(watched(0, Vec::new(), 60, 0))
            .reply::<Watch>(watched(0, began(), 60, 0));
        let mut place = Place::new(&fake).unwrap();
        assert_eq!(place.more(WAIT).unwrap().next, 41);
        assert_eq!(place.more(WAIT).unwrap().events.len(), 1);
        let asked: Vec<_> = fake.asked().iter().map(|request| format!("{request:?}")).collect();
        let after = ["None", "Some(40)", "Some(41)", "Some(0)"];
        for (asked, after) in asked.iter().zip(after) {
            assert!(asked.contains(&format!("after: {after}")), "{asked}");
        }
    }
}
