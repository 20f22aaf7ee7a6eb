//! A structural resonance: an oscillator of one degree of freedom, sampled.

use std::f64::consts::TAU;

/// A filter with two poles whose response to a unit impact is `gain · e^(−ζωt) · sin(ω_d t)`.
#[derive(Debug)]
pub(super) struct Resonance {
    a1: f64,
    a2: f64,
    b1: f64,
    y1: f64,
    y2: f64,
    x1: f64,
}

impl Resonance {
    /// `frequency_hz` undamped, `damping` ratio ζ below 1.
    pub(super) fn new(frequency_hz: f64, damping: f64, gain: f64, rate_hz: f64) -> Self {
        let omega = TAU * frequency_hz / rate_hz;
        let radius = (-damping * omega).exp();
        let damped = omega * (1.0 - damping * damping).sqrt();
        Self {
            a1: 2.0 * radius * damped.cos(),
            a2: -radius * radius,
            b1: gain * radius * damped.sin(),
            y1: 0.0,
            y2: 0.0,
            x1: 0.0,
        }
    }

    /// The response after one more sample of excitation.
    pub(super) fn next(&mut self, excitation: f64) -> f64 {
        let y = self.a1 * self.y1 + self.a2 * self.y2 + self.b1 * self.x1;
        self.x1 = excitation;
        self.y2 = self.y1;
        self.y1 = y;
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_to_an_impact_is_the_damped_sine_of_theory() {
        let (f, zeta, rate) = (1000.0, 0.05, 25_600.0);
        let mut resonance = Resonance::new(f, zeta, 2.0, rate);
        let omega = TAU * f;
        let damped = omega * (1.0f64 - zeta * zeta).sqrt();
        for n in 0..200 {
            let got = resonance.next(if n == 0 { 1.0 } else { 0.0 });
            let t = f64::from(n) / rate;
            let expected = 2.0 * (-zeta * omega * t).exp() * (damped * t).sin();
            assert!((got - expected).abs() < 1e-9, "sample {n}: {got} {expected}");
        }
    }
}
