//! The header of a block of `pdm.frames/1`. Specification: `docs/frames.md`.

use pdm_shared::units::SampleRate;

use crate::source::calibration::no_unit;
use crate::source::frames::Encoding;
use crate::source::interpretation::MOST_HZ;
use crate::source::{AccelUnit, Calibration};

/// The first bytes of a block.
pub(super) const MAGIC: &[u8; 4] = b"PDMF";

/// The version that this program reads.
const VERSION: u8 = 1;

/// Bytes of the header with its checksum.
pub(super) const HEADER_BYTES: usize = 64;

/// Bytes of the calibration of a channel: scale, offset, sensitivity.
const CHANNEL_BYTES: usize = 12;

/// Most channels and frames of a block: those of 8 channels for ten seconds at 51.2 kHz.
const MAX_CHANNELS: usize = 1024;
const MAX_SAMPLES: usize = 4 << 20;

/// A header that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum HeaderError {
    /// Its checksum is wrong, or a number is out of range: it is no header, or a damaged one.
    Damaged,
    /// A sound header of another version.
    Version(u8),
    /// A sound header with a rate at which no vibration is sampled, Hz.
    Rate(f64),
}

/// The unit of samples after scale and offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SampleUnit {
    /// The configuration says what a number means.
    Configured,
    G,
    MetrePerSecondSquared,
    Millivolt,
}

/// The header of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrameHeader {
    pub(super) encoding: Encoding,
    unit: SampleUnit,
    pub(super) channels: usize,
    pub(super) frames: usize,
    /// A number that the sender draws at each start.
    pub(super) run: u64,
    /// Count of the block's first frame since that start.
    pub(super) first_frame: u64,
    pub(super) rate: SampleRate,
    /// The sender's time of the first frame, µs since 1970.
    pub(super) sender_us: Option<i64>,
    body_checksum: u32,
}

impl FrameHeader {
    /// Reads a header of [`HEADER_BYTES`].
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, HeaderError> {
        let damaged = HeaderError::Damaged;
        let sum = u32::from_le_bytes(field(bytes, 60).ok_or(damaged)?);
        if !bytes.starts_with(MAGIC) || checksum(&bytes[..60]) != sum {
            return Err(damaged);
        }
        let [version, encoding, unit, flags]: [u8; 4] = field(bytes, 4).ok_or(damaged)?;
        if version != VERSION {
            return Err(HeaderError::Version(version));
        }
        let encodings = [Encoding::I16, Encoding::I24, Encoding::I32, Encoding::F32].into_iter();
        let encoding = encodings.zip(1..).find(|(_, code)| *code == encoding).ok_or(damaged)?.0;
        let encoding = if flags & 1 == 0 { encoding } else { encoding.swapped() };
        let unit = match unit {
            0 => SampleUnit::Configured,
            1 => SampleUnit::G,
            2 => SampleUnit::MetrePerSecondSquared,
            3 => SampleUnit::Millivolt,
            _ => return Err(damaged),
        };
        let channels = u16::from_le_bytes(field(bytes, 8).ok_or(damaged)?) as usize;
        let frames = u32::from_le_bytes(field(bytes, 12).ok_or(damaged)?) as usize;
        let rate = f64::from_le_bytes(field(bytes, 40).ok_or(damaged)?);
        let sender_us = i64::from_le_bytes(field(bytes, 48).ok_or(damaged)?);
        let is_in_range = (1..=MAX_CHANNELS).contains(&channels)
            && frames > 0
            && frames.checked_mul(channels).is_some_and(|samples| samples <= MAX_SAMPLES);
        if !is_in_range {
            return Err(damaged);
        }
        Ok(Self {
            encoding,
            unit,
            channels,
            frames,
            run: u64::from_le_bytes(field(bytes, 24).ok_or(damaged)?),
            first_frame: u64::from_le_bytes(field(bytes, 32).ok_or(damaged)?),
            rate: SampleRate::new(rate).map_err(|_range| damaged).and_then(|own| {
                if rate > MOST_HZ { Err(HeaderError::Rate(rate)) } else { Ok(own) }
            })?,
            sender_us: (flags & 2 != 0).then_some(sender_us),
            body_checksum: u32::from_le_bytes(field(bytes, 56).ok_or(damaged)?),
        })
    }

    /// Bytes of the whole block.
    pub(super) const fn total_bytes(&self) -> usize {
        HEADER_BYTES + self.channels * CHANNEL_BYTES + self.sample_bytes()
    }

    const fn sample_bytes(&self) -> usize {
        self.frames * self.channels * self.encoding.bytes()
    }

    /// Whether the calibrations and samples are those that were sent.
    pub(super) fn is_body_whole(&self, body: &[u8]) -> bool {
        checksum(body) == self.body_checksum
    }

    /// The bytes of the samples.
    pub(super) fn samples<'a>(&self, body: &'a [u8]) -> &'a [u8] {
        &body[self.channels * CHANNEL_BYTES..]
    }

    /// The calibration of each channel: that of the block, or the configured one where the block
    /// states no unit.
    pub(super) fn calibrations(
        &self,
        body: &[u8],
        configured: &[Calibration],
    ) -> Result<Vec<Calibration>, String> {
        let is_configured = configured.iter().any(|one| *one != Calibration::default());
        if self.unit == SampleUnit::Configured {
            let of = |channel: usize| match configured {
                [] => Calibration::default(),
                [one] => *one,
                many => many.get(channel).copied().unwrap_or_default(),
            };
            let all: Vec<Calibration> = (0..self.channels).map(of).collect();
            // channels that are sent and not measured need none
            if !all.iter().any(Calibration::is_stated) {
                let why = no_unit("their header", self.encoding.full_scale().is_some(), "");
                return Err(format!("the blocks hold {why}"));
            }
            return Ok(all);
        }
        if is_configured {
            return Err(
                "the blocks state their unit, and the configuration states one too: leave \
                        out unit, scale, offset and sensitivity_mv_per_g of the source"
                    .to_owned(),
            );
        }
        body.chunks_exact(CHANNEL_BYTES)
            .take(self.channels)
            .map(|raw| self.calibration(raw))
            .collect()
    }

    fn calibration(&self, raw: &[u8]) -> Result<Calibration, String> {
        let number = |at: usize| f64::from(f32::from_le_bytes(field(raw, at).unwrap_or_default()));
        let (scale, offset, sensitivity_mv_per_g) = (number(0), number(4), number(8));
        let unit = match self.unit {
            SampleUnit::Millivolt => AccelUnit::Millivolt { sensitivity_mv_per_g },
            SampleUnit::MetrePerSecondSquared => AccelUnit::MetrePerSecondSquared,
            SampleUnit::G | SampleUnit::Configured => AccelUnit::G,
        };
        Calibration::new(unit, scale, offset).map_err(|error| format!("a block's {error}"))
    }
}

/// CRC-32 (ISO 3309), as zlib and Python's `zlib.crc32` compute it.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}
