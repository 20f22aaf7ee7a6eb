//! Ready-made values of a transmitter, whatever brings them: registers of Modbus, nodes of OPC UA.
//!
//! A number is in some unit and stands for one figure of a measuring point. Invariants: marks for
//! "no value" never become a value, nor does what is not finite; a temperature or a speed that no
//! bearing has is told and not used.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use pdm_shared::event::feature::Feature;
use pdm_shared::units::{M_S2_PER_G, Rpm};

use super::interpretation::{StatedUnit, UnitKind};
use crate::tabular::sentinel::FILL_FROM;

mod standing;

pub(super) use standing::{Freshness, Standing};

/// Temperatures that a bearing can have, °C: from a cold store to a kiln's car, with some room.
/// Sensors that are broken or shorted give −200, 850, 3276.7 and the like.
const TEMPERATURES_C: RangeInclusive<f64> = -60.0..=400.0;

/// The values of one poll.
#[derive(Debug, Clone, PartialEq)]
pub struct PointValues {
    /// The values of all measuring points.
    pub values: Vec<PointValue>,
    /// Time from poll to poll.
    pub every: Duration,
}

/// One value of a measuring point.
#[derive(Debug, Clone, PartialEq)]
pub struct PointValue {
    /// Row of the source.
    pub channel: usize,
    /// The figure of the value.
    pub figure: Figure,
    /// `None`: it is not read, or the device has none.
    pub value: Option<f64>,
    /// The value below which the machine stands.
    pub standing_below: Option<f64>,
}

/// The kinds of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Figure {
    /// A figure that the bearing is judged by.
    Feature(Feature),
    /// Temperature of the bearing, °C; the event carries it.
    Temperature,
    /// Speed of the shaft, rpm.
    ShaftSpeed,
}

impl Figure {
    /// The figures that a transmitter can give.
    pub const ALL: [Self; 8] = [
        Self::Feature(Feature::Velocity),
        Self::Feature(Feature::Rms),
        Self::Feature(Feature::Peak),
        Self::Feature(Feature::EnvelopeRms),
        Self::Feature(Feature::CrestFactor),
        Self::Feature(Feature::Kurtosis),
        Self::Temperature,
        Self::ShaftSpeed,
    ];

    /// Returns its key in a configuration.
    pub fn key(&self) -> Cow<'_, str> {
        match self {
            Self::Feature(feature) => feature.key(),
            Self::Temperature => Cow::Borrowed("temperature_c"),
            Self::ShaftSpeed => Cow::Borrowed("shaft_speed_rpm"),
        }
    }

    /// Returns the conversion from a unit to the figure's own; `None` if the figure cannot have
    /// that unit. A ratio has the unit `1`, or no unit.
    pub fn conversion(&self, unit: Option<&str>) -> Option<Conversion> {
        let text = unit.unwrap_or("").trim();
        let factor = match self {
            Self::Feature(Feature::Velocity) => velocity_mm_s(text),
            Self::Feature(Feature::CrestFactor | Feature::Kurtosis) => {
                matches!(text, "" | "1").then_some(1.0)
            }
            Self::Feature(_) => acceleration_g(text),
            Self::ShaftSpeed => rpm(text),
            Self::Temperature => return celsius(text),
        };
        factor.map(|factor| Conversion { factor, offset: 0.0 })
    }

    /// The units of [`Self::conversion`], for errors.
    pub const fn units(&self) -> &'static str {
        match self {
            Self::Feature(Feature::Velocity) => "mm/s, m/s, cm/s, um/s or in/s",
            Self::Feature(Feature::CrestFactor | Feature::Kurtosis) => "\"1\", or left out",
            Self::Feature(_) => "g, mg, m/s2 or mm/s2",
            Self::Temperature => "degC, degF or K",
            Self::ShaftSpeed => "rpm or Hz",
        }
    }

    /// The values that it can have at a shaft of this name plate, whose speeds are these shares of
    /// it; those of a feature are judged with the event.
    pub fn plausible(
        &self,
        name_plate: Rpm,
        speeds: &RangeInclusive<f64>,
        standing_below: Option<f64>,
    ) -> RangeInclusive<f64> {
        match self {
            Self::Feature(_) => f64::NEG_INFINITY..=f64::INFINITY,
            Self::Temperature => TEMPERATURES_C,
            Self::ShaftSpeed => {
                // below, the machine stands only where `standing_below` says so
                let least = if standing_below.is_some() { 0.0 } else { *speeds.start() };
                least * name_plate.get()..=speeds.end() * name_plate.get()
            }
        }
    }
}

/// The conversion from a number to the figure's unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conversion {
    /// The factor of the number.
    pub factor: f64,
    /// The amount that is added after the factor.
    pub offset: f64,
}

impl Conversion {
    /// This conversion for numbers that have `scale` units in one count.
    #[must_use]
    pub fn scaled(self, scale: f64) -> Self {
        Self { factor: self.factor * scale, ..self }
    }
}

/// The meaning of a device's number.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueMeaning {
    /// Row of the source: the measuring point.
    pub channel: usize,
    /// The figure of the number.
    pub figure: Figure,
    /// Numbers, before scaling, that mean "no value" beside the usual marks.
    pub no_value: Vec<f64>,
    /// The value, in the figure's unit, below which the machine stands.
    pub standing_below: Option<f64>,
    /// Values that it can have, in the figure's unit.
    pub plausible: RangeInclusive<f64>,
}

/// Why a number is no value.
#[derive(Debug, Clone, PartialEq)]
pub enum NoValue {
    /// It is a mark, or not finite.
    Mark,
    /// No bearing has it; the text says so.
    Implausible(String),
}

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mark => f.write_str("the device has no value"),
            Self::Implausible(text) => f.write_str(text),
        }
    }
}

impl NoValue {
    /// The word for it in a metric.
    pub const fn cause(&self) -> &'static str {
        match self {
            Self::Mark => "no_value",
            Self::Implausible(_) => "implausible",
        }
    }
}

impl ValueMeaning {
    /// The value in the figure's unit.
    ///
    /// # Errors
    /// Why the number is no value.
    pub fn value_of(&self, raw: f64, conversion: Conversion) -> Result<f64, NoValue> {
        if !raw.is_finite() || raw.abs() >= FILL_FROM || self.no_value.contains(&raw) {
            return Err(NoValue::Mark);
        }
        let value = raw.mul_add(conversion.factor, conversion.offset);
        if !value.is_finite() {
            return Err(NoValue::Mark);
        }
        if !self.plausible.contains(&value) {
            let (least, most) = (self.plausible.start(), self.plausible.end());
            let key = self.figure.key();
            return Err(NoValue::Implausible(format!(
                "{value:.4} is not plausible and not used; {key} can be {least:.0} to {most:.0}: \
                 are unit, scale and place right, and is the sensor whole?"
            )));
        }
        Ok(value)
    }

    /// The value of a poll.
    pub fn point_value(&self, value: Option<f64>) -> PointValue {
        let (channel, figure) = (self.channel, self.figure.clone());
        PointValue { channel, figure, value, standing_below: self.standing_below }
    }
}

fn velocity_mm_s(unit: &str) -> Option<f64> {
    match unit {
        "mm/s" => Some(1.0),
        "m/s" => Some(1000.0),
        "cm/s" => Some(10.0),
        "um/s" | "µm/s" | "μm/s" => Some(0.001),
        "in/s" | "ips" => Some(25.4),
        _ => None,
    }
}

fn acceleration_g(unit: &str) -> Option<f64> {
    match StatedUnit::parse(unit)?.kind {
        UnitKind::Acceleration(m_s2) => Some(m_s2 / M_S2_PER_G),
        UnitKind::Voltage(_) | UnitKind::Counts | UnitKind::Time(_) | UnitKind::Other(_) => None,
    }
}

fn rpm(unit: &str) -> Option<f64> {
    match unit.to_lowercase().as_str() {
        "rpm" | "1/min" | "min-1" | "r/min" | "rev/min" | "u/min" => Some(1.0),
        "hz" | "1/s" | "rps" | "r/s" | "rev/s" => Some(60.0),
        _ => None,
    }
}

fn celsius(unit: &str) -> Option<Conversion> {
    let unit = unit.to_lowercase();
    let (factor, offset) = match unit.trim_start_matches(['°', 'º']) {
        "degc" | "c" | "℃" | "celsius" => (1.0, 0.0),
        "degf" | "f" | "℉" | "fahrenheit" => (5.0 / 9.0, -160.0 / 9.0),
        "k" | "kelvin" => (1.0, -273.15),
        _ => return None,
    };
    Some(Conversion { factor, offset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::shaft_speed::USUAL_SPEEDS;

    fn meaning(figure: Figure, standing_below: Option<f64>) -> ValueMeaning {
        let plate = Rpm::new(1500.0).expect("a speed");
        let plausible = figure.plausible(plate, &USUAL_SPEEDS, standing_below);
        ValueMeaning { channel: 0, figure, no_value: vec![999.0], standing_below, plausible }
    }

    #[test]
    fn a_unit_is_converted_to_that_of_the_figure() {
        for (figure, unit, raw, expected) in [
            (Figure::Temperature, Some("°C"), 65.5, 65.5),
            (Figure::Temperature, Some("degF"), 149.0, 65.0),
            (Figure::Temperature, Some("K"), 338.15, 65.0),
            (Figure::ShaftSpeed, Some("Hz"), 24.8, 1488.0),
            (Figure::ShaftSpeed, Some("1/min"), 1488.0, 1488.0),
            (Figure::Feature(Feature::Velocity), Some("in/s"), 0.1, 2.54),
            (Figure::Feature(Feature::Rms), Some("m/s²"), 9.80665, 1.0),
            (Figure::Feature(Feature::Kurtosis), None, 3.1, 3.1),
        ] {
            let conversion = figure.conversion(unit).expect("its unit");
            let value = meaning(figure.clone(), None).value_of(raw, conversion).expect("a value");
            assert!((value - expected).abs() < 1e-9, "{figure:?} {unit:?}: {value}");
        }
        for (figure, unit) in [
            (Figure::Temperature, None),
            (Figure::Temperature, Some("mm/s")),
            (Figure::ShaftSpeed, Some("degC")),
            (Figure::Feature(Feature::Velocity), Some("g")),
            (Figure::Feature(Feature::Rms), Some("mm/s")),
        ] {
            assert_eq!(figure.conversion(unit), None, "{figure:?} {unit:?}");
        }
    }

    /// A shorted or broken sensor, a mark that nobody configured, and Hz taken for rpm.
    #[test]
    fn a_value_that_no_bearing_has_is_no_value() {
        let one = Conversion { factor: 1.0, offset: 0.0 };
        for (figure, raw) in [
            (Figure::Temperature, 850.0),
            (Figure::Temperature, -200.0),
            (Figure::Temperature, 3276.7),
            (Figure::ShaftSpeed, 24.8),
            (Figure::ShaftSpeed, 98.0),
            (Figure::ShaftSpeed, 0.0),
            (Figure::ShaftSpeed, 90_000.0),
        ] {
            let outcome = meaning(figure, None).value_of(raw, one);
            assert!(matches!(outcome, Err(NoValue::Implausible(_))), "{raw}: {outcome:?}");
        }
        for raw in [f64::NAN, f64::INFINITY, 999.0] {
            assert_eq!(meaning(Figure::Temperature, None).value_of(raw, one), Err(NoValue::Mark));
        }
        // a shaft that stands, where its speed says so
        assert_eq!(meaning(Figure::ShaftSpeed, Some(50.0)).value_of(0.0, one), Ok(0.0));
    }
}
