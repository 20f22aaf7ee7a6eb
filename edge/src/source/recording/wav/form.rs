//! The format chunk: what a frame of a WAV file looks like.

use std::path::Path;

use super::ContainerSamples;

/// `WAVE_FORMAT_EXTENSIBLE`: the format stands in a GUID further on.
const EXTENSIBLE: u16 = 0xfffe;

/// Most bytes of a sample's container.
const MAX_CONTAINER_BYTES: usize = 8;

/// The layout of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) channels: usize,
    rate_hz: u32,
    bytes_per_second: u32,
    pub(super) container_bytes: usize,
    pub(super) valid_bits: u32,
    pub(super) is_float: bool,
}

impl Form {
    /// Decodes the content of a format chunk.
    pub(super) fn parse(raw: &[u8], is_big_endian: bool) -> Result<Self, String> {
        let word = |at: usize| -> Option<u16> {
            let raw: [u8; 2] = raw.get(at..at + 2)?.try_into().ok()?;
            Some(if is_big_endian { u16::from_be_bytes(raw) } else { u16::from_le_bytes(raw) })
        };
        let long = |at: usize| -> Option<u32> {
            let raw: [u8; 4] = raw.get(at..at + 4)?.try_into().ok()?;
            Some(if is_big_endian { u32::from_be_bytes(raw) } else { u32::from_le_bytes(raw) })
        };
        let short = || format!("its format has {} bytes, at least 16 are needed", raw.len());
        let mut tag = word(0).ok_or_else(short)?;
        let channels = usize::from(word(2).ok_or_else(short)?);
        let (rate_hz, bytes_per_second) = (long(4).ok_or_else(short)?, long(8).ok_or_else(short)?);
        let frame_bytes = usize::from(word(12).ok_or_else(short)?);
        let stated_bits = u32::from(word(14).ok_or_else(short)?);
        let mut valid_bits = stated_bits;
        if tag == EXTENSIBLE {
            tag = tag_of_guid(raw, is_big_endian)
                .ok_or("its extensible format has fewer than 28 bytes")?;
            valid_bits = word(18).map_or(0, u32::from);
            if valid_bits == 0 {
                valid_bits = stated_bits;
            }
        }
        let is_float = match tag {
            1 => false,
            3 => true,
            _ => return Err(format!("it holds {}; PCM and floating point are read", named(tag))),
        };
        if channels == 0 {
            return Err("it states 0 channels".to_owned());
        }
        let container_bytes = container_of(channels, frame_bytes, stated_bits)?;
        let form =
            Self { channels, rate_hz, bytes_per_second, container_bytes, valid_bits, is_float };
        form.checked()
    }

    fn checked(self) -> Result<Self, String> {
        let container_bits = 8 * self.container_bytes as u32;
        if self.is_float {
            return match self.container_bytes {
                4 | 8 => Ok(Self { valid_bits: container_bits, ..self }),
                _ => Err(format!("floating point of {container_bits} bits; 32 and 64 are read")),
            };
        }
        if self.valid_bits == 0 || self.valid_bits > container_bits {
            let bits = self.valid_bits;
            return Err(format!("samples of {bits} bits in containers of {container_bits}"));
        }
        Ok(self)
    }

    pub(super) const fn frame_bytes(&self) -> usize {
        self.container_bytes * self.channels
    }

    /// Bits of the container below the valid ones.
    pub(super) const fn spare_bits(&self) -> u32 {
        8 * self.container_bytes as u32 - self.valid_bits
    }

    /// The rate, if the bytes of a second agree with it. A header that contradicts itself states no
    /// rate: either number may be the wrong one.
    pub(super) fn consistent_rate(&self, path: &Path) -> Option<f64> {
        let per_frame = self.frame_bytes() as u64;
        let needed = u64::from(self.rate_hz) * per_frame;
        let stated = u64::from(self.bytes_per_second);
        if stated != 0 && stated != needed {
            tracing::warn!(
                path = %path.display(), rate_hz = self.rate_hz, bytes_per_second = stated,
                "the header of this WAV file contradicts itself: {} Hz of {per_frame} bytes a \
                 frame are {needed} bytes a second, not {stated}; its rate is not used, --rate \
                 decides",
                self.rate_hz
            );
            return None;
        }
        Some(f64::from(self.rate_hz)).filter(|&hz| hz > 0.0)
    }

    /// Decodes the bytes of one sample.
    pub(super) fn add_sample(&self, raw: &[u8], is_big_endian: bool, to: &mut ContainerSamples) {
        let mut little = [0u8; MAX_CONTAINER_BYTES];
        let width = self.container_bytes;
        little[..width].copy_from_slice(raw);
        if is_big_endian {
            little[..width].reverse();
        }
        let bits = u64::from_le_bytes(little);
        match (self.is_float, width) {
            (true, 4) => to.numbers.push(f64::from(f32::from_bits(bits as u32))),
            (true, _) => to.numbers.push(f64::from_bits(bits)),
            // one byte holds a number without sign around 128
            (false, 1) => to.add_integer(bits.cast_signed() - 128, self),
            (false, _) => {
                let unused = 64 - 8 * width as u32;
                to.add_integer((bits << unused).cast_signed() >> unused, self);
            }
        }
    }
}

/// The tag that begins the GUID of an extensible format: a number of four bytes in the file's byte
/// order, which some programs write little-endian in a big-endian file, too.
fn tag_of_guid(raw: &[u8], is_big_endian: bool) -> Option<u16> {
    let first: [u8; 4] = raw.get(24..28)?.try_into().ok()?;
    let little = u16::from_le_bytes([first[0], first[1]]);
    let big = u16::from_be_bytes([first[2], first[3]]);
    Some(if is_big_endian && first[..2] == [0, 0] { big } else { little })
}

/// Bytes of a sample: the frame's bytes over the channels, or the bits rounded up if the header has
/// no bytes of a frame.
fn container_of(channels: usize, frame_bytes: usize, bits: u32) -> Result<usize, String> {
    let bytes = match frame_bytes {
        0 => bits.div_ceil(8) as usize,
        _ if frame_bytes.is_multiple_of(channels) => frame_bytes / channels,
        _ => return Err(format!("{frame_bytes} bytes a frame for {channels} channels")),
    };
    if (1..=MAX_CONTAINER_BYTES).contains(&bytes) {
        return Ok(bytes);
    }
    Err(format!("samples of {bytes} bytes; 1 to {MAX_CONTAINER_BYTES} are read"))
}

/// A format tag as people call it (mmreg.h).
fn named(tag: u16) -> String {
    let name = match tag {
        0x0002 => "Microsoft ADPCM",
        0x0006 => "A-law",
        0x0007 => "μ-law",
        0x0011 => "IMA ADPCM",
        0x0031 => "GSM 6.10",
        0x0040 | 0x0064 => "G.726 ADPCM",
        0x0050 | 0x0055 => "MPEG audio",
        0x00ff | 0x1600 | 0x1610 => "AAC",
        0xf1ac => "FLAC",
        _ => return format!("samples of the format 0x{tag:04x}"),
    };
    format!("{name} (0x{tag:04x})")
}
