//! Interleaved little-endian frames, the content of live streams.
//!
//! A frame is one sample of every channel, in their order; a sample is a 16-bit or 24-bit signed
//! integer or a 32-bit float. Bytes arrive in pieces of any size; [`FrameDecoder`] keeps the bytes
//! of an unfinished block. Invariant: a sample never changes its channel, however the bytes are
//! cut.

use std::str::FromStr;

use ndarray::Array2;
use pdm_service::clock::SharedClock;
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

use super::{Block, Calibration, SourceFormat};

/// Most channels of a stream, the same as of a recording: far more than a rack of sensors has.
const MAX_CHANNELS: usize = 1024;

/// Most samples of a block and channel: 64 Mi samples of 8 bytes are 512 MiB.
const MAX_BLOCK_SAMPLES: usize = 64 * 1024 * 1024;

/// The encoding of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// 16-bit signed integer.
    I16,
    /// 24-bit signed integer, three bytes.
    I24,
    /// 32-bit float.
    F32,
}

impl Encoding {
    /// Bytes of a sample.
    pub const fn bytes(self) -> usize {
        match self {
            Self::I16 => 2,
            Self::I24 => 3,
            Self::F32 => 4,
        }
    }

    /// The raw number; a slice of another length gives NaN.
    fn decode(self, raw: &[u8]) -> f64 {
        match (self, raw) {
            (Self::I16, &[a, b]) => f64::from(i16::from_le_bytes([a, b])),
            // the three bytes are the upper ones of an i32, so that the shift extends the sign
            (Self::I24, &[a, b, c]) => f64::from(i32::from_le_bytes([0, a, b, c]) >> 8),
            (Self::F32, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            _ => f64::NAN,
        }
    }
}

impl FromStr for Encoding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "i16" => Ok(Self::I16),
            "i24" => Ok(Self::I24),
            "f32" => Ok(Self::F32),
            _ => Err(format!("{text:?} is no encoding; allowed are i16, i24 and f32")),
        }
    }
}

/// The form of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameFormat {
    /// Samples of a frame.
    pub channels: usize,
    /// Frames per second.
    pub sample_rate: SampleRate,
    /// The encoding of a sample.
    pub encoding: Encoding,
    /// Frames of a block.
    pub block_samples: usize,
    /// One calibration for all channels, or one for each channel; empty: samples in g.
    pub calibrations: Vec<Calibration>,
}

/// A number of a stream's form is out of range. The caller reports the error with its key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {got}, allowed is {allowed}")]
pub struct FrameFormatError {
    what: &'static str,
    got: usize,
    allowed: String,
}

impl FrameFormat {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`FrameFormatError`] with the number that is out of range.
    pub fn check(&self) -> Result<(), FrameFormatError> {
        let within = |what, got, most: usize| {
            let allowed = format!("1 to {most}");
            if (1..=most).contains(&got) {
                Ok(())
            } else {
                Err(FrameFormatError { what, got, allowed })
            }
        };
        within("number of channels", self.channels, MAX_CHANNELS)?;
        within("number of samples of a block", self.block_samples, MAX_BLOCK_SAMPLES)?;
        let given = self.calibrations.len();
        if given > 1 && given != self.channels {
            let allowed = format!("0, 1 or {}", self.channels);
            return Err(FrameFormatError { what: "number of calibrations", got: given, allowed });
        }
        Ok(())
    }

    /// The format of the source's blocks.
    pub const fn source_format(&self) -> SourceFormat {
        let block_samples = Some(self.block_samples);
        SourceFormat { channels: self.channels, sample_rate: self.sample_rate, block_samples }
    }

    /// Bytes of a frame.
    pub const fn frame_bytes(&self) -> usize {
        self.channels * self.encoding.bytes()
    }

    /// The whole frames in `bytes` as acceleration, m/s², channel × sample. Bytes of an unfinished
    /// frame are left out.
    fn decode(&self, bytes: &[u8]) -> Array2<f64> {
        let width = self.encoding.bytes();
        let samples = bytes.len() / self.frame_bytes();
        Array2::from_shape_fn((self.channels, samples), |(channel, sample)| {
            let at = sample * self.frame_bytes() + channel * width;
            let raw = self.encoding.decode(&bytes[at..at + width]);
            let calibration = match self.calibrations.as_slice() {
                [] => Calibration::default(),
                [one] => *one,
                many => many[channel],
            };
            calibration.to_m_s2(raw)
        })
    }
}

/// Decodes bytes into blocks.
#[derive(Debug)]
pub struct FrameDecoder {
    format: FrameFormat,
    clock: SharedClock,
    /// Bytes that arrived; the first `taken` of them are in blocks already.
    pending: Vec<u8>,
    taken: usize,
    next_index: u64,
    /// True if the next block follows the last one without a gap.
    follows_on: bool,
}

impl FrameDecoder {
    /// A decoder for a format that [`FrameFormat::check`] accepts.
    pub fn new(format: FrameFormat, clock: SharedClock) -> Self {
        Self { format, clock, pending: Vec::new(), taken: 0, next_index: 0, follows_on: false }
    }

    /// Number of bytes missing for a whole block.
    pub fn wanted(&self) -> usize {
        self.block_bytes().saturating_sub(self.waiting())
    }

    /// Adds bytes in the order of their arrival.
    pub fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// Frames were lost: the bytes of the unfinished block are dropped, and the next block does not
    /// follow on.
    pub fn gap(&mut self) {
        self.pending.clear();
        self.taken = 0;
        self.follows_on = false;
    }

    /// A whole block, if there is one.
    pub fn block(&mut self) -> Option<Block> {
        (self.wanted() == 0).then(|| self.cut(self.block_bytes()))
    }

    /// The rest at the end of the stream: a shorter block, if there is at least one frame.
    pub fn rest(&mut self) -> Option<Block> {
        let whole = self.waiting() / self.format.frame_bytes() * self.format.frame_bytes();
        (whole > 0).then(|| self.cut(whole))
    }

    /// Bytes that are in no block yet.
    fn waiting(&self) -> usize {
        self.pending.len() - self.taken
    }

    fn block_bytes(&self) -> usize {
        self.format.frame_bytes() * self.format.block_samples
    }

    fn cut(&mut self, bytes: usize) -> Block {
        let end = self.taken + bytes;
        let accel_m_s2 = self.format.decode(&self.pending[self.taken..end]);
        self.taken = end;
        // The rest is moved to the front only if it is the smaller part. With a move for each
        // block, a long message of many short blocks would be copied once a block.
        if self.waiting() <= self.taken {
            self.pending.drain(..self.taken);
            self.taken = 0;
        }
        let index = self.next_index;
        self.next_index += 1;
        let follows_on = std::mem::replace(&mut self.follows_on, true);
        let started_at = Some(self.began(accel_m_s2.ncols()));
        Block { index, started_at, follows_on, accel_m_s2 }
    }

    /// Time of the first of `samples`, the last of which has just arrived.
    fn began(&self, samples: usize) -> Timestamp {
        let duration_s = samples as f64 / self.format.sample_rate.get();
        self.clock.now().plus_seconds(-duration_s)
    }
}

#[cfg(test)]
mod tests;
