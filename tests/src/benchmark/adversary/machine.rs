//! The machine around a disturbance: noise, shaft lines, tones, shocks.

use std::f64::consts::TAU;

use pdm_dsp::DefectOrders;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::Adversary;
use crate::benchmark::random::gaussian;

/// A machine with drawn properties.
pub(super) struct Machine {
    pub(super) rate_hz: f64,
    pub(super) shaft_hz: f64,
    pub(super) seconds: f64,
    pub(super) orders: DefectOrders,
    pub(super) random: ChaCha8Rng,
}

impl Machine {
    /// The signal: shaft lines in noise, with the disturbance.
    pub(super) fn record(&mut self, adversary: Adversary) -> Vec<f64> {
        let samples = (self.seconds * self.rate_hz) as usize;
        let mut accel: Vec<f64> = (0..samples).map(|_| gaussian(&mut self.random)).collect();
        for (harmonic, size) in [(1.0, 0.8), (2.0, 0.4), (3.0, 0.2)] {
            self.add_tone(&mut accel, harmonic * self.shaft_hz, size);
        }
        match adversary {
            Adversary::ElectricalSlip => self.electrical_slip(&mut accel),
            Adversary::Inverter => self.inverter(&mut accel),
            Adversary::InverterOnLine => self.inverter_on_line(&mut accel),
            Adversary::ModulatedTone => self.modulated_tone(&mut accel),
            Adversary::BeatingTones => self.beating_tones(&mut accel),
            Adversary::Discharges => self.discharges(&mut accel),
            Adversary::GearMesh => self.gear_mesh(&mut accel),
            Adversary::GearOnLine => self.gear_on_line(&mut accel),
            Adversary::Looseness => self.looseness(&mut accel),
            Adversary::RandomShocks => self.random_shocks(&mut accel),
            Adversary::OncePerTurn => self.once_per_turn(&mut accel),
            Adversary::VanePass => self.vane_pass(&mut accel),
            Adversary::Belt => self.belt(&mut accel),
            Adversary::Cavitation => self.cavitation(&mut accel),
            Adversary::Process => self.process(&mut accel),
            Adversary::Reciprocating => self.reciprocating(&mut accel),
            Adversary::Neighbour => self.neighbour(&mut accel),
            Adversary::Clipped => each(&mut accel, |x| (3.0 * x).clamp(-4.0, 4.0)),
            Adversary::Counts => each(&mut accel, |x| (700.0 * x + 12_000.0).round()),
        }
        accel
    }

    /// The frequency of one of the three defect lines, within half a percent.
    pub(super) fn defect_line_hz(&mut self) -> f64 {
        let orders = [self.orders.bpfo.get(), self.orders.bpfi.get(), 2.0 * self.orders.bsf.get()];
        let order = orders[self.random.random_range(0..3)];
        order * self.shaft_hz * self.random.random_range(0.995..1.005)
    }

    /// Adds a steady tone.
    pub(super) fn add_tone(&mut self, accel: &mut [f64], hz: f64, size: f64) {
        if hz >= 0.49 * self.rate_hz {
            return;
        }
        let phase = TAU * self.random.random::<f64>();
        let step = TAU * hz / self.rate_hz;
        for (i, x) in accel.iter_mut().enumerate() {
            *x += size * (phase + step * i as f64).sin();
        }
    }

    /// Adds a tone with `pairs` of sidebands.
    pub(super) fn add_family(
        &mut self,
        accel: &mut [f64],
        centre_hz: f64,
        apart_hz: f64,
        size: f64,
    ) {
        self.add_tone(accel, centre_hz, size);
        for side in 1..4 {
            let (away, size) = (f64::from(side) * apart_hz, size / f64::from(side + 1));
            self.add_tone(accel, centre_hz + away, size);
            self.add_tone(accel, centre_hz - away, size);
        }
    }

    /// Modulates the whole signal.
    pub(super) fn modulate(&mut self, accel: &mut [f64], hz: f64, depth: f64) {
        let step = TAU * hz / self.rate_hz;
        for (i, x) in accel.iter_mut().enumerate() {
            *x *= 1.0 + depth * (step * i as f64).sin();
        }
    }

    /// Times of shocks, s, each `next` after the one before.
    pub(super) fn times(&mut self, next: impl Fn(&mut ChaCha8Rng) -> f64) -> Vec<f64> {
        let mut at = 0.0;
        let mut times = Vec::new();
        while at < self.seconds {
            at += next(&mut self.random).max(1e-4);
            times.push(at);
        }
        times
    }

    /// Excites a resonance at each time; `damping` is a share of the critical damping.
    pub(super) fn ring(&mut self, accel: &mut [f64], times: &[f64], damping: f64) {
        let resonance = self.random.random_range(0.1..0.35) * self.rate_hz;
        let decay = damping * TAU * resonance;
        let size = self.random.random_range(4.0..15.0);
        for &at in times {
            let strength = size * (1.0 + 0.2 * gaussian(&mut self.random));
            let first = (at * self.rate_hz).ceil() as usize;
            let length = (0.01 * self.rate_hz) as usize;
            for (i, x) in accel.iter_mut().enumerate().skip(first).take(length) {
                let t = i as f64 / self.rate_hz - at;
                *x += strength * (-decay * t).exp() * (TAU * resonance * t).sin();
            }
        }
    }
}

/// Changes each sample.
pub(super) fn each(accel: &mut [f64], change: impl Fn(f64) -> f64) {
    for x in accel {
        *x = change(*x);
    }
}
