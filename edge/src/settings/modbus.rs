//! `[source.modbus]`: a device, and which of its registers hold which value.

use std::time::Duration;

use pdm_service::config::ConfigError;
use serde::Deserialize;

use super::PointSettings;
use super::file::Origin;
use super::values::{MOST_VALUES, MeaningKeys, ValueContext, check_together};
use crate::source::SourceInput;
use crate::source::modbus::{ByteOrder, ModbusSettings, RegisterKind, RegisterType, RegisterValue};

/// Time between two polls where none is configured. A transmitter averages over a second or longer.
const DEFAULT_EVERY: Duration = Duration::from_secs(10);

/// Wait for an answer where none is configured: a gateway to a serial line needs up to a second.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3);

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
    holding: Option<u16>,
    input: Option<u16>,
    #[serde(rename = "type")]
    register_type: String,
    order: Option<String>,
    #[serde(flatten)]
    meaning: MeaningKeys,
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
            values.push(value.meant(&ValueContext { origin, key }, points)?);
        }
        let meanings = values.iter().map(|value| &value.meaning);
        check_together(meanings, points, (origin, &key("value")))?;
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
        let meaning = self.meaning.meant(context, points)?;
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
        let scale = match self.meaning.scale(context)? {
            Some(scale) => scale,
            None if register_type == RegisterType::F32 => 1.0,
            None => {
                let allowed = "the unit's amount in one count, such as 0.01";
                return Err(context.refuse("scale", "left out", allowed));
            }
        };
        Ok(RegisterValue {
            conversion: self.meaning.conversion(context, &meaning.figure, scale)?,
            order: self.order(context, register_type)?,
            meaning,
            kind,
            address,
            register_type,
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
}
