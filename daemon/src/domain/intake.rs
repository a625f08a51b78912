//! What is worth storing (spec I4).

use memoryd_proto::{Confidence, Fault};

/// The thresholds of confidence.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    /// From here on an improvement is stored and recalled.
    pub store: f64,
    /// From here on it is kept as a candidate.
    pub candidate: f64,
}

/// The longest document, in bytes.
pub const LONGEST: usize = 256 * 1024;

/// Where an improvement of some confidence belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intake {
    /// It is recalled.
    Store,
    /// It waits for corroboration.
    Candidate,
}

/// Decides by confidence.
///
/// # Errors
/// When the confidence is too low to keep anything.
pub fn admit(confidence: Confidence, thresholds: Thresholds) -> Result<Intake, Fault> {
    let value = confidence.get();
    if value >= thresholds.store {
        Ok(Intake::Store)
    } else if value >= thresholds.candidate {
        Ok(Intake::Candidate)
    } else {
        Err(Fault::invalid(
            format!("A confidence of {value} is too low to remember anything"),
            format!(
                "From {} it is kept as a candidate, from {} it is recalled. Remember it when you are surer.",
                thresholds.candidate, thresholds.store
            ),
        ))
    }
}

/// A document, trimmed.
///
/// # Errors
/// When it is empty or longer than [`LONGEST`].
pub fn document(text: &str) -> Result<&str, Fault> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Fault::invalid("There is no text to remember", "Give the lesson in a sentence or two."));
    }
    if text.len() > LONGEST {
        return Err(Fault::invalid(
            format!(
                "A text of {} bytes is longer than the {LONGEST} that an improvement may have",
                text.len()
            ),
            "Keep the lesson, and leave the material it came from where it is.",
        ));
    }
    Ok(text)
}

/// A word to filter by, such as a category or a tag, trimmed.
///
/// # Errors
/// When it is empty, longer than 64 characters, or has a control character.
pub fn label(kind: &str, text: &str) -> Result<String, Fault> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > 64 || text.chars().any(char::is_control) {
        let shown: String = text.chars().take(64).collect();
        return Err(Fault::invalid(
            format!("{shown:?} is no {kind}"),
            format!("A {kind} has 1 to 64 characters, and no control characters."),
        ));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i4_the_bands() {
        let bands = Thresholds { store: 0.7, candidate: 0.5 };
        let at = |value| admit(Confidence::clamped(value), bands);
        assert_eq!(at(0.7), Ok(Intake::Store));
        assert_eq!(at(0.69), Ok(Intake::Candidate));
        assert_eq!(at(0.5), Ok(Intake::Candidate));
        assert!(at(0.49).is_err());
    }
}
