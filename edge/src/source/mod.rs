//! Where vibration comes from: recordings, streams, the simulator.
//!
//! First stage of the flow: a [`Source`] hands out [`Block`]s of channel × sample to
//! [`crate::window`]. Raw numbers become m/s² here and nowhere else ([`Calibration`]).
//!
//! Invariants: every block of a source has `format().channels` rows and the rate of the format;
//! a sample that is not a finite number stays as NaN (signal quality judges it); blocks come in
//! the order of time.

use ndarray::Array2;
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

pub mod calibration;
pub mod error;
pub mod frames;
pub mod iio;
pub mod mqtt;
pub mod recording;
pub mod simulator;
pub mod stream;

pub use calibration::{AccelUnit, Calibration};
pub use error::SourceError;
pub use recording::{RecordingOptions, open_content, open_recording, open_sequence};

/// What a source delivers.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceFormat {
    /// Rows of every block.
    pub channels: usize,
    /// Samples per second of each channel.
    pub sample_rate: SampleRate,
    /// Samples per channel of every block where all are equally long and that is known, as in a
    /// recording of snapshots.
    pub block_samples: Option<usize>,
}

/// A stretch of samples, all channels side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Position in the source, from 0, without gaps.
    pub index: u64,
    /// When its first sample was taken, where the source knows.
    pub started_at: Option<Timestamp>,
    /// Its first sample follows the last one of the block before without a gap. False for the
    /// first block, for snapshots, and after samples were lost.
    pub follows_on: bool,
    /// Acceleration, m/s², channel × sample. NaN where the source had no finite number.
    pub accel_m_s2: Array2<f64>,
}

/// Something that delivers vibration block by block.
///
/// Calls may block on files or sockets: a runtime calls them on a thread of their own.
pub trait Source: Send {
    /// What the blocks look like; the same during the whole life of the source.
    fn format(&self) -> &SourceFormat;

    /// The next block, or `None` at the end.
    ///
    /// # Errors
    /// [`SourceError`]; after one the source is at its end.
    fn next_block(&mut self) -> Result<Option<Block>, SourceError>;

    /// Passes over up to `count` blocks and says over how many: to go on where a run stopped.
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

    /// How many blocks there will be in all, where that is known.
    fn expected_blocks(&self) -> Option<u64>;
}
