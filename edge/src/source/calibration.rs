//! Conversion of raw numbers to m/s², made once, when a source is read.
//!
//! `acceleration = (raw × scale − offset)` in the unit of the calibration, then m/s². An
//! instrument that records millivolts has a sensitivity in mV/g.

use std::fmt;
use std::str::FromStr;

use pdm_shared::units::{M_S2_PER_G, QuantityError};

mod stated;

pub(in crate::source) use stated::no_unit;

/// The unit of samples after scale and offset.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum AccelUnit {
    /// Standard gravity.
    #[default]
    G,
    /// Metres per second squared.
    MetrePerSecondSquared,
    /// Millivolts of a sensor with this sensitivity, mV per g, not 0 (negative: mounted reversed).
    Millivolt {
        /// mV per g.
        sensitivity_mv_per_g: f64,
    },
}

impl FromStr for AccelUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "g" => Ok(Self::G),
            "m/s2" | "m/s^2" | "m/s²" => Ok(Self::MetrePerSecondSquared),
            _ => Err(format!("{text:?} is no unit of acceleration; allowed are g and m/s2")),
        }
    }
}

impl fmt::Display for AccelUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::G => f.write_str("g"),
            Self::MetrePerSecondSquared => f.write_str("m/s2"),
            Self::Millivolt { sensitivity_mv_per_g } => {
                write!(f, "mV at {sensitivity_mv_per_g} mV/g")
            }
        }
    }
}

/// The conversion of one channel's raw numbers to m/s².
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// `None`: no person has stated a unit; that of the file counts, else g.
    unit: Option<AccelUnit>,
    scale: f64,
    offset: f64,
    /// A person has stated the scale.
    states_scale: bool,
}

impl Default for Calibration {
    /// Returns the calibration where nothing is stated: raw numbers are in the unit of the file,
    /// else in g.
    fn default() -> Self {
        Self { unit: None, scale: 1.0, offset: 0.0, states_scale: false }
    }
}

impl Calibration {
    /// A calibration: `scale` in units per raw number; `offset`, in the unit, is subtracted after
    /// scaling.
    ///
    /// # Errors
    /// [`QuantityError`] if a number is not finite, or scale or sensitivity is 0.
    pub fn new(unit: AccelUnit, scale: f64, offset: f64) -> Result<Self, QuantityError> {
        Self::stated(Some(unit), Some(scale), offset)
    }

    /// A calibration of which a person has stated a part: what is `None` is left to the file.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn stated(
        unit: Option<AccelUnit>,
        scale: Option<f64>,
        offset: f64,
    ) -> Result<Self, QuantityError> {
        let states_scale = scale.is_some();
        let scale = scale.unwrap_or(1.0);
        not_zero("scale (unit per raw number)", scale)?;
        if !offset.is_finite() {
            let quantity = "offset (in the unit of the samples)";
            return Err(QuantityError { quantity, allowed: "finite", got: offset });
        }
        if let Some(AccelUnit::Millivolt { sensitivity_mv_per_g }) = unit {
            not_zero("sensitivity (mV per g)", sensitivity_mv_per_g)?;
        }
        Ok(Self { unit, scale, offset, states_scale })
    }

    /// The unit that a person has stated.
    pub const fn unit(&self) -> Option<AccelUnit> {
        self.unit
    }

    /// Whether a person has stated the scale.
    pub const fn states_scale(&self) -> bool {
        self.states_scale
    }

    /// Whether a person has stated what a number is: its unit, or the g of one count.
    pub const fn is_stated(&self) -> bool {
        self.unit.is_some() || self.states_scale
    }

    /// The factor from a raw number to the unit.
    pub const fn scale(&self) -> f64 {
        self.scale
    }

    /// This calibration with the scale that a file states.
    pub(crate) const fn with_scale(self, scale: f64) -> Self {
        Self { scale, states_scale: false, ..self }
    }

    /// This calibration for numbers in a unit of acceleration that has `m_s2` m/s².
    pub(crate) fn in_acceleration(self, m_s2: f64) -> Self {
        let unit = Some(AccelUnit::MetrePerSecondSquared);
        Self { unit, scale: self.scale * m_s2, offset: self.offset * m_s2, states_scale: true }
    }

    /// This calibration for numbers in a unit of voltage that has `millivolts` mV.
    pub(crate) fn in_voltage(self, millivolts: f64) -> Self {
        Self { scale: self.scale * millivolts, ..self }
    }

    /// Whether raw numbers become millivolts, which a sensitivity turns into acceleration.
    pub(crate) const fn is_voltage(&self) -> bool {
        matches!(self.unit, Some(AccelUnit::Millivolt { .. }))
    }

    /// One raw number as acceleration, m/s². A result that is not finite becomes NaN.
    pub fn to_m_s2(&self, raw: f64) -> f64 {
        let value = raw * self.scale - self.offset;
        let accel = match self.unit.unwrap_or_default() {
            AccelUnit::G => value * M_S2_PER_G,
            AccelUnit::MetrePerSecondSquared => value,
            AccelUnit::Millivolt { sensitivity_mv_per_g } => {
                value / sensitivity_mv_per_g * M_S2_PER_G
            }
        };
        if accel.is_finite() { accel } else { f64::NAN }
    }
}

fn not_zero(quantity: &'static str, value: f64) -> Result<(), QuantityError> {
    if value.is_finite() && value != 0.0 {
        Ok(())
    } else {
        Err(QuantityError { quantity, allowed: "finite and not 0", got: value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_millivolts_of_a_hundred_millivolt_sensor_are_one_g() {
        let unit = AccelUnit::Millivolt { sensitivity_mv_per_g: 100.0 };
        let calibration = Calibration::new(unit, 1.0, 0.0).expect("valid");
        assert!((calibration.to_m_s2(100.0) - M_S2_PER_G).abs() < 1e-12);
    }

    #[test]
    fn scale_comes_before_offset_and_unit_last() {
        let calibration = Calibration::new(AccelUnit::G, 0.5, 1.0).expect("valid");
        assert!((calibration.to_m_s2(6.0) - 2.0 * M_S2_PER_G).abs() < 1e-12);
    }

    #[test]
    fn a_scale_of_zero_or_nan_is_refused() {
        assert!(Calibration::new(AccelUnit::G, 0.0, 0.0).is_err());
        assert!(Calibration::new(AccelUnit::G, f64::NAN, 0.0).is_err());
        let unit = AccelUnit::Millivolt { sensitivity_mv_per_g: 0.0 };
        assert!(Calibration::new(unit, 1.0, 0.0).is_err());
    }

    #[test]
    fn what_is_not_finite_becomes_nan() {
        let calibration = Calibration::default();
        for raw in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(calibration.to_m_s2(raw).is_nan());
        }
    }
}
