//! A number in registers: its type and the order of its bytes; what it means stands in
//! [`ValueMeaning`].
//!
//! Invariant: the marks that devices use for "no value" (all bits set, the lowest and the highest
//! signed number, NaN) never become a number.

use std::str::FromStr;

use crate::source::values::{Conversion, NoValue, ValueMeaning};

/// The type of a number in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterType {
    /// 16 bits without a sign.
    U16,
    /// 16 bits with a sign.
    I16,
    /// 32 bits without a sign.
    U32,
    /// 32 bits with a sign.
    I32,
    /// A 32-bit float.
    F32,
}

impl RegisterType {
    /// The names of the types in a configuration.
    pub const NAMES: [(&str, Self); 5] = [
        ("u16", Self::U16),
        ("i16", Self::I16),
        ("u32", Self::U32),
        ("i32", Self::I32),
        ("f32", Self::F32),
    ];

    /// Registers of a number.
    pub const fn registers(self) -> u16 {
        match self {
            Self::U16 | Self::I16 => 1,
            Self::U32 | Self::I32 | Self::F32 => 2,
        }
    }
}

/// The order of the four bytes of a number in two registers, `a` the highest; a number in one
/// register has two of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ByteOrder {
    /// High word first, high byte first, as the specification has it.
    #[default]
    Abcd,
    /// Low word first.
    Cdab,
    /// High word first, low byte first.
    Badc,
    /// Low word first, low byte first.
    Dcba,
}

impl FromStr for ByteOrder {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "abcd" => Ok(Self::Abcd),
            "cdab" => Ok(Self::Cdab),
            "badc" => Ok(Self::Badc),
            "dcba" => Ok(Self::Dcba),
            _ => Err(()),
        }
    }
}

/// A value of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct RegisterValue {
    /// The meaning of the value.
    pub meaning: ValueMeaning,
    /// Where it stands.
    pub kind: super::RegisterKind,
    /// Address of the first register, from 0.
    pub address: u16,
    /// Its type.
    pub register_type: RegisterType,
    /// The order of its bytes.
    pub order: ByteOrder,
    /// The conversion from the number to the figure's unit.
    pub conversion: Conversion,
}

impl RegisterValue {
    /// The value in the bytes of its registers.
    ///
    /// # Errors
    /// Why there is none.
    pub fn value_in(&self, registers: &[u8]) -> Result<f64, NoValue> {
        self.meaning.value_of(self.number_in(registers).ok_or(NoValue::Mark)?, self.conversion)
    }

    /// The number in the registers of a value, for which a whole number is written without its
    /// rounding.
    pub(super) fn number_of(&self, value: f64) -> f64 {
        let number = (value - self.conversion.offset) / self.conversion.factor;
        match self.register_type {
            RegisterType::F32 => value,
            RegisterType::U16 | RegisterType::I16 | RegisterType::U32 | RegisterType::I32 => {
                number.round()
            }
        }
    }

    /// The number in the bytes; `None` for a mark.
    fn number_in(&self, registers: &[u8]) -> Option<f64> {
        match self.register_type {
            RegisterType::U16 | RegisterType::I16 => {
                let &[high, low] = registers else { return None };
                let word = match self.order {
                    ByteOrder::Abcd | ByteOrder::Cdab => u16::from_be_bytes([high, low]),
                    ByteOrder::Badc | ByteOrder::Dcba => u16::from_be_bytes([low, high]),
                };
                match (self.register_type, word) {
                    (RegisterType::I16, 0x7fff | 0x8000) | (RegisterType::U16, 0xffff) => None,
                    (RegisterType::I16, word) => Some(f64::from(word.cast_signed())),
                    (_, word) => Some(f64::from(word)),
                }
            }
            RegisterType::U32 | RegisterType::I32 | RegisterType::F32 => {
                let &[a, b, c, d] = registers else { return None };
                let word = u32::from_be_bytes(match self.order {
                    ByteOrder::Abcd => [a, b, c, d],
                    ByteOrder::Cdab => [c, d, a, b],
                    ByteOrder::Badc => [b, a, d, c],
                    ByteOrder::Dcba => [d, c, b, a],
                });
                match (self.register_type, word) {
                    (RegisterType::F32, word) => Some(f64::from(f32::from_bits(word))),
                    (RegisterType::I32, 0x7fff_ffff | 0x8000_0000)
                    | (RegisterType::U32, u32::MAX) => None,
                    (RegisterType::I32, word) => Some(f64::from(word.cast_signed())),
                    (_, word) => Some(f64::from(word)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use pdm_shared::event::feature::Feature;

    use super::super::RegisterKind;
    use super::*;
    use crate::source::values::Figure;

    fn value(register_type: RegisterType, order: ByteOrder) -> RegisterValue {
        let meaning = ValueMeaning {
            channel: 0,
            figure: Figure::Feature(Feature::Velocity),
            no_value: vec![32_766.0],
            standing_below: None,
            plausible: f64::NEG_INFINITY..=f64::INFINITY,
        };
        RegisterValue {
            meaning,
            kind: RegisterKind::Input,
            address: 0,
            register_type,
            order,
            conversion: Conversion { factor: 0.5, offset: 0.0 },
        }
    }

    #[test]
    fn a_number_is_read_in_every_order_of_its_bytes() {
        let float = 2.5f32.to_be_bytes();
        let [a, b, c, d] = float;
        for (order, bytes) in [
            (ByteOrder::Abcd, [a, b, c, d]),
            (ByteOrder::Cdab, [c, d, a, b]),
            (ByteOrder::Badc, [b, a, d, c]),
            (ByteOrder::Dcba, [d, c, b, a]),
        ] {
            assert_eq!(value(RegisterType::F32, order).value_in(&bytes), Ok(1.25), "{order:?}");
        }
        let plain = |kind, bytes: &[u8]| value(kind, ByteOrder::Abcd).value_in(bytes);
        assert_eq!(plain(RegisterType::I16, &[0xff, 0xfe]), Ok(-1.0));
        assert_eq!(plain(RegisterType::U16, &[0xff, 0xfe]), Ok(32_767.0));
        assert_eq!(plain(RegisterType::I32, &[0xff, 0xff, 0xff, 0xfe]), Ok(-1.0));
        assert_eq!(plain(RegisterType::U32, &[0, 1, 0, 0]), Ok(32_768.0));
    }

    /// The marks of SunSpec and of common transmitters.
    #[test]
    fn a_mark_for_no_value_is_no_number() {
        for (register_type, bytes) in [
            (RegisterType::U16, &[0xff, 0xff][..]),
            (RegisterType::I16, &[0x80, 0]),
            (RegisterType::I16, &[0x7f, 0xff]),
            (RegisterType::I16, &[0x7f, 0xfe]),
            (RegisterType::U32, &[0xff; 4]),
            (RegisterType::I32, &[0x80, 0, 0, 0]),
            (RegisterType::I32, &[0x7f, 0xff, 0xff, 0xff]),
            (RegisterType::F32, &[0x7f, 0xc0, 0, 0]),
            (RegisterType::F32, &[0x7f, 0x80, 0, 0]),
            (RegisterType::F32, &[0, 0]),
        ] {
            let got = value(register_type, ByteOrder::Abcd).value_in(bytes);
            assert_eq!(got, Err(NoValue::Mark), "{register_type:?} {bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_value_that_is_not_finite(bytes in prop::collection::vec(any::<u8>(),
            0..6)) {
            for (_, register_type) in RegisterType::NAMES {
                let got = value(register_type, ByteOrder::Cdab).value_in(&bytes);
                prop_assert!(got.is_err() || got.is_ok_and(f64::is_finite));
            }
        }
    }
}
