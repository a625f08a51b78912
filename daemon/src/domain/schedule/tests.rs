//! Schedules against the clocks of real zones.

use chrono_tz::Tz;

use super::*;

fn cron(text: &str) -> Cron {
    Cron::parse(text).unwrap()
}

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// Every time of a schedule from `start` on for `days` days, as the zone's clocks show it.
fn times(text: &str, zone: Tz, start: &str, days: i64) -> Vec<String> {
    let (cron, start) = (cron(text), utc(start));
    let (mut at, mut times) = (start, Vec::new());
    loop {
        at = cron.next(at, &zone).unwrap();
        if at > start + TimeDelta::days(days) {
            return times;
        }
        times.push(at.with_timezone(&zone).format("%m-%d %H:%M %z").to_string());
    }
}

#[test]
fn s1_the_local_hour_is_kept_across_both_changes() {
    let spring = times("0 0 3 * * *", Tz::Europe__Dublin, "2025-03-28T12:00:00Z", 3);
    assert_eq!(spring, ["03-29 03:00 +0000", "03-30 03:00 +0100", "03-31 03:00 +0100"]);
    let autumn = times("0 0 3 * * *", Tz::Europe__Dublin, "2025-10-24T12:00:00Z", 3);
    assert_eq!(autumn, ["10-25 03:00 +0100", "10-26 03:00 +0000", "10-27 03:00 +0000"]);
}

#[test]
fn s1_a_time_in_the_gap_is_kept_right_after_it() {
    let once = times("0 30 2 * * *", Tz::Europe__Berlin, "2025-03-29T12:00:00Z", 2);
    assert_eq!(once, ["03-30 03:00 +0200", "03-31 02:30 +0200"]);
    // croner would skip both, because there is more than one minute.
    let twice = times("0 15,45 2 * * *", Tz::Europe__Berlin, "2025-03-29T12:00:00Z", 1);
    assert_eq!(twice, ["03-30 03:00 +0200"]);
    let midnight = times("0 0 0 * * *", Tz::America__Santiago, "2025-09-06T12:00:00Z", 2);
    assert_eq!(midnight, ["09-07 01:00 -0300", "09-08 00:00 -0300"]);
}

#[test]
fn s1_a_time_in_the_overlap_is_kept_once() {
    let once = times("0 30 2 * * *", Tz::Europe__Berlin, "2025-10-25T12:00:00Z", 2);
    assert_eq!(once, ["10-26 02:30 +0200", "10-27 02:30 +0100"]);
    let twice = times("0 0,30 2 * * *", Tz::Europe__Berlin, "2025-10-25T12:00:00Z", 1);
    assert_eq!(twice, ["10-26 02:00 +0200", "10-26 02:30 +0200"]);
    let midnight = times("0 30 23 * * *", Tz::America__Santiago, "2025-04-05T12:00:00Z", 2);
    assert_eq!(midnight, ["04-05 23:30 -0300", "04-06 23:30 -0400"]);
}

#[test]
fn s2_the_latest_time_is_the_last_that_next_passes() {
    let zones =
        [Tz::Europe__Dublin, Tz::Europe__Berlin, Tz::America__Santiago, Tz::Australia__Lord_Howe, Tz::UTC];
    let changes =
        ["2025-03-29T00:00:00Z", "2025-04-05T00:00:00Z", "2025-09-06T00:00:00Z", "2025-10-25T00:00:00Z"];
    for text in ["0 0 3 * * *", "0 30 2 * * *", "0 0,30 0-3 * * *", "0 */20 * * * *", "0 0 0 * * SUN"] {
        for (zone, start) in zones.iter().flat_map(|zone| changes.map(|start| (zone, utc(start)))) {
            let cron = cron(text);
            let mut latest = cron.latest(start, zone);
            let mut upcoming = cron.next(start, zone).unwrap();
            for minute in 1..3 * 24 * 60 {
                let now = start + TimeDelta::minutes(minute);
                if upcoming <= now {
                    latest = Some(upcoming);
                    upcoming = cron.next(upcoming, zone).unwrap();
                }
                assert_eq!(cron.latest(now, zone), latest, "{text} in {zone} at {now}");
                assert_eq!(cron.next(now, zone), Some(upcoming), "{text} in {zone} at {now}");
            }
        }
    }
}

#[test]
fn s1_what_never_comes_true_or_makes_no_sense_is_refused() {
    for wrong in
        ["0 0 3 30 2 *", "0 3 * * *", "0 0 3 * * * 2030", "@daily", "0 0 25 * * *", "every day at three", ""]
    {
        assert!(Cron::parse(wrong).is_none(), "{wrong:?}");
    }
    for right in ["0 0 3 29 2 *", "0 10 3 * * SUN", "30 */5 * * * MON-FRI", "0 0 3 L * *"] {
        assert!(Cron::parse(right).is_some(), "{right:?}");
    }
}

#[test]
fn s2_what_was_missed_is_made_up_for_once() {
    let daily = cron("0 0 3 * * *");
    let (kept, now) = (utc("2026-01-05T09:00:00Z"), utc("2026-02-14T12:00:00Z"));
    let latest = utc("2026-02-14T03:00:00Z");
    assert_eq!(daily.turn(kept, now, &Utc), Turn::Runs(latest));
    assert_eq!(daily.turn(latest, now, &Utc), Turn::Waits);
    assert_eq!(daily.turn(kept, utc("2026-01-06T02:59:59Z"), &Utc), Turn::Waits);
    assert_eq!(daily.turn(kept, utc("2026-01-06T03:00:00Z"), &Utc), Turn::Runs(utc("2026-01-06T03:00:00Z")));
}

#[test]
fn s2_a_clock_that_goes_back_neither_repeats_nor_starves() {
    let daily = cron("0 0 3 * * *");
    let kept = utc("2026-01-06T03:00:00Z");
    assert_eq!(daily.turn(kept, utc("2026-01-06T02:50:00Z"), &Utc), Turn::Waits, "kept already");
    assert_eq!(daily.turn(utc("2031-01-06T03:00:00Z"), utc("2026-01-06T02:50:00Z"), &Utc), Turn::Resets);
    let first_seen = utc("2026-01-06T09:00:00Z");
    assert_eq!(daily.turn(first_seen, utc("2026-01-06T08:58:00Z"), &Utc), Turn::Waits);
}

#[test]
fn a_failed_run_is_put_off_longer_each_time_and_never_beyond_six_hours() {
    let minutes = [1, 2, 3, 9, 10, 64, u32::MAX].map(|failures| backoff(failures).num_minutes());
    assert_eq!(minutes, [1, 2, 4, 256, 360, 360, 360]);
    let now = utc("2026-01-06T03:00:00Z");
    let ahead = |minutes| Some(now + TimeDelta::minutes(minutes));
    assert_eq!(put_off(ahead(4), now), ahead(4));
    assert_eq!(put_off(ahead(0), now), None);
    assert_eq!(put_off(ahead(361), now), None, "from a clock that was wrong");
}
