//! `[source.iio]`: accelerometers of the kernel.

use std::path::PathBuf;

use pdm_service::config::ConfigError;
use serde::Deserialize;

use super::live::SourceContext;
use crate::source::SourceInput;
use crate::source::iio::IioSettings;

/// Samples of a block of an IIO device where none are configured: 1.3 s at the 3.2 kHz of an
/// ADXL345.
const DEFAULT_IIO_BLOCK: usize = 4096;

/// Most samples of a block: 20 s of the fastest device of the kernel (51.2 kHz); the bytes of a
/// block are reserved at once.
const MAX_IIO_BLOCK: usize = 1 << 20;

/// `[source.iio]`: accelerometers of the kernel.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IioTable {
    /// Name of the device, such as `iio:device0`.
    device: String,
    /// Channels in their order, such as `accel_x`; all accelerations if left out.
    #[serde(default)]
    channels: Vec<String>,
    /// Length of a block at the device's own rate, samples.
    block_samples: Option<usize>,
    /// Name of the trigger that makes the device sample; as the device is set if left out.
    trigger: Option<String>,
}

impl IioTable {
    /// The device as a source.
    pub(super) fn meant(&self, context: SourceContext<'_>) -> Result<SourceInput, ConfigError> {
        let is_plain = !self.device.is_empty() && !self.device.contains(['/', '\\']);
        if !is_plain {
            let key = format!("{}.iio.device", context.key);
            let allowed = "the name of a device, such as \"iio:device0\"";
            return Err(context.origin.refuse(&key, &self.device, allowed));
        }
        let block_samples = self.block_samples.unwrap_or(DEFAULT_IIO_BLOCK);
        if !(1..=MAX_IIO_BLOCK).contains(&block_samples) {
            let key = format!("{}.iio.block_samples", context.key);
            let allowed = format!("1 to {MAX_IIO_BLOCK}");
            return Err(context.origin.refuse(&key, block_samples, allowed));
        }
        Ok(SourceInput::Iio(IioSettings {
            folder: PathBuf::from("/sys/bus/iio/devices").join(&self.device),
            device: PathBuf::from("/dev").join(&self.device),
            channels: self.channels.clone(),
            block_samples,
            trigger: self.trigger.clone(),
            calibrations: context.calibrations.clone(),
        }))
    }
}
