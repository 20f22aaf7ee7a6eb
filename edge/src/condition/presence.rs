//! Whether a window shows the machine in service at all.
//!
//! A level far below what the same point showed in service is that of a machine that stands or of a
//! sensor that no longer measures. It says nothing of the bearing: it is neither judged nor learnt
//! from, so standstills between the windows of a machine in service neither spoil a baseline nor
//! reset what was found. The limits are relative to the point's own past, as a slow machine in
//! service is as quiet as another one that stands.

use super::{Features, Monitor};

/// Keys of the two levels that are looked at.
const RMS: &str = "rms_g";
const VELOCITY: &str = "velocity_rms_mm_s";

/// How many times a window's RMS lies below that of service. Chosen: 20 dB; levels of sound
/// machines in one operating state wander by up to 1.28 times, and a load that comes and goes moves
/// them by 2.
const FAR_BELOW: f64 = 10.0;

/// … from which no absolute bound is asked for. Chosen: 30 dB.
const VANISHED: f64 = 30.0;

/// How many times the velocity lies below that of service, where it is measured. Chosen: less,
/// since the noise of a sensor grows towards low frequencies.
const SLOWER: f64 = 4.0;

/// The level below which a machine may stand, g RMS: that of the signal's quality (IMS shows 0.002
/// g).
const QUIET_G: f64 = 0.005;

/// Windows while learning that must show a level before others are held against it: no single
/// shock.
const FEWEST: usize = 3;

/// The levels of a point in service.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct InService {
    /// RMS of the acceleration, g.
    rms_g: f64,
    /// RMS of the velocity, mm/s.
    velocity_mm_s: Option<f64>,
}

impl InService {
    /// The levels by what is known of each key.
    pub(super) fn of(level: impl Fn(&str) -> Option<f64>) -> Option<Self> {
        Some(Self { rms_g: level(RMS)?, velocity_mm_s: level(VELOCITY) })
    }

    /// The levels that the windows being collected have reached at least [`FEWEST`] times.
    pub(super) fn reached(column: impl Fn(&str) -> Vec<f64>) -> Option<Self> {
        Self::of(|key| {
            let mut values = column(key);
            values.sort_by(|a, b| b.total_cmp(a));
            values.get(FEWEST - 1).copied()
        })
    }

    /// Whether a window of these levels shows no machine in service.
    pub(super) fn is_absent(&self, value: impl Fn(&str) -> Option<f64>) -> bool {
        let Some(rms_g) = value(RMS).filter(|rms_g| rms_g.is_finite()) else { return false };
        let by_velocity = self.velocity_mm_s.zip(value(VELOCITY).filter(|v| v.is_finite()));
        let is_slower = by_velocity.is_none_or(|(service, now)| now * SLOWER < service);
        let is_quiet = rms_g < QUIET_G || rms_g * VANISHED < self.rms_g;
        rms_g * FAR_BELOW < self.rms_g && is_slower && is_quiet
    }
}

impl Monitor {
    /// Whether these features show no machine in service, by what the announced state has shown:
    /// the level of a standing machine or of a dead sensor.
    pub fn shows_no_service(&self, announced: &str, features: &Features) -> bool {
        let in_service = self.baselines.get(announced).and_then(super::Baseline::in_service);
        in_service.is_some_and(|service| service.is_absent(|key| features.get(key).copied()))
    }
}
