//! When outcomes stop an improvement from being recalled, and when they raise its confidence (spec I6, I7, I8).

use memoryd_proto::{Confidence, Improvement, Usage};

/// The reason of a deprecation by failure (spec I6).
pub const FAILING: &str = "Low success rate after extensive usage";

/// How good a record is by the rule of succession, `(successes + 1) / (uses + 2)`: one lucky use does not outrank many
/// good ones, and what is untested outranks what fails.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub fn record(successes: u64, uses: u64) -> f64 {
    (successes + 1) as f64 / (uses + 2) as f64
}

/// Whether an improvement that was used at least `from` times succeeded too seldom (spec I6, I7).
#[must_use]
pub fn fails(usage: &Usage, from: u64, below: f64) -> bool {
    usage.usage_count >= from && usage.success_rate.is_some_and(|rate| rate < below)
}

/// The numbers of a promotion (spec I8).
#[derive(Clone, Copy, Debug)]
pub struct Promoting {
    /// Uses from which an improvement is judged.
    pub usage: u64,
    /// Success rate from which it is promoted.
    pub success_rate: f64,
    /// What its confidence gains.
    pub boost: f64,
    /// Highest confidence that this leads to.
    pub cap: f64,
}

/// The confidence that success leads to; none when it does not suffice, or has counted already (spec I8). Only uses
/// since the last promotion are new evidence.
#[must_use]
pub fn promoted(improvement: &Improvement, rule: &Promoting) -> Option<Confidence> {
    let usage = &improvement.usage;
    let succeeds = usage.success_rate.is_some_and(|rate| rate >= rule.success_rate);
    let counted = improvement.promotion.as_ref().map_or(0, |before| before.uses);
    let fresh = usage.usage_count > counted;
    if improvement.deprecation.is_some() || usage.usage_count < rule.usage || !succeeds || !fresh {
        return None;
    }
    let confidence = improvement.confidence.get();
    let raised = Confidence::clamped((confidence + rule.boost).min(rule.cap).max(confidence));
    (raised > improvement.confidence || improvement.promotion.is_none()).then_some(raised)
}
