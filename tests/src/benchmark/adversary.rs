//! Sound machines that look damaged: what else puts lines near defect frequencies, or impulses
//! into a record. Nothing here may ever be named.
//!
//! Each adversary lays one disturbance of a known physical cause over broadband noise, and places
//! it as near to a defect line as its physics allows: a mean adversary, not a typical machine.

use std::f64::consts::TAU;

use anyhow::Context;
use pdm_dsp::{DefectOrders, Geometry, Request};
use pdm_shared::units::{Rpm, SampleRate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

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
}

impl Adversary {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::ElectricalSlip,
        Self::GearMesh,
        Self::Looseness,
        Self::RandomShocks,
        Self::OncePerTurn,
        Self::Clipped,
        Self::VanePass,
        Self::Inverter,
        Self::Counts,
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

/// The machine around a disturbance.
struct Machine {
    rate_hz: f64,
    shaft_hz: f64,
    seconds: f64,
    orders: DefectOrders,
    random: ChaCha8Rng,
}

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

impl Machine {
    fn gauss(&mut self) -> f64 {
        (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0
    }

    /// Shaft lines in noise, with the disturbance.
    fn record(&mut self, adversary: Adversary) -> Vec<f64> {
        let samples = (self.seconds * self.rate_hz) as usize;
        let mut accel: Vec<f64> = (0..samples).map(|_| self.gauss()).collect();
        for (harmonic, size) in [(1.0, 0.8), (2.0, 0.4), (3.0, 0.2)] {
            self.add_tone(&mut accel, harmonic * self.shaft_hz, size);
        }
        match adversary {
            Adversary::ElectricalSlip => self.electrical(&mut accel),
            Adversary::GearMesh => self.gear(&mut accel),
            Adversary::Looseness => {
                for n in 1..20 {
                    self.add_tone(
                        &mut accel,
                        0.5 * f64::from(n) * self.shaft_hz,
                        1.5 / f64::from(n).sqrt(),
                    );
                }
                let shaft_hz = self.shaft_hz;
                self.modulate(&mut accel, 0.5 * shaft_hz, 0.8);
            }
            Adversary::RandomShocks => {
                let each = self.random.random_range(0.005..0.05);
                let times = self.times(|random| -each * random.random_range(1e-9..1.0_f64).ln());
                self.ring(&mut accel, &times);
            }
            Adversary::OncePerTurn => {
                let turn = 1.0 / self.shaft_hz;
                let times =
                    self.times(|random| turn * (1.0 + 0.002 * random.random_range(-1.0..1.0)));
                self.ring(&mut accel, &times);
            }
            Adversary::Clipped => each(&mut accel, |x| (3.0 * x).clamp(-4.0, 4.0)),
            Adversary::VanePass => {
                let vanes = f64::from(self.random.random_range(3..9_u32));
                let pass = 1.0 / (vanes * self.shaft_hz);
                let times = self.times(|_| pass);
                self.ring(&mut accel, &times);
            }
            Adversary::Inverter => {
                let carrier = self.random.random_range(2000.0..0.4 * self.rate_hz);
                let output = 2.0 * self.shaft_hz * 1.02;
                for n in [-12.0, -6.0, -2.0, 0.0, 2.0, 6.0, 12.0] {
                    self.add_tone(&mut accel, carrier + n * output, 2.0);
                }
            }
            Adversary::Counts => each(&mut accel, |x| (700.0 * x + 12_000.0).round()),
        }
        accel
    }

    fn add_tone(&mut self, accel: &mut [f64], hz: f64, size: f64) {
        let phase = TAU * self.random.random::<f64>();
        let step = TAU * hz / self.rate_hz;
        for (i, x) in accel.iter_mut().enumerate() {
            *x += size * (phase + step * i as f64).sin();
        }
    }

    fn modulate(&mut self, accel: &mut [f64], hz: f64, depth: f64) {
        let step = TAU * hz / self.rate_hz;
        for (i, x) in accel.iter_mut().enumerate() {
            *x *= 1.0 + depth * (step * i as f64).sin();
        }
    }

    /// A carrier modulated by the double mains frequency next to a defect line's place, with slip
    /// sidebands.
    fn electrical(&mut self, accel: &mut [f64]) {
        let mains = if self.random.random_bool(0.5) { 50.0 } else { 60.0 };
        // the speed at which twice the mains frequency falls on a race's line, if that is a speed
        let race = [self.orders.bpfo, self.orders.bpfi][self.random.random_range(0..2)].get();
        let carrier = self.random.random_range(0.2..0.4) * self.rate_hz;
        let slip = self.random.random_range(0.5..3.0);
        let near = 2.0 * mains / race;
        if (14.0..50.0).contains(&near) {
            self.shaft_hz = near;
        }
        for side in [-2.0, -1.0, 0.0, 1.0, 2.0_f64] {
            let size = 2.0 / (1.0 + side.abs());
            for line in [carrier, carrier + 2.0 * mains, carrier - 2.0 * mains] {
                self.add_tone(accel, line + side * slip, size);
            }
        }
    }

    /// A mesh of a pinion on this shaft, with sidebands of both shafts, as pulses a turn.
    fn gear(&mut self, accel: &mut [f64]) {
        let (pinion, wheel) = (
            f64::from(self.random.random_range(17..30_u32)),
            f64::from(self.random.random_range(31..90_u32)),
        );
        let mesh = pinion * self.shaft_hz;
        let slow = mesh / wheel;
        for k in 1..6 {
            let centre = f64::from(k) * mesh;
            if centre > 0.45 * self.rate_hz {
                break;
            }
            self.add_tone(accel, centre, 3.0 / f64::from(k));
            for m in 1..4 {
                for spacing in [self.shaft_hz, slow] {
                    let size = 1.0 / f64::from(k * m);
                    self.add_tone(accel, centre + f64::from(m) * spacing, size);
                    self.add_tone(accel, centre - f64::from(m) * spacing, size);
                }
            }
        }
    }

    /// Times of shocks, s, `next` apart.
    fn times(&mut self, next: impl Fn(&mut ChaCha8Rng) -> f64) -> Vec<f64> {
        let mut at = 0.0;
        let mut times = Vec::new();
        while at < self.seconds {
            at += next(&mut self.random).max(1e-4);
            times.push(at);
        }
        times
    }

    /// Rings a resonance at each time.
    fn ring(&mut self, accel: &mut [f64], times: &[f64]) {
        let resonance = self.random.random_range(0.1..0.35) * self.rate_hz;
        let decay = 0.05 * TAU * resonance;
        let size = self.random.random_range(4.0..15.0);
        for &at in times {
            let strength = size * (1.0 + 0.2 * self.gauss());
            let first = (at * self.rate_hz).ceil() as usize;
            for (i, x) in
                accel.iter_mut().enumerate().skip(first).take((0.01 * self.rate_hz) as usize)
            {
                let t = i as f64 / self.rate_hz - at;
                *x += strength * (-decay * t).exp() * (TAU * resonance * t).sin();
            }
        }
    }
}

fn each(accel: &mut [f64], change: impl Fn(f64) -> f64) {
    for x in accel {
        *x = change(*x);
    }
}
