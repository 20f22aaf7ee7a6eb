//! Numbers of Parquet that are no plain integer or floating point: decimals, 16-bit floats, 96-bit
//! times.
//!
//! Source: *Parquet Logical Type Definitions* (DECIMAL, FLOAT16) and the deprecated INT96 of Impala
//! and Spark: nanoseconds of the day and the Julian day.

use parquet::basic::{LogicalType, Type as PhysicalType};
use parquet::data_type::Int96;
use parquet::schema::types::ColumnDescriptor;

use crate::source::recording::half::half_to_f64;

/// The unit of times of 96 bits as they are handed on: nanoseconds have more digits than a
/// floating-point number.
pub(super) const INT96_UNIT: &str = "us";

/// The Julian day of 1970-01-01.
const JULIAN_1970: i64 = 2_440_588;

/// Widest decimal that is read, in bytes; of 38 digits, the most of Arrow and Spark.
const WIDEST_DECIMAL: usize = 16;

/// How the numbers of a column are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum NumberForm {
    /// The numbers as they are.
    Plain,
    /// Whole numbers of this part of one.
    Decimal(f64),
    /// Two bytes of floating point, little endian.
    Half,
}

/// Returns how a column writes its numbers; `None` if it holds none.
pub(super) fn form_of(column: &ColumnDescriptor) -> Option<NumberForm> {
    if column.max_rep_level() != 0 {
        return None;
    }
    let decimal = || {
        let Some(LogicalType::Decimal(decimal)) = column.logical_type_ref() else { return None };
        Some(NumberForm::Decimal(10f64.powi(decimal.scale.clamp(-38, 38))))
    };
    let is_half = matches!(column.logical_type_ref(), Some(LogicalType::Float16));
    match column.physical_type() {
        PhysicalType::FLOAT | PhysicalType::DOUBLE | PhysicalType::INT96 => Some(NumberForm::Plain),
        PhysicalType::INT32 | PhysicalType::INT64 => decimal().or(Some(NumberForm::Plain)),
        PhysicalType::FIXED_LEN_BYTE_ARRAY if is_half => Some(NumberForm::Half),
        PhysicalType::FIXED_LEN_BYTE_ARRAY | PhysicalType::BYTE_ARRAY => decimal(),
        PhysicalType::BOOLEAN => None,
    }
}

impl NumberForm {
    /// A whole number of the file as the number that it means.
    pub(super) fn scaled(self, whole: i128) -> f64 {
        match self {
            Self::Decimal(parts) => whole as f64 / parts,
            Self::Plain | Self::Half => whole as f64,
        }
    }

    /// Returns the number in these bytes; NaN if they hold no number.
    pub(super) fn of_bytes(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::Half, &[low, high]) => half_to_f64(u16::from_le_bytes([low, high])),
            (Self::Decimal(_), bytes) if (1..=WIDEST_DECIMAL).contains(&bytes.len()) => {
                let sign = if bytes[0] & 0x80 == 0 { 0 } else { 0xff };
                let mut wide = [sign; WIDEST_DECIMAL];
                wide[WIDEST_DECIMAL - bytes.len()..].copy_from_slice(bytes);
                self.scaled(i128::from_be_bytes(wide))
            }
            _ => f64::NAN,
        }
    }
}

/// Microseconds since 1970 of a time of 96 bits.
pub(super) fn int96(time: &Int96) -> f64 {
    let &[low, high, day] = time.data() else { return f64::NAN };
    let ns = (u64::from(high) << 32) | u64::from(low);
    let days = i64::from(day) - JULIAN_1970;
    days as f64 * 86_400e6 + ns as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-EDGE-4: decimals, 16-bit floats and times of 96 bits are numbers.
    #[test]
    fn decimals_half_floats_and_times_of_96_bits_are_the_numbers_that_they_mean() {
        let hundredths = NumberForm::Decimal(100.0);
        assert!((hundredths.scaled(-125) + 1.25).abs() < 1e-12);
        for bytes in [&[0xff, 0x83][..], &[0xff, 0xff, 0xff, 0x83], &[0x83]] {
            assert!((hundredths.of_bytes(bytes) + 1.25).abs() < 1e-12, "{bytes:?}");
        }
        assert!((NumberForm::Half.of_bytes(&[0x00, 0xc0]) + 2.0).abs() < 1e-12);
        for (form, bytes) in
            [(hundredths, &[0u8; 17][..]), (NumberForm::Half, &[0; 3]), (hundredths, &[])]
        {
            assert!(form.of_bytes(bytes).is_nan(), "{form:?}");
        }
        let mut time = Int96::new();
        let ns: u64 = 3_600_000_000_000 + 250_000;
        time.set_data(ns as u32, (ns >> 32) as u32, 2_440_588 + 2);
        let us = 2.0 * 86_400e6 + 3_600e6 + 250.0;
        assert!((int96(&time) - us).abs() < 1e-3, "{}", int96(&time));
    }
}
