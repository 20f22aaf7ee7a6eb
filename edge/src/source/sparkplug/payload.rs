//! Payloads of Sparkplug B: a message's statements on its metrics, read in place.
//!
//! Only the fields that samples need are read; others are passed over. Invariant: a payload has at
//! most [`MOST_METRICS`] metrics, so a hostile one is refused before it takes memory.

use super::wire::{Fields, WireError, WireValue, put_bytes, put_number};

/// Most metrics of a message. A node with every tag of a plant has some ten thousand.
const MOST_METRICS: usize = 100_000;

/// `uuid` of a payload whose body is another payload, compressed.
const COMPRESSED: &[u8] = b"SPBV1.0_COMPRESSED";

/// A message.
#[derive(Debug, Default)]
pub(super) struct Payload<'a> {
    pub(super) timestamp_ms: Option<u64>,
    pub(super) seq: Option<u64>,
    pub(super) metrics: Vec<Metric<'a>>,
}

/// A metric of a message.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Metric<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) alias: Option<u64>,
    pub(super) timestamp_ms: Option<u64>,
    pub(super) datatype: Option<u64>,
    pub(super) is_historical: bool,
    pub(super) is_null: bool,
    properties: Option<&'a [u8]>,
    pub(super) value: Option<MetricValue<'a>>,
}

/// The value of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MetricValue<'a> {
    /// `int_value` or `long_value`; the datatype says whether there is a sign.
    Integer(u64),
    Float(f64),
    Boolean,
    Text(&'a str),
    Bytes(&'a [u8]),
    /// A data set, a template or an extension.
    Composed,
}

impl<'a> Payload<'a> {
    pub(super) fn parse(message: &'a [u8]) -> Result<Self, WireError> {
        let mut payload = Self::default();
        let mut fields = Fields::new(message);
        while let Some(field) = fields.next_field()? {
            match field {
                (1, WireValue::Varint(ms)) => payload.timestamp_ms = Some(ms),
                (2, WireValue::Bytes(metric)) => {
                    if payload.metrics.len() == MOST_METRICS {
                        return Err("more than 100000 metrics in a message");
                    }
                    payload.metrics.push(Metric::parse(metric)?);
                }
                (3, WireValue::Varint(seq)) => payload.seq = Some(seq),
                (4, WireValue::Bytes(COMPRESSED)) => {
                    return Err("a compressed payload (SPBV1.0_COMPRESSED), which is not read");
                }
                _ => {}
            }
        }
        Ok(payload)
    }
}

impl<'a> Metric<'a> {
    fn parse(message: &'a [u8]) -> Result<Self, WireError> {
        let mut metric = Self::default();
        let mut fields = Fields::new(message);
        while let Some((number, value)) = fields.next_field()? {
            match (number, value) {
                (1, WireValue::Bytes(name)) => metric.name = Some(text(name)?),
                (2, WireValue::Varint(alias)) => metric.alias = Some(alias),
                (3, WireValue::Varint(ms)) => metric.timestamp_ms = Some(ms),
                (4, WireValue::Varint(datatype)) => metric.datatype = Some(datatype),
                (5, WireValue::Varint(flag)) => metric.is_historical = flag != 0,
                (7, WireValue::Varint(flag)) => metric.is_null = flag != 0,
                (9, WireValue::Bytes(properties)) => metric.properties = Some(properties),
                (10..=19, value) => metric.value = Some(MetricValue::parse(number, value)?),
                _ => {}
            }
        }
        // an empty name is how some libraries leave a name out
        metric.name = metric.name.filter(|name| !name.is_empty());
        Ok(metric)
    }

    /// The value of the first property with one of these names, if it has one.
    pub(super) fn property(&self, names: &[&str]) -> Result<Option<MetricValue<'a>>, WireError> {
        let Some(set) = self.properties else { return Ok(None) };
        let mut place = None;
        let (mut keys, mut values) = (Fields::new(set), Fields::new(set));
        let mut index = 0usize;
        while let Some((number, value)) = keys.next_field()? {
            if let (1, WireValue::Bytes(key)) = (number, value) {
                if names.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(key)) {
                    place = Some(index);
                    break;
                }
                index += 1;
            }
        }
        let Some(place) = place else { return Ok(None) };
        let mut index = 0usize;
        while let Some((number, value)) = values.next_field()? {
            if let (2, WireValue::Bytes(value)) = (number, value) {
                if index == place {
                    return property_value(value);
                }
                index += 1;
            }
        }
        Ok(None)
    }
}

fn property_value(message: &[u8]) -> Result<Option<MetricValue<'_>>, WireError> {
    let mut found = None;
    let mut fields = Fields::new(message);
    while let Some((number, value)) = fields.next_field()? {
        // values have the numbers of those of a metric, less 7
        if (3..=8).contains(&number) {
            found = Some(MetricValue::parse(number + 7, value)?);
        }
    }
    Ok(found)
}

impl<'a> MetricValue<'a> {
    /// The value in the field of a metric with this number.
    fn parse(number: u32, value: WireValue<'a>) -> Result<Self, WireError> {
        Ok(match (number, value) {
            (10 | 11, WireValue::Varint(number)) => Self::Integer(number),
            (12, WireValue::Fixed32(raw)) => Self::Float(f64::from(f32::from_le_bytes(raw))),
            (13, WireValue::Fixed64(raw)) => Self::Float(f64::from_le_bytes(raw)),
            (14, WireValue::Varint(_)) => Self::Boolean,
            (15, WireValue::Bytes(raw)) => Self::Text(text(raw)?),
            (16, WireValue::Bytes(raw)) => Self::Bytes(raw),
            (17..=19, WireValue::Bytes(_)) => Self::Composed,
            _ => return Err("a value of another kind than its field has in Sparkplug B"),
        })
    }
}

fn text(raw: &[u8]) -> Result<&str, WireError> {
    std::str::from_utf8(raw).map_err(|_no_text| "a name or text that is not UTF-8")
}

/// The command that asks a node to send its births again.
pub(super) fn rebirth_command(now_ms: u64) -> Vec<u8> {
    let mut metric = Vec::new();
    put_bytes(&mut metric, 1, b"Node Control/Rebirth");
    put_number(&mut metric, 3, now_ms);
    // 11 is the datatype Boolean
    put_number(&mut metric, 4, 11);
    put_number(&mut metric, 14, 1);
    let mut command = Vec::new();
    put_number(&mut command, 1, now_ms);
    put_bytes(&mut command, 2, &metric);
    command
}
