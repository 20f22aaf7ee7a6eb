//! The form of a live stream's bytes, and the decoder of each form.

use super::framed::FramedDecoder;
use super::frames::{FrameDecoder, FrameFormat};
use super::{Block, SourceHost};

/// The form of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamFormat {
    /// Channels, rate, encoding, blocks and calibration.
    pub frames: FrameFormat,
    /// Whether the bytes have a header.
    pub form: StreamForm,
    /// Share by which the true rate may differ from that of `frames`.
    pub rate_tolerance: f64,
}

/// Whether a stream's bytes have a header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StreamForm {
    /// Interleaved samples without a header.
    #[default]
    Raw,
    /// `pdm.frames/1`; encoding and calibration come with the blocks.
    Framed,
}

/// A decoder of either form.
#[derive(Debug)]
pub(super) enum StreamDecoder {
    Raw(FrameDecoder),
    Framed(FramedDecoder),
}

/// Bytes that are read at once of a stream whose blocks are not known beforehand.
const FRAMED_PIECE: usize = 64 * 1024;

impl StreamDecoder {
    pub(super) fn new(format: &StreamFormat, host: SourceHost) -> Self {
        let (frames, tolerance) = (format.frames.clone(), format.rate_tolerance);
        match format.form {
            StreamForm::Raw => Self::Raw(FrameDecoder::at(frames, tolerance, host)),
            StreamForm::Framed => Self::Framed(FramedDecoder::new(frames, tolerance, host)),
        }
    }

    /// Most bytes that are useful now.
    pub(super) fn wanted(&self) -> usize {
        match self {
            Self::Raw(decoder) if !decoder.holds() => decoder.wanted(),
            Self::Raw(_) | Self::Framed(_) => FRAMED_PIECE,
        }
    }

    /// Adds bytes in the order of their arrival.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        match self {
            Self::Raw(decoder) => {
                decoder.push(bytes);
                Ok(())
            }
            Self::Framed(decoder) => decoder.push(bytes),
        }
    }

    /// A whole block, if there is one.
    pub(super) fn block(&mut self) -> Result<Option<Block>, String> {
        match self {
            Self::Raw(decoder) => decoder.aligned_block(),
            Self::Framed(decoder) => Ok(decoder.block()),
        }
    }

    /// Whether whole blocks are to wait: a backlog arrives, which its newest frame dates.
    pub(super) fn holds(&self) -> bool {
        match self {
            Self::Raw(decoder) => decoder.holds(),
            Self::Framed(decoder) => decoder.holds(),
        }
    }

    /// Notes another connection: for raw frames nothing tells what is missing before it.
    pub(super) fn reconnected(&mut self) {
        match self {
            Self::Raw(decoder) => decoder.gap(),
            Self::Framed(decoder) => decoder.reconnected(),
        }
    }

    /// The rest at the end of the stream.
    pub(super) fn rest(&mut self) -> Option<Block> {
        match self {
            Self::Raw(decoder) => decoder.rest(),
            Self::Framed(_) => None,
        }
    }

    /// Bytes were lost.
    pub(super) fn gap(&mut self) {
        match self {
            Self::Raw(decoder) => decoder.gap(),
            Self::Framed(decoder) => decoder.gap(),
        }
    }
}
