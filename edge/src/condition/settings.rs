//! What the judgement of a measuring point can be told, each value with where it comes from.
//!
//! "Chosen" means chosen by us on the data named beside it; everything else names its source.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Settings of a [`Monitor`](super::Monitor). The defaults suit windows from every few seconds to
/// every few hours: what matters is counted in windows, never in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MonitorSettings {
    /// Usable windows that make a baseline of one operating state. 50 gives the median to 1/6 of a
    /// standard deviation (1.25/√50) and the MAD to 1/6 of itself; chosen as the most that a short
    /// accelerated life (500 windows) can spare.
    pub baseline_windows: u32,
    /// Windows that must lie outside, of the last [`persistence_n`](Self::persistence_n).
    pub persistence_k: u32,
    /// Windows looked at.
    pub persistence_n: u32,
    /// Robust standard deviations from the baseline at which a window lies outside.
    pub threshold: f64,
    /// Failure thresholds by feature key, in the feature's own unit, where the plant knows one
    /// (an ISO 20816-3 zone limit for `velocity_rms_mm_s`, say).
    pub failure_thresholds: BTreeMap<String, f64>,
}

impl Default for MonitorSettings {
    fn default() -> Self {
        Self {
            baseline_windows: 50,
            persistence_k: 8,
            persistence_n: 10,
            threshold: 5.0,
            failure_thresholds: BTreeMap::new(),
        }
    }
}
