//! The keys of a transmitter's value that do not depend on what brings it.

use std::ops::RangeInclusive;

use pdm_service::config::ConfigError;
use serde::Deserialize;

use super::PointSettings;
use super::file::Origin;
use crate::source::shaft_speed::{USUAL_SPEEDS, speed_shares};
use crate::source::values::{Conversion, Figure, ValueMeaning};

/// The allowed form of a range of speeds.
pub(super) const SPEED_RANGE: &str =
    "two numbers, percent of rpm, such as [20, 130]: the lower one from 1 on";

/// Most values of a device.
pub(super) const MOST_VALUES: usize = 256;

/// The keys that every value has.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct MeaningKeys {
    /// The measuring point, as in `[[source.channel]]`.
    #[serde(default)]
    channel: usize,
    feature: String,
    pub(super) scale: Option<f64>,
    pub(super) unit: Option<String>,
    #[serde(default)]
    no_value: Vec<f64>,
    standing_below: Option<f64>,
    /// The possible range of a speed, percent of `rpm`.
    range_percent: Option<[f64; 2]>,
}

/// A value's errors: file, key of the value, and what is allowed.
pub(super) struct ValueContext<'a> {
    pub(super) origin: Origin<'a>,
    pub(super) key: String,
}

impl ValueContext<'_> {
    pub(super) fn refuse(&self, name: &str, value: impl ToString, allowed: &str) -> ConfigError {
        self.origin.refuse(&format!("{}.{name}", self.key), value, allowed)
    }
}

impl MeaningKeys {
    /// Returns the meaning of the value.
    pub(super) fn meant(
        &self,
        context: &ValueContext<'_>,
        points: &[PointSettings],
    ) -> Result<ValueMeaning, ConfigError> {
        let Some(point) = points.iter().find(|point| point.channel == self.channel) else {
            let allowed = "the channel of a [[source.channel]]";
            return Err(context.refuse("channel", self.channel, allowed));
        };
        let is_named = |figure: &&Figure| figure.key() == self.feature;
        let figure = Figure::ALL.iter().find(is_named).cloned().ok_or_else(|| {
            let names: Vec<String> = Figure::ALL.iter().map(|one| one.key().into_owned()).collect();
            context.refuse("feature", &self.feature, &format!("one of {}", names.join(", ")))
        })?;
        let standing_below = self.standing_below;
        if standing_below.is_some_and(|least| !(least.is_finite() && least > 0.0)) {
            let allowed = "above 0, in the unit of the feature";
            return Err(context.refuse("standing_below", standing_below.unwrap_or(0.0), allowed));
        }
        if let (Some(least), Figure::Temperature) = (standing_below, &figure) {
            let allowed = "nothing: a cold bearing may turn";
            return Err(context.refuse("standing_below", least, allowed));
        }
        let speeds = self.speeds(context, &figure)?;
        Ok(ValueMeaning {
            channel: self.channel,
            plausible: figure.plausible(point.speed, &speeds, standing_below),
            figure,
            no_value: self.no_value.clone(),
            standing_below,
        })
    }

    /// The speeds that the shaft can have, as shares of its name plate's.
    fn speeds(
        &self,
        context: &ValueContext<'_>,
        figure: &Figure,
    ) -> Result<RangeInclusive<f64>, ConfigError> {
        let Some(percent) = self.range_percent else { return Ok(USUAL_SPEEDS) };
        let value = format!("{percent:?}");
        if !matches!(figure, Figure::ShaftSpeed) {
            return Err(context.refuse("range_percent", value, "only of shaft_speed_rpm"));
        }
        speed_shares(percent).ok_or_else(|| context.refuse("range_percent", value, SPEED_RANGE))
    }

    /// The scale; `None` if it is left out.
    pub(super) fn scale(&self, context: &ValueContext<'_>) -> Result<Option<f64>, ConfigError> {
        match self.scale {
            Some(scale) if !scale.is_finite() || scale == 0.0 => {
                Err(context.refuse("scale", scale, "finite and not 0"))
            }
            scale => Ok(scale),
        }
    }

    /// Returns the conversion from the number, of which `scale` is in one count, to the figure's
    /// unit.
    pub(super) fn conversion(
        &self,
        context: &ValueContext<'_>,
        figure: &Figure,
        scale: f64,
    ) -> Result<Conversion, ConfigError> {
        let unit = self.unit.as_deref();
        figure
            .conversion(unit)
            .map(|conversion| conversion.scaled(scale))
            .ok_or_else(|| context.refuse("unit", unit.unwrap_or("left out"), figure.units()))
    }
}

/// Refuses a figure that a channel has twice, and a channel without a figure that is judged.
pub(super) fn check_together<'a>(
    meanings: impl Iterator<Item = &'a ValueMeaning>,
    points: &[PointSettings],
    (origin, key): (Origin<'_>, &str),
) -> Result<(), ConfigError> {
    let mut known: Vec<&ValueMeaning> = Vec::new();
    for (place, meaning) in meanings.enumerate() {
        let is_same = |other: &&ValueMeaning| {
            (other.channel, &other.figure) == (meaning.channel, &meaning.figure)
        };
        if known.iter().any(is_same) {
            let allowed = "a feature that no other value of the channel is";
            let key = format!("{key}[{place}].feature");
            return Err(origin.refuse(&key, meaning.figure.key(), allowed));
        }
        known.push(meaning);
    }
    let is_judged = |point: &&PointSettings| {
        known.iter().any(|meaning| {
            meaning.channel == point.channel && matches!(meaning.figure, Figure::Feature(_))
        })
    };
    match points.iter().find(|point| !is_judged(point)) {
        None => Ok(()),
        Some(point) => {
            let allowed = format!("one or more that is judged for channel {}", point.channel);
            Err(origin.refuse(key, "none", allowed))
        }
    }
}
