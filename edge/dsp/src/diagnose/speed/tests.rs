//! Tests which speed is tried: combs of shaft lines at the stated speed, beside it and beyond it.

use super::*;
use crate::bearing::DefectOrders;
use pdm_shared::units::SampleRate;

/// A 6203 at 1500 rpm: its outer race is 3.054 times the shaft.
fn request() -> Request {
    let orders = DefectOrders::new(3.0543, 4.9457, 1.9966, 0.3818).expect("valid");
    let (rate, speed) = (SampleRate::new(12_000.0), Rpm::new(1500.0));
    Request::new(rate.expect("valid"), speed.expect("valid"), orders)
}

/// Uneven lines 0.1 Hz apart with peaks at multiples of a frequency.
fn spectrum(hz: f64, multiples: &[u32]) -> Spectrum {
    let mut amplitude: Vec<f64> =
        (0..4000_u32).map(|i| 1.0 + f64::from(i.wrapping_mul(7919) % 13) / 26.0).collect();
    for k in multiples {
        amplitude[(f64::from(*k) * hz / 0.1).round() as usize] = 30.0;
    }
    Spectrum { df_hz: 0.1, amplitude }
}

const ALL: [u32; 6] = [1, 2, 3, 4, 5, 6];

#[test]
fn a_shaft_at_the_stated_speed_confirms_it() {
    let tried = tried(&spectrum(25.0, &ALL), &request());
    assert_eq!(tried.fit, SpeedFit::Confirmed);
    assert!((tried.hz[0] - 25.0).abs() < 0.05, "{tried:?}");
}

/// A synchronous speed that was typed in, 3 % above the true one.
#[test]
fn a_shaft_beside_the_stated_speed_takes_its_place() {
    let tried = tried(&spectrum(24.25, &ALL), &request());
    assert_eq!((tried.fit, tried.hz.len()), (SpeedFit::Other, 1));
    assert!((tried.hz[0] - 24.25).abs() < 0.05, "{tried:?}");
}

#[test]
fn a_shaft_beyond_the_tolerance_is_a_speed_that_does_not_fit() {
    for hz in [22.5, 27.5] {
        let tried = tried(&spectrum(hz, &ALL), &request());
        assert!(
            matches!(tried.fit, SpeedFit::Misfit(shown) if (shown - hz).abs() < 0.1),
            "{tried:?}"
        );
    }
}

/// The outer race of Paderborn's KA16 stands at 3.07 times the shaft, and a third of it poses as
/// one.
#[test]
fn a_third_of_an_outer_races_line_is_no_shaft() {
    let mut spectrum = spectrum(25.6, &[3, 6]);
    for (k, amplitude) in [(1_u32, 4.0), (2, 4.0), (3, 100.0), (6, 100.0)] {
        spectrum.amplitude[(f64::from(k) * 256.0).round() as usize] = amplitude;
    }
    let tried = tried(&spectrum, &request());
    assert_eq!((tried.fit, tried.hz.as_slice()), (SpeedFit::Open, &[25.0][..]));
    assert!(tried.posed.is_some_and(|(_, multiple)| multiple == 3), "{tried:?}");
}

#[test]
fn a_record_without_shaft_lines_leaves_the_stated_speed_open() {
    let tried = tried(&spectrum(25.0, &[]), &request());
    assert_eq!((tried.fit, tried.hz.as_slice()), (SpeedFit::Open, &[25.0][..]));
}

/// The configuration declares the speed uncertain: both are tried, as long as each part is asked
/// for.
#[test]
fn a_wider_tolerance_than_the_usual_one_tries_both_speeds() {
    let wide = Request { speed_tolerance: 0.07, ..request() };
    assert_eq!(tried(&spectrum(23.5, &ALL), &wide).hz.len(), 2);
}

#[test]
fn a_tachometer_leaves_nothing_to_search() {
    let known = Request { speed_tolerance: 0.0, ..request() };
    let tried = tried(&spectrum(24.25, &ALL), &known);
    assert_eq!((tried.fit, tried.hz.as_slice()), (SpeedFit::Confirmed, &[25.0][..]));
}
