//! How a measuring point is doing: baseline, anomaly, trend and remaining life.
//!
//! Stands between [`features`](crate::features) and [`event`](crate::event). One [`Monitor`] a
//! measuring point takes one [`Observation`] a window, in the order of time, and gives a
//! [`Judgement`]. It is pure and deterministic: no clock, no files, no randomness. Its whole state
//! is serialised with the event in one transaction, so it stays small (bounded history) and a
//! monitor that was serialised and read back continues exactly as if nothing had happened.

use std::collections::BTreeMap;

use pdm_shared::clock::Timestamp;
use pdm_shared::event::{Anomaly, BaselineState, Rul, Trend};
use serde::{Deserialize, Serialize};

mod baseline;
mod settings;

pub use settings::MonitorSettings;

use baseline::Baseline;

/// Features of one window by their key in the event: `rms_g`, `kurtosis`, `bpfo.snr_db`, …
pub type Features = BTreeMap<String, f64>;

/// One window of a measuring point.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// When the window began.
    pub at: Timestamp,
    /// The operating state whose baseline applies.
    pub state: String,
    /// The signal is valid and the machine runs. Other windows are neither judged nor learnt from.
    pub usable: bool,
    /// What was measured. Values that are not finite are left out of account.
    pub features: Features,
}

/// What a monitor says of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The anomaly flag after persistence and hysteresis. Stays as it was on a window that is not
    /// usable.
    pub anomaly_detected: bool,
    /// Why.
    pub anomaly: Anomaly,
    /// Slope of the leading feature.
    pub trend: Trend,
    /// Remaining useful life, or why it is unknown.
    pub rul: Rul,
    /// This window completed the baseline of its operating state.
    pub baseline_completed: bool,
}

/// The state of one measuring point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Monitor {
    settings: MonitorSettings,
    baselines: BTreeMap<String, Baseline>,
    outside: Vec<bool>,
    alarmed: bool,
}

impl Monitor {
    /// A monitor that knows nothing yet.
    pub fn new(settings: MonitorSettings) -> Self {
        Self { settings, baselines: BTreeMap::new(), outside: Vec::new(), alarmed: false }
    }

    /// Takes the next window. Windows come in the order of time.
    pub fn observe(&mut self, observation: &Observation) -> Judgement {
        let baseline = self.baselines.entry(observation.state.clone()).or_default();
        let was_ready = baseline.is_ready();
        let scores = if observation.usable {
            baseline.take(&observation.features, &self.settings)
        } else {
            Vec::new()
        };
        let completed = baseline.is_ready() && !was_ready;
        let status = baseline.status();
        let worst = scores.first().map(|(_, z)| *z);
        let threshold = self.settings.threshold;
        if let Some(z) = worst {
            self.outside.push(z > threshold);
            let n = self.settings.persistence_n as usize;
            let excess = self.outside.len().saturating_sub(n);
            self.outside.drain(..excess);
        }
        let count = self.outside.iter().filter(|outside| **outside).count() as u32;
        let needed = if self.alarmed { 1 } else { self.settings.persistence_k };
        self.alarmed = count >= needed.max(1);
        let contributors =
            scores.iter().filter(|(_, z)| *z > threshold).map(|(key, _)| key.clone()).collect();
        Judgement {
            anomaly_detected: self.alarmed,
            anomaly: Anomaly {
                score: worst.map(|z| z.max(0.0) / (z.max(0.0) + threshold)),
                contributors,
                persistence: pdm_shared::event::Persistence {
                    k: count,
                    n: self.outside.len() as u32,
                },
                baseline: status,
            },
            trend: unknown_trend(scores.first().map_or("", |(key, _)| key)),
            rul: Rul::unknown(match status.state {
                BaselineState::Learning => "the baseline is still learning",
                BaselineState::Ready => "no significant trend",
            }),
            baseline_completed: completed,
        }
    }
}

fn unknown_trend(feature: &str) -> Trend {
    Trend {
        feature: feature.to_owned(),
        slope: None,
        slope_unit: "1/h".to_owned(),
        slope_ci: None,
        trend_direction: pdm_shared::event::TrendDirection::Unknown,
        acceleration_detected: false,
        span_h: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(n: u32, rms: f64) -> Observation {
        Observation {
            at: Timestamp::from_unix_ms(i64::from(n) * 10_000).expect("in range"),
            state: "default".to_owned(),
            usable: true,
            features: Features::from([("rms_g".to_owned(), rms)]),
        }
    }

    /// R-EDGE-6.
    #[test]
    fn a_step_that_stays_is_an_anomaly_and_a_spike_is_not() {
        let mut monitor = Monitor::new(MonitorSettings::default());
        let noise = |n: u32| 1.0 + 0.02 * f64::from(n * 7 % 11) / 11.0;
        let completed =
            (0..100).filter(|&n| monitor.observe(&window(n, noise(n))).baseline_completed).count();
        assert_eq!(completed, 1);
        assert!(!monitor.observe(&window(100, 9.0)).anomaly_detected);
        assert!((101..140).all(|n| !monitor.observe(&window(n, noise(n))).anomaly_detected));
        let last = (140..160).map(|n| monitor.observe(&window(n, 3.0))).last().expect("one");
        assert!(last.anomaly_detected);
        assert_eq!(last.anomaly.contributors, ["rms_g"]);
    }
}
