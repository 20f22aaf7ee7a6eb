//! Interleaved raw frames, the content of live streams without a header.
//!
//! A frame is one sample of every channel, in their order; a sample is a signed integer of
//! 16, 24 or 32 bits or a 32-bit float. Bytes arrive in pieces of any size; [`FrameDecoder`] keeps
//! the bytes of an unfinished block. Invariant: a sample never changes its channel, however the
//! bytes are cut.

use std::str::FromStr;

use ndarray::Array2;
use pdm_service::clock::SharedClock;
use pdm_shared::units::SampleRate;

use super::alignment::{Alignment, Misplaced};
use super::sample_clock::{DEFAULT_RATE_TOLERANCE, SampleClock};
use super::{Block, Calibration, SourceFormat, SourceHost};

/// Most channels of a stream, the same as of a recording: far more than a rack of sensors has.
const MAX_CHANNELS: usize = 1024;

/// Most samples of a block and channel: 64 Mi samples of 8 bytes are 512 MiB.
const MAX_BLOCK_SAMPLES: usize = 64 * 1024 * 1024;

mod log;

/// The encoding of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// 16-bit signed integer.
    I16,
    /// 24-bit signed integer, three bytes.
    I24,
    /// 32-bit signed integer.
    I32,
    /// 32-bit float.
    F32,
    /// 16-bit signed integer, big-endian.
    I16Be,
    /// 24-bit signed integer, three bytes, big-endian.
    I24Be,
    /// 32-bit signed integer, big-endian.
    I32Be,
    /// 32-bit float, big-endian.
    F32Be,
}

impl Encoding {
    /// The names of the encodings in a configuration.
    pub const NAMES: [(&str, Self); 8] = [
        ("i16", Self::I16),
        ("i24", Self::I24),
        ("i32", Self::I32),
        ("f32", Self::F32),
        ("i16be", Self::I16Be),
        ("i24be", Self::I24Be),
        ("i32be", Self::I32Be),
        ("f32be", Self::F32Be),
    ];

    /// Bytes of a sample.
    pub const fn bytes(self) -> usize {
        match self {
            Self::I16 | Self::I16Be => 2,
            Self::I24 | Self::I24Be => 3,
            Self::I32 | Self::I32Be | Self::F32 | Self::F32Be => 4,
        }
    }

    /// Whether the high byte comes first.
    pub(super) const fn is_big_endian(self) -> bool {
        matches!(self, Self::I16Be | Self::I24Be | Self::I32Be | Self::F32Be)
    }

    /// The encoding with the other byte order.
    pub(super) const fn swapped(self) -> Self {
        match self {
            Self::I16 => Self::I16Be,
            Self::I24 => Self::I24Be,
            Self::I32 => Self::I32Be,
            Self::F32 => Self::F32Be,
            Self::I16Be => Self::I16,
            Self::I24Be => Self::I24,
            Self::I32Be => Self::I32,
            Self::F32Be => Self::F32,
        }
    }

    /// The largest number of an integer; `None` for floats.
    pub(crate) const fn full_scale(self) -> Option<f64> {
        match self {
            Self::I16 | Self::I16Be => Some(32_768.0),
            Self::I24 | Self::I24Be => Some(8_388_608.0),
            Self::I32 | Self::I32Be => Some(2_147_483_648.0),
            Self::F32 | Self::F32Be => None,
        }
    }

    /// The raw number; a slice of another length gives NaN.
    pub(super) fn decode(self, raw: &[u8]) -> f64 {
        match (self, raw) {
            (Self::I16, &[a, b]) => f64::from(i16::from_le_bytes([a, b])),
            (Self::I16Be, &[a, b]) => f64::from(i16::from_be_bytes([a, b])),
            // the three bytes are the upper ones of an i32, so that the shift extends the sign
            (Self::I24, &[a, b, c]) => f64::from(i32::from_le_bytes([0, a, b, c]) >> 8),
            (Self::I24Be, &[a, b, c]) => f64::from(i32::from_be_bytes([a, b, c, 0]) >> 8),
            (Self::I32, &[a, b, c, d]) => f64::from(i32::from_le_bytes([a, b, c, d])),
            (Self::I32Be, &[a, b, c, d]) => f64::from(i32::from_be_bytes([a, b, c, d])),
            (Self::F32, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            (Self::F32Be, &[a, b, c, d]) => f64::from(f32::from_be_bytes([a, b, c, d])),
            _ => f64::NAN,
        }
    }
}

impl FromStr for Encoding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::NAMES.iter().find(|(name, _)| *name == text);
        known.map(|(_, encoding)| *encoding).ok_or_else(|| {
            let names: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            format!("{text:?} is no encoding; allowed are {}", names.join(", "))
        })
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

/// Longest backlog of which the blocks wait for the newest frame, s, and most of its samples: 32
/// MiB.
const HELD: (f64, usize) = (60.0, 4 << 20);

/// Most frames of a backlog that wait.
pub(super) fn held_frames(format: &FrameFormat) -> usize {
    ((HELD.0 * format.sample_rate.get()) as usize).min(HELD.1 / format.channels.max(1))
}

/// Decodes bytes into blocks.
#[derive(Debug)]
pub struct FrameDecoder {
    format: FrameFormat,
    clock: SampleClock,
    alignment: Alignment,
    /// Bytes that arrived; the first `taken` of them are in blocks already.
    pending: Vec<u8>,
    taken: usize,
    /// Bytes of a frame that has not arrived whole.
    part_of_frame: usize,
    /// Bytes to come that are left out, so that the next one begins a frame.
    to_skip: usize,
    next_index: u64,
    /// True if the next block follows the last one without a gap.
    follows_on: bool,
}

impl FrameDecoder {
    /// A decoder for a format that [`FrameFormat::check`] accepts.
    pub fn new(format: FrameFormat, clock: SharedClock) -> Self {
        Self::at(format, DEFAULT_RATE_TOLERANCE, SourceHost::alone(clock, "stream"))
    }

    /// A decoder of a source whose rate may differ from that of the format by a share.
    pub(super) fn at(format: FrameFormat, rate_tolerance: f64, host: SourceHost) -> Self {
        Self {
            clock: SampleClock::new(format.sample_rate, rate_tolerance, host),
            alignment: Alignment::new(format.sample_rate),
            format,
            pending: Vec::new(),
            taken: 0,
            part_of_frame: 0,
            to_skip: 0,
            next_index: 0,
            follows_on: false,
        }
    }

    /// Number of bytes missing for a whole block.
    pub fn wanted(&self) -> usize {
        self.block_bytes().saturating_sub(self.waiting())
    }

    /// Adds bytes in the order of their arrival.
    pub fn push(&mut self, bytes: &[u8]) {
        let skipped = self.to_skip.min(bytes.len());
        self.to_skip -= skipped;
        let bytes = &bytes[skipped..];
        // a burst ends with a whole frame; where one is torn, the line was held up
        if self.part_of_frame == 0 && !bytes.is_empty() && self.clock.has_paused() {
            self.end_burst();
        }
        self.pending.extend_from_slice(bytes);
        let arrived = self.part_of_frame + bytes.len();
        self.part_of_frame = arrived % self.format.frame_bytes();
        if self.clock.arrived((arrived / self.format.frame_bytes()) as u64) {
            self.follows_on = false;
        }
    }

    /// The sender has paused: a block never spans a pause, so what the last burst left over is
    /// dropped.
    fn end_burst(&mut self) {
        let left = self.waiting() / self.format.frame_bytes().max(1);
        self.pending.clear();
        self.taken = 0;
        self.follows_on = false;
        let SourceHost { name, remarks, .. } = self.clock.host();
        if left == 0 {
            remarks.withdraw(name, "burst");
        } else {
            let text = format!(
                "{left} samples before a pause of the sender made no whole block and were not \
                 measured; block_s decides"
            );
            remarks.set(name, "burst", text);
            log::rest_of_burst(name, left as u64);
        }
    }

    /// Frames were lost: the bytes of the unfinished block are dropped, and the next block does not
    /// follow on.
    pub fn gap(&mut self) {
        self.pending.clear();
        self.taken = 0;
        self.part_of_frame = 0;
        self.to_skip = 0;
        self.follows_on = false;
        self.clock.gap();
    }

    /// Whether whole blocks are to wait, since what arrives has waited as well.
    pub(super) fn holds(&self) -> bool {
        let frames = self.waiting() / self.format.frame_bytes();
        frames < held_frames(&self.format) && self.clock.is_catching_up()
    }

    /// A whole block, if there is one.
    pub fn block(&mut self) -> Option<Block> {
        (self.wanted() == 0).then(|| self.cut(self.block_bytes()))
    }

    /// A whole block whose samples are in their places; a block in which a byte or a sample was
    /// lost is dropped, and what follows is put right.
    ///
    /// # Errors
    /// The reason if the bytes are not of the configured encoding.
    pub(super) fn aligned_block(&mut self) -> Result<Option<Block>, String> {
        while self.wanted() == 0 {
            let from = self.taken;
            let bytes = self.pending[from..from + self.block_bytes()].to_vec();
            let block = self.cut(self.block_bytes());
            let encoding = self.format.encoding;
            let was_known = self.alignment.is_known();
            let accel = &block.accel_m_s2;
            let skipped = match self.alignment.look(&bytes, encoding, accel) {
                None => return Ok(Some(block)),
                Some(Misplaced::Bytes(shift)) if was_known && shift > 0 => shift,
                Some(Misplaced::Bytes(_)) => {
                    return Err(
                        "the samples fill the whole range and would not with the other byte \
                                order (encoding i16be, i24be, i32be): it is another one, or a byte \
                                too many or too few came"
                            .to_owned(),
                    );
                }
                Some(Misplaced::Channels(turn)) => (self.format.channels - turn) * encoding.bytes(),
            };
            log::misplaced(&self.clock.host().name, skipped, encoding.bytes());
            // the block is dropped with its index given back, so that indices have no gap
            self.next_index -= 1;
            self.follows_on = false;
            self.skip(skipped);
        }
        Ok(None)
    }

    /// Leaves bytes out, so that the next one begins a frame.
    fn skip(&mut self, bytes: usize) {
        let here = bytes.min(self.waiting());
        self.taken += here;
        self.to_skip = bytes - here;
        self.part_of_frame = self.waiting() % self.format.frame_bytes();
    }

    /// The rest at the end of the stream: a shorter block, if there is at least one frame.
    pub fn rest(&mut self) -> Option<Block> {
        let whole = self.waiting() / self.format.frame_bytes() * self.format.frame_bytes();
        (whole > 0).then(|| self.cut(whole))
    }

    /// Bytes that are in no block yet.
    fn waiting(&self) -> usize {
        self.pending.len().saturating_sub(self.taken)
    }

    fn block_bytes(&self) -> usize {
        self.format.frame_bytes() * self.format.block_samples
    }

    fn cut(&mut self, bytes: usize) -> Block {
        let end = self.taken + bytes;
        let frames_waiting = (self.waiting() / self.format.frame_bytes()) as u64;
        let started_at = Some(self.clock.began(self.clock.frames().saturating_sub(frames_waiting)));
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
        Block {
            index,
            started_at,
            follows_on,
            rate: self.clock.rate(),
            input: None,
            values: None,
            accel_m_s2,
        }
    }
}

#[cfg(test)]
mod tests;
