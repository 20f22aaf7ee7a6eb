//! Simulated records: machines that no threshold was fitted to, with a chosen truth.
//!
//! Speeds, rates, bearings, severities and disturbances are drawn from a fixed seed. Sound machines
//! have electrical tones beside the defect lines, as rigs do.

use std::f64::consts::TAU;

use anyhow::Context;
use pdm_dsp::{Geometry, Request};
use pdm_edge::source::Source;
use pdm_edge::source::simulator::{Course, Simulator, SimulatorSettings};
use pdm_shared::fault::Fault;
use pdm_shared::units::{Rpm, SampleRate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Number of elements, element and pitch diameter (mm), contact angle (deg) of the bearings.
const BEARINGS: [(u32, f64, f64, f64); 8] = [
    (9, 7.94, 39.04, 0.0),
    (8, 6.746, 28.5, 0.0),
    (8, 5.97, 31.62, 0.0),
    (16, 8.407, 71.5, 15.17),
    (13, 3.5, 25.6, 0.0),
    (12, 7.5, 48.0, 0.0),
    (7, 9.5, 38.0, 0.0),
    (11, 8.0, 46.0, 0.0),
];

/// One simulated record.
#[derive(Debug)]
pub struct Record {
    /// Description for people.
    pub name: String,
    /// Samples, m/s².
    pub accel_m_s2: Vec<f64>,
    /// The operator's knowledge: the speed within ± 1 %.
    pub request: Request,
    /// The damaged part, if any.
    pub truth: Option<Fault>,
}

/// The record of this seed: sound machines and each fault in turn.
///
/// # Errors
/// A drawn setting is refused by the simulator, which is a bug of the generator.
pub fn record(seed: u64) -> anyhow::Result<Record> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let truth = match seed % 5 {
        0 | 1 => None,
        2 => Some(Fault::OuterRace),
        3 => Some(Fault::InnerRace),
        _ => Some(if seed % 20 == 19 { Fault::Cage } else { Fault::Ball }),
    };
    let rate = [12_000.0, 20_000.0, 25_600.0, 48_000.0][rng.random_range(0..4)];
    let (n, d, pitch, angle) = BEARINGS[rng.random_range(0..BEARINGS.len())];
    let orders = Geometry::new(n, d, pitch, angle)?.orders();
    let shaft_hz: f64 = rng.random_range(13.0..50.0);
    let rate = SampleRate::new(rate)?;
    let mut settings = SimulatorSettings::new(rate, Rpm::from_shaft_hz(shaft_hz)?, orders);
    settings.fault = truth;
    let severity = rng.random_range(0.1..0.9);
    settings.course = Course::Constant { severity: if truth.is_some() { severity } else { 0.0 } };
    settings.snapshots = 1;
    settings.snapshot_s = f64::max(rng.random_range(1.0..6.0), 16.0 / shaft_hz);
    settings.seed = seed;
    settings.rig.background_rms_g = rng.random_range(0.03..0.3);
    settings.rig.unbalance_rms_mm_s = rng.random_range(0.1..3.0);
    settings.rig.slip_jitter_ratio = rng.random_range(0.001..0.012);
    settings.rig.speed_wander_ratio = rng.random_range(0.0..0.002);
    let mut block = Simulator::new(settings)?.next_block()?.context("one snapshot")?;
    let mut accel_m_s2 = block.accel_m_s2.row_mut(0).to_vec();
    let disturbance = disturb(&mut accel_m_s2, rate.get(), truth.is_none(), &mut rng);
    let believed = Rpm::from_shaft_hz(shaft_hz * rng.random_range(0.99..1.01))?;
    let fault = truth.map_or("sound", Fault::as_str);
    let name = format!("simulated {seed}: {fault}, severity {severity:.2}{disturbance}");
    Ok(Record { name, accel_m_s2, request: Request::new(rate, believed, orders), truth })
}

/// Adds the disturbance of an electric drive: a carrier modulated by the mains frequency, its
/// double or any other.
fn disturb(accel: &mut [f64], rate_hz: f64, is_sound: bool, rng: &mut ChaCha8Rng) -> String {
    if !is_sound || rng.random_range(0..3) == 0 {
        return String::new();
    }
    let rms = (accel.iter().map(|x| x * x).sum::<f64>() / accel.len().max(1) as f64).sqrt();
    let carrier_hz = rng.random_range(0.15..0.4) * rate_hz;
    let any: f64 = rng.random_range(20.0..300.0);
    let tone_hz = [50.0, 60.0, 100.0, 120.0, any][rng.random_range(0..5)];
    let size = rms * rng.random_range(0.3..2.0);
    for (i, x) in accel.iter_mut().enumerate() {
        let t = i as f64 / rate_hz;
        *x += size * (1.0 + 0.8 * (TAU * tone_hz * t).cos()) * (TAU * carrier_hz * t).sin();
    }
    format!(", tone modulated at {tone_hz:.1} Hz")
}
