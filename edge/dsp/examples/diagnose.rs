//! Names a damaged outer race in samples that this example makes: `cargo run --example diagnose`.

use std::io::Write as _;

use pdm_dsp::units::{Rpm, SampleRate};
use pdm_dsp::{Geometry, Request, diagnose};

const RATE_HZ: f64 = 12_800.0;
const SHAFT_HZ: f64 = 29.95;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // nine balls of 7.94 mm on a circle of 39.04 mm: a 6205
    let orders = Geometry::new(9, 7.94, 39.04, 0.0)?.orders();
    let accel_m_s2 = ringing_at(orders.bpfo.get() * SHAFT_HZ);
    let request = Request::new(SampleRate::new(RATE_HZ)?, Rpm::from_shaft_hz(SHAFT_HZ)?, orders);
    let findings = diagnose(&accel_m_s2, &request)?;
    let mut out = std::io::stdout().lock();
    match findings.dominant {
        Some(fault) => writeln!(out, "{fault}: confidence {:.2}", findings.confidence)?,
        None => writeln!(out, "nothing is named: {:?}", findings.undetermined)?,
    }
    for line in &findings.lines {
        writeln!(out, "{:>12}: {:7.2} Hz, {:5.1} dB", line.fault, line.frequency_hz, line.snr_db)?;
    }
    Ok(())
}

/// Two seconds of strikes that slip a little, each ringing at 3 kHz, in noise; m/s².
fn ringing_at(strikes_hz: f64) -> Vec<f64> {
    let mut state = 12_345_u32;
    let mut noise = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    let mut accel_m_s2: Vec<f64> = (0..2 * RATE_HZ as usize).map(|_| 2.0 * noise()).collect();
    let mut strike_s = 0.0;
    while strike_s < 2.0 {
        let first = (strike_s * RATE_HZ) as usize;
        for (after, accel) in accel_m_s2.iter_mut().skip(first).take(200).enumerate() {
            let t = after as f64 / RATE_HZ;
            *accel += 6.0 * (-900.0 * t).exp() * (std::f64::consts::TAU * 3000.0 * t).sin();
        }
        strike_s += (1.0 + 0.01 * noise()) / strikes_hz;
    }
    accel_m_s2
}
