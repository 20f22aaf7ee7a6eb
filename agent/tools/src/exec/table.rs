//! Executor `table`: rows of the tool's own file, picked by the arguments. Nothing is computed: a
//! row is told as it stands, with the source of the table.

use serde_json::{Value, json};

use super::Invocation;
use crate::spec::table::TableConfig;

/// The rows that the arguments pick; an argument that is absent picks all.
pub(crate) fn run(config: &TableConfig, invocation: Invocation<'_>) -> Value {
    let rows: Vec<&Value> =
        config.rows.iter().filter(|row| picks(config, row, &invocation)).collect();
    let count = rows.len();
    json!({ "rows": rows, "count": count, "source": config.source })
}

fn picks(config: &TableConfig, row: &Value, invocation: &Invocation<'_>) -> bool {
    let argument = |name: &str| invocation.arguments.get(name).filter(|value| !value.is_null());
    let is_equal = config.equal.iter().all(|name| {
        argument(name).is_none_or(|asked| row.get(name).is_some_and(|is| same(is, asked)))
    });
    let is_within = config.ranges.iter().all(|(name, [from, below])| {
        argument(name).and_then(Value::as_f64).is_none_or(|asked| {
            // a row without an end is open there
            let end = |name: &str| row.get(name).and_then(Value::as_f64);
            end(from).is_none_or(|from| asked >= from)
                && end(below).is_none_or(|below| asked < below)
        })
    });
    is_equal && is_within
}

fn same(is: &Value, asked: &Value) -> bool {
    match (is.as_f64(), asked.as_f64()) {
        (Some(is), Some(asked)) => is.total_cmp(&asked).is_eq(),
        _ => is == asked,
    }
}
