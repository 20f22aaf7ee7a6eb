//! Bytes in a stated order, read from front to back. Invariant: an error instead of a byte that is
//! not there; nothing is reserved by an announced length.

/// Longest text that is read: names of objects and properties, and units.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// The rest of some bytes.
pub(super) struct OrderedBytes<'a> {
    rest: &'a [u8],
    pub(super) is_big_endian: bool,
}

impl<'a> OrderedBytes<'a> {
    pub(super) const fn new(rest: &'a [u8], is_big_endian: bool) -> Self {
        Self { rest, is_big_endian }
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            let there = self.rest.len();
            return Err(format!("{there} of {length} bytes are there: truncated or damaged"));
        };
        self.rest = rest;
        Ok(taken)
    }

    /// A number of up to 8 bytes without sign.
    pub(super) fn unsigned(&mut self, width: usize) -> Result<u64, String> {
        let raw = self.take(width)?;
        Ok(unsigned_of(raw, self.is_big_endian))
    }

    pub(super) fn u32(&mut self) -> Result<u32, String> {
        self.unsigned(4).map(|number| number as u32)
    }

    pub(super) fn u64(&mut self) -> Result<u64, String> {
        self.unsigned(8)
    }

    /// A text with its length before it.
    pub(super) fn text(&mut self) -> Result<String, String> {
        let length = self.u32()? as usize;
        if length > MAX_TEXT_BYTES {
            return Err(format!("a text of {length} bytes; at most {MAX_TEXT_BYTES} are read"));
        }
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }
}

/// The number in up to 8 bytes.
pub(super) fn unsigned_of(raw: &[u8], is_big_endian: bool) -> u64 {
    let add = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
    if is_big_endian { raw.iter().fold(0, add) } else { raw.iter().rev().fold(0, add) }
}
