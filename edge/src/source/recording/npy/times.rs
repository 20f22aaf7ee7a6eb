//! Arrays of `datetime64` and `timedelta64`: `<M8[ns]`, `<m8[25us]`.
//!
//! A whole number of units of 8 bytes; the least one is no time (NaT). `datetime64` states no zone.

use std::path::Path;

use pdm_shared::time::Timestamp;

use super::{SourceError, header};

/// The number of no time.
const NOT_A_TIME: i64 = i64::MIN;

/// An array of times.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct ArrayTimes {
    /// Seconds since the first one, NaN where there is no time; of a `timedelta64` since 0.
    pub(in super::super) seconds: Vec<f64>,
    /// The first one of a `datetime64`, written as if it were UTC.
    pub(in super::super) first: Option<Timestamp>,
    /// Whether they are dates.
    pub(in super::super) are_dates: bool,
}

/// The type of such an array.
struct TimesForm {
    are_dates: bool,
    is_big_endian: bool,
    /// Nanoseconds of a unit.
    unit_ns: i64,
}

impl TimesForm {
    fn parse(descr: &str) -> Option<Self> {
        let (order, rest) = descr.split_at_checked(1)?;
        let is_big_endian = match order {
            "<" => false,
            ">" => true,
            "=" => cfg!(target_endian = "big"),
            _ => return None,
        };
        let are_dates = rest.starts_with("M8[");
        let unit = rest.strip_prefix(if are_dates { "M8[" } else { "m8[" })?.strip_suffix(']')?;
        let digits = unit.bytes().take_while(u8::is_ascii_digit).count();
        let (count, unit) = unit.split_at_checked(digits)?;
        let count: i64 = if count.is_empty() { 1 } else { count.parse().ok()? };
        let ns: i64 = match unit {
            "ns" => 1,
            "us" | "\u{3bc}s" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "D" => 86_400_000_000_000,
            _ => return None,
        };
        Some(Self {
            are_dates,
            is_big_endian,
            unit_ns: count.checked_mul(ns).filter(|ns| *ns > 0)?,
        })
    }
}

/// The times of an array of one axis, or of one time; `None` if it holds something else.
///
/// # Errors
/// The header is damaged, or the file ends too early.
pub(in super::super) fn times_of(
    path: &Path,
    content: &[u8],
) -> Result<Option<ArrayTimes>, SourceError> {
    let mut reader = content;
    let text = header::read_text(path, &mut reader)?;
    let descr = header::value_of(&text, "descr").ok().and_then(header::quoted);
    let Some(form) = descr.and_then(TimesForm::parse) else { return Ok(None) };
    let shape = header::value_of(&text, "shape").and_then(header::shape_of);
    let shape = shape.map_err(|what| SourceError::malformed(path, what))?;
    let longest = shape.iter().copied().max().unwrap_or(1);
    if shape.iter().filter(|axis| **axis != 1).count() > 1 {
        return Ok(None);
    }
    let numbers = reader.chunks_exact(8).take(longest).map(|raw| {
        let mut bytes = [0u8; 8];
        bytes.copy_from_slice(raw);
        if form.is_big_endian { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) }
    });
    let numbers: Vec<i64> = numbers.collect();
    if numbers.len() < longest {
        let what = format!("{} of {longest} times are there: truncated", numbers.len());
        return Err(SourceError::malformed(path, what));
    }
    let first = numbers.first().copied().filter(|first| *first != NOT_A_TIME);
    let from = first.filter(|_| form.are_dates).unwrap_or(0);
    let unit_s = form.unit_ns as f64 / 1e9;
    let seconds = numbers.iter().map(|&number| match number.checked_sub(from) {
        Some(units) if number != NOT_A_TIME => units as f64 * unit_s,
        _ => f64::NAN,
    });
    let seconds = seconds.collect();
    let ms = first
        .filter(|_| form.are_dates)
        .map(|first| (i128::from(first) * i128::from(form.unit_ns)).div_euclid(1_000_000));
    let first = ms.and_then(|ms| i64::try_from(ms).ok()).and_then(Timestamp::from_unix_ms);
    Ok(Some(ArrayTimes { seconds, first, are_dates: form.are_dates }))
}
