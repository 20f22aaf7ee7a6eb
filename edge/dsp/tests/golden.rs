//! Formulas against SciPy: `golden/golden.py` made `golden/golden.csv` (versions inside).

use std::f64::consts::TAU;

use pdm_dsp::envelope::{RecordLines, envelope_spectrum, squared_envelope};
use pdm_dsp::integrate::velocity_rms_mm_s;
use pdm_dsp::robust::{mann_kendall, median_and_mad, running_median, theil_sen};
use pdm_dsp::spectrum::amplitude_spectrum;
use pdm_dsp::time_domain;
use pdm_dsp::transform::Transforms;
use pdm_shared::units::{Band, SampleRate};

const RATE_HZ: f64 = 12_000.0;

fn golden(name: &str) -> f64 {
    include_str!("golden/golden.csv")
        .lines()
        .filter_map(|line| line.split_once(','))
        .find(|(key, _)| *key == name)
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or_else(|| panic!("no golden value {name}"))
}

/// Equal to a relative tolerance: rounding of two transforms of 12,000 points.
fn assert_golden(name: &str, got: f64, tolerance: f64) {
    let want = golden(name);
    assert!((got - want).abs() <= tolerance * want.abs().max(1e-12), "{name}: {got}, SciPy {want}");
}

/// The signal of `golden.py`.
fn signal() -> Vec<f64> {
    (0..12_000)
        .map(|i| {
            let t = f64::from(i) / RATE_HZ;
            let since = t - (t * 107.36).floor() / 107.36;
            0.7 * (TAU * 29.95 * t).sin()
                + 3.0 * (-600.0 * since).exp() * (TAU * 3300.0 * since).sin()
                + 0.2 * (TAU * 1234.5 * t + 0.3).sin()
        })
        .collect()
}

fn series() -> Vec<f64> {
    (0..40).map(|i| f64::from(i * 37 % 101) / 10.0 + 0.05 * f64::from(i)).collect()
}

#[test]
fn waveform_statistics_are_scipys() {
    let t = time_domain(&signal()).expect("finite");
    assert_golden("rms", t.rms, 1e-10);
    assert_golden("kurtosis", t.kurtosis.expect("moves"), 1e-10);
    assert_golden("skewness", t.skewness.expect("moves"), 1e-8);
}

#[test]
fn amplitude_and_velocity_are_scipys() {
    let mut transforms = Transforms::new();
    let spectrum = amplitude_spectrum(&signal(), RATE_HZ, &mut transforms);
    assert_golden("amplitude_30", spectrum.amplitude[30], 1e-9);
    let rate = SampleRate::new(RATE_HZ).expect("valid");
    let velocity = velocity_rms_mm_s(&signal(), rate, &mut transforms).expect("long enough");
    assert_golden("velocity_rms_mm_s", velocity, 1e-9);
}

#[test]
fn the_squared_envelope_is_that_of_filter_and_hilbert_transform() {
    let mut transforms = Transforms::new();
    let record = RecordLines::of(&signal(), RATE_HZ, &mut transforms);
    let band = Band::new(2400.0, 4200.0).expect("valid");
    let envelope = squared_envelope(&record, band, &mut transforms);
    assert_golden("envelope2_mean", envelope.mean(), 1e-9);
    assert_golden("spectral_kurtosis", envelope.spectral_kurtosis(), 1e-9);
    let spectrum = envelope_spectrum(&envelope, 1000.0, &mut transforms);
    for line in [107_usize, 215, 322] {
        let name = format!("envelope2_line_{line}");
        assert_golden(&name, spectrum.amplitude[line], 1e-6);
    }
}

#[test]
fn robust_statistics_are_scipys() {
    let y = series();
    let points: Vec<(f64, f64)> = y.iter().enumerate().map(|(i, y)| (i as f64, *y)).collect();
    let line = theil_sen(&points, 0.95).expect("slope");
    assert_golden("theil_slope", line.slope, 1e-9);
    assert_golden("theil_intercept", line.intercept, 1e-9);
    assert_golden("theil_low", line.slope_low, 1e-9);
    assert_golden("theil_high", line.slope_high, 1e-9);
    let (_, mad) = median_and_mad(&y).expect("finite");
    assert_golden("median_abs_deviation", mad, 1e-12);
    assert_golden("running_median_20", running_median(&y, 9)[20], 1e-12);
    // Without ties Kendall's S is tau times the number of pairs.
    let s = mann_kendall(&y).expect("long enough").s;
    assert_golden("kendall_tau", s / (40.0 * 39.0 / 2.0), 1e-9);
}
