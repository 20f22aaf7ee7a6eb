//! Sound machines that look damaged: what else puts lines near defect frequencies, or impulses
//! into a record. Nothing here may ever be named.
//!
//! Each adversary lays one disturbance of a known physical cause over broadband noise, and places
//! it as near to a defect line as its physics allows: a mean adversary, not a typical machine.
//! [`electrical`] and [`mechanical`] hold the causes, [`machine`] what they are made of.

use anyhow::Context;
use pdm_dsp::{Geometry, Request};
use pdm_shared::units::{Rpm, SampleRate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

mod electrical;
mod machine;
mod mechanical;

use machine::Machine;

/// What disturbs the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adversary {
    /// Twice the mains frequency modulates a carrier, with sidebands of the motor's slip.
    ElectricalSlip,
    /// Gear mesh and its harmonics with sidebands of both shafts.
    GearMesh,
    /// Harmonics of half the shaft speed: looseness.
    Looseness,
    /// Shocks at random times that ring a resonance: process noise, valves, cavitation.
    RandomShocks,
    /// Shocks once a turn that ring a resonance: a rub, a key, a coupling.
    OncePerTurn,
    /// Clipped strong noise.
    Clipped,
    /// Blades pass: as many pulses a turn as an impeller has vanes.
    VanePass,
    /// A drive's carrier with sidebands of six times its output frequency.
    Inverter,
    /// Broadband noise alone, in counts of a converter with an offset.
    Counts,
    /// A drive whose carrier's sidebands stand exactly a defect frequency apart.
    InverterOnLine,
    /// A carrier modulated at a defect frequency by a steady tone, with its harmonics.
    ModulatedTone,
    /// Two carriers of two drives that beat at a defect frequency.
    BeatingTones,
    /// A mesh whose wheel's sidebands stand a defect frequency apart.
    GearOnLine,
    /// Shocks of a belt's joint, one of whose multiples falls on a defect line.
    Belt,
    /// Cavitation: noise that every vane modulates.
    Cavitation,
    /// Discharges through the bearing at random times, short and sharp.
    Discharges,
    /// Process noise that wanders through a narrow resonance.
    Process,
    /// Unequal shocks a few times a turn: a compressor, a loose part.
    Reciprocating,
    /// Another bearing, of another geometry on another shaft, is damaged.
    Neighbour,
}

impl Adversary {
    /// All of them.
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
    /// What it is, for a person.
    pub name: String,
    /// Samples, m/s².
    pub accel_m_s2: Vec<f64>,
    /// What an operator knows.
    pub request: Request,
}

/// Elements, element and pitch diameter (mm), contact angle (deg).
const BEARINGS: [(u32, f64, f64, f64); 4] =
    [(9, 7.94, 39.04, 0.0), (8, 6.746, 28.5, 0.0), (16, 8.407, 71.5, 15.17), (12, 7.5, 48.0, 0.0)];

/// The record with this number: the adversaries in turn.
///
/// # Errors
/// A drawn value is refused, which is a bug.
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
