//! A real daemon in a process of its own, whose clock only the test turns: it can be killed at any moment of a year
//! that takes a minute.
//!
//! It takes its places from the environment like `memoryd`, and orders from standard input, a line each: an instant
//! turns the clock to it, and `tend` runs the jobs that are due then. Each order is answered by a line of JSON.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test's helper answers and fails where it stands"
)]

use std::io::BufRead;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use memoryd::boot::{Daemon, Places};
use memoryd::clock::{Clock, TurnedClock};

fn main() {
    let places = Places::from_env().unwrap();
    let clock = Arc::new(TurnedClock::new(std::env::var("MEMORYD_NOW").unwrap().parse().unwrap()));
    let daemon = Daemon::build(places.config().unwrap(), &places, clock.clone()).unwrap();
    let app = daemon.app();
    let (bound, waiting) = std::sync::mpsc::channel();
    let serving = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = memoryd::server::bind(&places.socket).unwrap();
            bound.send(()).unwrap();
            daemon.serve(listener).await;
        });
    });
    waiting.recv().unwrap();
    println!("\"ready\"");
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        if line == "tend" {
            let reports = app.tend().map_err(|error| error.to_string());
            println!("{}", serde_json::to_string(&reports).unwrap());
        } else {
            let to: DateTime<Utc> = line.parse().unwrap();
            clock.turn(to - clock.now());
            println!("\"turned\"");
        }
    }
    app.counters.stop.cancel();
    serving.join().unwrap();
}
