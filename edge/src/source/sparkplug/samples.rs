//! Numbers from the values of metrics.

use super::birth::DataType;
use super::payload::MetricValue;
use crate::source::burst::MOST_BURST_SAMPLES;

/// The samples of a metric.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum MetricSamples {
    /// An array: a burst.
    Burst(Vec<f64>),
    /// One number.
    Single(f64),
}

/// The samples in a value; arrays are little-endian, unless the node writes them big-endian.
///
/// # Errors
/// The type of the value, and the one that its data type asks for.
pub(super) fn samples_in(
    value: MetricValue<'_>,
    datatype: DataType,
    is_big_endian: bool,
) -> Result<MetricSamples, String> {
    match (datatype, value) {
        (DataType::Integer(bits, is_signed), MetricValue::Integer(raw)) => {
            Ok(MetricSamples::Single(integer(raw, bits, is_signed)))
        }
        (DataType::Float | DataType::Double, MetricValue::Float(number)) => {
            Ok(MetricSamples::Single(number))
        }
        (DataType::IntegerArray(bits, is_signed), MetricValue::Bytes(raw)) => {
            let width = usize::from(bits / 8);
            array(raw, width, is_big_endian, |raw| integer(raw, bits, is_signed))
        }
        (DataType::FloatArray, MetricValue::Bytes(raw)) => {
            let number = |raw: u64| f64::from(f32::from_bits(raw as u32));
            array(raw, 4, is_big_endian, number)
                .and_then(|samples| other_order(samples, raw, 4, is_big_endian, number))
        }
        (DataType::DoubleArray, MetricValue::Bytes(raw)) => {
            array(raw, 8, is_big_endian, f64::from_bits)
                .and_then(|samples| other_order(samples, raw, 8, is_big_endian, f64::from_bits))
        }
        (_, value) => Err(format!("has {}, which is not of its data type", kind(value))),
    }
}

/// Returns a whole number of `bits` bits; senders extend the sign of a short one to 32 or 64 bits,
/// or not.
fn integer(raw: u64, bits: u8, is_signed: bool) -> f64 {
    let shift = 64 - u32::from(bits);
    if is_signed {
        ((raw << shift).cast_signed() >> shift) as f64
    } else {
        (raw << shift >> shift) as f64
    }
}

fn array(
    raw: &[u8],
    width: usize,
    is_big_endian: bool,
    number: impl Fn(u64) -> f64,
) -> Result<MetricSamples, String> {
    if !raw.len().is_multiple_of(width) {
        return Err(format!("has {} bytes, no whole number of samples of {width}", raw.len()));
    }
    let samples = raw.len() / width;
    if !(1..=MOST_BURST_SAMPLES).contains(&samples) {
        return Err(format!("has {samples} samples; allowed is 1 to {MOST_BURST_SAMPLES}"));
    }
    let word = |bytes: &[u8]| {
        let shifted = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
        if is_big_endian {
            bytes.iter().fold(0, shifted)
        } else {
            bytes.iter().rev().fold(0, shifted)
        }
    };
    Ok(MetricSamples::Burst(raw.chunks_exact(width).map(|bytes| number(word(bytes))).collect()))
}

/// Magnitudes that accelerations have in any unit; 0 beside.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

/// Refuses floats that make sense only in the other byte order: the examples of the specification
/// show them big-endian, and some senders followed these.
fn other_order(
    samples: MetricSamples,
    raw: &[u8],
    width: usize,
    is_big_endian: bool,
    number: impl Fn(u64) -> f64,
) -> Result<MetricSamples, String> {
    let (Ok(MetricSamples::Burst(swapped)), MetricSamples::Burst(own)) =
        (array(raw, width, !is_big_endian, number), &samples)
    else {
        return Ok(samples);
    };
    let plausible = |numbers: &[f64]| {
        let is_plausible = |number: &&f64| **number == 0.0 || PLAUSIBLE.contains(&number.abs());
        numbers.iter().filter(is_plausible).count()
    };
    // random bytes are a plausible float in one of four cases; a signal always
    if 2 * plausible(own) < own.len() && plausible(&swapped) == swapped.len() {
        let (is, would) = if is_big_endian { ("big", "little") } else { ("little", "big") };
        return Err(format!(
            "has floats that make no sense {is}-endian, but {would}-endian; \
             sparkplug.byte_order = \"{would}\" reads them so"
        ));
    }
    Ok(samples)
}

const fn kind(value: MetricValue<'_>) -> &'static str {
    match value {
        MetricValue::Integer(_) => "a whole number",
        MetricValue::Float(_) => "a float",
        MetricValue::Boolean => "a Boolean",
        MetricValue::Text(_) => "a text",
        MetricValue::Bytes(_) => "bytes",
        MetricValue::Composed => "a data set or template",
    }
}
