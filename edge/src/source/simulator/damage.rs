//! Simulates the signal at the sensor from a severity: the four stages of a failing bearing.
//!
//! Early damage gives sharp impacts that hardly raise the RMS. Then the impacts grow. Late damage
//! is spread over the race: edges are rolled smooth, slip grows, broadband noise and shaft
//! harmonics rise while kurtosis falls back towards 3. Source of the order of events: four-stage
//! descriptions of practice; the sizes make RMS grow as in IMS test 2 (0.08 g to 0.4–0.7 g).

use super::settings::{Course, Rig};

/// The state of the bearing in one snapshot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Damage {
    /// 0 healthy … 1 about to fail.
    pub severity: f64,
}

impl Course {
    /// The damage in snapshot `index` of `snapshots`.
    pub(super) fn damage_at(&self, index: u64, snapshots: u64) -> Damage {
        let severity = match *self {
            Self::Constant { severity } => severity,
            Self::RunToFailure { healthy_share, growth } => {
                let run = index as f64 / snapshots.saturating_sub(1).max(1) as f64;
                let grown = ((run - healthy_share) / (1.0 - healthy_share)).clamp(0.0, 1.0);
                (growth * grown).exp_m1() / growth.exp_m1()
            }
        };
        Damage { severity }
    }
}

impl Damage {
    /// 0 while the defect is local … 1 when it has spread over the race.
    fn spread(self) -> f64 {
        let x = ((self.severity - 0.45) / 0.55).clamp(0.0, 1.0);
        x * x * (3.0 - 2.0 * x)
    }

    /// Peak of an impact under full load, g. Largest in the middle of the damage's life.
    pub(super) fn impact_peak_g(self, rig: &Rig) -> f64 {
        rig.impact_peak_g * self.severity.powf(0.7) * (1.0 - 0.6 * self.spread())
    }

    /// RMS of the random part, g.
    pub(super) fn noise_rms_g(self, rig: &Rig) -> f64 {
        rig.background_rms_g * (1.0 + 0.4 * self.severity + 8.0 * self.spread())
    }

    /// Depth of the modulation of the random part by the defect, 0…1.
    pub(super) fn noise_modulation(self) -> f64 {
        0.5 * self.spread()
    }

    /// Scatter of the angular period of the impacts, ratio.
    pub(super) fn slip_jitter(self, rig: &Rig) -> f64 {
        rig.slip_jitter_ratio * (1.0 + 2.0 * self.spread())
    }

    /// Growth factor of the shaft harmonics, since clearance grows at the end.
    pub(super) fn looseness(self) -> f64 {
        1.0 + 3.0 * self.spread()
    }
}
