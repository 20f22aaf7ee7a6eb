//! Fields of a protobuf message, read in place.
//!
//! A message comes from a stranger, so nothing is copied and nothing is reserved by a length that
//! it states: what is read never takes more memory than the message itself. Invariant: every field
//! lies within the bytes of its message, and reading ends after at most as many fields as there are
//! bytes.

/// The value of a field as it stands on the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum WireValue<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(&'a [u8]),
    Fixed32([u8; 4]),
}

/// The fields of a message, one after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

/// The bytes are no message of protobuf.
pub(super) type WireError = &'static str;

const TOO_SHORT: WireError = "no protobuf: the message ends within a field";

impl<'a> Fields<'a> {
    pub(super) const fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    /// The next field with its number; `None` at the end.
    pub(super) fn next_field(&mut self) -> Result<Option<(u32, WireValue<'a>)>, WireError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).ok().filter(|number| *number > 0);
        let number = number.ok_or("no protobuf: a field without a number")?;
        let value = match key & 7 {
            0 => WireValue::Varint(self.varint()?),
            1 => WireValue::Fixed64(self.fixed()?),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_too_long| TOO_SHORT)?;
                WireValue::Bytes(self.bytes(length)?)
            }
            5 => WireValue::Fixed32(self.fixed()?),
            _ => return Err("no protobuf: a field of an unknown kind"),
        };
        Ok(Some((number, value)))
    }

    fn varint(&mut self) -> Result<u64, WireError> {
        let mut value = 0u64;
        for place in 0..10u32 {
            let (&byte, rest) = self.rest.split_first().ok_or(TOO_SHORT)?;
            self.rest = rest;
            // the tenth byte has room for one bit
            if place == 9 && byte > 1 {
                return Err("no protobuf: a number of more than 64 bits");
            }
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("no protobuf: a number of more than 64 bits")
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(TOO_SHORT)?;
        self.rest = rest;
        Ok(taken)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(TOO_SHORT)?;
        self.rest = rest;
        Ok(*taken)
    }
}

/// Appends a field with a whole number.
pub(super) fn put_number(into: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(into, u64::from(number) << 3);
    put_varint(into, value);
}

/// Appends a field with bytes.
pub(super) fn put_bytes(into: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(into, u64::from(number) << 3 | 2);
    put_varint(into, bytes.len() as u64);
    into.extend_from_slice(bytes);
}

fn put_varint(into: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        into.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}
