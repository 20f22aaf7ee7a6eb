//! `[intake]`: batches, receipts, gaps.

use std::path::Path;

use pdm_service::config::{ConfigError, above_zero, within};
use serde::Deserialize;

use super::YEAR_H;

/// `[intake]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IntakeSettings {
    /// Most messages of one transaction.
    pub batch: usize,
    /// Longest time between a commit and its receipt, s.
    pub receipt_after_s: f64,
    /// Most events of a gateway before its receipt.
    pub receipt_after_events: u64,
    /// Hours after which a gap in a gateway's sequence counts as lost.
    pub gap_lost_after_h: f64,
}

impl Default for IntakeSettings {
    fn default() -> Self {
        Self {
            batch: 512,
            receipt_after_s: 1.0,
            receipt_after_events: 100,
            gap_lost_after_h: 7.0 * 24.0,
        }
    }
}

impl IntakeSettings {
    pub(super) fn check(&self, path: &Path) -> Result<(), ConfigError> {
        above_zero(path, "intake.batch", self.batch as u64)?;
        above_zero(path, "intake.receipt_after_events", self.receipt_after_events)?;
        within(path, "intake.receipt_after_s", self.receipt_after_s, 3600.0, "seconds")?;
        within(path, "intake.gap_lost_after_h", self.gap_lost_after_h, YEAR_H, "hours")
    }
}
