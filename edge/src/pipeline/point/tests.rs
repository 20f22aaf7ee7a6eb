//! Claims about a measuring point: memory, relearning, judging by the present settings.

use pdm_shared::event::BaselineState;

use super::super::looks::Turn;
use super::*;
use crate::condition::MonitorSettings;
use crate::settings::DefectOrders;

fn point(baseline_windows: u32) -> Point {
    let settings = PointSettings {
        channel: 0,
        equipment: "P-101".parse().expect("name"),
        bearing: "DE".parse().expect("name"),
        measuring_point: None,
        orders: DefectOrders::new(3.585, 5.415, 2.357, 0.398).expect("valid"),
        order_tolerance: 0.015,
        estimate: None,
        speed: Rpm::new(1797.0).expect("valid"),
        speed_tolerance: 0.02,
        tachometer_ratio: 1.0,
        speed_bins: Vec::new(),
        envelope_band: None,
        zones: None,
        monitor: MonitorSettings { baseline_windows, ..MonitorSettings::default() },
    };
    let rate = SampleRate::new(6400.0).expect("valid");
    Point::new(settings, "gw".parse().expect("name"), "site".parse().expect("name"), rate)
}

fn samples(seed: u64) -> Vec<f64> {
    // xorshift: white enough for a healthy window
    let mut state = seed * 7919 + 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as f64 / u64::MAX as f64 - 0.5
    };
    (0..6400).map(|_| (0..6).map(|_| next()).sum()).collect()
}

fn at(window: i64) -> Timestamp {
    Timestamp::from_unix_ms(window * 60_000).expect("in range")
}

#[test]
fn a_restored_point_goes_on_as_if_nothing_had_happened() {
    let (mut kept, mut first) = (point(10), point(10));
    for n in 0..8 {
        kept.measure(&samples(n), at(n.cast_signed()), at(0));
        first.measure(&samples(n), at(n.cast_signed()), at(0));
    }
    let mut restored = point(10);
    restored.restore(&first.memory()).expect("its own form");
    let pasts = first.changed_pasts().expect("the first look was learnt from");
    restored.restore_pasts(&pasts).expect("its own form");
    for n in 8..20 {
        let mut expected = kept.measure(&samples(n), at(n.cast_signed()), at(0));
        let got = restored.measure(&samples(n), at(n.cast_signed()), at(0));
        expected.event_id = got.event_id;
        assert_eq!(got, expected);
    }
}

#[test]
fn a_restored_point_is_judged_by_the_settings_of_today() {
    let mut first = point(10);
    for n in 0..5 {
        first.measure(&samples(n), at(n.cast_signed()), at(0));
    }
    let mut restored = point(200);
    restored.restore(&first.memory()).expect("its own form");
    let last = (5..40).map(|n| restored.measure(&samples(n), at(n.cast_signed()), at(0))).last();
    let baseline = last.expect("some").anomaly.baseline;
    assert_eq!(baseline.state, BaselineState::Learning, "200 windows are asked for now");
    assert_eq!(baseline.windows, 40);
}

/// R-EDGE-6.
#[test]
fn a_point_that_is_learnt_anew_knows_nothing_of_before() {
    let (mut point, mut new) = (point(10), point(10));
    for n in 0..30 {
        point.measure(&samples(n), at(n.cast_signed()), at(0));
    }
    point.relearn();
    for n in 30..50 {
        let mut expected = new.measure(&samples(n), at(n.cast_signed()), at(0));
        let got = point.measure(&samples(n), at(n.cast_signed()), at(0));
        expected.event_id = got.event_id;
        assert_eq!(got, expected);
    }
}

#[test]
fn a_speed_falls_in_the_bin_that_begins_with_it() {
    let mut point = point(10);
    let rpm = |rpm| Rpm::new(rpm).expect("valid");
    assert_eq!(point.state(rpm(10.0)), DEFAULT_STATE);
    point.settings.speed_bins = vec![rpm(600.0), rpm(1200.0)];
    let states = [599.9, 600.0, 1300.0].map(|speed| point.state(rpm(speed)));
    assert_eq!(states, ["below 600 rpm", "600 to 1200 rpm", "1200 rpm and above"]);
}

#[test]
fn a_window_that_cannot_be_judged_is_told_and_names_nothing() {
    let mut point = point(10);
    let mut event = point.measure(&vec![f64::NAN; 6400], at(0), at(0));
    event.sequence = 1;
    event.check().expect("as the contract asks");
    assert!(!event.signal_quality.valid);
    assert_eq!(event.frequency_domain.dominant_fault, None);
    let mut event = point.measure(&[], at(1), at(0));
    event.sequence = 2;
    event.check().expect("as the contract asks");
}

/// R-EDGE-4. Eight looks at once would hold up eight channels and the blocks that arrive meanwhile.
#[test]
fn points_of_a_live_source_that_begin_together_look_one_after_the_other() {
    let plans = FftPlans::live(&Turn::default());
    let mut points = [10, 10, 10].map(|windows| point(windows).with_plans(plans.clone()));
    let second = |n: i64| Timestamp::from_unix_ms(n * 1000).expect("in range");
    let (mut looked, mut shown) = (Vec::new(), Vec::new());
    for n in 0..14_i64 {
        plans.looks().pass(1.0);
        for (number, point) in points.iter_mut().enumerate() {
            let event = point.measure(&samples(n.cast_unsigned()), second(n), second(n));
            if event.frequency_domain.method == Method::Thorough {
                looked.push((n, number));
            }
            if event.spectra.is_some() {
                shown.push((n, number));
            }
        }
    }
    // at the beginning, and when the baseline is complete with the tenth window
    let each = [(0, 0), (1, 1), (2, 2), (9, 0), (10, 1), (11, 2)];
    assert_eq!(looked, each);
    assert_eq!(shown, each, "what the baseline's completion shows is shown later, not never");
}

/// A fault that comes while the baseline is learnt: the look of the first window came before it,
/// and the next one is due after ten minutes.
#[test]
fn a_line_that_rises_while_learning_brings_the_look_forward() {
    let mut point = point(50);
    let mut thorough = Vec::new();
    for n in 0..12u64 {
        let mut window = samples(n);
        if n >= 4 {
            // impacts at the outer race's frequency that ring at 1.8 kHz
            let (rate, line) = (6400.0, 3.585 * 1797.0 / 60.0);
            for (at, sample) in window.iter_mut().enumerate() {
                let since_s = (at as f64 / rate * line).fract() / line;
                let ring = (2.0 * std::f64::consts::PI * 1800.0 * since_s).sin();
                *sample += 12.0 * (-900.0 * since_s).exp() * ring;
            }
        }
        // a window each ten seconds: the scheduled looks are ten minutes apart
        let at = Timestamp::from_unix_ms(n.cast_signed() * 10_000).expect("in range");
        let event = point.measure(&window, at, at);
        if event.frequency_domain.method == Method::Thorough {
            thorough.push((n, event.frequency_domain.dominant_fault));
        }
    }
    assert_eq!(thorough.len(), 2, "{thorough:?}");
    assert_eq!(thorough[0].0, 0);
    let (window, fault) = thorough[1];
    assert!(window < 10, "window {window}");
    assert_eq!(fault, Some(pdm_shared::fault::Fault::OuterRace));
}
