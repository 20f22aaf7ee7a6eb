//! Courses of arrivals through the rule: who is told to be silent, and how often.

use super::*;

const H: f64 = 3600.0;
const AFTER_S: f64 = 3.0 * H;

fn at(seconds: f64) -> Timestamp {
    Timestamp::from_unix_ms(1_795_238_000_000).expect("in range").plus_seconds(seconds)
}

/// Plays arrivals through the rule as the watch does; returns the hours of the pauses that are
/// told.
fn told(arrivals: impl IntoIterator<Item = f64>) -> Vec<String> {
    let mut arrivals = arrivals.into_iter();
    let mut last = at(arrivals.next().expect("one"));
    let (since, mut pauses, mut told) = (last, Vec::new(), Vec::new());
    for next in arrivals.map(at) {
        let past = Past { since, pauses: &pauses };
        let pause = BearingPause { from: last, to: next, is_exceptional: false };
        let is_told = pause.seconds() > past.bound_s(AFTER_S) && past.is_regular(last, AFTER_S);
        if is_told {
            told.push(format!("{:.0}", pause.seconds() / H));
        }
        if pause.seconds() > kept_from_s(AFTER_S) {
            pauses.push(BearingPause { is_exceptional: is_told, ..pause });
        }
        last = next;
    }
    told
}

/// Windows every `every_s` in these hours of each day of `days`.
fn shifts(days: &[u32], hours: (f64, f64), every_s: f64) -> Vec<f64> {
    let mut arrivals = Vec::new();
    for day in days {
        let mut second = f64::from(*day) * 24.0 * H + hours.0 * H;
        while second < f64::from(*day) * 24.0 * H + hours.1 * H {
            arrivals.push(second);
            second += every_s;
        }
    }
    arrivals
}

/// Issue 33
#[test]
fn a_bearing_that_was_measured_every_minute_is_told_when_it_stops() {
    let mut arrivals = shifts(&[0, 1], (0.0, 24.0), 60.0);
    arrivals.push(56.0 * H);
    assert_eq!(told(arrivals), ["8"]);
}

#[test]
fn a_folder_that_is_filled_once_a_day_is_no_silence_and_one_that_stops_is() {
    let weekdays = [0, 1, 2, 3, 4, 7, 8, 9, 10, 11, 14, 15, 16, 17, 18];
    let mut arrivals: Vec<f64> = Vec::new();
    for day in weekdays {
        // 144 files at once
        arrivals.extend((0..144).map(|n| f64::from(day) * 24.0 * H + f64::from(n) * 0.1));
    }
    assert!(told(arrivals.clone()).is_empty());
    arrivals.push(30.0 * 24.0 * H);
    assert_eq!(told(arrivals), ["288"]);
}

#[test]
fn a_round_once_a_month_is_no_silence() {
    let rounds = (0..12).flat_map(|month| {
        // five windows within ten minutes
        (0..5).map(move |n| f64::from(month) * 30.0 * 24.0 * H + f64::from(n) * 120.0)
    });
    assert!(told(rounds).is_empty());
}

#[test]
fn shifts_of_five_days_are_no_silence() {
    let weeks: Vec<u32> = (0..4).flat_map(|week| (0..5).map(move |day| 7 * week + day)).collect();
    for hours in [(8.0, 17.0), (6.0, 22.0), (6.0, 14.0)] {
        let told = told(shifts(&weeks, hours, 60.0));
        assert!(told.is_empty(), "{hours:?}: {told:?}");
    }
}

#[test]
fn a_plant_that_stands_at_weekends_alone_is_told_twice_and_no_more() {
    let mut arrivals = Vec::new();
    for week in 0..10 {
        let from = f64::from(week) * 168.0 * H;
        arrivals.extend((0..120 * 6).map(|n| from + f64::from(n) * 600.0));
    }
    assert_eq!(told(arrivals), ["48", "48"]);
}

#[test]
fn a_replay_of_old_files_and_a_trial_are_no_silence() {
    let mut arrivals: Vec<f64> = (0..5_000).map(|n| f64::from(n) * 0.5).collect();
    arrivals.push(400.0 * H);
    assert!(told(arrivals).is_empty(), "heard for 42 minutes");
}

#[test]
fn a_sensor_that_was_broken_once_makes_the_next_silence_no_later() {
    let mut arrivals = shifts(&[0, 1, 2], (0.0, 24.0), 60.0);
    arrivals.extend(shifts(&[10, 11, 12], (0.0, 24.0), 60.0));
    arrivals.push(13.0 * 24.0 * H + 5.0 * H);
    assert_eq!(told(arrivals), ["168", "5"]);
}

#[test]
fn a_wireless_sensor_of_six_hours_has_days() {
    let mut arrivals: Vec<f64> = (0..40).map(|n| f64::from(n) * 6.0 * H).collect();
    let end = 39.0 * 6.0 * H;
    arrivals.push(end + 60.0 * H);
    assert!(told(arrivals.clone()).is_empty());
    arrivals.push(end + 60.0 * H + 200.0 * H);
    assert_eq!(told(arrivals), ["200"]);
}
