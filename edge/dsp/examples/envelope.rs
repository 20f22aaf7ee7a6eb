//! The spectrum of a squared envelope against its known answer: `cargo run --example envelope`.

use std::f64::consts::TAU;
use std::io::Write as _;

use pdm_dsp::envelope::{RecordLines, envelope_spectrum, squared_envelope};
use pdm_dsp::transform::Transforms;
use pdm_dsp::units::Band;

const RATE_HZ: f64 = 16_384.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // a carrier of 3 kHz whose height is 2 + cos(40 Hz), m/s²
    let samples: Vec<f64> = (0..16_384)
        .map(|i| f64::from(i) / RATE_HZ)
        .map(|t| (2.0 + (TAU * 40.0 * t).cos()) * (TAU * 3000.0 * t).sin())
        .collect();
    let mut transforms = Transforms::new();
    let record = RecordLines::of(&samples, RATE_HZ, &mut transforms);
    let envelope = squared_envelope(&record, Band::new(2000.0, 4000.0)?, &mut transforms);
    let spectrum = envelope_spectrum(&envelope, 500.0, &mut transforms);
    let mut out = std::io::stdout().lock();
    // (2 + cos)² = 4.5 + 4 cos(40 Hz) + 0.5 cos(80 Hz)
    for (hz, known) in [(40.0, 4.0), (80.0, 0.5)] {
        let Some((at_hz, amplitude)) = spectrum.peak_near(hz, 3.0) else { continue };
        writeln!(out, "{at_hz:5.1} Hz: {amplitude:.3} (m/s²)², known {known}")?;
    }
    Ok(())
}
