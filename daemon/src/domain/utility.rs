//! Learned utility (QAVR; spec Q3–Q8).
//!
//! Two estimators. *Global* keeps one number for each memory and moves it towards each reward. *Contextual* asks how
//! useful a memory was for tasks like this one: a kernel-weighted mean of past outcomes near the query, with a prior
//! of one observation at 0.5.

use chrono::{DateTime, Utc};
use memoryd_proto::{QValue, Usage};

use super::decay;

/// The numbers of the global estimator.
#[derive(Clone, Copy, Debug)]
pub struct Learning {
    /// Share of the way to a reward that a Q-value moves.
    pub rate: f64,
    /// The reward of an item used in a task that succeeded.
    pub success: f64,
    /// The reward of an item used in a task that failed.
    pub failure: f64,
    /// The reward of an item that was recalled and not used.
    pub unused: f64,
    /// What is left of a Q-value after a day without recall.
    pub decay: f64,
    /// Outcomes kept for each improvement.
    pub outcomes: usize,
}

/// The numbers of the contextual estimator.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Cosine up to which an outcome says nothing about the query.
    pub floor: f64,
    /// Power of the weight above the floor.
    pub power: i32,
    /// Observations that the prior of 0.5 is worth.
    pub prior: f64,
    /// What is left of an outcome's weight after a day.
    pub decay: f64,
}

/// What became of an improvement in tasks, as the ledger keeps it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Ledgered {
    /// Tasks it was used in.
    pub usage_count: u64,
    /// Those that succeeded.
    pub success_count: u64,
    /// Those that failed.
    pub failure_count: u64,
    /// When it was last used, in microseconds.
    pub last_used: Option<i64>,
    /// Recalls that returned it.
    pub access_count: u64,
    /// When one last did, in microseconds.
    pub last_accessed: Option<i64>,
    /// Q-value at the end of `q_day`.
    pub q: f64,
    /// The day up to which `q` is decayed.
    pub q_day: i64,
    /// Days decayed since the last outcome.
    pub idle_days: u32,
}

/// What a report says of one recalled item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the agent used it.
    pub used: bool,
    /// Whether the task succeeded.
    pub success: bool,
}

impl Ledgered {
    /// A memory that nothing is known about, on the day `today`.
    #[must_use]
    pub fn new(today: i64) -> Self {
        Self {
            usage_count: 0,
            success_count: 0,
            failure_count: 0,
            last_used: None,
            access_count: 0,
            last_accessed: None,
            q: QValue::START.get(),
            q_day: today,
            idle_days: 0,
        }
    }

    /// The Q-value on the day `today`, decayed by the days without recall.
    #[must_use]
    pub fn q_on(&self, today: i64, factor: f64) -> f64 {
        self.q * decay::left(factor, decay::idle_days(self.q_day, today))
    }

    /// Counts a recall that returned the memory.
    pub fn recalled(&mut self, at: DateTime<Utc>, factor: f64) {
        self.settle(decay::day(at), factor);
        self.access_count += 1;
        self.last_accessed = Some(at.timestamp_micros());
    }

    /// Counts what a report says of it, and returns the idle days that had passed since the last outcome.
    pub fn reported(&mut self, verdict: Verdict, at: DateTime<Utc>, learning: &Learning) -> u32 {
        self.settle(decay::day(at), learning.decay);
        let idle = std::mem::take(&mut self.idle_days);
        self.count(verdict, at.timestamp_micros(), learning);
        idle
    }

    /// Counts a past outcome again, after `idle` days without recall.
    pub fn replay(&mut self, verdict: Verdict, at: i64, idle: u32, learning: &Learning) {
        self.q *= decay::left(learning.decay, idle);
        self.count(verdict, at, learning);
    }

    /// Decays up to `today`, which counts as a day with a recall.
    fn settle(&mut self, today: i64, factor: f64) {
        let idle = decay::idle_days(self.q_day, today);
        self.q *= decay::left(factor, idle);
        self.idle_days += idle;
        self.q_day = self.q_day.max(today);
    }

    fn count(&mut self, verdict: Verdict, at: i64, learning: &Learning) {
        if verdict.used {
            self.usage_count += 1;
            if verdict.success {
                self.success_count += 1;
            } else {
                self.failure_count += 1;
            }
            self.last_used = Some(at);
        }
        self.q = updated(self.q, reward(verdict, learning), learning.rate);
    }

    /// `success_count / usage_count`; absent while untested.
    #[must_use]
    pub fn success_rate(&self) -> Option<f64> {
        #[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
        let rate = self.success_count as f64 / self.usage_count as f64;
        (self.usage_count > 0).then_some(rate)
    }

    /// As it is shown on the day `today`.
    #[must_use]
    pub fn shown(&self, today: i64, factor: f64) -> Usage {
        let instant = |micros| DateTime::from_timestamp_micros(micros);
        Usage {
            usage_count: self.usage_count,
            success_count: self.success_count,
            failure_count: self.failure_count,
            success_rate: self.success_rate(),
            last_used: self.last_used.and_then(instant),
            access_count: self.access_count,
            last_accessed: self.last_accessed.and_then(instant),
            q_value: QValue::clamped(self.q_on(today, factor)),
        }
    }

    /// Takes up what was shown elsewhere, on the day `today`.
    #[must_use]
    pub fn adopted(usage: &Usage, today: i64) -> Self {
        let accessed_day = usage.last_accessed.map_or(i64::MIN, decay::day);
        Self {
            usage_count: usage.usage_count,
            success_count: usage.success_count,
            failure_count: usage.failure_count,
            last_used: usage.last_used.map(|at| at.timestamp_micros()),
            access_count: usage.access_count,
            last_accessed: usage.last_accessed.map(|at| at.timestamp_micros()),
            q: usage.q_value.get(),
            q_day: accessed_day.clamp(today - 1, today),
            idle_days: 0,
        }
    }
}

/// The reward of an item (spec Q3). Only the used item gets the outcome's; others were merely present.
#[must_use]
pub fn reward(verdict: Verdict, learning: &Learning) -> f64 {
    match (verdict.used, verdict.success) {
        (true, true) => learning.success,
        (true, false) => learning.failure,
        (false, _) => learning.unused,
    }
}

/// `q + rate · (reward − q)`, kept within 0 and 1 (spec Q3).
#[must_use]
pub fn updated(q: f64, reward: f64, rate: f64) -> f64 {
    (q + rate * (reward - q)).clamp(0.0, 1.0)
}

/// A past outcome of a memory, seen from a query.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    /// Cosine of the query and the task.
    pub cosine: f64,
    /// 1 for a success, 0 for a failure.
    pub reward: f64,
    /// Whole days since then.
    pub age_days: u32,
}

/// Usefulness near the query, and the weight of the evidence it rests on.
#[must_use]
pub fn near(evidence: impl IntoIterator<Item = Evidence>, kernel: &Kernel) -> (f64, f64) {
    let (mut weighted, mut weight) = (0.0, 0.0);
    for outcome in evidence {
        let nearness = ((outcome.cosine - kernel.floor) / (1.0 - kernel.floor)).clamp(0.0, 1.0);
        let w = nearness.powi(kernel.power) * decay::left(kernel.decay, outcome.age_days);
        weighted += w * outcome.reward;
        weight += w;
    }
    ((weighted + QValue::START.get() * kernel.prior) / (weight + kernel.prior), weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: Learning =
        Learning { rate: 0.1, success: 1.0, failure: -0.2, unused: 0.1, decay: 0.99, outcomes: 256 };

    #[test]
    fn q3_rewards() {
        let after = |used, success| updated(0.5, reward(Verdict { used, success }, &SEED), SEED.rate);
        assert!((after(true, true) - 0.55).abs() < 1e-12);
        assert!((after(true, false) - 0.43).abs() < 1e-12);
        assert!((after(false, true) - 0.46).abs() < 1e-12);
        assert!((after(false, false) - 0.46).abs() < 1e-12);
        assert!(updated(0.0, -0.2, 0.1) >= 0.0);
    }

    #[test]
    fn replaying_outcomes_gives_what_reporting_gave() {
        let start = DateTime::from_timestamp(1_700_000_000, 0).unwrap();
        let mut lived = Ledgered::new(decay::day(start));
        let mut replayed = lived.clone();
        for (days, used, success) in [(0, true, true), (3, false, true), (9, true, false), (40, true, true)] {
            let at = start + chrono::TimeDelta::days(days);
            lived.recalled(at - chrono::TimeDelta::hours(1), SEED.decay);
            let idle = lived.reported(Verdict { used, success }, at, &SEED);
            replayed.replay(Verdict { used, success }, at.timestamp_micros(), idle, &SEED);
        }
        assert!((lived.q - replayed.q).abs() < 1e-12);
        assert_eq!(lived.usage_count, replayed.usage_count);
    }

    #[test]
    fn q7_without_evidence_near_the_query_q_is_the_prior() {
        let kernel = Kernel { floor: 0.3, power: 2, prior: 1.0, decay: 0.99 };
        let far = Evidence { cosine: 0.2, reward: 1.0, age_days: 0 };
        let close = Evidence { cosine: 1.0, reward: 1.0, age_days: 0 };
        assert_eq!(near([far], &kernel), (0.5, 0.0));
        let (q, weight) = near([close], &kernel);
        assert!((q - 0.75).abs() < 1e-12 && (weight - 1.0).abs() < 1e-12);
    }
}
