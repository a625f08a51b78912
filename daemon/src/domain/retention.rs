//! Which copies of the database stay.

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate};

/// Whether each copy stays, given their days, newest first: the newest of each of the last `days` days, and of each of
/// the last `weeks` ISO weeks. Days and weeks without a copy do not count, so that nothing goes only because nothing
/// new came. The newest copy stays in any case.
#[must_use]
pub fn stay(newest_first: &[NaiveDate], days: u32, weeks: u32) -> Vec<bool> {
    let (mut of_days, mut of_weeks) = (BTreeSet::new(), BTreeSet::new());
    let mut stay = Vec::with_capacity(newest_first.len());
    for (n, day) in newest_first.iter().enumerate() {
        let of_day = of_days.insert(*day) && of_days.len() <= days as usize;
        let of_week = of_weeks.insert(day.iso_week()) && of_weeks.len() <= weeks as usize;
        stay.push(n == 0 || of_day || of_week);
    }
    stay
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    /// The days that stay.
    fn staying(newest_first: &[NaiveDate], days: u32, weeks: u32) -> Vec<String> {
        let stay = stay(newest_first, days, weeks);
        newest_first.iter().zip(stay).filter(|(_, stays)| *stays).map(|(day, _)| day.to_string()).collect()
    }

    #[test]
    fn of_sixty_days_seven_stay_and_the_newest_of_four_weeks() {
        // A Thursday: its week, and the Sundays before.
        let days: Vec<NaiveDate> = (0..60).map(|back| day("2026-03-05") - chrono::Days::new(back)).collect();
        assert_eq!(
            staying(&days, 7, 4),
            [
                "2026-03-05",
                "2026-03-04",
                "2026-03-03",
                "2026-03-02",
                "2026-03-01",
                "2026-02-28",
                "2026-02-27",
                "2026-02-22",
                "2026-02-15"
            ]
        );
    }

    #[test]
    fn of_a_day_the_newest_stays() {
        let days = [day("2026-03-05"), day("2026-03-05"), day("2026-03-04")];
        assert_eq!(stay(&days, 2, 0), [true, false, true]);
        assert_eq!(stay(&days, 0, 1), [true, false, false]);
    }

    #[test]
    fn days_without_a_copy_do_not_count() {
        let days = [day("2026-03-05"), day("2026-01-05"), day("2025-11-05")];
        assert_eq!(stay(&days, 2, 0), [true, true, false]);
        assert_eq!(stay(&days, 0, 3), [true, true, true]);
    }

    #[test]
    fn a_week_at_the_turn_of_the_year_is_one() {
        // The 31st of December and the 1st of January are of the same ISO week.
        let days = [day("2026-01-01"), day("2025-12-31")];
        assert_eq!(stay(&days, 0, 4), [true, false]);
    }

    #[test]
    fn the_newest_stays_in_any_case() {
        assert_eq!(stay(&[day("2026-01-02"), day("2026-01-01")], 0, 0), [true, false]);
        assert_eq!(stay(&[], 7, 4), Vec::<bool>::new());
    }
}
