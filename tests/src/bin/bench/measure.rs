//! Durations, and what is said about them.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use serde_json::{Value, json};

/// How long each of many requests took.
#[derive(Clone, Debug)]
pub struct Durations {
    sorted: Vec<Duration>,
    /// From the start of the first to the end of the last.
    elapsed: Duration,
}

impl Durations {
    /// Of requests that one client made one after the other.
    pub fn in_turn(mut durations: Vec<Duration>) -> Self {
        durations.sort();
        Self { elapsed: durations.iter().sum(), sorted: durations }
    }

    /// Several together.
    pub fn pooled<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        Self::in_turn(all.flat_map(|one| one.sorted.iter().copied()).collect())
    }

    /// The duration that this share of the requests did not exceed.
    pub fn quantile(&self, share: f64) -> Duration {
        let last = self.sorted.len().saturating_sub(1);
        let at = (0..=last).find(|&at| count(at) >= share * count(last)).unwrap_or(last);
        self.sorted.get(at).copied().unwrap_or_default()
    }

    /// The median.
    pub fn median(&self) -> Duration {
        self.quantile(0.5)
    }

    /// Requests in a second.
    pub fn rate(&self) -> f64 {
        count(self.sorted.len()) / self.elapsed.as_secs_f64()
    }

    /// The cells of a table: median, 99th percentile, requests in a second.
    pub fn cells(&self) -> [String; 3] {
        [shown(self.median()), shown(self.quantile(0.99)), format!("{:.0}", self.rate())]
    }

    /// The figures, in milliseconds.
    pub fn figures(&self) -> Value {
        json!({
            "p50_ms": millis(self.median()),
            "p99_ms": millis(self.quantile(0.99)),
            "per_second": rounded(self.rate()),
            "requests": self.sorted.len(),
        })
    }
}

/// How often one duration goes into another.
pub fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

/// How long `work` took, and what it returned.
pub fn timed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(Duration, T)> {
    let start = Instant::now();
    let value = work()?;
    Ok((start.elapsed(), value))
}

/// Makes `requests` requests of one client, one after the other.
pub fn one(requests: usize, mut work: impl FnMut(usize) -> anyhow::Result<()>) -> anyhow::Result<Durations> {
    let durations: anyhow::Result<Vec<Duration>> =
        (0..requests).map(|number| Ok(timed(|| work(number))?.0)).collect();
    durations.map(Durations::in_turn)
}

/// A kind of request; it gets the number of the request.
pub type Work<'a> = &'a mut dyn FnMut(usize) -> anyhow::Result<()>;

/// Makes requests of several kinds in turn, `block` of each at a time, so that what disturbs one disturbs the others.
pub fn in_turn<const N: usize>(
    requests: usize,
    block: usize,
    mut works: [Work<'_>; N],
) -> anyhow::Result<[Durations; N]> {
    let mut durations = [const { Vec::new() }; N];
    for start in (0..requests).step_by(block) {
        for (work, durations) in works.iter_mut().zip(&mut durations) {
            for number in start..requests.min(start + block) {
                durations.push(timed(|| work(number))?.0);
            }
        }
    }
    Ok(durations.map(Durations::in_turn))
}

/// Lets `clients` clients make `requests` requests in all at the same time. `connect` gives each client what it makes
/// its requests with; it gets the client's number and is not timed.
pub fn many<W: FnMut(usize) -> anyhow::Result<()>>(
    clients: usize,
    requests: usize,
    connect: impl Fn(usize) -> anyhow::Result<W> + Sync,
) -> anyhow::Result<Durations> {
    let each = requests.div_ceil(clients);
    let start = Barrier::new(clients + 1);
    let client = |number: usize| -> anyhow::Result<Vec<Duration>> {
        let work = connect(number);
        start.wait();
        let mut work = work?;
        (0..each).map(|request| Ok(timed(|| work(request * clients + number))?.0)).collect()
    };
    std::thread::scope(|scope| {
        let client = &client;
        let running: Vec<_> = (0..clients).map(|number| scope.spawn(move || client(number))).collect();
        start.wait();
        let started = Instant::now();
        let mut sorted = Vec::new();
        for client in running {
            let durations = client.join().map_err(|_| anyhow!("a client panicked"))?;
            sorted.extend(durations.context("a client failed")?);
        }
        sorted.sort();
        Ok(Durations { sorted, elapsed: started.elapsed() })
    })
}

/// A duration for people.
pub fn shown(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    if micros < 100.0 {
        format!("{micros:.1} µs")
    } else if micros < 1e5 {
        format!("{:.2} ms", micros / 1e3)
    } else {
        format!("{:.2} s", micros / 1e6)
    }
}

/// A duration for programs, in milliseconds.
pub fn millis(duration: Duration) -> f64 {
    rounded(duration.as_secs_f64() * 1e3)
}

/// A number without digits that mean nothing.
pub fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

/// A count to calculate with.
#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub fn count(number: usize) -> f64 {
    number as f64
}
