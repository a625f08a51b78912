//! `memoryctl ping`

use std::time::Instant;

use memoryd_client::proto::{Ping, Serve};
use serde::Serialize;

use crate::exit::Outcome;
use crate::output::Output;

#[derive(Serialize)]
struct Pinged {
    milliseconds: f64,
}

pub fn run(service: &impl Serve<Ping>, out: &mut Output) -> Outcome {
    let start = Instant::now();
    service.serve(Ping {})?;
    let pinged = Pinged { milliseconds: start.elapsed().as_secs_f64() * 1000.0 };
    out.reply(&pinged, |page, pinged| {
        page.line(format_args!("memoryd answered in {:.2} ms", pinged.milliseconds));
    })
}
