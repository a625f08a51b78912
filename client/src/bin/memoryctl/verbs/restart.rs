//! `memoryctl restart`

use std::time::Duration;

use memoryd_client::Client;
use memoryd_client::proto::Status;
use serde::Serialize;

use super::{service, stop};
use crate::exit::Outcome;
use crate::output::Output;

#[derive(Serialize)]
struct Restarted {
    pid: u32,
}

pub fn run(timeout: Duration, out: &mut Output) -> Outcome {
    let client = Client::here()?.with_deadline(timeout);
    if !service::restart(&client)? {
        stop::stop(&client)?;
        client.start()?;
    }
    let status = client.call(Status {})?;
    out.reply(&Restarted { pid: status.pid }, |page, restarted| {
        page.line(format_args!("memoryd restarted, process {}", restarted.pid));
    })
}
