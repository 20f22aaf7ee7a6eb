//! Velocity from acceleration: the figure that ISO 20816 zones are drawn in.
//!
//! Invariants: integration happens line by line in the spectrum, so no drift can build up; what
//! the window cannot resolve is `None`, never a guess.

use std::f64::consts::TAU;

use pdm_shared::units::SampleRate;

use crate::taper::hann;
use crate::transform::{Complex64, Transforms, fast_length_at_most};

/// The evaluation band of ISO 20816-1:2016, 4.2 (10 Hz to 1000 Hz).
pub const VELOCITY_BAND_HZ: (f64, f64) = (10.0, 1000.0);

/// Lines the spectrum needs below 10 Hz so that the taper's main lobe (± 2 lines) of what lies
/// under the band stays out of it (chosen).
const LINES_BELOW_BAND: f64 = 2.0;

/// Velocity RMS in 10–1000 Hz, mm/s.
///
/// **Input** acceleration, m/s². **Output** mm/s RMS. The record is Hann-tapered, each line divided
/// by `2πf`, and the power summed with the taper's noise bandwidth taken out.
///
/// `None` if the window is too short to resolve 10 Hz (less than 0.2 s) or the Nyquist frequency is
/// below 1000 Hz: the figure would not be the standard's.
///
/// **Source** ISO 20816-1:2016; division by `jω` as in Brandt 2011 (ISBN 978-0-470-74644-8), 3.4.
///
/// 10 m/s² peak at 100 Hz are 10 / (2π · 100) m/s peak, 11.25 mm/s RMS:
///
/// ```
/// # use pdm_dsp::integrate::velocity_rms_mm_s;
/// # use pdm_dsp::transform::Transforms;
/// # use pdm_dsp::units::SampleRate;
/// let tone = |i: i32| 10.0 * (std::f64::consts::TAU * 100.0 * f64::from(i) / 25_600.0).sin();
/// let accel_m_s2: Vec<f64> = (0..25_600).map(tone).collect();
/// let rate = SampleRate::new(25_600.0).expect("a rate");
/// let velocity = velocity_rms_mm_s(&accel_m_s2, rate, &mut Transforms::new());
/// assert!((velocity.expect("long enough") - 11.254).abs() < 0.01);
/// ```
pub fn velocity_rms_mm_s(
    accel_m_s2: &[f64],
    rate: SampleRate,
    transforms: &mut Transforms,
) -> Option<f64> {
    let n = fast_length_at_most(accel_m_s2.len());
    let df_hz = rate.get() / n as f64;
    let (low_hz, high_hz) = VELOCITY_BAND_HZ;
    if n < 16 || df_hz * LINES_BELOW_BAND > low_hz || rate.nyquist_hz() < high_hz {
        return None;
    }
    let mean = accel_m_s2[..n].iter().sum::<f64>() / n as f64;
    let taper = hann(n);
    let energy: f64 = taper.iter().map(|w| w * w).sum();
    let mut work: Vec<f64> =
        accel_m_s2[..n].iter().zip(&taper).map(|(x, w)| (x - mean) * w).collect();
    let lines = transforms.forward(&mut work);
    let first = (low_hz / df_hz).ceil() as usize;
    let last = ((high_hz / df_hz).floor() as usize).min(lines.len() - 1);
    let sum: f64 = (first..=last).map(|k| speed_power(&lines, k, df_hz)).sum();
    // One-sided: every line stands for itself and its mirror image.
    let variance = 2.0 * sum / (n as f64 * energy);
    variance.is_finite().then(|| variance.sqrt() * 1000.0)
}

fn speed_power(lines: &[Complex64], k: usize, df_hz: f64) -> f64 {
    lines[k].norm_sqr() / (TAU * k as f64 * df_hz).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(hz: f64) -> SampleRate {
        SampleRate::new(hz).expect("valid")
    }

    /// R-EDGE-2. A sine of `a` m/s² at `f` has `a / (2πf √2)` m/s RMS.
    #[test]
    fn a_sine_has_the_velocity_of_its_integral() {
        let (a, f) = (2.0, 80.3);
        let sine: Vec<f64> =
            (0..20_480).map(|i| a * (TAU * f * f64::from(i) / 20_480.0).sin()).collect();
        let got = velocity_rms_mm_s(&sine, rate(20_480.0), &mut Transforms::new()).expect("long");
        let want = 1000.0 * a / (TAU * f * 2_f64.sqrt());
        assert!((got / want - 1.0).abs() < 1e-3, "{got} {want}");
    }

    #[test]
    fn what_lies_outside_the_band_does_not_count() {
        let sine: Vec<f64> = (0..20_480)
            .map(|i| (TAU * 5.0 * f64::from(i) / 20_480.0).sin())
            .map(|x| x + 4.0)
            .collect();
        let got = velocity_rms_mm_s(&sine, rate(20_480.0), &mut Transforms::new()).expect("long");
        assert!(got < 1e-2, "{got}");
    }

    #[test]
    fn too_short_or_too_slow_has_no_velocity() {
        let none = |n: usize, hz: f64| {
            velocity_rms_mm_s(&vec![1.0; n], rate(hz), &mut Transforms::new()).is_none()
        };
        assert!(none(2_560, 25_600.0));
        assert!(none(10_000, 1_500.0));
        assert!(none(0, 25_600.0));
    }
}
