//! `memoryctl status`

use memoryd_client::proto::{Serve, Status, StatusReport};

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, bytes, good, grouped, notable, span, strong, word};

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
    page.gap();
    page.fields([
        ("agents", Some(grouped(status.agents))),
        ("improvements", Some(grouped(status.improvements))),
        ("evaluations", Some(grouped(status.evaluations))),
        ("open recalls", Some(grouped(status.open_recalls))),
        ("last operation", Some(status.last_operation.map_or_else(|| "none".to_owned(), grouped))),
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
