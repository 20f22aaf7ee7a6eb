//! Interleaved little-endian frames: what live streams carry.
//!
//! A frame is one sample of every channel, in their order; a sample is a 16-bit or 24-bit signed
//! integer or a 32-bit float. Bytes arrive in pieces of any size; [`FrameDecoder`] keeps what is
//! not yet a whole block. Invariant: a sample never moves to another channel, however the bytes
//! are cut.

use std::str::FromStr;

use ndarray::Array2;
use pdm_service::clock::SharedClock;
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

use super::{Block, Calibration, SourceFormat};

/// Most channels of a stream. Chosen: as for recordings.
const MAX_CHANNELS: usize = 1024;

/// Most samples of a block and channel. Chosen: 64 Mi are 512 MiB.
const MAX_BLOCK_SAMPLES: usize = 64 * 1024 * 1024;

/// How a sample is written.
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
            // the three bytes stand in the upper part, so that the sign comes along
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

/// What a stream carries.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameFormat {
    /// Samples of a frame.
    pub channels: usize,
    /// Frames per second.
    pub sample_rate: SampleRate,
    /// How a sample is written.
    pub encoding: Encoding,
    /// Frames of a block.
    pub block_samples: usize,
    /// One calibration for all channels, or one a channel; empty: samples in g.
    pub calibrations: Vec<Calibration>,
}

/// A stream that cannot be. The caller reports it with the key it came from.
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
    /// [`FrameFormatError`] names the one that is out of range.
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

    /// Whole frames as acceleration, m/s², channel × sample; bytes of an unfinished frame are left
    /// out.
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

/// Bytes in, blocks out.
#[derive(Debug)]
pub struct FrameDecoder {
    format: FrameFormat,
    clock: SharedClock,
    /// What came in; the first `taken` bytes are in blocks already.
    pending: Vec<u8>,
    taken: usize,
    next_index: u64,
    /// The next block follows the last one without a gap.
    follows_on: bool,
}

impl FrameDecoder {
    /// A decoder of a format that was checked ([`FrameFormat::check`]).
    pub fn new(format: FrameFormat, clock: SharedClock) -> Self {
        Self { format, clock, pending: Vec::new(), taken: 0, next_index: 0, follows_on: false }
    }

    /// Bytes that are missing for a whole block.
    pub fn wanted(&self) -> usize {
        self.block_bytes().saturating_sub(self.waiting())
    }

    /// Takes bytes as they come.
    pub fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// Frames were lost: what waits is given up, and the next block stands alone.
    pub fn gap(&mut self) {
        self.pending.clear();
        self.taken = 0;
        self.follows_on = false;
    }

    /// A whole block, if there is one.
    pub fn block(&mut self) -> Option<Block> {
        (self.wanted() == 0).then(|| self.cut(self.block_bytes()))
    }

    /// What is left at the end: a shorter block, if there is at least one frame.
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
        // what is left moves to the front only where it is the smaller part: a long message of many
        // short blocks is copied once, not once a block
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

    /// When the first of `samples` was taken whose last has just arrived.
    fn began(&self, samples: usize) -> Timestamp {
        let duration_s = samples as f64 / self.format.sample_rate.get();
        self.clock.now().plus_seconds(-duration_s)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pdm_service::clock::SystemClock;
    use pdm_shared::units::M_S2_PER_G;
    use proptest::prelude::*;

    use super::*;

    fn format(encoding: Encoding) -> FrameFormat {
        let sample_rate = SampleRate::new(1000.0).expect("valid");
        FrameFormat { channels: 2, sample_rate, encoding, block_samples: 2, calibrations: vec![] }
    }

    #[test]
    fn every_encoding_keeps_sign_and_channel() {
        let i16s = [1i16, -2, 300, -400].map(i16::to_le_bytes).concat();
        let i24s: Vec<u8> =
            [1i32, -2, 300, -400].iter().flat_map(|v| v.to_le_bytes()[..3].to_vec()).collect();
        let f32s = [1f32, -2.0, 300.0, -400.0].map(f32::to_le_bytes).concat();
        for (encoding, bytes) in
            [(Encoding::I16, i16s), (Encoding::I24, i24s), (Encoding::F32, f32s)]
        {
            let accel = format(encoding).decode(&bytes) / M_S2_PER_G;
            let expected = ndarray::arr2(&[[1.0, 300.0], [-2.0, -400.0]]);
            assert!((accel - expected).iter().all(|d| d.abs() < 1e-9), "{encoding:?}");
        }
    }

    #[test]
    fn a_format_out_of_range_is_refused() {
        let error = FrameFormat { channels: 0, ..format(Encoding::I16) }.check().expect_err("0");
        assert_eq!(error.to_string(), "number of channels is 0, allowed is 1 to 1024");
        let three = vec![Calibration::default(); 3];
        assert!(FrameFormat { calibrations: three, ..format(Encoding::I16) }.check().is_err());
        assert!("i32".parse::<Encoding>().is_err());
    }

    /// What is left was copied once a block: a message of 16 MiB in blocks of two frames never ended.
    #[test]
    fn a_long_message_of_short_blocks_is_moved_only_once() {
        let mut decoder = FrameDecoder::new(format(Encoding::I16), Arc::new(SystemClock));
        decoder.push(&[0; 8 * 100]);
        let mut moves = 0;
        while decoder.block().is_some() {
            moves += usize::from(decoder.taken == 0);
        }
        assert!(moves <= 7, "moved {moves} times"); // halves of 100 blocks
        assert_eq!(decoder.wanted(), 8);
    }

    #[test]
    fn after_a_gap_a_block_stands_alone() {
        let mut decoder = FrameDecoder::new(format(Encoding::I16), Arc::new(SystemClock));
        decoder.push(&[0; 8 + 3]);
        assert!(!decoder.block().expect("whole").follows_on);
        decoder.push(&[0; 5]);
        assert!(decoder.block().expect("whole").follows_on);
        decoder.push(&[0; 7]);
        decoder.gap();
        decoder.push(&[0; 8]);
        assert!(!decoder.block().expect("whole").follows_on);
    }

    proptest! {
        #[test]
        fn however_the_bytes_are_cut_the_samples_are_the_same(
            samples in proptest::collection::vec(any::<i16>(), 0..60), cut in 1usize..9
        ) {
            let bytes: Vec<u8> = samples.iter().flat_map(|s| s.to_le_bytes()).collect();
            let mut decoder = FrameDecoder::new(format(Encoding::I16), Arc::new(SystemClock));
            let mut got = Vec::new();
            let mut take = |block: Block| {
                for frame in block.accel_m_s2.columns() {
                    got.extend(frame.iter().map(|a| (a / M_S2_PER_G).round()));
                }
            };
            for piece in bytes.chunks(cut) {
                decoder.push(piece);
                while let Some(block) = decoder.block() {
                    take(block);
                }
            }
            decoder.rest().map(&mut take);
            let whole = samples.len() / 2 * 2;
            let expected: Vec<f64> = samples[..whole].iter().map(|&s| f64::from(s)).collect();
            prop_assert_eq!(got, expected);
        }
    }
}
