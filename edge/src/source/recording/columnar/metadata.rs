//! Reads the statements of a Parquet file's metadata on its columns: unit, rate and kind of time.
//!
//! Three writers are read: pairs of key and value of the file (`unit`, `fs`), the attributes of a
//! pandas frame (`PANDAS_ATTRS`, and `attributes` and `numpy_type` within `pandas`), and the fields
//! of an Arrow schema (`ARROW:schema`, by [`super::arrow`]). All become leaves beside the columns,
//! as in any other tree. Invariant: no more than [`MOST_STATEMENTS`] statements of a file are
//! taken.

use serde_json::Value;

use super::arrow::fields_of_schema;
use crate::source::recording::NumberEncoding;
use crate::source::recording::leaves::{Leaf, LeafContent};

/// Most statements of a file.
const MOST_STATEMENTS: usize = 1024;

/// Longest text of a statement, in bytes.
const LONGEST_TEXT: usize = 200;

/// Keys of an object that has one unit for each column.
const UNIT_KEYS: [&str; 3] = ["unit", "units", "einheit"];

/// The statements of the pairs of a file's metadata, as leaves.
pub(super) fn statements_of<'a>(
    pairs: impl Iterator<Item = (&'a str, &'a str)>,
    columns: &[String],
) -> Vec<Leaf> {
    let mut all = Statements { leaves: Vec::new(), columns };
    for (key, value) in pairs {
        match key {
            "ARROW:schema" => all.take_schema(value),
            "pandas" => all.take_pandas(value),
            "PANDAS_ATTRS" => {
                if let Ok(value) = serde_json::from_str::<Value>(value) {
                    all.take_attributes("", &value);
                }
            }
            _ => match serde_json::from_str::<Value>(value) {
                // `units` with an object of one unit for each column
                Ok(object @ Value::Object(_)) => {
                    let fields = serde_json::Map::from_iter([(key.to_owned(), object)]);
                    all.take_attributes("", &Value::Object(fields));
                }
                _ => all.take_text("", key, value),
            },
        }
    }
    all.leaves
}

struct Statements<'a> {
    leaves: Vec<Leaf>,
    columns: &'a [String],
}

impl Statements<'_> {
    /// Adds the text of a key in the scope of a column, or of the file.
    fn take_text(&mut self, scope: &str, key: &str, text: &str) {
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let content = number.map_or_else(
            || LeafContent::Text(vec![text.trim().to_owned()]),
            |number| LeafContent::Numbers {
                rows: 1,
                columns: 1,
                numbers: vec![number],
                encoding: NumberEncoding::Real,
            },
        );
        // a point or a slash would put the key into another struct
        let key = key.replace(['.', '/'], "_");
        let path = if scope.is_empty() { key } else { format!("{scope}.{key}") };
        // pandas writes its attributes twice
        let is_new = !self.leaves.iter().any(|leaf| leaf.path == path);
        if self.leaves.len() < MOST_STATEMENTS && text.len() <= LONGEST_TEXT && is_new {
            self.leaves.push(Leaf { path, content });
        }
    }

    /// Adds attributes: of the file, of the columns that have their name, or one unit for each
    /// column.
    fn take_attributes(&mut self, scope: &str, attributes: &Value) {
        let Value::Object(fields) = attributes else { return };
        for (key, value) in fields {
            match value {
                Value::String(text) => self.take_text(scope, key, text),
                Value::Number(number) => self.take_text(scope, key, &number.to_string()),
                Value::Object(_) if self.columns.contains(key) => self.take_attributes(key, value),
                Value::Object(units) if UNIT_KEYS.contains(&key.to_lowercase().as_str()) => {
                    for (column, unit) in
                        units.iter().filter(|(name, _)| self.columns.contains(name))
                    {
                        if let Value::String(unit) = unit {
                            let (leaves, path) = (&mut self.leaves, format!("{column}.unit"));
                            let content = LeafContent::Text(vec![unit.trim().to_owned()]);
                            leaves.push(Leaf { path, content });
                        }
                    }
                }
                Value::Object(_) => self.take_attributes(scope, value),
                Value::Null | Value::Bool(_) | Value::Array(_) => {}
            }
        }
    }

    /// Adds what pandas states of its frame.
    fn take_pandas(&mut self, value: &str) {
        let Ok(value) = serde_json::from_str::<Value>(value) else { return };
        if let Some(attributes) = value.get("attributes") {
            self.take_attributes("", attributes);
        }
        for column in value.get("columns").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| column.get(key).and_then(Value::as_str);
            let name = text("field_name").or_else(|| text("name"));
            let unit = text("numpy_type").and_then(|kind| {
                kind.strip_prefix("timedelta64[").and_then(|unit| unit.strip_suffix(']'))
            });
            if let (Some(name), Some(unit)) = (name, unit) {
                self.take_time(name, unit);
            }
        }
    }

    /// Adds what an Arrow schema states of its fields.
    fn take_schema(&mut self, value: &str) {
        for field in fields_of_schema(value) {
            for (key, text) in &field.metadata {
                self.take_text(&field.name, key, text);
            }
            if let Some(unit) = field.duration_unit {
                self.take_time(&field.name, unit);
            }
        }
    }

    /// Adds the unit of a column of durations, once.
    fn take_time(&mut self, column: &str, unit: &str) {
        let path = format!("{column}_unit");
        if !self.leaves.iter().any(|leaf| leaf.path == path) {
            self.leaves.push(Leaf { path, content: LeafContent::Text(vec![unit.to_owned()]) });
        }
    }
}
