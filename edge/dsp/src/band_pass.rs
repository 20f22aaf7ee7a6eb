//! A band-pass filter for listening: linear phase, no transform of the whole record.
//!
//! Invariants: the output has the length of the input and its times; a sample that is no number
//! counts as 0.

use std::f64::consts::{PI, TAU};

use pdm_shared::units::Band;

/// Taps of the filter. Chosen: the flanks are 3.1 × rate / 511 wide (155 Hz at 25.6 kHz), and three
/// million samples take about a second.
const TAPS: usize = 511;

/// The samples of a band.
///
/// **Input** samples at `rate_hz`; a band, cut to 0…Nyquist. **Output** as many samples in the same
/// unit, delayed by nothing. Windowed sinc with a Hamming taper: 6 dB down at the band's ends, 53
/// dB beyond its flanks.
///
/// **Source** Oppenheim & Schafer 2010, *Discrete-Time Signal Processing*, section 7.5.
#[must_use]
pub fn band_pass(samples: &[f32], rate_hz: f64, band: Band) -> Vec<f32> {
    let taps = taps(rate_hz, band);
    let half = TAPS / 2;
    let finite: Vec<f32> =
        samples.iter().map(|&one| if one.is_finite() { one } else { 0.0 }).collect();
    (0..finite.len())
        .map(|at| {
            let first = at.saturating_sub(half);
            let part = &finite[first..(at + half + 1).min(finite.len())];
            // the filter is symmetric: it is read from where the record begins
            let taps = &taps[half - (at - first)..];
            part.iter().zip(taps).map(|(sample, tap)| sample * tap).sum()
        })
        .collect()
}

fn taps(rate_hz: f64, band: Band) -> Vec<f32> {
    let low = (band.low_hz() / rate_hz).clamp(0.0, 0.5);
    let high = (band.high_hz() / rate_hz).clamp(0.0, 0.5);
    let half = (TAPS / 2) as f64;
    let low_pass = |cut: f64, t: f64| {
        if t == 0.0 { 2.0 * cut } else { (TAU * cut * t).sin() / (PI * t) }
    };
    (0..TAPS)
        .map(|i| {
            let t = i as f64 - half;
            let taper = 0.54 + 0.46 * (PI * t / half).cos();
            ((low_pass(high, t) - low_pass(low, t)) * taper) as f32
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(hz: f64) -> Vec<f32> {
        (0..10_000).map(|i| (TAU * hz * f64::from(i) / 10_000.0).sin() as f32).collect()
    }

    #[test]
    fn a_tone_of_the_band_stays_and_one_beside_it_goes() {
        let band = Band::new(1000.0, 2000.0).expect("a band");
        let rms = |samples: &[f32]| {
            let middle = &samples[1000..9000];
            (middle.iter().map(|x| x * x).sum::<f32>() / middle.len() as f32).sqrt()
        };
        let inside = band_pass(&tone(1500.0), 10_000.0, band);
        assert!((rms(&inside) - 0.5_f32.sqrt()).abs() < 0.01, "{}", rms(&inside));
        // in phase: nothing is delayed
        let original = tone(1500.0);
        assert!(
            inside[2000..8000].iter().zip(&original[2000..8000]).all(|(a, b)| (a - b).abs() < 0.02)
        );
        for hz in [500.0, 2500.0] {
            let outside = band_pass(&tone(hz), 10_000.0, band);
            assert!(rms(&outside) < 0.003, "{hz}: {}", rms(&outside));
        }
    }

    #[test]
    fn short_records_and_missing_samples_are_taken() {
        let band = Band::new(1000.0, 2000.0).expect("a band");
        assert!(band_pass(&[], 10_000.0, band).is_empty());
        let got = band_pass(&[f32::NAN, 1.0, f32::INFINITY], 10_000.0, band);
        assert!(got.len() == 3 && got.iter().all(|one| one.is_finite()));
    }
}
