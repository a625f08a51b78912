//! Weeks, as reviews go by them.

use std::fmt;
use std::str::FromStr;

use chrono::{Datelike, Days, NaiveDate, Weekday};
use serde::{Deserialize, Serialize};

use crate::fault::Fault;

/// A week from Monday to Sunday by ISO 8601, such as `2026-W05`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Week {
    year: i32,
    number: u32,
}

impl Week {
    /// The week that a day lies in.
    #[must_use]
    pub fn of(day: NaiveDate) -> Self {
        let week = day.iso_week();
        Self { year: week.year(), number: week.week() }
    }

    /// Its Monday.
    #[must_use]
    pub fn monday(self) -> NaiveDate {
        NaiveDate::from_isoywd_opt(self.year, self.number, Weekday::Mon).unwrap_or_default()
    }

    /// The day `n` days after its Monday.
    #[must_use]
    pub fn day(self, n: u64) -> NaiveDate {
        self.monday().checked_add_days(Days::new(n)).unwrap_or(NaiveDate::MAX)
    }

    /// The week `n` weeks before.
    #[must_use]
    pub fn before(self, n: u64) -> Self {
        Self::of(self.monday().checked_sub_days(Days::new(7 * n)).unwrap_or(NaiveDate::MIN))
    }

    /// The next week.
    #[must_use]
    pub fn next(self) -> Self {
        Self::of(self.day(7))
    }
}

impl fmt::Display for Week {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:04}-W{:02}", self.year, self.number))
    }
}

impl FromStr for Week {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self, Fault> {
        let wrong = || {
            Fault::invalid(
                format!("{text:?} is no week"),
                "Write it like 2026-W05: the year, and the number of the week in it.",
            )
        };
        let (year, number) = text.split_once("-W").ok_or_else(wrong)?;
        let digits = |part: &str, count| part.len() == count && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(year, 4) || !digits(number, 2) {
            return Err(wrong());
        }
        let (year, number) = (year.parse().map_err(|_| wrong())?, number.parse().map_err(|_| wrong())?);
        NaiveDate::from_isoywd_opt(year, number, Weekday::Mon).ok_or_else(wrong)?;
        Ok(Self { year, number })
    }
}

impl TryFrom<String> for Week {
    type Error = Fault;
    fn try_from(text: String) -> Result<Self, Fault> {
        text.parse()
    }
}

impl From<Week> for String {
    fn from(week: Week) -> Self {
        week.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_is_read_as_it_is_written() {
        for text in ["2026-W01", "2020-W53", "2024-W52"] {
            assert_eq!(text.parse::<Week>().unwrap().to_string(), text);
        }
        for wrong in ["2026-W54", "2025-W53", "2026-W00", "2026-W5", "2026W05", "26-W05", "", "2026-W0é"] {
            assert!(wrong.parse::<Week>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_week_belongs_to_the_year_of_its_thursday() {
        let week = Week::of(NaiveDate::from_ymd_opt(2027, 1, 2).unwrap());
        assert_eq!(week.to_string(), "2026-W53");
        assert_eq!(week.monday(), NaiveDate::from_ymd_opt(2026, 12, 28).unwrap());
        assert_eq!(week.next().to_string(), "2027-W01");
        assert_eq!(week.next().before(1), week);
        assert_eq!(week.before(53).to_string(), "2025-W52");
    }
}
