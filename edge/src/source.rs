//! Sources of vibration: recordings, streams, devices, the simulator.
//!
//! First stage of the flow: a [`Source`] delivers [`Block`]s of channel × sample, which the stage
//! `window` cuts. Raw numbers are converted to m/s² here and nowhere else ([`Calibration`]).
//!
//! Invariants: every block of a source has `format().channels` rows and the rate of the format; a
//! sample that is not a finite number stays as NaN (the stage `quality` judges it); blocks come in
//! the order of time.

use std::sync::Arc;

use ndarray::Array2;
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

mod alignment;
pub mod alsa;
mod burst;
pub mod calibration;
pub mod decoder;
pub mod error;
pub mod folder;
pub mod framed;
pub mod frames;
pub mod iio;
mod input;
mod interleaved;
pub mod interpretation;
pub mod json_burst;
pub mod listen;
pub mod modbus;
pub mod mqtt;
mod no_value;
pub mod opcua;
pub mod recording;
mod sample_clock;
pub mod shaft_speed;
pub mod simulator;
pub mod sparkplug;
pub mod speed_tag;
pub mod stream;
mod time_axis;
pub mod values;

pub use calibration::{AccelUnit, Calibration};
pub use error::SourceError;
pub use input::{SourceHost, SourceInput};
pub use interpretation::{Interpretation, Preferred};
pub use recording::{RecordingOptions, open_content, open_recording, open_sequence};
pub use sample_clock::DEFAULT_RATE_TOLERANCE;

/// The form of a source's blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceFormat {
    /// Rows of every block.
    pub channels: usize,
    /// Samples per second of each channel.
    pub sample_rate: SampleRate,
    /// Samples per channel of every block, if all blocks are equally long and the length is known,
    /// as in a recording of snapshots.
    pub block_samples: Option<usize>,
}

/// The rate of a block's samples.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum BlockRate {
    /// The rate of the source's format.
    #[default]
    Format,
    /// Another one, which the file states.
    Stated(SampleRate),
    /// The rate as it was measured by the gateway's clock; that of the format is the nominal one.
    Measured {
        /// The true rate.
        rate: SampleRate,
        /// It is further from the nominal one than is configured.
        is_off: bool,
        /// The rate that the sender itself states; `None` if it states none.
        stated: Option<SampleRate>,
    },
}

impl BlockRate {
    /// The rate, where it is not that of the format.
    pub const fn own(self) -> Option<SampleRate> {
        match self {
            Self::Format => None,
            Self::Stated(rate) | Self::Measured { rate, .. } => Some(rate),
        }
    }

    /// The rate that the sender states with the samples, where it does.
    pub const fn stated(self) -> Option<SampleRate> {
        match self {
            Self::Format => None,
            Self::Stated(rate) => Some(rate),
            Self::Measured { stated, .. } => stated,
        }
    }
}

/// A stretch of samples, all channels side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Position in the source, from 0, without gaps.
    pub index: u64,
    /// Time of the first sample, if the source knows it.
    pub started_at: Option<Timestamp>,
    /// True if the first sample follows the last one of the block before without a gap. False for
    /// the first block, for snapshots, and after samples were lost.
    pub follows_on: bool,
    /// The rate of these samples.
    pub rate: BlockRate,
    /// How the samples were read, where they are from a file.
    pub input: Option<Arc<Interpretation>>,
    /// The values of a transmitter that gives no samples; the block then has none.
    pub values: Option<Box<values::PointValues>>,
    /// Acceleration, m/s², channel × sample. NaN where the source had no finite number.
    pub accel_m_s2: Array2<f64>,
}

/// A source of vibration, read block by block.
///
/// Calls block on files, devices or sockets, so they must not be made on a thread of an async
/// runtime.
pub trait Source: Send {
    /// The form of the blocks, which never changes while the source is open.
    fn format(&self) -> &SourceFormat;

    /// The next block, or `None` at the end.
    ///
    /// # Errors
    /// [`SourceError`]; the source delivers no block after an error.
    fn next_block(&mut self) -> Result<Option<Block>, SourceError>;

    /// Skips up to `count` blocks, to continue where an earlier run stopped; returns how many
    /// blocks were skipped.
    ///
    /// # Errors
    /// As [`Self::next_block`].
    fn skip_blocks(&mut self, count: u64) -> Result<u64, SourceError> {
        let mut skipped = 0;
        while skipped < count && self.next_block()?.is_some() {
            skipped += 1;
        }
        Ok(skipped)
    }

    /// Returns how the source is read, where it is a file: of the file at hand, if there are
    /// several.
    fn interpretation(&self) -> Option<&Arc<Interpretation>> {
        None
    }

    /// The number of blocks in all, if it is known.
    fn expected_blocks(&self) -> Option<u64>;
}
