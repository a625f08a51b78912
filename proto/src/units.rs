//! Numbers with a range.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;

/// How sure the agent is of a pattern: 0 (a guess) to 1 (certain).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Confidence(f64);

impl Confidence {
    /// A confidence, from 0 to 1.
    ///
    /// # Errors
    /// When `value` is not a number from 0 to 1.
    pub fn new(value: f64) -> Result<Self, Fault> {
        within("confidence", value, 0.0, 1.0).map(Self)
    }

    /// The nearest confidence to `value`; 0 for what is not a number.
    #[must_use]
    pub fn clamped(value: f64) -> Self {
        Self(if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) })
    }

    /// The number, from 0 to 1.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Confidence {
    type Error = Fault;
    fn try_from(value: f64) -> Result<Self, Fault> {
        Self::new(value)
    }
}

impl From<Confidence> for f64 {
    fn from(confidence: Confidence) -> Self {
        confidence.0
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Learned utility: 0 (never helped) to 1 (always helped); a memory starts at 0.5 (spec Q3).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct QValue(f64);

impl QValue {
    /// Where every memory starts.
    pub const START: Self = Self(0.5);

    /// A Q-value, from 0 to 1.
    ///
    /// # Errors
    /// When `value` is not a number from 0 to 1.
    pub fn new(value: f64) -> Result<Self, Fault> {
        within("Q-value", value, 0.0, 1.0).map(Self)
    }

    /// The nearest Q-value to `value`; the start for what is not a number.
    #[must_use]
    pub fn clamped(value: f64) -> Self {
        Self(if value.is_nan() { Self::START.0 } else { value.clamp(0.0, 1.0) })
    }

    /// The number, from 0 to 1.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Default for QValue {
    fn default() -> Self {
        Self::START
    }
}

impl TryFrom<f64> for QValue {
    type Error = Fault;
    fn try_from(value: f64) -> Result<Self, Fault> {
        Self::new(value)
    }
}

impl From<QValue> for f64 {
    fn from(q: QValue) -> Self {
        q.0
    }
}

impl fmt::Display for QValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// How good a task's result was: 0 (useless) to 100 (perfect).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Quality(f64);

impl Quality {
    /// A quality, from 0 to 100.
    ///
    /// # Errors
    /// When `value` is not a number from 0 to 100.
    pub fn new(value: f64) -> Result<Self, Fault> {
        within("quality", value, 0.0, 100.0).map(Self)
    }

    /// The number, from 0 to 100.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Quality {
    type Error = Fault;
    fn try_from(value: f64) -> Result<Self, Fault> {
        Self::new(value)
    }
}

impl From<Quality> for f64 {
    fn from(quality: Quality) -> Self {
        quality.0
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

fn within(what: &str, value: f64, low: f64, high: f64) -> Result<f64, Fault> {
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    Err(Fault::invalid(
        format!("{value} is no {what}"),
        format!("A {what} is a number from {low} to {high}."),
    ))
}
