//! The metadata of a TDMS segment: paths, layouts of raw data, and properties.

use std::collections::BTreeMap;

use pdm_shared::time::Timestamp;

use super::ordered::OrderedBytes;

/// Raw data of a DAQmx card: `FORMAT_CHANGING_SCALER` and `DIGITAL_LINE_SCALER`.
const DAQMX: u32 = 0x1269;
const DAQMX_DIGITAL: u32 = 0x126a;

/// The type code of times.
const TIME_CODE: u32 = 0x44;

/// Most scalers of a channel, and most cards.
const MAX_SCALERS: u32 = 1024;

/// Seconds from 1904-01-01 to 1970-01-01.
const EPOCH_1904_S: i64 = 2_082_844_800;

/// Properties by their names.
pub(super) type Properties = BTreeMap<String, Property>;

/// The value of a property.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Property {
    Number(f64),
    Text(String),
    Time(Timestamp),
    Other,
}

impl Property {
    pub(super) const fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) | Self::Time(_) | Self::Other => None,
        }
    }
}

/// Kinds of number of raw data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberKind {
    pub(super) bytes: usize,
    pub(super) is_float: bool,
    pub(super) is_signed: bool,
    /// A time of 16 bytes; its number is seconds since 1970.
    pub(super) is_time: bool,
}

impl NumberKind {
    const fn integer(bytes: usize, is_signed: bool) -> Self {
        Self { bytes, is_float: false, is_signed, is_time: false }
    }

    const fn float(bytes: usize) -> Self {
        Self { bytes, is_float: true, is_signed: true, is_time: false }
    }

    /// A time (`tdsTypeTimeStamp`).
    pub(super) const TIME: Self =
        Self { bytes: 16, is_float: false, is_signed: true, is_time: true };

    /// The kind of a TDMS type code.
    const fn of_type(code: u32) -> Option<Self> {
        Some(match code {
            1 => Self::integer(1, true),
            2 => Self::integer(2, true),
            3 => Self::integer(4, true),
            4 => Self::integer(8, true),
            5 | 0x21 => Self::integer(1, false),
            6 => Self::integer(2, false),
            7 => Self::integer(4, false),
            8 => Self::integer(8, false),
            9 | 0x19 => Self::float(4),
            10 | 0x1a => Self::float(8),
            _ => return None,
        })
    }

    /// The kind of a DAQmx type code, which differ.
    const fn of_daqmx(code: u32) -> Option<Self> {
        Some(match code {
            0 => Self::integer(1, false),
            1 => Self::integer(1, true),
            2 => Self::integer(2, false),
            3 => Self::integer(2, true),
            4 => Self::integer(4, false),
            5 => Self::integer(4, true),
            6 => Self::integer(8, false),
            7 => Self::integer(8, true),
            8 => Self::float(4),
            9 => Self::float(8),
            _ => return None,
        })
    }
}

/// A scaler of a DAQmx channel: where its numbers stand in a card's frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scaler {
    pub(super) kind: NumberKind,
    pub(super) card: usize,
    pub(super) offset: usize,
    /// The bit of a digital line.
    pub(super) bit: Option<u32>,
    pub(super) id: u32,
}

/// The layout of an object's raw data in a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Object {
    Numbers {
        kind: NumberKind,
        count: usize,
    },
    /// Data that is no number, with its bytes in a chunk, where they are known.
    Other {
        what: String,
        bytes: usize,
    },
    Daqmx {
        count: usize,
        scalers: Vec<Scaler>,
        widths: Vec<usize>,
    },
}

/// The layout of an object; `None` if it has no raw data in the segment.
pub(super) fn layout(
    bytes: &mut OrderedBytes<'_>,
    before: Option<&Object>,
) -> Result<Option<Object>, String> {
    let form = bytes.u32()?;
    match form {
        u32::MAX => return Ok(None),
        0 => {
            let same = before.cloned();
            return same
                .map(Some)
                .ok_or_else(|| "a layout repeats one that is not there".to_owned());
        }
        DAQMX | DAQMX_DIGITAL => return daqmx(bytes, form == DAQMX_DIGITAL).map(Some),
        _ => {}
    }
    let (code, dimension, count) = (bytes.u32()?, bytes.u32()?, bytes.u64()?);
    if dimension != 1 {
        return Err(format!("raw data of {dimension} dimensions; 1 is read"));
    }
    let count = usize::try_from(count).map_err(|_| format!("{count} numbers in a chunk"))?;
    if let Some(kind) = NumberKind::of_type(code) {
        return Ok(Some(Object::Numbers { kind, count }));
    }
    let (what, width) = match code {
        0x20 => {
            let length = bytes.u64()?;
            let length = usize::try_from(length).map_err(|_| format!("{length} bytes of text"))?;
            return Ok(Some(Object::Other { what: "texts".to_owned(), bytes: length }));
        }
        TIME_CODE => return Ok(Some(Object::Numbers { kind: NumberKind::TIME, count })),
        0x0008_000c => ("complex numbers".to_owned(), 8),
        0x0010_000d => ("complex numbers".to_owned(), 16),
        _ => return Err(format!("raw data of the type 0x{code:x}, which is not known")),
    };
    let bytes = count.checked_mul(width).ok_or_else(|| format!("{count} values in a chunk"))?;
    Ok(Some(Object::Other { what, bytes }))
}

fn daqmx(bytes: &mut OrderedBytes<'_>, is_digital: bool) -> Result<Object, String> {
    let (_code, dimension, count) = (bytes.u32()?, bytes.u32()?, bytes.u64()?);
    if dimension != 1 {
        return Err(format!("raw data of {dimension} dimensions; 1 is read"));
    }
    let count = usize::try_from(count).map_err(|_| format!("{count} numbers in a chunk"))?;
    let mut scalers = Vec::new();
    for _ in 0..limited(bytes.u32()?, "scalers")? {
        let (code, card, offset) = (bytes.u32()?, bytes.u32()? as usize, bytes.u32()? as usize);
        let _bitmap = bytes.unsigned(if is_digital { 1 } else { 4 })?;
        let id = bytes.u32()?;
        let kind = NumberKind::of_daqmx(code)
            .ok_or_else(|| format!("DAQmx data of the type {code}, which is not known"))?;
        let (offset, bit) =
            if is_digital { (offset / 8, Some((offset % 8) as u32)) } else { (offset, None) };
        scalers.push(Scaler { kind, card, offset, bit, id });
    }
    let mut widths = Vec::new();
    for _ in 0..limited(bytes.u32()?, "cards")? {
        widths.push(bytes.u32()? as usize);
    }
    Ok(Object::Daqmx { count, scalers, widths })
}

fn limited(count: u32, what: &str) -> Result<u32, String> {
    if count <= MAX_SCALERS {
        return Ok(count);
    }
    Err(format!("{count} {what} of a channel; at most {MAX_SCALERS} are read"))
}

/// The properties of an object.
pub(super) fn properties(bytes: &mut OrderedBytes<'_>) -> Result<Properties, String> {
    let count = bytes.u32()?;
    let mut properties = Properties::new();
    for _ in 0..count {
        let name = bytes.text()?;
        let code = bytes.u32()?;
        let value = match code {
            0x20 => Property::Text(bytes.text()?),
            TIME_CODE => time(bytes)?,
            0x0008_000c => other(bytes, 8)?,
            0x0010_000d => other(bytes, 16)?,
            0 => Property::Other,
            _ => {
                let kind = NumberKind::of_type(code).ok_or_else(|| {
                    format!("property {name:?} of the type 0x{code:x}, which is not known")
                })?;
                let raw = bytes.take(kind.bytes)?;
                Property::Number(super::chunk::number_of(raw, kind, bytes.is_big_endian))
            }
        };
        properties.insert(name, value);
    }
    Ok(properties)
}

fn other(bytes: &mut OrderedBytes<'_>, length: usize) -> Result<Property, String> {
    bytes.take(length).map(|_| Property::Other)
}

/// Seconds since 1970 of a time of 16 bytes.
pub(super) fn seconds_of_time(raw: &[u8], is_big_endian: bool) -> f64 {
    let mut bytes = OrderedBytes::new(raw, is_big_endian);
    let (Ok(first), Ok(second)) = (bytes.u64(), bytes.u64()) else { return f64::NAN };
    let (seconds, fraction) = if is_big_endian { (first, second) } else { (second, first) };
    match seconds.cast_signed().checked_sub(EPOCH_1904_S) {
        Some(seconds) => seconds as f64 + fraction as f64 / 2f64.powi(64),
        None => f64::NAN,
    }
}

/// A time: seconds since 1904 and a fraction of 2^64, the more significant first in big-endian
/// files.
fn time(bytes: &mut OrderedBytes<'_>) -> Result<Property, String> {
    let (first, second) = (bytes.u64()?, bytes.u64()?);
    let (seconds, fraction) = if bytes.is_big_endian { (first, second) } else { (second, first) };
    let seconds = seconds.cast_signed().checked_sub(EPOCH_1904_S);
    let ms = seconds.and_then(|s| s.checked_mul(1000)).filter(|&ms| ms > 0);
    let ms = ms.map(|ms| ms + (fraction as f64 / 2f64.powi(64) * 1e3) as i64);
    Ok(ms.and_then(Timestamp::from_unix_ms).map_or(Property::Other, Property::Time))
}

/// The names in a path such as `/'group'/'channel''s name'`.
pub(super) fn names_of_path(path: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut chars = path.chars().peekable();
    while chars.next().is_some() {
        if chars.next_if_eq(&'\'').is_none() {
            continue;
        }
        let mut name = String::new();
        while let Some(c) = chars.next() {
            if c == '\'' && chars.next_if_eq(&'\'').is_none() {
                break;
            }
            name.push(c);
        }
        names.push(name);
    }
    names
}

/// The path of a group.
pub(super) fn path_of_group(name: &str) -> String {
    format!("/'{}'", name.replace('\'', "''"))
}
