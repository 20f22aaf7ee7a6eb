//! Reads a birth's statements on the metrics of a source: their aliases, types and units.
//!
//! Data carry an alias in place of the name, and no type, so nothing of them can be read without
//! the birth. Invariant: a metric whose unit is no acceleration, or is not known, is refused at its
//! birth.

use std::collections::HashMap;

use super::SparkplugForm;
use super::payload::{Metric, MetricValue, Payload};
use crate::source::Calibration;
use crate::source::burst::configured_calibration;
use crate::source::calibration::no_unit;
use crate::source::frames::FrameFormat;

/// Names under which nodes state a metric's unit: Ignition's, Tahu's examples, and usual spellings.
const UNIT_PROPERTIES: [&str; 7] =
    ["engUnit", "engUnits", "unit", "units", "engineeringUnits", "Engineering Units", "EU"];

/// Most names of metrics in an error.
const MOST_NAMED: usize = 12;

/// The data types of Sparkplug B that can hold samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataType {
    /// Bits and sign of an integer.
    Integer(u8, bool),
    Float,
    Double,
    IntegerArray(u8, bool),
    FloatArray,
    DoubleArray,
}

impl DataType {
    /// The type with this number.
    pub(super) fn numbered(number: u64) -> Result<Self, String> {
        const BITS: [u8; 4] = [8, 16, 32, 64];
        let bits = |first: u64| BITS[(number - first) as usize];
        Ok(match number {
            1..=4 => Self::Integer(bits(1), true),
            5..=8 => Self::Integer(bits(5), false),
            9 => Self::Float,
            10 => Self::Double,
            22..=25 => Self::IntegerArray(bits(22), true),
            26..=29 => Self::IntegerArray(bits(26), false),
            30 => Self::FloatArray,
            31 => Self::DoubleArray,
            other => {
                let name = match other {
                    0 => "Unknown",
                    11 | 32 => "Boolean",
                    12 | 14 | 15 | 33 => "text",
                    13 | 34 => "DateTime",
                    16 => "DataSet",
                    17 | 18 => "Bytes or File",
                    19 => "Template",
                    _ => "no type of Sparkplug B",
                };
                return Err(format!(
                    "has data type {other} ({name}); samples are numbers or arrays of numbers"
                ));
            }
        })
    }

    const fn is_integer(self) -> bool {
        matches!(self, Self::Integer(..) | Self::IntegerArray(..))
    }
}

/// A birth's statements on a metric that is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct BornMetric {
    pub(super) datatype: DataType,
    pub(super) calibration: Calibration,
}

/// The metric behind an alias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetricRole {
    Channel(usize),
    Rate,
    /// A metric that this source does not read.
    Other,
    /// The birth gave the alias to two metrics, one of which is read here.
    Ambiguous,
}

/// The birth of the followed device or node.
#[derive(Debug)]
pub(super) struct Birth {
    aliases: HashMap<u64, MetricRole>,
    channels: Vec<BornMetric>,
}

impl Birth {
    /// Reads a birth.
    ///
    /// # Errors
    /// The metric that is missing or cannot be read as samples.
    pub(super) fn from_payload(
        payload: &Payload<'_>,
        form: &SparkplugForm,
        format: &FrameFormat,
    ) -> Result<Self, String> {
        let mut aliases = HashMap::new();
        let mut channels: Vec<Option<BornMetric>> = vec![None; form.metrics.len()];
        let mut has_rate = form.rate.is_none();
        for metric in &payload.metrics {
            let role = metric.name.map_or(MetricRole::Other, |name| form.role(name));
            if let Some(alias) = metric.alias {
                // some libraries give alias 0 to every metric, and names to their data
                aliases
                    .entry(alias)
                    .and_modify(|other| *other = MetricRole::Ambiguous)
                    .or_insert(role);
            }
            match role {
                MetricRole::Channel(channel) => {
                    let configured = configured_calibration(format, channel);
                    let name = &form.metrics[channel];
                    let born =
                        born(metric, configured).map_err(|why| format!("metric {name:?} {why}"))?;
                    channels[channel] = Some(born);
                }
                MetricRole::Rate => has_rate = true,
                MetricRole::Other | MetricRole::Ambiguous => {}
            }
        }
        let missing = channels.iter().position(Option::is_none).map(|at| &form.metrics[at]);
        if let Some(name) = missing.or_else(|| form.rate.as_ref().filter(|_| !has_rate)) {
            return Err(format!("the birth has no metric {name:?}; it has {}", names(payload)));
        }
        Ok(Self { aliases, channels: channels.into_iter().flatten().collect() })
    }

    /// Returns the role of a metric of data, by its name, else by its alias; `None` if the birth
    /// has neither.
    pub(super) fn role(&self, metric: &Metric<'_>, form: &SparkplugForm) -> Option<MetricRole> {
        match (metric.name, metric.alias) {
            (Some(name), _) => Some(form.role(name)),
            (None, Some(alias)) => self.aliases.get(&alias).copied(),
            (None, None) => None,
        }
    }

    pub(super) fn channel(&self, channel: usize) -> Option<BornMetric> {
        self.channels.get(channel).copied()
    }
}

/// The beginnings of the names in a birth, for errors.
fn names(payload: &Payload<'_>) -> String {
    let named: Vec<&str> = payload.metrics.iter().filter_map(|metric| metric.name).collect();
    let shown: Vec<String> = named
        .iter()
        .take(MOST_NAMED)
        .map(|name| format!("{:?}", name.chars().take(80).collect::<String>()))
        .collect();
    let more = named.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Type and unit of a metric.
fn born(metric: &Metric<'_>, configured: Calibration) -> Result<BornMetric, String> {
    let number = metric.datatype.ok_or("has no data type in its birth")?;
    let datatype = DataType::numbered(number)?;
    let unit = match metric.property(&UNIT_PROPERTIES)? {
        Some(MetricValue::Text(text)) if !text.trim().is_empty() => Some(text.trim()),
        _ => None,
    };
    let calibration = match unit {
        None => configured,
        Some(text) => configured.in_stated_unit(text)?,
    };
    if unit.is_none() && !configured.is_stated() {
        let why = no_unit("its properties (engUnit)", datatype.is_integer(), "");
        return Err(format!("holds {why}"));
    }
    Ok(BornMetric { datatype, calibration })
}
