//! Where the time comes from. Tests turn the clock; nothing else in the daemon reads it.

mod zone;

pub use zone::Zone;

use std::sync::Mutex;

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};

/// A source of the current time, to the microsecond.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> DateTime<Utc>;
}

/// The system's clock.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> DateTime<Utc> {
        Utc::now().trunc_subsecs(6)
    }
}

/// A clock that stands still until it is turned.
#[derive(Debug)]
pub struct TurnedClock(Mutex<DateTime<Utc>>);

impl TurnedClock {
    /// A clock that stands at `start`.
    #[must_use]
    pub fn new(start: DateTime<Utc>) -> Self {
        Self(Mutex::new(start.trunc_subsecs(6)))
    }

    /// Turns the clock forward, or backward by a negative `step`.
    pub fn turn(&self, step: TimeDelta) {
        *lock(&self.0) += step;
    }
}

impl Clock for TurnedClock {
    fn now(&self) -> DateTime<Utc> {
        *lock(&self.0)
    }
}

fn lock(time: &Mutex<DateTime<Utc>>) -> std::sync::MutexGuard<'_, DateTime<Utc>> {
    time.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
