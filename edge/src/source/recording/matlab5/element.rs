//! Data elements of a MAT-file: tags, numbers, zlib.
//!
//! Invariant: every length stated in the file is compared with the bytes that are present before
//! anything is read or reserved.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::ZlibDecoder;

use super::super::bounds::MAX_SAMPLES;

/// `miMATRIX`.
pub(super) const MATRIX: u32 = 14;
/// `miCOMPRESSED`.
const COMPRESSED: u32 = 15;

/// Most bytes of one decompressed element: the most samples that are read, 8 bytes each, and room
/// for the names beside them. The format allows 2 GiB (MAT-File Format, 1-3).
const MAX_INFLATED_BYTES: u64 = (8 * MAX_SAMPLES + (1 << 20)) as u64;

/// One data element.
pub(super) struct Element<'a> {
    /// Its `mi…` type.
    pub(super) kind: u32,
    /// Its content, uncompressed.
    pub(super) content: Cow<'a, [u8]>,
}

/// Bytes that are read one element after the other.
pub(super) struct Bytes<'a> {
    rest: &'a [u8],
    is_big_endian: bool,
}

impl<'a> Bytes<'a> {
    pub(super) const fn new(rest: &'a [u8], is_big_endian: bool) -> Self {
        Self { rest, is_big_endian }
    }

    /// Whether the rest is too short for a tag, so that it is padding.
    pub(super) const fn is_at_end(&self) -> bool {
        self.rest.len() < 8
    }

    fn word(&self, at: usize) -> Option<u32> {
        let raw: [u8; 4] = self.rest.get(at..at + 4)?.try_into().ok()?;
        Some(if self.is_big_endian { u32::from_be_bytes(raw) } else { u32::from_le_bytes(raw) })
    }

    /// The next element inside a variable. A compressed one is an error: MATLAB compresses whole
    /// variables only, and nested compression would let a small file grow without a limit.
    pub(super) fn part(&mut self) -> Result<Element<'a>, String> {
        let part = self.plain()?;
        if part.kind == COMPRESSED {
            return Err("a compressed element inside a variable".to_owned());
        }
        Ok(part)
    }

    /// The next variable, decompressed if necessary.
    pub(super) fn element(&mut self) -> Result<Element<'a>, String> {
        let element = self.plain()?;
        if element.kind != COMPRESSED {
            return Ok(element);
        }
        let mut unfolded = Vec::new();
        ZlibDecoder::new(&*element.content)
            .take(MAX_INFLATED_BYTES + 1)
            .read_to_end(&mut unfolded)
            .map_err(|e| format!("a compressed variable is damaged or truncated: {e}"))?;
        if unfolded.len() as u64 > MAX_INFLATED_BYTES {
            return Err(format!(
                "a compressed variable of more than {MAX_INFLATED_BYTES} bytes, the most that is \
                 read"
            ));
        }
        let inner = Bytes::new(&unfolded, self.is_big_endian).plain()?;
        if inner.kind == COMPRESSED {
            return Err("a compressed variable inside a compressed one".to_owned());
        }
        Ok(Element { kind: inner.kind, content: Cow::Owned(inner.content.into_owned()) })
    }

    /// The next element, not decompressed.
    fn plain(&mut self) -> Result<Element<'a>, String> {
        let truncated = || "the file ends inside a variable: it is truncated".to_owned();
        let first = self.word(0).ok_or_else(truncated)?;
        // a small element has its length in the upper half of the first word, its data in the
        // second
        let (kind, length, start) = match first >> 16 {
            0 => (first, self.word(4).ok_or_else(truncated)? as usize, 8),
            small => (first & 0xffff, small as usize, 4),
        };
        let is_small = start == 4;
        if is_small && length > 4 {
            return Err(format!("a small element of {length} bytes; at most 4 are allowed"));
        }
        let left = self.rest.len() - start.min(self.rest.len());
        // libsndfile counts padding behind the last numbers that it does not write; numbers that
        // are missing are found inside of the variable
        let has_no_padding = kind == MATRIX && left < length && length - left <= 8;
        let end = if has_no_padding { start.checked_add(left) } else { start.checked_add(length) };
        let content = end.and_then(|end| self.rest.get(start..end)).ok_or_else(|| {
            format!(
                "the file ends inside a variable: {left} of {length} bytes are there; it is \
                     truncated or damaged"
            )
        })?;
        let taken = if is_small {
            8
        } else if kind == COMPRESSED {
            start + length
        } else {
            (start + length).next_multiple_of(8)
        };
        self.rest = self.rest.get(taken..).unwrap_or(&[]);
        Ok(Element { kind, content: Cow::Borrowed(content) })
    }
}

impl Element<'_> {
    /// The numbers of the element, or `None` if it holds none.
    pub(super) fn numbers(&self, is_big_endian: bool) -> Option<Vec<f64>> {
        // one number more than is allowed, so that the sum over the file is refused
        let width = match self.kind {
            1 | 2 => 1,
            3 | 4 => 2,
            5..=7 => 4,
            _ => 8,
        };
        let most = (MAX_SAMPLES + 1) * width;
        let raw = self.content.get(..most).unwrap_or(&self.content);
        Some(match self.kind {
            1 => raw.iter().map(|&b| f64::from(b.cast_signed())).collect(),
            2 => raw.iter().map(|&b| f64::from(b)).collect(),
            3 => decode(raw, is_big_endian, |b| f64::from(i16::from_le_bytes(b))),
            4 => decode(raw, is_big_endian, |b| f64::from(u16::from_le_bytes(b))),
            5 => decode(raw, is_big_endian, |b| f64::from(i32::from_le_bytes(b))),
            6 => decode(raw, is_big_endian, |b| f64::from(u32::from_le_bytes(b))),
            7 => decode(raw, is_big_endian, |b| f64::from(f32::from_le_bytes(b))),
            9 => decode(raw, is_big_endian, f64::from_le_bytes),
            12 => decode(raw, is_big_endian, |b| i64::from_le_bytes(b) as f64),
            13 => decode(raw, is_big_endian, |b| u64::from_le_bytes(b) as f64),
            _ => return None,
        })
    }
}

fn decode<const N: usize>(
    raw: &[u8],
    is_big_endian: bool,
    number: impl Fn([u8; N]) -> f64,
) -> Vec<f64> {
    let in_order = |chunk: &[u8]| {
        let mut little = [0u8; N];
        little.copy_from_slice(chunk);
        if is_big_endian {
            little.reverse();
        }
        number(little)
    };
    raw.chunks_exact(N).map(in_order).collect()
}
