//! The fields of a message: numbers, times and documents, and the words for other values in their
//! place.

use chrono::NaiveDateTime;
use pdm_shared::time::Timestamp;
use serde_json::Value;

use crate::tabular::LocalZone;

/// Whether all numbers of a value are integers, also those that are written as texts.
pub(super) fn holds_integers(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().all(holds_integers),
        Value::Number(number) => !number.is_f64(),
        Value::String(text) => text.trim().parse::<i64>().is_ok(),
        Value::Null | Value::Bool(_) | Value::Object(_) => true,
    }
}

/// The document in a payload.
pub(in crate::source) fn document(payload: &[u8]) -> Result<Value, String> {
    // the mark of UTF-8, which some writers of texts put first
    let text = payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(payload);
    let packed = match text {
        [0x1f, 0x8b, ..] => Some("gzip"),
        [b'P', b'K', 3, 4, ..] => Some("zip"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd"),
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => Some("zlib"),
        _ => None,
    };
    if let Some(packed) = packed {
        return Err(format!("no JSON: the message is packed ({packed}); it has to come unpacked"));
    }
    serde_json::from_slice(text).map_err(|error| format!("no JSON: {error}"))
}

pub(super) fn at<'a>(message: &'a Value, pointer: &str) -> Result<&'a Value, String> {
    message.pointer(pointer).ok_or_else(|| format!("nothing stands at {pointer}"))
}

pub(super) fn number(message: &Value, pointer: &str) -> Result<f64, String> {
    let value = at(message, pointer)?;
    let of_text = || value.as_str()?.trim().parse().ok();
    value
        .as_f64()
        .or_else(of_text)
        .ok_or_else(|| format!("{pointer}: {} is no number", begin_of_value(value)))
}

/// The time at a pointer, which has to state its zone.
pub(in crate::source) fn time(message: &Value, pointer: &str) -> Result<Timestamp, String> {
    let value = at(message, pointer)?;
    stated_time(value).ok_or_else(|| {
        format!("{pointer}: {} is no time; RFC 3339 or a number", begin_of_value(value))
    })
}

/// A time of a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MessageTime {
    pub(super) at: Timestamp,
    /// The offset in which it was read, s east of UTC, where it states none.
    pub(super) assumed_s: Option<i32>,
}

/// The time at a pointer, in this zone where it states none; in an hour that is repeated, the one
/// that lies nearer to `now`.
pub(super) fn time_in(
    message: &Value,
    pointer: &str,
    (zone, now): (LocalZone, Timestamp),
) -> Result<MessageTime, String> {
    let value = at(message, pointer)?;
    let stated = stated_time(value).map(|at| MessageTime { at, assumed_s: None });
    let local = || {
        let text = value.as_str()?.trim();
        let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"];
        let local = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())?;
        let offsets = zone.offsets(local);
        let local = Timestamp::of(local.and_utc())?;
        let read = |offset_s: i32| {
            let at = local.plus_seconds(-f64::from(offset_s));
            MessageTime { at, assumed_s: Some(offset_s) }
        };
        let apart_s = |read: &MessageTime| now.seconds_since(read.at).abs();
        let both = std::iter::once(offsets.first_s).chain(offsets.second_s).map(read);
        both.min_by(|a, b| apart_s(a).total_cmp(&apart_s(b)))
    };
    stated.or_else(local).ok_or_else(|| {
        format!("{pointer}: {} is no time; RFC 3339 or a number", begin_of_value(value))
    })
}

fn stated_time(value: &Value) -> Option<Timestamp> {
    let of_number = |number: f64| {
        let ms = match number.abs() {
            n if n < 1e11 => number * 1e3,
            n if n < 1e14 => number,
            n if n < 1e17 => number / 1e3,
            _ => number / 1e6,
        };
        Timestamp::from_unix_ms(ms.round() as i64)
    };
    match value.as_f64() {
        Some(number) => of_number(number),
        None => value.as_str().and_then(|text| {
            Timestamp::parse(text).ok().or_else(|| of_number(text.trim().parse().ok()?))
        }),
    }
}

/// The beginning of a value, for messages.
pub(in crate::source) fn begin_of_value(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}
