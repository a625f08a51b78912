//! `memoryctl start`

use std::time::Duration;

use memoryd_client::Client;
use memoryd_client::proto::Status;
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;

#[derive(Serialize)]
struct Started {
    pid: u32,
    already: bool,
}

pub fn run(timeout: Duration, out: &mut Output) -> Outcome {
    let client = Client::here()?.with_deadline(timeout);
    let already = client.greet().is_ok();
    client.start()?;
    let status = client.call(Status {})?;
    out.reply(&Started { pid: status.pid, already }, |page, started| {
        let how = if started.already { "runs already" } else { "started" };
        page.line(format_args!("memoryd {how}, process {}", started.pid));
    })
}
