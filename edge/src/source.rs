//! Sources of vibration: recordings, streams, devices, the simulator.
//!
//! First stage of the flow: a [`Source`] delivers [`Block`]s of channel × sample, which the stage
//! `window` cuts. Raw numbers are converted to m/s² here and nowhere else ([`Calibration`]).
//!
//! Invariants: every block of a source has `format().channels` rows and the rate of the format; a
//! sample that is not a finite number stays as NaN (the stage `quality` judges it); blocks come in
//! the order of time.

use ndarray::Array2;
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

pub mod calibration;
pub mod error;
pub mod frames;
pub mod iio;
mod input;
pub mod mqtt;
pub mod recording;
pub mod simulator;
pub mod speed_tag;
pub mod stream;

pub use calibration::{AccelUnit, Calibration};
pub use error::SourceError;
pub use input::SourceInput;
pub use recording::{RecordingOptions, open_content, open_recording, open_sequence};

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

    /// The number of blocks in all, if it is known.
    fn expected_blocks(&self) -> Option<u64>;
}
