//! `config` of a `table` tool.
//!
//! ```yaml
//! executor: table
//! config:
//!   source: where the values come from
//!   equal: [machine_group]                              # properties that equal the row's field
//!   ranges: { velocity_mm_s: [from_mm_s, below_mm_s] }  # from <= property < below
//!   rows:
//!     - { machine_group: medium, zone: A, below_mm_s: 1.4 }
//! ```

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::fields::{FieldReading, short_text};
use crate::schema::Schema;

/// Most rows. No data chose it: what a person can still check against its source.
const MAX_ROWS: usize = 500;

/// `config` of a `table` tool.
#[derive(Debug, Clone, PartialEq)]
pub struct TableConfig {
    /// Where the values come from; stands in every answer.
    pub source: String,
    /// Input properties that must equal the field of the same name.
    pub equal: Vec<String>,
    /// Input property → the row's fields between which it must lie; either may be absent in a row.
    pub ranges: BTreeMap<String, [String; 2]>,
    /// The rows.
    pub rows: Vec<Value>,
}

pub(super) fn read_table_config(
    reading: &mut FieldReading<'_>,
    config: &Map<String, Value>,
    input: Option<&Schema>,
) -> Option<TableConfig> {
    let before = reading.problems.len();
    let source = reading.text("/config", config, "source");
    let equal = equal(reading, config, input);
    let ranges = ranges(reading, config, input);
    let rows = rows(reading, config, &equal);
    (reading.problems.len() == before).then_some(())?;
    Some(TableConfig { source: source?, equal, ranges, rows })
}

fn known(reading: &mut FieldReading<'_>, at: &str, property: &str, input: Option<&Schema>) {
    if input.is_some_and(|input| !input.has_property(property)) {
        reading.problem(at, format!("{property} is none of the properties of input_schema"));
    }
}

fn equal(
    reading: &mut FieldReading<'_>,
    config: &Map<String, Value>,
    input: Option<&Schema>,
) -> Vec<String> {
    let mut all = Vec::new();
    match config.get("equal") {
        None => {}
        Some(Value::Array(names)) => {
            for (index, name) in names.iter().enumerate() {
                let at = format!("/config/equal/{index}");
                if let Some(name) = name.as_str() {
                    known(reading, &at, name, input);
                    all.push(name.to_owned());
                } else {
                    reading.problem(
                        &at,
                        format!("is {}, expected a property's name", short_text(name)),
                    );
                }
            }
        }
        Some(other) => {
            reading.problem("/config/equal", format!("is {}, expected a list", short_text(other)));
        }
    }
    all
}

fn ranges(
    reading: &mut FieldReading<'_>,
    config: &Map<String, Value>,
    input: Option<&Schema>,
) -> BTreeMap<String, [String; 2]> {
    let mut all = BTreeMap::new();
    for (property, ends) in reading.map("/config", config, "ranges").into_iter().flatten() {
        let at = format!("/config/ranges/{property}");
        known(reading, &at, property, input);
        let names: Option<Vec<&str>> =
            ends.as_array().map(|ends| ends.iter().filter_map(Value::as_str).collect());
        if let Some([from, below]) = names.as_deref() {
            all.insert(property.clone(), [(*from).to_owned(), (*below).to_owned()]);
        } else {
            reading.problem(&at, format!("is {}, expected two fields of a row", short_text(ends)));
        }
    }
    all
}

fn rows(
    reading: &mut FieldReading<'_>,
    config: &Map<String, Value>,
    equal: &[String],
) -> Vec<Value> {
    let Some(Value::Array(rows)) = config.get("rows") else {
        reading.problem("/config/rows", "is required: a list of rows");
        return Vec::new();
    };
    if rows.is_empty() || rows.len() > MAX_ROWS {
        let message = format!("has {} rows, allowed are 1 to {MAX_ROWS}", rows.len());
        reading.problem("/config/rows", message);
    }
    for (index, row) in rows.iter().enumerate() {
        let at = format!("/config/rows/{index}");
        match row.as_object() {
            None => reading.problem(&at, format!("is {}, expected fields", short_text(row))),
            Some(fields) => {
                for missing in equal.iter().filter(|name| !fields.contains_key(*name)) {
                    reading.problem(&at, format!("lacks {missing}, by which rows are picked"));
                }
            }
        }
    }
    rows.clone()
}
