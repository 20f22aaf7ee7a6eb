//! Columns of numbers that serialise small and fast: base64 of little-endian `f32`.
//!
//! The state of a monitor is written in every window's transaction. As JSON numbers its history
//! would be three times as long and twenty times as slow to write. Values are kept as `f32` in
//! memory too, so a monitor that was written and read back continues with the very same numbers.
//! NaN stands for "not measured in that window".

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A column of `f32`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Packed(pub(super) Vec<f32>);

impl Packed {
    /// Appends `value` and forgets the oldest beyond `cap`.
    pub(super) fn push(&mut self, value: f64, cap: usize) {
        self.0.push(value as f32);
        let excess = self.0.len().saturating_sub(cap);
        self.0.drain(..excess);
    }

    /// The finite values as `f64`, in order.
    pub(super) fn finite(&self) -> Vec<f64> {
        self.0.iter().filter(|v| v.is_finite()).map(|v| f64::from(*v)).collect()
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|v| v.to_le_bytes()).collect();
        let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
        for chunk in bytes.chunks(3) {
            let word = chunk
                .iter()
                .enumerate()
                .fold(0_u32, |word, (i, byte)| word | u32::from(*byte) << (16 - 8 * i));
            for digit in 0..=chunk.len() {
                let index = (word >> (18 - 6 * digit)) & 63;
                text.push(char::from(ALPHABET[index as usize]));
            }
        }
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
        for chunk in text.as_bytes().chunks(4) {
            let mut word = 0_u32;
            for (i, character) in chunk.iter().enumerate() {
                let value = digit(*character).ok_or_else(|| {
                    de::Error::custom(format!("{:?} is no base64", char::from(*character)))
                })?;
                word |= value << (18 - 6 * i);
            }
            let whole = word.to_be_bytes();
            bytes.extend_from_slice(&whole[1..chunk.len().max(1)]);
        }
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(de::Error::custom("a column of f32 has a length divisible by 4 bytes"));
        }
        Ok(Self(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
    }
}

const fn digit(character: u8) -> Option<u32> {
    Some(match character {
        b'A'..=b'Z' => character - b'A',
        b'a'..=b'z' => character - b'a' + 26,
        b'0'..=b'9' => character - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    } as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_column_is_read_back_bit_for_bit(values in prop::collection::vec(any::<f32>(), 0..40)) {
            let text = serde_json::to_string(&Packed(values.clone())).expect("writes");
            let back: Packed = serde_json::from_str(&text).expect("reads");
            let bits = |column: &[f32]| column.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&values), bits(&back.0));
        }

        #[test]
        fn any_text_is_refused_or_read_but_never_panics(text in ".{0,40}") {
            let _ = serde_json::from_value::<Packed>(serde_json::Value::String(text));
        }
    }
}
