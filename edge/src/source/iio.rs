//! Accelerometers of Linux' Industrial I/O, read from their character device.
//!
//! The driver's folder (`/sys/bus/iio/devices/iio:device0`) describes a scan: for each channel
//! `scan_elements/in_accel_x_{en,index,type}`, its scale in m/s² per count (`in_accel_x_scale`,
//! else `in_accel_scale`) and offset in counts, and the rate (`sampling_frequency`, or
//! `in_accel_sampling_frequency`). A voltage (`in_voltage0`, mV per count) needs the sensitivity of
//! the sensor behind it. `type` is `[be|le]:[s|u]bits/storagebits>>shift`. A scan holds the enabled
//! elements in the order of their index, each aligned to its own size, the whole aligned to the
//! largest. Source: Linux kernel documentation, *Industrial I/O*, "Buffers", and
//! `Documentation/ABI/testing/sysfs-bus-iio`.
//!
//! Opening enables the acceleration channels, sets the buffer's length and enables the buffer.
//! Dropping the source disables the buffer. No library is needed.
//!
//! The kernel does not say when its buffer was full and scans were dropped. The scans after them
//! arrive late for good, which the clock of the samples finds ([`super::sample_clock`]); the next
//! block then does not follow on.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ndarray::Array2;
use pdm_shared::units::SampleRate;

use super::interpretation::believed_rate;
use super::sample_clock::{DEFAULT_RATE_TOLERANCE, SampleClock};
use super::{Block, Calibration, Source, SourceError, SourceFormat, SourceHost};

mod scan;

use scan::Scan;

/// Length of the kernel's buffer, in blocks: with blocks of 0.25 s the reader may be a second late.
const BUFFERED_BLOCKS: usize = 4;

/// A device and its blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct IioSettings {
    /// The driver's folder, such as `/sys/bus/iio/devices/iio:device0`.
    pub folder: PathBuf,
    /// The character device, such as `/dev/iio:device0`.
    pub device: PathBuf,
    /// Names of the channels, such as `accel_x`, in the order of the block's rows; empty: all
    /// accelerations.
    pub channels: Vec<String>,
    /// Samples of a block.
    pub block_samples: usize,
    /// Name of the trigger that makes the device sample; `None`: as the device is set.
    pub trigger: Option<String>,
    /// One calibration for all channels, or one for each: the sensitivity behind a voltage.
    pub calibrations: Vec<Calibration>,
}

#[derive(Debug)]
struct Iio {
    settings: IioSettings,
    device: File,
    scan: Scan,
    format: SourceFormat,
    clock: SampleClock,
    next_index: u64,
}

/// Sets the device up and opens it.
///
/// # Errors
/// [`SourceError`] if the device does not exist, refuses a setting, or has a description that
/// cannot be decoded.
pub fn open_iio(settings: &IioSettings, host: &SourceHost) -> Result<Box<dyn Source>, SourceError> {
    let folder = &settings.folder;
    if settings.block_samples == 0 {
        return Err(SourceError::options(folder, "a block of 0 samples; allowed is 1 or more"));
    }
    let sample_rate = sampling_frequency(folder)?;
    // settings of an enabled buffer cannot be changed
    write(&folder.join("buffer/enable"), "0")?;
    if let Some(trigger) = &settings.trigger {
        write(&folder.join("trigger/current_trigger"), trigger)?;
    }
    let scan = Scan::set_up(folder, &settings.channels)?;
    if let Some(channel) = (0..scan.channels())
        .find(|&channel| scan.is_voltage(channel) && !calibration(settings, channel).is_voltage())
    {
        let what = format!(
            "channel {channel} is a voltage; sensitivity_mv_per_g of the source or of its channel \
             is needed"
        );
        return Err(SourceError::options(folder, what));
    }
    write(&folder.join("buffer/length"), &(settings.block_samples * BUFFERED_BLOCKS).to_string())?;
    write(&folder.join("buffer/enable"), "1")?;
    let device =
        File::open(&settings.device).map_err(|e| SourceError::from_io(&settings.device, e))?;
    let block_samples = Some(settings.block_samples);
    let format = SourceFormat { channels: scan.channels(), sample_rate, block_samples };
    let clock = SampleClock::new(sample_rate, DEFAULT_RATE_TOLERANCE, host.clone());
    Ok(Box::new(Iio { settings: settings.clone(), device, scan, format, clock, next_index: 0 }))
}

impl Source for Iio {
    fn format(&self) -> &SourceFormat {
        &self.format
    }

    fn next_block(&mut self) -> Result<Option<Block>, SourceError> {
        let samples = self.settings.block_samples;
        let mut bytes = vec![0u8; samples * self.scan.bytes()];
        self.device.read_exact(&mut bytes).map_err(|source| {
            let why = if source.kind() == io::ErrorKind::UnexpectedEof {
                io::Error::new(source.kind(), "the device gives no more samples")
            } else {
                source
            };
            SourceError::Io { path: self.settings.device.clone(), source: why }
        })?;
        let mut accel_m_s2 = Array2::zeros((self.format.channels, samples));
        for (sample, raw) in bytes.chunks_exact(self.scan.bytes()).enumerate() {
            for channel in 0..self.format.channels {
                let value = self.scan.value(raw, channel);
                accel_m_s2[[channel, sample]] = if self.scan.is_voltage(channel) {
                    calibration(&self.settings, channel).to_m_s2(value)
                } else {
                    value
                };
            }
        }
        let index = self.next_index;
        self.next_index += 1;
        // the kernel drops scans without a word when its buffer is full; the others then come late
        let has_lost = self.clock.arrived(samples as u64);
        let follows_on = index > 0 && !has_lost;
        let first = self.clock.frames().saturating_sub(samples as u64);
        let started_at = Some(self.clock.began(first));
        let rate = self.clock.rate();
        Ok(Some(Block {
            index,
            started_at,
            follows_on,
            rate,
            input: None,
            values: None,
            accel_m_s2,
        }))
    }

    fn expected_blocks(&self) -> Option<u64> {
        None
    }
}

impl Drop for Iio {
    fn drop(&mut self) {
        // an error is ignored: the device may be gone, and the source is not used any more
        let _ = fs::write(self.settings.folder.join("buffer/enable"), "0");
    }
}

/// The rate of the device, or that of its kind of channels.
fn sampling_frequency(folder: &Path) -> Result<SampleRate, SourceError> {
    let names =
        ["sampling_frequency", "in_accel_sampling_frequency", "in_voltage_sampling_frequency"];
    let known = names.iter().map(|name| folder.join(name)).find(|path| path.exists());
    let path = known.unwrap_or_else(|| folder.join(names[0]));
    let rate = read_number(&path)?;
    believed_rate(rate).map_err(|what| SourceError::malformed(&path, what))
}

/// The calibration of a channel.
fn calibration(settings: &IioSettings, channel: usize) -> Calibration {
    match settings.calibrations.as_slice() {
        [] => Calibration::default(),
        [one] => *one,
        many => many.get(channel).copied().unwrap_or_default(),
    }
}

fn read(path: &Path) -> Result<String, SourceError> {
    let text = fs::read_to_string(path).map_err(|e| SourceError::from_io(path, e))?;
    Ok(text.trim().to_owned())
}

fn read_number(path: &Path) -> Result<f64, SourceError> {
    let text = read(path)?;
    text.parse().map_err(|_| SourceError::malformed(path, format!("{text:?} is no number")))
}

fn write(path: &Path, value: &str) -> Result<(), SourceError> {
    fs::write(path, value).map_err(|e| SourceError::from_io(path, e))
}

#[cfg(test)]
mod tests;
