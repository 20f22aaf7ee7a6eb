//! `[source.modbus]`: a device, and which of its registers hold which value.

use std::time::Duration;

use pdm_service::config::ConfigError;
use pdm_shared::event::feature::Feature;
use pdm_shared::units::M_S2_PER_G;
use serde::Deserialize;

use super::PointSettings;
use super::file::Origin;
use crate::source::SourceInput;
use crate::source::interpretation::{StatedUnit, UnitKind};
use crate::source::modbus::{ByteOrder, ModbusSettings, RegisterKind, RegisterType, RegisterValue};

/// Time between two polls where none is configured. A transmitter averages over a second or longer.
const DEFAULT_EVERY: Duration = Duration::from_secs(10);

/// Wait for an answer where none is configured: a gateway to a serial line needs up to a second.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3);

/// Most values of a device.
const MOST_VALUES: usize = 256;

/// The features that a transmitter can give.
const FEATURES: [Feature; 6] = [
    Feature::Velocity,
    Feature::Rms,
    Feature::Peak,
    Feature::EnvelopeRms,
    Feature::CrestFactor,
    Feature::Kurtosis,
];

/// `[source.modbus]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModbusTable {
    /// `HOST:PORT`; 502 if the port is left out.
    address: String,
    /// Number of the device, 0 to 255.
    #[serde(default = "first_unit")]
    unit: u8,
    every_s: Option<f64>,
    timeout_s: Option<f64>,
    /// Whether answers with another transaction number are taken.
    #[serde(default)]
    any_transaction: bool,
    #[serde(default)]
    value: Vec<ValueTable>,
}

const fn first_unit() -> u8 {
    1
}

/// `[[source.modbus.value]]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ValueTable {
    /// The measuring point, as in `[[source.channel]]`.
    #[serde(default)]
    channel: usize,
    feature: String,
    holding: Option<u16>,
    input: Option<u16>,
    #[serde(rename = "type")]
    register_type: String,
    order: Option<String>,
    scale: Option<f64>,
    unit: Option<String>,
    #[serde(default)]
    no_value: Vec<f64>,
    standing_below: Option<f64>,
}

/// A value's errors: file, key of the value, and what is allowed.
struct ValueContext<'a> {
    origin: Origin<'a>,
    key: String,
}

impl ValueContext<'_> {
    fn refuse(&self, name: &str, value: impl ToString, allowed: &str) -> ConfigError {
        self.origin.refuse(&format!("{}.{name}", self.key), value, allowed)
    }
}

impl ModbusTable {
    /// The device as a source.
    pub(super) fn meant(
        &self,
        origin: Origin<'_>,
        source: &str,
        points: &[PointSettings],
    ) -> Result<SourceInput, ConfigError> {
        let key = |name: &str| format!("{source}.modbus.{name}");
        let (host, port) = self.address.rsplit_once(':').unwrap_or((&self.address, "502"));
        if host.is_empty() || port.parse::<u16>().is_err() {
            return Err(origin.refuse(&key("address"), &self.address, "HOST or HOST:PORT"));
        }
        if self.value.is_empty() || self.value.len() > MOST_VALUES {
            let allowed = format!("1 to {MOST_VALUES} [[source.modbus.value]]");
            return Err(origin.refuse(&key("value"), self.value.len(), allowed));
        }
        let mut values: Vec<RegisterValue> = Vec::new();
        for (place, value) in self.value.iter().enumerate() {
            let key = key(&format!("value[{place}]"));
            let context = ValueContext { origin, key };
            let value = value.meant(&context, points)?;
            let is_same = |other: &RegisterValue| {
                (other.channel, &other.feature) == (value.channel, &value.feature)
            };
            if values.iter().any(is_same) {
                let allowed = "a feature that no other value of the channel is";
                return Err(context.refuse("feature", value.feature.key(), allowed));
            }
            values.push(value);
        }
        if let Some(point) =
            points.iter().find(|point| values.iter().all(|value| value.channel != point.channel))
        {
            let allowed = format!("one or more for channel {}", point.channel);
            return Err(origin.refuse(&key("value"), "none", allowed));
        }
        Ok(SourceInput::Modbus(ModbusSettings {
            address: format!("{host}:{port}"),
            unit: self.unit,
            every: origin.seconds(&key("every_s"), self.every_s, DEFAULT_EVERY, 0.1)?,
            timeout: origin.seconds(&key("timeout_s"), self.timeout_s, DEFAULT_TIMEOUT, 0.05)?,
            checks_transaction: !self.any_transaction,
            values,
        }))
    }
}

impl ValueTable {
    fn meant(
        &self,
        context: &ValueContext<'_>,
        points: &[PointSettings],
    ) -> Result<RegisterValue, ConfigError> {
        if points.iter().all(|point| point.channel != self.channel) {
            let allowed = "the channel of a [[source.channel]]";
            return Err(context.refuse("channel", self.channel, allowed));
        }
        let is_named = |feature: &&Feature| feature.key() == self.feature;
        let feature = FEATURES.iter().find(is_named).cloned().ok_or_else(|| {
            let names: Vec<String> = FEATURES.iter().map(|one| one.key().into_owned()).collect();
            context.refuse("feature", &self.feature, &format!("one of {}", names.join(", ")))
        })?;
        let (kind, address) = match (self.holding, self.input) {
            (Some(address), None) => (RegisterKind::Holding, address),
            (None, Some(address)) => (RegisterKind::Input, address),
            _ => {
                let allowed = "either holding or input, the first register counted from 0";
                return Err(context.refuse("holding", "both or neither", allowed));
            }
        };
        let types = RegisterType::NAMES;
        let known = types.iter().find(|(name, _)| *name == self.register_type);
        let register_type = known.map(|(_, known)| *known).ok_or_else(|| {
            context.refuse("type", &self.register_type, "one of u16, i16, u32, i32, f32")
        })?;
        let standing_below = self.standing_below;
        if standing_below.is_some_and(|least| !(least.is_finite() && least > 0.0)) {
            let allowed = "above 0, in the unit of the feature";
            return Err(context.refuse("standing_below", standing_below.unwrap_or(0.0), allowed));
        }
        Ok(RegisterValue {
            channel: self.channel,
            factor: self.factor(context, &feature, register_type)?,
            order: self.order(context, register_type)?,
            feature,
            kind,
            address,
            register_type,
            no_value: self.no_value.clone(),
            standing_below,
        })
    }

    /// The order of the bytes. That of two registers differs from maker to maker, and a wrong one
    /// gives numbers, so it is never assumed.
    fn order(
        &self,
        context: &ValueContext<'_>,
        register_type: RegisterType,
    ) -> Result<ByteOrder, ConfigError> {
        let allowed = "\"abcd\" (high word first), \"cdab\" (low word first), \"badc\" or \"dcba\"";
        match &self.order {
            Some(order) => order.parse().map_err(|()| context.refuse("order", order, allowed)),
            None if register_type.registers() == 1 => Ok(ByteOrder::Abcd),
            None => Err(context.refuse("order", "left out", allowed)),
        }
    }

    /// From the number in the registers to the feature's unit.
    fn factor(
        &self,
        context: &ValueContext<'_>,
        feature: &Feature,
        register_type: RegisterType,
    ) -> Result<f64, ConfigError> {
        let scale = match self.scale {
            Some(scale) if scale.is_finite() && scale != 0.0 => scale,
            Some(scale) => return Err(context.refuse("scale", scale, "finite and not 0")),
            None if register_type == RegisterType::F32 => 1.0,
            None => {
                let allowed = "the unit's amount in one count, such as 0.01";
                return Err(context.refuse("scale", "left out", allowed));
            }
        };
        let unit = self.unit.as_deref().unwrap_or("left out");
        let has_no_unit = matches!(feature, Feature::CrestFactor | Feature::Kurtosis);
        let (in_unit, allowed) = if *feature == Feature::Velocity {
            (velocity_mm_s(unit), "mm/s, m/s, cm/s, um/s or in/s")
        } else if has_no_unit {
            ((self.unit.is_none() || unit == "1").then_some(1.0), "\"1\", or left out")
        } else {
            (acceleration_g(unit), "g, mg, m/s2 or mm/s2")
        };
        in_unit.map(|factor| factor * scale).ok_or_else(|| context.refuse("unit", unit, allowed))
    }
}

fn velocity_mm_s(unit: &str) -> Option<f64> {
    match unit {
        "mm/s" => Some(1.0),
        "m/s" => Some(1000.0),
        "cm/s" => Some(10.0),
        "um/s" | "µm/s" => Some(0.001),
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
