//! `[silence]`: when a gateway, or the agent's own store, counts as silent.

use std::path::Path;

use pdm_service::config::{ConfigError, within};
use pdm_shared::risk::RiskLevel;
use serde::Deserialize;

use super::YEAR_H;

/// `[silence]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SilenceSettings {
    /// Seconds after a gateway's last will (or goodbye) until staff is told.
    pub offline_after_s: f64,
    /// Seconds without any event until staff is told; 0 never.
    pub silent_after_s: f64,
    /// Seconds without a window of a bearing whose gateway goes on until staff is told, or three
    /// times its longest usual pause where that is longer; 0 never.
    pub bearing_after_s: f64,
    /// Seconds without an answer of the agent's store until staff is told, past the store; 0 never.
    pub store_after_s: f64,
    /// The level told of a gateway.
    pub risk: RiskLevel,
}

impl Default for SilenceSettings {
    fn default() -> Self {
        Self {
            offline_after_s: 300.0,
            silent_after_s: 3.0 * 3600.0,
            // chosen: as long as a gateway may say nothing
            bearing_after_s: 3.0 * 3600.0,
            // chosen: longer than the fail-over of a PostgreSQL pair, which takes 10 to 30 s
            store_after_s: 60.0,
            risk: RiskLevel::Warning,
        }
    }
}

impl SilenceSettings {
    pub(super) fn check(&self, path: &Path) -> Result<(), ConfigError> {
        let longest = YEAR_H * 3600.0;
        within(path, "silence.offline_after_s", self.offline_after_s, longest, "seconds")?;
        within(path, "silence.silent_after_s", self.silent_after_s, longest, "seconds")?;
        within(path, "silence.bearing_after_s", self.bearing_after_s, longest, "seconds")?;
        within(path, "silence.store_after_s", self.store_after_s, longest, "seconds")
    }
}
