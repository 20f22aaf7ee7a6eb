//! The keys that turn raw numbers into acceleration, in a source or in one of its channels.

use pdm_service::config::ConfigError;
use serde::Deserialize;

use super::super::file::Origin;
use crate::source::{AccelUnit, Calibration};

/// Unit, scale, offset and sensitivity. The keys of a source apply to all its channels, those of a
/// channel to that channel alone.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct CalibrationKeys {
    unit: Option<String>,
    scale: Option<f64>,
    offset: Option<f64>,
    sensitivity_mv_per_g: Option<f64>,
}

impl CalibrationKeys {
    /// These keys, and those of `other` where these are left out. Unit and sensitivity exclude each
    /// other, so both come from the same side.
    pub(super) fn or(&self, other: &Self) -> Self {
        let has_unit = self.unit.is_some() || self.sensitivity_mv_per_g.is_some();
        let unit_from = if has_unit { self } else { other };
        Self {
            unit: unit_from.unit.clone(),
            sensitivity_mv_per_g: unit_from.sensitivity_mv_per_g,
            scale: self.scale.or(other.scale),
            offset: self.offset.or(other.offset),
        }
    }

    /// The calibration that the keys describe.
    pub(super) fn meant(&self, origin: Origin<'_>, key: &str) -> Result<Calibration, ConfigError> {
        let unit = match (&self.unit, self.sensitivity_mv_per_g) {
            (Some(unit), Some(_)) => {
                let allowed = "one of unit and sensitivity_mv_per_g";
                return Err(origin.refuse(&format!("{key}.unit"), unit, allowed));
            }
            (None, Some(sensitivity_mv_per_g)) => {
                Some(AccelUnit::Millivolt { sensitivity_mv_per_g })
            }
            (None, None) => None,
            (Some(text), None) => Some(text.parse().map_err(|_unknown: String| {
                origin.refuse(&format!("{key}.unit"), text, "\"g\" or \"m/s2\"")
            })?),
        };
        Calibration::stated(unit, self.scale, self.offset.unwrap_or(0.0))
            .map_err(|error| origin.refuse(&format!("{key}.scale"), error.got, error.to_string()))
    }
}
