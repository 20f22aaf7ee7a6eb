//! Each flag is raised by its defect alone, and a healthy signal raises none (R-EDGE-5).

use std::f64::consts::TAU;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::*;

const RATE_HZ: f64 = 10_000.0;

fn context() -> QualityContext {
    QualityContext::new(SampleRate::new(RATE_HZ).expect("valid"))
}

/// 2 s of noise of 0.1 g RMS in steps of 0.0001 g.
fn healthy() -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    (0..20_000)
        .map(|_| {
            let g: f64 = 0.1 * rng.sample::<f64, _>(StandardNormal);
            (g / 1e-4).round() * 1e-4 * M_S2_PER_G
        })
        .collect()
}

fn flags(accel: &[f64]) -> (bool, Vec<QualityFlag>) {
    let quality = assess(accel, &context());
    (quality.signal.valid, quality.signal.flags)
}

#[test]
fn a_healthy_window_has_no_flag() {
    assert_eq!(flags(&healthy()), (true, vec![]));
    let sine: Vec<f64> = (0..20_000).map(|i| (TAU * 50.0 * f64::from(i) / RATE_HZ).sin()).collect();
    assert_eq!(flags(&sine), (true, vec![]));
}

#[test]
fn a_nan_makes_a_window_invalid() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut accel = healthy();
        accel[77] = bad;
        assert_eq!(flags(&accel), (false, vec![QualityFlag::NotFinite]));
    }
}

#[test]
fn a_constant_signal_is_a_flat_line_at_any_level() {
    assert_eq!(flags(&vec![0.0; 5000]), (false, vec![QualityFlag::FlatLine]));
    assert_eq!(flags(&vec![7.3; 5000]), (false, vec![QualityFlag::FlatLine]));
}

#[test]
fn gross_clipping_is_invalid_and_a_few_clipped_peaks_are_not() {
    let limited = |limit_g: f64| -> Vec<f64> {
        let limit = limit_g * M_S2_PER_G;
        healthy().iter().map(|x| x.clamp(-limit, limit)).collect()
    };
    assert_eq!(flags(&limited(0.15)), (false, vec![QualityFlag::Clipping]));
    assert_eq!(flags(&limited(0.32)), (true, vec![QualityFlag::Clipping]));
    let sine: Vec<f64> =
        (0..20_000).map(|i| (TAU * 50.0 * f64::from(i) / RATE_HZ).sin().clamp(-0.8, 0.8)).collect();
    assert!(flags(&sine).1.contains(&QualityFlag::Clipping));
}

#[test]
fn a_stretch_of_equal_samples_is_a_drop_out() {
    let mut accel = healthy();
    accel[500..560].fill(0.0);
    assert_eq!(flags(&accel), (false, vec![QualityFlag::DropOut]));
}

#[test]
fn a_settling_sensor_drifts() {
    let ramp = |per_window: f64| -> Vec<f64> {
        let step = per_window * M_S2_PER_G / 20_000.0;
        healthy().iter().enumerate().map(|(i, x)| x + step * i as f64).collect()
    };
    let slight = assess(&ramp(0.1), &context()).signal;
    assert_eq!((slight.valid, slight.flags), (true, vec![QualityFlag::DcDrift]));
    assert!(!assess(&ramp(0.5), &context()).signal.valid);
    // gravity on an upright axis is an offset
    let far: Vec<f64> = healthy().iter().map(|x| x + 1.0 * M_S2_PER_G).collect();
    assert_eq!(flags(&far), (true, vec![]));
}

#[test]
fn a_swinging_sensor_is_a_ski_slope() {
    // random walk, leaky: falls with 1/f² above 1 Hz
    let mut slow = 0.0;
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let accel: Vec<f64> = healthy()
        .iter()
        .map(|x| {
            slow = 0.9995 * slow + 0.05 * rng.sample::<f64, _>(StandardNormal);
            x + slow
        })
        .collect();
    let quality = assess(&accel, &context());
    assert!(quality.signal.flags.contains(&QualityFlag::SkiSlope), "{quality:?}");
    assert!(!quality.signal.valid);
}

#[test]
fn a_slow_shaft_is_no_ski_slope() {
    // 90 rpm with a strong first harmonic
    let accel: Vec<f64> = healthy()
        .iter()
        .enumerate()
        .map(|(i, x)| x + 0.8 * (TAU * 4.0 * i as f64 / RATE_HZ).sin())
        .collect();
    assert!(!flags(&accel).1.contains(&QualityFlag::SkiSlope));
}

#[test]
fn a_stopped_machine_is_off_and_neither_healthy_nor_faulty() {
    // one converter step of 2.44 mg, as IMS shows it
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let accel: Vec<f64> = (0..20_480)
        .map(|_| 0.00244 * M_S2_PER_G * rng.sample::<f64, _>(StandardNormal).round())
        .collect();
    let quality = assess(&accel, &context());
    assert_eq!(quality.signal.flags, [QualityFlag::MachineOff]);
    assert!(!quality.is_running && !quality.signal.valid);
    let configured = QualityContext { machine_off_rms_g: Some(0.2), ..context() };
    assert!(!assess(&healthy(), &configured).is_running);
}

#[test]
fn a_short_window_is_told_but_stays_valid() {
    let speed = Rpm::new(1800.0).ok();
    let femto = QualityContext { speed, ..context() };
    let quality = assess(&healthy()[..1000], &femto);
    assert_eq!((quality.signal.valid, quality.signal.flags), (true, vec![QualityFlag::TooShort]));
    assert!(!assess(&[], &context()).signal.valid);
}

#[test]
fn a_clock_that_disagrees_is_a_wrong_rate() {
    let late = QualityContext { elapsed_s: Some(2.2), ..context() };
    assert_eq!(assess(&healthy(), &late).signal.flags, [QualityFlag::WrongRate]);
    let right = QualityContext { elapsed_s: Some(2.01), ..context() };
    assert!(assess(&healthy(), &right).signal.valid);
}

proptest! {
    #[test]
    fn any_samples_get_an_answer(
        accel in proptest::collection::vec(proptest::num::f64::ANY, 0..400), rate in 1.0f64..1e6
    ) {
        let context = QualityContext::new(SampleRate::new(rate).expect("valid"));
        let quality = assess(&accel, &context);
        let has_bad = accel.iter().any(|x| !x.is_finite());
        prop_assert!(!has_bad || !quality.signal.valid);
    }

    /// Flags of the signal do not depend on its unit; only the test for a stopped machine does.
    #[test]
    fn a_louder_signal_has_the_same_flags(scale in 1.0f64..100.0) {
        let accel: Vec<f64> = healthy().iter().map(|x| x * scale).collect();
        prop_assert_eq!(flags(&accel), (true, vec![]));
    }
}

/// Samples in mg that are read as g: 31 g RMS and some 500 mm/s were a valid window of a running
/// machine.
#[test]
fn a_velocity_that_no_machine_has_is_implausible() {
    let sine_mm_s = |velocity_rms: f64| -> Vec<f64> {
        let peak_m_s2 = TAU * 25.0 * velocity_rms * std::f64::consts::SQRT_2 / 1000.0;
        let at = |i: i32| peak_m_s2 * (TAU * 25.0 * f64::from(i) / RATE_HZ).sin();
        (0..20_000).map(at).collect()
    };
    assert_eq!(flags(&sine_mm_s(500.0)), (false, vec![QualityFlag::Implausible]));
    assert_eq!(flags(&sine_mm_s(45.0)), (true, vec![]), "zone D of every class");
}
