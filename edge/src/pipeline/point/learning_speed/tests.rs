//! Claims about the speed that a point learns beside its baseline.

use pdm_dsp::DefectOrders;
use pdm_shared::event::{Event, SpeedBasis};
use pdm_shared::units::SampleRate;

use super::*;
use crate::condition::MonitorSettings;
use crate::settings::PointSettings;

const RATE_HZ: f64 = 6400.0;
/// The shaft, where the synchronous 1500 rpm were typed in.
const TRUE_RPM: f64 = 1455.0;

fn settings(rpm: f64) -> PointSettings {
    PointSettings {
        channel: 0,
        equipment: "P-101".parse().expect("name"),
        bearing: "DE".parse().expect("name"),
        measuring_point: None,
        orders: DefectOrders::new(3.585, 5.415, 2.357, 0.398).expect("valid"),
        order_tolerance: 0.02,
        estimate: None,
        speed: Rpm::new(rpm).expect("valid"),
        speed_tolerance: 0.05,
        tachometer_ratio: 1.0,
        speed_bins: Vec::new(),
        envelope_band: None,
        zones: None,
        monitor: MonitorSettings { baseline_windows: 15, ..MonitorSettings::default() },
    }
}

fn point(rpm: f64) -> Point {
    let rate = SampleRate::new(RATE_HZ).expect("valid");
    Point::new(settings(rpm), "gw".parse().expect("name"), "site".parse().expect("name"), rate)
}

/// A second of noise, with shaft lines of the true speed if it `shows` them.
fn window(n: u64, shows: bool) -> Vec<f64> {
    let mut state = n * 7919 + 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as f64 / u64::MAX as f64 - 0.5
    };
    let amplitude = if shows { 1.0 } else { 0.0 };
    let shaft = |t: f64| {
        let line = |k: u32| {
            let hz = f64::from(k) * TRUE_RPM / 60.0;
            (std::f64::consts::TAU * hz * t + f64::from(k)).sin()
        };
        amplitude * [1, 2, 3, 4, 6].into_iter().map(line).sum::<f64>()
    };
    (0..RATE_HZ as usize).map(|i| 4.0 * next() + shaft(n as f64 + i as f64 / RATE_HZ)).collect()
}

fn measure(point: &mut Point, n: u64, shows: bool) -> Event {
    let at = Timestamp::from_unix_ms(n.cast_signed() * 60_000).expect("in range");
    point.measure(&window(n, shows), at, at)
}

fn rpm(event: &Event) -> f64 {
    event.operating.shaft_speed_rpm.expect("it runs")
}

/// R-EDGE-4. Later windows that show no shaft lines are measured with the learnt speed, and say so.
#[test]
fn a_speed_that_was_learnt_takes_the_place_of_the_stated_one_and_is_told() {
    let mut point = point(1500.0);
    for n in 0..15 {
        measure(&mut point, n, true);
    }
    // three hours later no estimate of a look holds any more
    for n in 200..203 {
        let mut event = measure(&mut point, n, false);
        let operating = &event.operating;
        assert!((rpm(&event) / TRUE_RPM - 1.0).abs() < 0.003, "{operating:?}");
        assert_eq!(operating.speed_source, SpeedSource::Estimated);
        assert_eq!(operating.speed_basis, Some(SpeedBasis::Learnt));
        assert_eq!(operating.stated_speed_rpm, Some(1500.0));
        event.sequence = 1;
        event.check().expect("as the contract asks");
    }
}

#[test]
fn a_stated_speed_that_fits_or_that_nothing_shows_stays() {
    for (stated, shows) in [(TRUE_RPM, true), (1500.0, false)] {
        let mut point = point(stated);
        for n in 0..15 {
            measure(&mut point, n, shows);
        }
        let event = measure(&mut point, 200, false);
        assert!((rpm(&event) / stated - 1.0).abs() < 0.003, "{:?}", event.operating);
        assert_eq!(event.operating.speed_basis, None);
    }
}

/// The person reads the message, and corrects `rpm`: what was learnt is not taken off it once more.
#[test]
fn a_configuration_that_was_put_right_is_not_corrected_again() {
    let mut first = point(1500.0);
    for n in 0..20 {
        measure(&mut first, n, true);
    }
    let (mut same, mut corrected) = (point(1500.0), point(TRUE_RPM));
    for restored in [&mut same, &mut corrected] {
        restored.restore(&first.memory()).expect("its own form");
    }
    let event = measure(&mut same, 200, false);
    assert_eq!(event.operating.speed_basis, Some(SpeedBasis::Learnt), "it survives a restart");
    let event = measure(&mut corrected, 200, false);
    assert_eq!(event.operating.speed_basis, None);
    assert!((rpm(&event) / TRUE_RPM - 1.0).abs() < 0.003, "{:?}", event.operating);
    same.relearn();
    let event = measure(&mut same, 201, false);
    assert_eq!(event.operating.speed_basis, None, "a new bearing, perhaps a new motor");
}

/// A gateway that is started anew while it learns goes on where it was.
#[test]
fn a_restart_while_learning_loses_no_window() {
    let mut first = point(1500.0);
    for n in 0..9 {
        measure(&mut first, n, true);
    }
    let mut restored = point(1500.0);
    restored.restore(&first.memory()).expect("its own form");
    measure(&mut restored, 9, true);
    assert!(
        restored
            .learnt_speed("default", (restored.settings.speed, SpeedSource::Configured))
            .is_some()
    );
    let mut text = String::from_utf8(first.memory()).expect("JSON");
    let start = text.find("\"learning\":\"").expect("a mean") + 12;
    text.replace_range(start..start + 4, "????");
    restored.restore(text.as_bytes()).expect("a mean that is none is begun anew");
}
