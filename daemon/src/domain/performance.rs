//! How an agent does over time (spec P1).

use memoryd_proto::{Evaluation, Quality};

/// The figures of some evaluations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// How many there are; at least 1.
    pub total: u64,
    /// Those that succeeded.
    pub successful: u64,
    /// `successful / total`.
    pub success_rate: f64,
    /// Mean quality.
    pub quality: Quality,
    /// Mean quality of the newer half minus that of the older; 0 below two.
    pub trend: f64,
    /// Mean milliseconds of those that told.
    pub time_ms: Option<f64>,
    /// Mean tokens of those that told.
    pub tokens: Option<f64>,
    /// Insights in them.
    pub insights: u64,
}

/// The figures of evaluations, which come newest first; none of none.
#[must_use]
pub fn figures(newest_first: &[Evaluation]) -> Option<Figures> {
    let qualities: Vec<f64> = newest_first.iter().map(|one| one.quality.get()).collect();
    let quality = mean(&qualities)?;
    let successful = newest_first.iter().filter(|one| one.success).count();
    let told = |figure: fn(&Evaluation) -> Option<u64>| {
        let told: Vec<f64> = newest_first.iter().filter_map(figure).map(real).collect();
        mean(&told)
    };
    Some(Figures {
        total: newest_first.len() as u64,
        successful: successful as u64,
        success_rate: real(successful as u64) / real(newest_first.len() as u64),
        quality: Quality::new(quality.clamp(0.0, 100.0)).ok()?,
        trend: trend(&qualities),
        time_ms: told(|one| one.time_taken_ms),
        tokens: told(|one| one.tokens_used),
        insights: newest_first.iter().map(|one| one.insights.len() as u64).sum(),
    })
}

/// The mean of the newer half minus that of the older; 0 below two values. An odd one belongs to the older half.
#[must_use]
pub fn trend(newest_first: &[f64]) -> f64 {
    let (newer, older) = newest_first.split_at(newest_first.len() / 2);
    mean(newer).zip(mean(older)).map_or(0.0, |(newer, older)| newer - older)
}

/// The mean of values; none of none.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / real(values.len() as u64))
}

#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn real(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p1_the_trend_compares_the_newer_half_with_the_older() {
        // Of an odd number the older half is the larger, as in the seed.
        for (newest_first, expected) in
            [(&[][..], 0.0), (&[80.0], 0.0), (&[90.0, 70.0], 20.0), (&[90.0, 60.0, 70.0], 25.0)]
        {
            assert!((trend(newest_first) - expected).abs() < 1e-12, "{newest_first:?}");
        }
    }

    #[test]
    fn p1_no_evaluations_give_no_figures() {
        assert_eq!(figures(&[]), None);
        assert_eq!(mean(&[]), None);
    }
}
