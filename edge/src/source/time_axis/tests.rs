//! Tests of times of a table.

use super::*;

fn axis(values: &[f64]) -> TimeAxis {
    TimeAxis::of_column(values, None).expect("a time")
}

#[test]
fn a_column_that_rises_evenly_is_time_and_a_vibration_is_none() {
    let times: Vec<f64> = (0..1000).map(|n| f64::from(n) / 2560.0).collect();
    assert!((axis(&times).rate_hz(1.0) - 2560.0).abs() < 1e-9);
    let wave: Vec<f64> = (0..1000).map(|n| (f64::from(n) * 0.3).sin()).collect();
    assert_eq!(TimeAxis::of_column(&wave, None), None);
    let growth: Vec<f64> = (0..100).map(|n| f64::from(n * n)).collect();
    assert_eq!(TimeAxis::of_column(&growth, None), None, "it rises, but not evenly");
}

#[test]
fn times_of_few_digits_repeat_and_give_the_rate_within_their_digits() {
    let times: Vec<f64> =
        (0..1536).map(|n| (f64::from(n) / 2560.0 * 100.0).floor() / 100.0).collect();
    let axis = axis(&times);
    assert!((axis.rate_hz(1.0) / 2560.0 - 1.0).abs() <= 0.01 + axis.uncertainty);
    assert_eq!((axis.gaps, axis.jitter_ratio), (0, None));
}

#[test]
fn a_label_that_changes_a_few_times_is_no_time() {
    let label: Vec<f64> = (0..3000).map(|n| f64::from(n / 1000)).collect();
    assert_eq!(TimeAxis::of_column(&label, None), None);
}

#[test]
fn gaps_are_counted_with_the_samples_they_would_hold() {
    let times: Vec<f64> =
        (0..1000).filter(|n| !(300..400).contains(n)).map(|n| f64::from(n) / 1000.0).collect();
    let axis = axis(&times);
    assert_eq!((axis.gaps, axis.lost), (1, 100));
    assert!((axis.rate_hz(1.0) - 1000.0).abs() < 1e-9);
}

#[test]
fn microseconds_of_32_bits_go_on_after_71_minutes() {
    let times: Vec<f64> =
        (0..1000u32).map(|n| f64::from(4_294_900_000u32.wrapping_add(n * 391))).collect();
    assert!((axis(&times).step - 391.0).abs() < 1e-9);
}

#[test]
fn counters_show_lost_rows_and_no_rate() {
    let counts: Vec<f64> = (0..100).filter(|n| *n != 50).map(f64::from).collect();
    let axis = axis(&counts);
    assert!(axis.is_count);
    assert_eq!(axis.lost, 1);
}

#[test]
fn times_since_1970_tell_their_unit_and_the_start() {
    let times: Vec<f64> = (0..100).map(|n| 1.7e12 + f64::from(n) * 10.0).collect();
    let axis = axis(&times);
    assert_eq!((axis.unit_s, axis.epoch_s), (Some(1e-3), Some(1.7e9)));
}

/// R-EDGE-4: a stamp each millisecond is a time of 1,000 Hz.
#[test]
fn milliseconds_since_1970_that_rise_by_one_are_no_count() {
    let times: Vec<f64> = (0..100).map(|n| 1.772e12 + f64::from(n)).collect();
    let own = axis(&times);
    assert_eq!((own.is_count, own.unit_s, own.epoch_s), (false, Some(1e-3), Some(1.772e9)));
    let counter: Vec<f64> = (0..100).map(|n| 1.772e9 + f64::from(n)).collect();
    assert!(axis(&counter).is_count);
}

#[test]
fn day_numbers_of_spreadsheets_and_of_matlab_are_days() {
    for (day, start_s) in [(46_082.25, 1_772_344_800.0), (740_042.25, 1_772_344_800.0)] {
        let times: Vec<f64> = (0..2000).map(|n| day + f64::from(n) / 2000.0 / 86_400.0).collect();
        let axis = axis(&times);
        assert_eq!(axis.unit_s, Some(86_400.0), "{day}");
        assert!((axis.rate_hz(86_400.0) / 2000.0 - 1.0).abs() < 1e-3, "{day}: {axis:?}");
        assert!(axis.epoch_s.is_some_and(|at| (at - start_s).abs() < 1e-3), "{day}: {axis:?}");
    }
    let uptime: Vec<f64> = (0..2000).map(|n| 46_082.25 + f64::from(n) / 2000.0).collect();
    assert_eq!(axis(&uptime).unit_s, None, "seconds since a start");
}

/// Beckhoff's scope writes FILETIME, programs of .NET their ticks.
#[test]
fn counts_of_100_ns_since_1601_and_since_the_year_1_are_times() {
    for (first, is_local) in [(134_168_256_000_000_000.0, false), (639_079_488_000_000_000.0, true)]
    {
        let times: Vec<f64> = (0..2000).map(|n| first + 5000.0 * f64::from(n)).collect();
        let own = axis(&times);
        assert_eq!((own.unit_s, own.is_local), (Some(1e-7), is_local));
        assert!((own.rate_hz(1e-7) - 2000.0).abs() < 0.5, "{}", own.rate_hz(1e-7));
        assert!(own.epoch_s.is_some_and(|at| (at - 1_772_352_000.0).abs() < 1e-3), "{own:?}");
    }
}

/// A sensor's memory of 32 rows that is read at once: the rows of the last time count as the
/// others.
#[test]
fn times_that_stand_for_a_number_of_rows_give_the_true_rate() {
    for (rows, each) in [(800_u32, 32_u32), (1000, 25), (832, 2)] {
        let step = f64::from(each) / 1600.0;
        let times: Vec<f64> = (0..rows).map(|n| f64::from(n / each) * step).collect();
        let own = TimeAxis::of_column(&times, Some(1.0)).expect("a time");
        assert_eq!(own.rows_each, Some(u64::from(each)));
        assert!((own.rate_hz(1.0) / 1600.0 - 1.0).abs() < 1e-9, "{each}: {}", own.rate_hz(1.0));
    }
    let even: Vec<f64> = (0..100).map(|n| f64::from(n) / 1600.0).collect();
    assert_eq!(axis(&even).rows_each, None);
}

/// PX4 counts microseconds since its start: 1,234,567,890 of them are no second of the
/// year 2009.
#[test]
fn ticks_of_a_controller_are_no_seconds_since_1970() {
    let ticks: Vec<f64> = (0..1000).map(|n| 1_234_567_890.0 + 1250.0 * f64::from(n)).collect();
    let own = axis(&ticks);
    assert_eq!((own.unit_s, own.epoch_s), (None, None));
    assert!(
        (TimeAxis::of_column(&ticks, Some(1e-6)).expect("named").rate_hz(1e-6) - 800.0).abs()
            < 1e-6
    );
}

#[test]
fn the_newest_row_may_come_first() {
    let times: Vec<f64> = (0..100).rev().map(|n| f64::from(n) * 0.01).collect();
    assert!(axis(&times).is_reversed);
}

#[test]
fn jitter_is_told_where_the_digits_show_it() {
    let times: Vec<f64> =
        (0..500).map(|n| f64::from(n) + 0.2 * (f64::from(n) * 1.7).sin()).collect();
    assert!(axis(&times).jitter_ratio.is_some_and(|jitter| jitter > 0.05));
}
