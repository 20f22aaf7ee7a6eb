//! One snapshot of acceleration, summed over the parts of the model.

use std::f64::consts::{SQRT_2, TAU};

use ndarray::Array2;
use pdm_shared::units::M_S2_PER_G;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

use super::damage::Damage;
use super::impacts::Impacts;
use super::resonance::Resonance;
use super::settings::SimulatorSettings;

/// Time computed before the snapshot, s. The slowest resonance (900 Hz, damping 0.06) decays with a
/// time constant of 2.9 ms, so after 30 ms its start is forgotten.
const WARM_UP_S: f64 = 0.03;

/// Share of the vibration of one sensor that reaches the next: neighbours in IMS show 40–60 %.
const NEXT_SENSOR: f64 = 0.6;

/// Share of the random part that excites the resonances; the rest reaches the sensor directly.
const NOISE_INTO_RESONANCES: f64 = 0.12;

/// Amplitudes of the shaft's second and third harmonic relative to the first, in velocity.
const SHAFT_HARMONICS: [f64; 3] = [1.0, 0.35, 0.15];

/// Fills all channels of one snapshot.
pub(super) fn fill(
    settings: &SimulatorSettings,
    damage: Damage,
    rng: &mut impl Rng,
    accel_m_s2: &mut Array2<f64>,
) {
    let (channels, samples) = accel_m_s2.dim();
    let rate = settings.sample_rate.get();
    let warm_up = (WARM_UP_S * rate).ceil() as usize;
    let mut shaft = Shaft::new(settings, rng);
    let mut impacts = settings
        .fault
        .filter(|_| damage.severity > 0.0)
        .map(|fault| Impacts::new(fault, &settings.orders, damage.slip_jitter(&settings.rig), rng));
    let mut sensors: Vec<Sensor> =
        (0..channels).map(|channel| Sensor::new(settings, damage, channel, rng)).collect();
    let mut carried = 0.0;
    for n in 0..warm_up + samples {
        let step = shaft.advance();
        let angle = shaft.angle;
        let (mut now, pulse) = (carried, impacts.as_ref().map_or(0.0, |i| i.pulse_at(angle)));
        carried = 0.0;
        if let Some((strength, ago)) = impacts.as_mut().and_then(|i| i.until(angle, rng)) {
            // an impact between two samples is divided between them by its distance to each
            let early = (ago / step).clamp(0.0, 1.0);
            now += strength * early;
            carried = strength * (1.0 - early);
        }
        let orders = shaft.harmonics();
        for (channel, sensor) in sensors.iter_mut().enumerate() {
            let value = sensor.next(n, orders, now, pulse, rng);
            if n >= warm_up {
                accel_m_s2[[channel, n - warm_up]] = value * M_S2_PER_G;
            }
        }
    }
}

/// The shaft's angle, at a speed that varies slowly.
struct Shaft {
    /// rad.
    angle: f64,
    mean_step: f64,
    wander: f64,
    wander_phase: f64,
    wander_step: f64,
}

impl Shaft {
    fn new(settings: &SimulatorSettings, rng: &mut impl Rng) -> Self {
        let rate = settings.sample_rate.get();
        let scatter: f64 = rng.sample(StandardNormal);
        let ratio = (settings.rig.speed_wander_ratio * scatter).clamp(-0.5, 0.5);
        Self {
            angle: 0.0,
            mean_step: TAU * settings.speed.shaft_hz() * (1.0 + ratio) / rate,
            wander: settings.rig.speed_wander_ratio / 2.0 * SQRT_2,
            wander_phase: TAU * rng.random::<f64>(),
            // a slow swing of the load with a period of three seconds
            wander_step: TAU / (3.0 * rate),
        }
    }

    /// Turns by one sample; the angle turned, rad.
    fn advance(&mut self) -> f64 {
        self.wander_phase += self.wander_step;
        let step = self.mean_step * (1.0 + self.wander * self.wander_phase.sin());
        self.angle += step;
        step
    }

    /// Sines of the first harmonics.
    fn harmonics(&self) -> [f64; 3] {
        [self.angle.sin(), (2.0 * self.angle + 0.7).sin(), (3.0 * self.angle + 2.1).sin()]
    }
}

/// One sensor: the parts of the vibration that reach it, and the resonances there. Accelerations in
/// g.
struct Sensor {
    /// Peaks of the shaft's harmonics.
    shaft_peak: [f64; 3],
    tone_peak: f64,
    tone_step: f64,
    tone_phase: f64,
    impact_peak: f64,
    noise_rms: f64,
    modulation: f64,
    resonances: Vec<Resonance>,
}

impl Sensor {
    fn new(
        settings: &SimulatorSettings,
        damage: Damage,
        channel: usize,
        rng: &mut impl Rng,
    ) -> Self {
        let rig = &settings.rig;
        let rate = settings.sample_rate.get();
        let near = NEXT_SENSOR.powi(i32::try_from(channel).unwrap_or(i32::MAX));
        // a = 2πf·v, peak of a sine = √2 · RMS
        let velocity_m_s = rig.unbalance_rms_mm_s * 1e-3 * damage.looseness();
        let first_g = TAU * settings.speed.shaft_hz() * velocity_m_s * SQRT_2 / M_S2_PER_G;
        let mut shaft_peak = [0.0; 3];
        for (n, (peak, share)) in shaft_peak.iter_mut().zip(SHAFT_HARMONICS).enumerate() {
            *peak = first_g * share * (n + 1) as f64;
        }
        let (tone_hz, tone_rms_g) = rig.tone.unwrap_or((0.0, 0.0));
        let resonances = rig
            .resonances
            .iter()
            .filter(|(frequency_hz, _, _)| *frequency_hz < 0.45 * rate)
            .map(|&(frequency_hz, zeta, gain)| Resonance::new(frequency_hz, zeta, gain, rate))
            .collect();
        Self {
            shaft_peak,
            tone_peak: tone_rms_g * SQRT_2,
            tone_step: TAU * tone_hz / rate,
            tone_phase: TAU * rng.random::<f64>(),
            impact_peak: near * damage.impact_peak_g(rig),
            noise_rms: rig.background_rms_g
                + near * (damage.noise_rms_g(rig) - rig.background_rms_g),
            modulation: damage.noise_modulation(),
            resonances,
        }
    }

    /// Sample `n`, g. `impact` is the impulse at this sample (1 = full load), `pulse` the position
    /// of the defect in its period (1 = at an impact).
    fn next(
        &mut self,
        n: usize,
        shaft: [f64; 3],
        impact: f64,
        pulse: f64,
        rng: &mut impl Rng,
    ) -> f64 {
        let white: f64 = rng.sample(StandardNormal);
        let noise = self.noise_rms * white * (1.0 + self.modulation * (2.0 * pulse - 1.0));
        let excitation = self.impact_peak * impact + NOISE_INTO_RESONANCES * noise;
        let ringing: f64 = self.resonances.iter_mut().map(|r| r.next(excitation)).sum();
        let shaft: f64 = self.shaft_peak.iter().zip(shaft).map(|(peak, sine)| peak * sine).sum();
        let tone = self.tone_peak * (self.tone_phase + self.tone_step * n as f64).sin();
        shaft + tone + 0.85 * noise + ringing
    }
}
