//! When a repeated statement is evidence (spec I5).

use memoryd_proto::{Confidence, Improvement};
use sha2::{Digest, Sha256};

use super::text;

/// How many sources an improvement remembers. Confidence is at its cap long before.
pub const SOURCES: usize = 32;

/// Stands for statements whose source is not given.
const UNSTATED: &str = "unstated";

/// A short name for the source of a statement. Statements without a source share one.
#[must_use]
pub fn source(learned_from: Option<&str>) -> String {
    learned_from.map_or_else(|| UNSTATED.to_owned(), |from| text::hex(&Sha256::digest(from.as_bytes())[..6]))
}

/// The improvement with one more statement of it counted; none when the statement is no new evidence.
///
/// Evidence must be independent. So a source counts once, and what a recall has shown counts no more: from then on an
/// agent that states it may merely repeat what it was told, and outcomes are the evidence. The confidences combine by
/// noisy-or, up to `cap`.
#[must_use]
pub fn corroborate(
    known: &Improvement,
    learned_from: Option<&str>,
    confidence: Confidence,
    cap: f64,
) -> Option<Improvement> {
    let source = source(learned_from);
    if known.usage.access_count > 0 || known.evidence.contains(&source) || known.evidence.len() >= SOURCES {
        return None;
    }
    let mut after = known.clone();
    let doubt = (1.0 - known.confidence.get()) * (1.0 - confidence.get());
    after.confidence = Confidence::clamped((1.0 - doubt).min(cap).max(known.confidence.get()));
    after.corroborations += 1;
    after.evidence.push(source);
    Some(after)
}
