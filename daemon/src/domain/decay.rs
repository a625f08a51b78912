//! Days, and what they leave of a Q-value (spec Q4).

use chrono::{DateTime, Utc};

/// The number of an instant's day since 1970, in UTC.
#[must_use]
pub fn day(at: DateTime<Utc>) -> i64 {
    at.timestamp().div_euclid(86_400)
}

/// Whole days without a recall between the day `last` of the latest recall and `today`. The day of a recall does not
/// decay, and neither does today, which is not over.
#[must_use]
pub fn idle_days(last: i64, today: i64) -> u32 {
    u32::try_from((today - last - 1).max(0)).unwrap_or(u32::MAX)
}

/// What is left of 1 after `days` idle days.
#[must_use]
pub fn left(factor: f64, days: u32) -> f64 {
    factor.powi(i32::try_from(days).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q4_five_days_asleep_decay_once() {
        assert_eq!(idle_days(10, 10), 0);
        assert_eq!(idle_days(10, 11), 0);
        assert_eq!(idle_days(10, 16), 5);
        assert!((left(0.99, 5) - 0.99_f64.powi(5)).abs() < 1e-15);
    }

    #[test]
    fn a_clock_turned_back_does_not_decay() {
        assert_eq!(idle_days(10, 3), 0);
    }
}
