//! Sources that may bring ready-made values: Modbus and OPC UA.

use pdm_service::config::ConfigError;

use super::super::PointSettings;
use super::super::file::Origin;
use super::{CalibrationKeys, SourceTable};
use crate::source::SourceInput;

impl SourceTable {
    pub(super) fn modbus(
        &self,
        origin: Origin<'_>,
        index: usize,
        points: &[PointSettings],
    ) -> Result<SourceInput, ConfigError> {
        let source = format!("source[{index}]");
        let Some(modbus) = &self.modbus else {
            let allowed = "a table [source.modbus]";
            return Err(origin.refuse(&format!("{source}.modbus"), "left out", allowed));
        };
        self.no_samples(origin, &source, "modbus")?;
        modbus.meant(origin, &source, points)
    }

    pub(super) fn opcua(
        &self,
        origin: Origin<'_>,
        index: usize,
        points: &[PointSettings],
    ) -> Result<SourceInput, ConfigError> {
        let source = format!("source[{index}]");
        let Some(opcua) = &self.opcua else {
            let allowed = "a table [source.opcua]";
            return Err(origin.refuse(&format!("{source}.opcua"), "left out", allowed));
        };
        if opcua.has_samples() {
            return opcua.of_samples(&self.context(origin, index, points)?);
        }
        self.no_samples(origin, &source, "opcua")?;
        opcua.of_values(origin, &source, points, &self.name)
    }

    /// Refuses the keys of samples beside ready-made values, where they mean nothing.
    fn no_samples(&self, origin: Origin<'_>, source: &str, table: &str) -> Result<(), ConfigError> {
        for (name, is_set) in [
            ("rate_hz", self.rate_hz.is_some()),
            ("window_s", self.window_s.is_some()),
            ("every_s", self.every_s.is_some()),
            ("period_s", self.period_s.is_some()),
            ("started_at", self.started_at.is_some()),
            ("tachometer", self.tachometer.is_some()),
            ("stream", self.stream.is_some()),
            ("iio", self.iio.is_some()),
            ("alsa", self.alsa.is_some()),
            ("files", self.files.is_some()),
            ("unit, scale, offset and sensitivity_mv_per_g", self.has_calibration()),
        ] {
            if is_set {
                let allowed = format!(
                    "nothing for values: [source.{table}] has every_s, and a unit and scale for \
                     each value"
                );
                return Err(origin.refuse(&format!("{source}.{name}"), "set", allowed));
            }
        }
        Ok(())
    }

    fn has_calibration(&self) -> bool {
        let is_set = |keys: &CalibrationKeys| *keys != CalibrationKeys::default();
        is_set(&self.calibration) || self.channel.iter().any(|channel| is_set(&channel.calibration))
    }
}
