//! A cell of a row, and the kinds of columns that hold cells.
//!
//! The flow: a row of the agent's store or a JSON event → [`Value`]s → Arrow arrays
//! ([`crate::batch`]) → Parquet. A value that does not fit its column stays in the table's column
//! `rest`, so none is lost.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::Value as Json;

/// The kind of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text.
    Text,
    /// A whole number, 64 bits.
    Int,
    /// A number, 64 bits.
    Float,
    /// True or false.
    Bool,
    /// An instant in UTC, microseconds.
    Time,
    /// Numbers.
    Floats,
    /// Whole numbers.
    Ints,
    /// Texts.
    Texts,
}

impl ColumnKind {
    /// The name of the kind in messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Int => "whole number",
            Self::Float => "number",
            Self::Bool => "boolean",
            Self::Time => "instant",
            Self::Floats => "list of numbers",
            Self::Ints => "list of whole numbers",
            Self::Texts => "list of texts",
        }
    }
}

/// A cell of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing: not measured, or not said.
    Null,
    /// Text.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Microseconds since 1970-01-01T00:00:00Z.
    Time(i64),
    /// Numbers.
    Floats(Vec<f64>),
    /// Whole numbers.
    Ints(Vec<i64>),
    /// Texts.
    Texts(Vec<String>),
}

impl Value {
    /// The cell of a JSON value, if the value fits `kind` exactly; a value that does not stays in
    /// `rest`.
    pub fn of_json(kind: ColumnKind, json: &Json) -> Option<Self> {
        match kind {
            ColumnKind::Text => json.as_str().map(|text| Self::Text(text.to_owned())),
            ColumnKind::Int => json.as_i64().map(Self::Int),
            ColumnKind::Float => exact(json).map(Self::Float),
            ColumnKind::Bool => json.as_bool().map(Self::Bool),
            ColumnKind::Time => json.as_str().and_then(micros_of).map(Self::Time),
            ColumnKind::Floats => list(json, exact).map(Self::Floats),
            ColumnKind::Ints => list(json, Json::as_i64).map(Self::Ints),
            ColumnKind::Texts => {
                list(json, |item| item.as_str().map(str::to_owned)).map(Self::Texts)
            }
        }
    }

    /// The JSON value of the cell; `None` of an empty cell.
    pub fn to_json(&self) -> Option<Json> {
        Some(match self {
            Self::Null => return None,
            Self::Text(text) => Json::from(text.as_str()),
            Self::Int(number) => Json::from(*number),
            Self::Float(number) => Json::from(*number),
            Self::Bool(is) => Json::from(*is),
            Self::Time(micros) => Json::from(text_of_micros(*micros)?),
            Self::Floats(numbers) => Json::from(numbers.as_slice()),
            Self::Ints(numbers) => Json::from(numbers.as_slice()),
            Self::Texts(texts) => Json::from(texts.as_slice()),
        })
    }

    /// The text of the cell, of a key of a row.
    pub fn as_text(&self) -> &str {
        if let Self::Text(text) = self { text } else { "" }
    }
}

/// The number, unless it is a whole one that a column of 64 bits cannot hold exactly.
fn exact(json: &Json) -> Option<f64> {
    const MOST: u64 = 1 << 53;
    let number = json.as_f64()?;
    let is_exact = json.is_f64() || json.as_i64().is_some_and(|whole| whole.unsigned_abs() <= MOST);
    is_exact.then_some(number)
}

fn list<T>(json: &Json, item: impl Fn(&Json) -> Option<T>) -> Option<Vec<T>> {
    json.as_array()?.iter().map(item).collect()
}

/// Microseconds of an instant, if it has no finer part.
fn micros_of(text: &str) -> Option<i64> {
    let at = DateTime::parse_from_rfc3339(text).ok()?;
    (at.timestamp_subsec_nanos() % 1000 == 0).then(|| at.timestamp_micros())
}

/// The text of an instant in the form of the contracts: milliseconds, microseconds where there are
/// any.
pub fn text_of_micros(micros: i64) -> Option<String> {
    let at = DateTime::<Utc>::from_timestamp_micros(micros)?;
    let form = if micros % 1000 == 0 { SecondsFormat::Millis } else { SecondsFormat::Micros };
    Some(at.to_rfc3339_opts(form, true))
}
