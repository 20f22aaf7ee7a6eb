//! Accelerometers of Linux' Industrial I/O, read from their character device.
//!
//! The driver's folder (`/sys/bus/iio/devices/iio:device0`) describes a scan: for each channel
//! `scan_elements/in_accel_x_{en,index,type}`, its scale in m/s² per count (`in_accel_x_scale`,
//! else `in_accel_scale`) and offset in counts, and the rate (`sampling_frequency`). `type` is
//! `[be|le]:[s|u]bits/storagebits>>shift`. A scan holds the enabled elements in the order of their
//! index, each aligned to its own size, the whole aligned to the largest. Source: Linux kernel
//! documentation, *Industrial I/O*, "Buffers", and `Documentation/ABI/testing/sysfs-bus-iio`.
//!
//! Opening enables the acceleration channels, sets the buffer's length and enables the buffer.
//! Dropping the source disables the buffer. No library is needed.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ndarray::Array2;
use pdm_service::clock::SharedClock;
use pdm_shared::units::SampleRate;

use super::{Block, Source, SourceError, SourceFormat};

mod scan;

use scan::Scan;

/// Length of the kernel's buffer, in blocks: with blocks of 0.25 s the reader may be a second late.
const BUFFERED_BLOCKS: usize = 4;

/// A device and its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
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
}

#[derive(Debug)]
struct Iio {
    settings: IioSettings,
    device: File,
    scan: Scan,
    format: SourceFormat,
    clock: SharedClock,
    next_index: u64,
}

/// Sets the device up and opens it.
///
/// # Errors
/// [`SourceError`] if the device does not exist, refuses a setting, or has a description that
/// cannot be decoded.
pub fn open_iio(
    settings: &IioSettings,
    clock: SharedClock,
) -> Result<Box<dyn Source>, SourceError> {
    let folder = &settings.folder;
    if settings.block_samples == 0 {
        return Err(SourceError::options(folder, "a block of 0 samples; allowed is 1 or more"));
    }
    let rate = read_number(&folder.join("sampling_frequency"))?;
    let sample_rate = SampleRate::new(rate)
        .map_err(|e| SourceError::malformed(&folder.join("sampling_frequency"), e.to_string()))?;
    // settings of an enabled buffer cannot be changed
    write(&folder.join("buffer/enable"), "0")?;
    let scan = Scan::set_up(folder, &settings.channels)?;
    write(&folder.join("buffer/length"), &(settings.block_samples * BUFFERED_BLOCKS).to_string())?;
    write(&folder.join("buffer/enable"), "1")?;
    let device =
        File::open(&settings.device).map_err(|e| SourceError::from_io(&settings.device, e))?;
    let block_samples = Some(settings.block_samples);
    let format = SourceFormat { channels: scan.channels(), sample_rate, block_samples };
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
                accel_m_s2[[channel, sample]] = self.scan.accel_m_s2(raw, channel);
            }
        }
        let index = self.next_index;
        self.next_index += 1;
        let duration_s = samples as f64 / self.format.sample_rate.get();
        let started_at = Some(self.clock.now().plus_seconds(-duration_s));
        Ok(Some(Block { index, started_at, follows_on: index > 0, accel_m_s2 }))
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
