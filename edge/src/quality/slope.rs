//! The ski slope: a level that falls off from the lowest frequencies on.
//!
//! A loose mount or an amplifier that recovers from overload makes the sensor swing slowly; the
//! spectrum then falls steeply from its first line on and hides the machine. Source of the pattern:
//! practice of vibration analysts ("ski slope" in ISO 18436-2 training). Figures: the recordings
//! that [`super`] names.

use std::f64::consts::TAU;

/// The lowest band and the one above it, Hz.
const BANDS_HZ: [(f64, f64); 2] = [(0.9, 3.0), (3.0, 10.0)];

/// Share of the whole power below 10 Hz above which a window is flagged. Worst of the 313
/// recordings: 0.12 (IMS, a sensor that drifts); all others are below 0.003.
const LOW_SHARE: f64 = 0.3;

/// Ratio of the power density of the lower band to that of the upper band above which a window is
/// flagged. A level that falls by 6 dB an octave has a ratio of 11, an even one of 1; 4 lies
/// between them on a logarithmic scale, since few lines make both scatter.
const STEEPNESS: f64 = 4.0;

/// Sampling rate after averaging, Hz, from which the low frequencies are computed.
const SLOW_RATE_HZ: f64 = 128.0;

/// Shortest window that resolves the bands, s.
const SHORTEST_S: f64 = 0.9;

/// Longest part of a window that is used, s.
const LONGEST_S: f64 = 4.0;

/// Whether the low frequencies carry most of the power and fall off upwards.
pub(super) fn is_ski_slope(accel_m_s2: &[f64], rate_hz: f64) -> bool {
    let together = (rate_hz / SLOW_RATE_HZ).round().max(1.0) as usize;
    let slow_hz = rate_hz / together as f64;
    let longest = ((LONGEST_S * rate_hz) as usize).min(accel_m_s2.len());
    let accel = &accel_m_s2[..longest];
    if (accel.len() as f64) < SHORTEST_S * rate_hz || slow_hz < 40.0 {
        return false;
    }
    let mean = accel.iter().sum::<f64>() / accel.len() as f64;
    let total = accel.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / accel.len() as f64;
    let slow: Vec<f64> = accel
        .chunks_exact(together)
        .map(|part| part.iter().sum::<f64>() / together as f64 - mean)
        .collect();
    let bands = BANDS_HZ.map(|(low, high)| band_power(&slow, slow_hz, low, high));
    let widths = BANDS_HZ.map(|(low, high)| high - low);
    let density: Vec<f64> = bands.iter().zip(widths).map(|(power, width)| power / width).collect();
    // changes slower than the lowest band are a drift, which has a flag of its own
    let drift = band_power(&slow, slow_hz, slow_hz / slow.len() as f64, BANDS_HZ[0].0);
    bands.iter().sum::<f64>() > LOW_SHARE * (total - drift) && density[0] > STEEPNESS * density[1]
}

/// Mean-square value in `[low, high)` Hz, Hann-tapered (its power gain of 3/8 taken out).
fn band_power(slow: &[f64], rate_hz: f64, low_hz: f64, high_hz: f64) -> f64 {
    let n = slow.len() as f64;
    let line = |k: usize| {
        let (mut re, mut im) = (0.0, 0.0);
        for (i, x) in slow.iter().enumerate() {
            let taper = 0.5 - 0.5 * (TAU * i as f64 / n).cos();
            let angle = TAU * k as f64 * i as f64 / n;
            re += taper * x * angle.cos();
            im += taper * x * angle.sin();
        }
        2.0 * (re * re + im * im) / (n * n) / 0.375
    };
    let df = rate_hz / n;
    ((low_hz / df).ceil() as usize..(high_hz / df).ceil() as usize).map(line).sum()
}
