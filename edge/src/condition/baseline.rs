//! The baseline of one operating state: where each feature lies, and how far it strays, in health.

use std::collections::BTreeMap;

use pdm_shared::event::{Baseline as Status, BaselineState};
use serde::{Deserialize, Serialize};

use super::{Features, MonitorSettings};

/// Least relative spread that a positive feature is credited with. Chosen: below 2 % no vibration
/// level repeats from mounting to mounting or hour to hour.
const FLOOR: f64 = 0.02;

/// Median and spread of every feature, in the logarithm of positive ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Baseline {
    windows: u64,
    learning: BTreeMap<String, Vec<f64>>,
    learnt: Option<BTreeMap<String, Normal>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Normal {
    log: bool,
    median: f64,
    spread: f64,
}

impl Baseline {
    pub(super) fn is_ready(&self) -> bool {
        self.learnt.is_some()
    }

    pub(super) fn status(&self) -> Status {
        let state = if self.is_ready() { BaselineState::Ready } else { BaselineState::Learning };
        Status { state, windows: self.windows }
    }

    /// Learns from the window or, once learnt, gives each feature's distance in robust standard
    /// deviations, largest first.
    pub(super) fn take(
        &mut self,
        features: &Features,
        settings: &MonitorSettings,
    ) -> Vec<(String, f64)> {
        let finite = features.iter().filter(|(_, value)| value.is_finite());
        if let Some(learnt) = &self.learnt {
            let mut scores: Vec<_> = finite
                .filter_map(|(key, value)| Some((key.clone(), learnt.get(key)?.distance(*value))))
                .collect();
            scores.sort_by(|a, b| b.1.total_cmp(&a.1));
            return scores;
        }
        for (key, value) in finite {
            self.learning.entry(key.clone()).or_default().push(*value);
        }
        self.windows += 1;
        if self.windows >= u64::from(settings.baseline_windows.max(3)) {
            let learning = std::mem::take(&mut self.learning);
            self.learnt =
                Some(learning.into_iter().map(|(key, values)| (key, Normal::of(values))).collect());
        }
        Vec::new()
    }
}

impl Normal {
    fn of(mut values: Vec<f64>) -> Self {
        let log = values.iter().all(|value| *value > 0.0);
        if log {
            for value in &mut values {
                *value = value.ln();
            }
        }
        let median = median(&mut values);
        for value in &mut values {
            *value = (*value - median).abs();
        }
        let mad = 1.4826 * self::median(&mut values);
        let floor = if log { FLOOR } else { (FLOOR * median.abs()).max(f64::MIN_POSITIVE) };
        Self { log, median, spread: mad.max(floor) }
    }

    fn distance(self, value: f64) -> f64 {
        let value = if self.log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        (value - self.median) / self.spread
    }
}

/// The median; 0 of nothing.
fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}
