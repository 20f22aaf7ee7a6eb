//! A calibration and a unit that a sender states for its numbers.

use super::{AccelUnit, Calibration};
use crate::source::interpretation::{StatedUnit, UnitKind};

/// Returns why numbers of a live source are refused of which neither the source nor the
/// configuration states a unit. `decides`: the keys of the source that state one, beside those of
/// every source.
pub(in crate::source) fn no_unit(whose: &str, are_integers: bool, decides: &str) -> String {
    let what = if are_integers { "integers" } else { "numbers without a unit" };
    let keys = if are_integers {
        "unit with scale, or sensitivity_mv_per_g with scale,"
    } else {
        "unit (\"g\" or \"m/s2\"), scale or sensitivity_mv_per_g"
    };
    format!(
        "{what}: neither {whose} nor the configuration states a unit; {decides}{keys} of the \
         source or its channel decides"
    )
}

impl Calibration {
    /// The calibration of numbers in a unit that their sender states.
    ///
    /// # Errors
    /// How the unit contradicts this calibration, or why it is no unit of acceleration.
    pub(in crate::source) fn in_stated_unit(self, text: &str) -> Result<Self, String> {
        let spelling: String = text.chars().take(40).collect();
        let kind = StatedUnit::parse(&spelling).map(|unit| unit.kind);
        match (kind, self.unit()) {
            (Some(UnitKind::Acceleration(m_s2)), None) => Ok(self.in_acceleration(m_s2)),
            (Some(UnitKind::Acceleration(m_s2)), Some(unit)) => {
                let own = match unit {
                    AccelUnit::G => pdm_shared::units::M_S2_PER_G,
                    AccelUnit::MetrePerSecondSquared => 1.0,
                    AccelUnit::Millivolt { .. } => f64::NAN,
                };
                if (own / m_s2 - 1.0).abs() < 1e-9 {
                    return Ok(self);
                }
                Err(format!(
                    "is in {spelling} by its properties and in {unit} by the configuration; leave \
                     unit out, or correct one of them"
                ))
            }
            (Some(UnitKind::Voltage(millivolts)), Some(AccelUnit::Millivolt { .. })) => {
                Ok(self.in_voltage(millivolts))
            }
            (Some(UnitKind::Voltage(_)), _) => {
                Err(format!("is in {spelling}; sensitivity_mv_per_g makes it an acceleration"))
            }
            (Some(UnitKind::Counts) | None, Some(_)) => Ok(self),
            (Some(UnitKind::Counts), None) => {
                Err(format!("is in {spelling}; unit with scale makes it an acceleration"))
            }
            (Some(UnitKind::Time(_)), _) => Err(format!("is in {spelling}, which is a time")),
            (Some(UnitKind::Other(quantity)), _) => {
                Err(format!("is in {spelling} ({quantity}), which is no acceleration"))
            }
            (None, None) => {
                Err(format!("is in {spelling:?}, a unit that is not known; unit decides"))
            }
        }
    }
}
