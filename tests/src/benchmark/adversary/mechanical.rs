//! Disturbances of sound machines: gears, belts, vanes, shocks, the process, a neighbour.

use std::f64::consts::TAU;

use rand::RngExt;

use super::machine::Machine;
use crate::benchmark::random::gaussian;

/// Damping of a machine's resonances, share of critical.
const DAMPING: f64 = 0.05;

impl Machine {
    /// A mesh with a pinion on this shaft, and sidebands of both shafts.
    pub(super) fn gear_mesh(&mut self, accel: &mut [f64]) {
        let pinion = f64::from(self.random.random_range(17..30_u32));
        let wheel = f64::from(self.random.random_range(31..90_u32));
        let slow = pinion * self.shaft_hz / wheel;
        self.mesh(accel, pinion, slow);
    }

    /// A mesh with a second, fast pinion that turns at the defect frequency.
    pub(super) fn gear_on_line(&mut self, accel: &mut [f64]) {
        let wheel = f64::from(self.random.random_range(60..120_u32));
        let fast = self.defect_line_hz();
        self.mesh(accel, wheel, fast);
    }

    fn mesh(&mut self, accel: &mut [f64], teeth: f64, other_shaft_hz: f64) {
        let mesh = teeth * self.shaft_hz;
        for k in 1..6 {
            let centre = f64::from(k) * mesh;
            self.add_tone(accel, centre, 3.0 / f64::from(k));
            for m in 1..4 {
                for spacing in [self.shaft_hz, other_shaft_hz] {
                    let size = 1.0 / f64::from(k * m);
                    self.add_tone(accel, centre + f64::from(m) * spacing, size);
                    self.add_tone(accel, centre - f64::from(m) * spacing, size);
                }
            }
        }
    }

    pub(super) fn looseness(&mut self, accel: &mut [f64]) {
        for n in 1..20 {
            let n = f64::from(n);
            self.add_tone(accel, 0.5 * n * self.shaft_hz, 1.5 / n.sqrt());
        }
        self.modulate(accel, 0.5 * self.shaft_hz, 0.8);
    }

    pub(super) fn random_shocks(&mut self, accel: &mut [f64]) {
        let each = self.random.random_range(0.005..0.05);
        let times = self.times(|random| -each * random.random_range(1e-9..1.0_f64).ln());
        self.ring(accel, &times, DAMPING);
    }

    pub(super) fn once_per_turn(&mut self, accel: &mut [f64]) {
        let turn = 1.0 / self.shaft_hz;
        let times = self.times(|random| turn * (1.0 + 0.002 * random.random_range(-1.0..1.0)));
        self.ring(accel, &times, DAMPING);
    }

    pub(super) fn vane_pass(&mut self, accel: &mut [f64]) {
        let vanes = f64::from(self.random.random_range(3..9_u32));
        let pass = 1.0 / (vanes * self.shaft_hz);
        let times = self.times(|_| pass);
        self.ring(accel, &times, DAMPING);
    }

    /// A belt slower than the shaft, with a little slip; one of its multiples, from the third on,
    /// falls on a defect line.
    pub(super) fn belt(&mut self, accel: &mut [f64]) {
        let line = self.defect_line_hz();
        let low = (line / (0.9 * self.shaft_hz)).ceil().max(3.0);
        let turn = (low + f64::from(self.random.random_range(0..4_u32))) / line;
        let times = self.times(|random| turn * (1.0 + 0.001 * gaussian(random)));
        self.ring(accel, &times, DAMPING);
    }

    /// Noise as strong as the machine's own, modulated by every vane and every turn.
    pub(super) fn cavitation(&mut self, accel: &mut [f64]) {
        let vanes = f64::from(self.random.random_range(3..9_u32));
        let (pass, turn) = (vanes * self.shaft_hz, self.shaft_hz);
        let depth = self.random.random_range(0.3..0.9);
        for (i, x) in accel.iter_mut().enumerate() {
            let t = i as f64 / self.rate_hz;
            let gate = 1.0 + depth * (TAU * pass * t).cos() + 0.3 * (TAU * turn * t).cos();
            *x += 2.0 * gate.max(0.0) * gaussian(&mut self.random);
        }
    }

    /// Noise of varying strength through a narrow resonance.
    pub(super) fn process(&mut self, accel: &mut [f64]) {
        let resonance = TAU * self.random.random_range(0.1..0.35);
        let radius: f64 = self.random.random_range(0.98..0.998);
        let (first, second) = (2.0 * radius * resonance.cos(), -radius * radius);
        let (mut before, mut last, mut wander) = (0.0, 0.0, 0.0);
        for x in accel {
            wander = 0.9995 * wander + 0.02 * gaussian(&mut self.random);
            let next = first * last + second * before + 0.5 * gaussian(&mut self.random);
            (before, last) = (last, next);
            *x += wander.exp() * next;
        }
    }

    /// Shocks at two to four unequal places of a turn, each with random strength.
    pub(super) fn reciprocating(&mut self, accel: &mut [f64]) {
        let places = self.random.random_range(2..5_u32);
        for _ in 0..places {
            let (turn, place) = (1.0 / self.shaft_hz, self.random.random::<f64>());
            let scatter = self.random.random_range(0.0005..0.01);
            let turns = (self.seconds / turn) as usize;
            let times: Vec<f64> = (0..turns)
                .map(|n| turn * (n as f64 + place + scatter * gaussian(&mut self.random)))
                .filter(|at| *at > 0.0)
                .collect();
            self.ring(accel, &times, DAMPING);
        }
    }

    /// The outer race of another machine, at an order that no part of this bearing has, nor half,
    /// twice or three times that order.
    pub(super) fn neighbour(&mut self, accel: &mut [f64]) {
        let own = [self.orders.bpfo.get(), self.orders.bpfi.get(), 2.0 * self.orders.bsf.get()];
        let is_apart = |order: f64| {
            let related = own.iter().flat_map(|o| [1.0, 0.5, 2.0, 1.0 / 3.0, 3.0].map(|r| o * r));
            related.into_iter().all(|other| (order / other - 1.0).abs() > 0.05)
        };
        let order = loop {
            let order: f64 = self.random.random_range(1.7..9.0);
            if is_apart(order) && (order - order.round()).abs() > 0.05 {
                break order;
            }
        };
        let (each, slip) = (1.0 / (order * self.shaft_hz), self.random.random_range(0.001..0.01));
        let times = self.times(|random| each * (1.0 + slip * gaussian(random)));
        self.ring(accel, &times, DAMPING);
    }
}
