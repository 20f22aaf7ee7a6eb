//! An event taken apart into the cells of `events` and `spectra`, and put together again.
//!
//! Invariant: what is put together means the same as what was taken apart. A value takes its column
//! only if the column can give it back; everything else stays in `rest` in the event's own form.
//! `null` and a field that is absent are the same in `pdm.event/1`, and so are `null`, `{}` and
//! absent here.

use serde_json::{Map, Value as Json};

use crate::table::{Column, REST};
use crate::value::Value;

/// A step of a column's path.
enum Step<'a> {
    Field(&'a str),
    /// A field of each object of a list.
    Each(&'a str, &'a str),
}

fn steps(path: &str) -> Vec<Step<'_>> {
    if let Some((before, field)) = path.split_once("[].") {
        let mut steps: Vec<Step<'_>> = before.split('.').map(Step::Field).collect();
        if let Some(Step::Field(list)) = steps.pop() {
            steps.push(Step::Each(list, field));
        }
        return steps;
    }
    path.split('.').map(Step::Field).collect()
}

/// Takes an event apart. Cells of `columns` in their order; what no column takes is in `rest`.
pub fn cells(columns: &[Column], mut event: Json) -> Vec<Value> {
    let mut cells: Vec<Value> = columns.iter().map(|column| taken(column, &mut event)).collect();
    clean(&mut event);
    if let Some(place) = columns.iter().position(|column| column.name == REST)
        && !is_nothing(&event)
        && let Some(cell) = cells.get_mut(place)
    {
        *cell = Value::Text(event.to_string());
    }
    cells
}

/// The value at the column's path, removed from the event if it fits.
fn taken(column: &Column, event: &mut Json) -> Value {
    if column.name == REST {
        return Value::Null;
    }
    let mut at = &mut *event;
    for step in steps(column.from) {
        match step {
            Step::Field(name) => {
                let Some(next) = at.get_mut(name) else { return Value::Null };
                at = next;
            }
            Step::Each(name, field) => {
                let Some(Json::Array(items)) = at.get_mut(name) else { return Value::Null };
                return each_taken(column, items, field);
            }
        }
    }
    let Some(value) = Value::of_json(column.kind, at) else { return Value::Null };
    *at = Json::Null;
    value
}

/// One field of each object of a list. All objects must have it; the list keeps its length.
fn each_taken(column: &Column, items: &mut [Json], field: &str) -> Value {
    let values: Option<Vec<Json>> = items
        .iter()
        .map(|item| item.get(field).filter(|value| !value.is_null()).cloned())
        .collect();
    let value = values.and_then(|values| Value::of_json(column.kind, &Json::Array(values)));
    let Some(value) = value else { return Value::Null };
    for item in items {
        if let Some(place) = item.get_mut(field) {
            *place = Json::Null;
        }
    }
    value
}

/// Removes what says nothing: `null`, objects without a field, lists of nothing but empty objects.
fn clean(json: &mut Json) {
    match json {
        Json::Object(fields) => {
            fields.values_mut().for_each(clean);
            fields.retain(|_name, value| !is_nothing(value));
        }
        Json::Array(items) => items.iter_mut().for_each(clean_within_list),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Within a list a place is kept.
fn clean_within_list(item: &mut Json) {
    if item.is_object() {
        clean(item);
    }
}

fn is_nothing(json: &Json) -> bool {
    match json {
        Json::Null => true,
        Json::Object(fields) => fields.is_empty(),
        Json::Array(items) => {
            !items.is_empty()
                && items.iter().all(|item| item.as_object().is_some_and(Map::is_empty))
        }
        Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// Puts an event together from cells in the order of `columns`.
///
/// # Errors
/// What is wrong with `rest`, which a foreign writer may have written.
pub fn event_of(columns: &[Column], cells: &[Value]) -> Result<Json, String> {
    let rest = columns.iter().zip(cells).find(|(column, _cell)| column.name == REST);
    let mut event = match rest {
        Some((_, Value::Text(text))) => serde_json::from_str(text)
            .ok()
            .filter(Json::is_object)
            .ok_or_else(|| "the column rest is no JSON object".to_owned())?,
        _ => Json::Object(Map::new()),
    };
    for (column, cell) in columns.iter().zip(cells) {
        if column.name == REST {
            continue;
        }
        if let Some(value) = cell.to_json() {
            put(&mut event, column.from, value);
        }
    }
    Ok(event)
}

fn put(event: &mut Json, path: &str, value: Json) {
    let mut at = event;
    let steps = steps(path);
    let last = steps.len().saturating_sub(1);
    for (number, step) in steps.into_iter().enumerate() {
        if !at.is_object() {
            *at = Json::Object(Map::new());
        }
        let Json::Object(fields) = at else { return };
        match step {
            Step::Field(name) if number == last => {
                fields.insert(name.to_owned(), value);
                return;
            }
            Step::Field(name) => at = fields.entry(name).or_insert(Json::Null),
            Step::Each(name, field) => {
                let list = fields.entry(name).or_insert_with(|| Json::Array(Vec::new()));
                put_each(list, field, value);
                return;
            }
        }
    }
}

fn put_each(list: &mut Json, field: &str, values: Json) {
    let (Json::Array(items), Json::Array(values)) = (list, values) else { return };
    if items.len() < values.len() {
        items.resize_with(values.len(), || Json::Object(Map::new()));
    }
    for (item, value) in items.iter_mut().zip(values) {
        if let Json::Object(fields) = item {
            fields.insert(field.to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests;
