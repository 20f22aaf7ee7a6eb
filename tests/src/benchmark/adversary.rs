//! Sound machines that look damaged: other causes of lines near defect frequencies, or of impulses
//! in a record. No fault may be named in these records.
//!
//! Each adversary adds one disturbance of a known physical cause to broadband noise, as near to a
//! defect line as its physics allows, so it is harder than a typical machine. [`electrical`] and
//! [`mechanical`] hold the causes, [`machine`] their building blocks.

use anyhow::Context;
use pdm_dsp::{Geometry, Request};
use pdm_shared::units::{Rpm, SampleRate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

mod electrical;
mod machine;
mod mechanical;

use machine::Machine;

/// The disturbance of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adversary {
    /// Twice the mains frequency modulates a carrier, with sidebands of the motor's slip.
    ElectricalSlip,
    /// Gear mesh and its harmonics with sidebands of both shafts.
    GearMesh,
    /// Harmonics of half the shaft speed from looseness.
    Looseness,
    /// Shocks at random times that excite a resonance: process noise, valves, cavitation.
    RandomShocks,
    /// One shock a turn that excites a resonance: a rub, a key, a coupling.
    OncePerTurn,
    /// Clipped strong noise.
    Clipped,
    /// Pulses, as many a turn as an impeller has vanes.
    VanePass,
    /// A drive's carrier with sidebands of six times its output frequency.
    Inverter,
    /// Broadband noise alone, in counts of a converter with an offset.
    Counts,
    /// The carrier of a drive with sidebands exactly a defect frequency apart.
    InverterOnLine,
    /// A carrier modulated at a defect frequency by a steady tone, with its harmonics.
    ModulatedTone,
    /// Two carriers of two drives that beat at a defect frequency.
    BeatingTones,
    /// A mesh with sidebands of its wheel, a defect frequency apart.
    GearOnLine,
    /// Shocks of a belt's joint, with one multiple on a defect line.
    Belt,
    /// Noise of cavitation, modulated by every vane.
    Cavitation,
    /// Discharges through the bearing at random times, short and sharp.
    Discharges,
    /// Process noise with varying strength, through a narrow resonance.
    Process,
    /// Unequal shocks a few times a turn: a compressor, a loose part.
    Reciprocating,
    /// The lines of another, damaged bearing, of another geometry on another shaft.
    Neighbour,
}

impl Adversary {
    /// All adversaries.
    pub const ALL: [Self; 19] = [
        Self::ElectricalSlip,
        Self::GearMesh,
        Self::Looseness,
        Self::RandomShocks,
        Self::OncePerTurn,
        Self::Clipped,
        Self::VanePass,
        Self::Inverter,
        Self::Counts,
        Self::InverterOnLine,
        Self::ModulatedTone,
        Self::BeatingTones,
        Self::GearOnLine,
        Self::Belt,
        Self::Cavitation,
        Self::Discharges,
        Self::Process,
        Self::Reciprocating,
        Self::Neighbour,
    ];
}

/// One record of a sound machine.
#[derive(Debug)]
pub struct Record {
    /// Description for people.
    pub name: String,
    /// Samples, m/s².
    pub accel_m_s2: Vec<f64>,
    /// The operator's knowledge of the machine.
    pub request: Request,
}

/// Number of elements, element and pitch diameter (mm), contact angle (deg).
const BEARINGS: [(u32, f64, f64, f64); 4] =
    [(9, 7.94, 39.04, 0.0), (8, 6.746, 28.5, 0.0), (16, 8.407, 71.5, 15.17), (12, 7.5, 48.0, 0.0)];

/// The record of this seed; the adversaries follow each other in turn.
///
/// # Errors
/// A drawn value is refused, which is a bug of the generator.
pub fn record(seed: u64) -> anyhow::Result<Record> {
    let mut random = ChaCha8Rng::seed_from_u64(0xAD7E_0000 + seed);
    let adversary = Adversary::ALL[(seed % Adversary::ALL.len() as u64) as usize];
    let bearing = BEARINGS[random.random_range(0..BEARINGS.len())];
    let orders = Geometry::new(bearing.0, bearing.1, bearing.2, bearing.3)?.orders();
    let mut machine = Machine {
        rate_hz: [12_000.0, 20_000.0, 25_600.0, 48_000.0][random.random_range(0..4)],
        shaft_hz: random.random_range(15.0..49.0),
        seconds: random.random_range(1.5..6.0),
        orders,
        random,
    };
    let accel_m_s2 = machine.record(adversary);
    let believed = machine.shaft_hz * machine.random.random_range(0.99..1.01);
    let request = Request::new(
        SampleRate::new(machine.rate_hz)?,
        Rpm::from_shaft_hz(believed).context("a drawn speed")?,
        orders,
    );
    let name = format!(
        "adversary {seed}: {adversary:?}, {:.2} Hz, {} elements",
        machine.shaft_hz, bearing.0
    );
    Ok(Record { name, accel_m_s2, request })
}
