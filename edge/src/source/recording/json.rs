//! JSON documents with arrays of samples, as sensors publish them and scripts save them.
//!
//! Every array of numbers is a variable with the path of its keys (`payload.samples`; a JSON pointer
//! `/payload/samples` names it, too); the fields beside it state rate, unit and name. An array of
//! arrays is a matrix, an array of objects has a column per key. Several documents, one after the
//! other or one a line, are snapshots; if none of them holds an array they are rows. Whole numbers of
//! an array are counts of a converter, unless a unit stands beside them.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Map, Number, Value};

use super::bounds::check_samples;
use super::leaves::{Leaf, LeafContent, stated_speed, stated_start, variables_of};
use super::repeats::{
    MOST_CHANNELS, check_variables, long_form_refusal, names_channels, repeated_times,
};
use super::variables::recording_of_variables;
use super::{NumberEncoding, RawRecording, SourceError, snapshots_of};
use crate::source::interpretation::ChannelRole;

mod frame;

/// Most bytes of a document. A parsed number takes up to 16 times its text: 16 MiB stay below the
/// memory that the service's unit grants.
pub(super) const MAX_BYTES: usize = 16 << 20;

/// Most arrays and texts of a document.
const MAX_LEAVES: usize = 20_000;

/// True if the file can be a document: its first character opens an object or an array.
pub(super) fn may_be_json(start: &[u8]) -> bool {
    matches!(start.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// The documents of a content; `None` if it is no JSON.
pub(super) fn documents(content: &[u8]) -> Option<Vec<Value>> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    if content.len() > MAX_BYTES {
        return None;
    }
    let parsed = |content: &[u8]| {
        let documents = serde_json::Deserializer::from_slice(content).into_iter::<Value>();
        documents.collect::<Result<Vec<Value>, _>>().ok().filter(|documents| !documents.is_empty())
    };
    parsed(content).or_else(|| parsed(&without_words_for_no_number(content)?))
}

/// A content in which `NaN`, `Infinity` and `-Infinity`, which Python writes although JSON has no such words,
/// became `null`; `None` if there is none of them.
fn without_words_for_no_number(content: &[u8]) -> Option<Vec<u8>> {
    const WORDS: [&[u8]; 3] = [b"NaN", b"-Infinity", b"Infinity"];
    let mut plain = Vec::with_capacity(content.len());
    let (mut rest, mut is_text, mut is_escaped, mut is_changed) = (content, false, false, false);
    while let Some((&byte, behind)) = rest.split_first() {
        let word = WORDS.into_iter().find(|word| !is_text && rest.starts_with(word));
        if let Some(word) = word {
            plain.extend_from_slice(b"null");
            rest = rest.get(word.len()..).unwrap_or(&[]);
            is_changed = true;
            continue;
        }
        if byte == b'"' && !is_escaped {
            is_text = !is_text;
        }
        is_escaped = is_text && byte == b'\\' && !is_escaped;
        plain.push(byte);
        rest = behind;
    }
    is_changed.then_some(plain)
}

/// Why a content whose name says JSON is none.
pub(super) fn fault(content: &[u8]) -> String {
    if content.len() > MAX_BYTES {
        return format!("a JSON document of more than {MAX_BYTES} bytes, the most that is read");
    }
    let first = serde_json::Deserializer::from_slice(content).into_iter::<Value>();
    match first.into_iter().find_map(Result::err) {
        Some(error) => format!("no JSON, although the name says so: {error}"),
        None => "no JSON, although the name says so".to_owned(),
    }
}

/// The recording in documents.
pub(super) fn open(
    path: &Path,
    documents: Vec<Value>,
    variable: Option<&str>,
) -> Result<RawRecording, SourceError> {
    let pointed = variable.map(|name| match name.strip_prefix('/') {
        Some(pointer) => pointer.replace('/', "."),
        None => name.to_owned(),
    });
    let has_array = |value: &Value| matches!(value, Value::Array(_)) || holds_array(value);
    let documents = if documents.len() > 1 && !documents.iter().any(has_array) {
        vec![Value::Array(documents)]
    } else {
        documents
    };
    let mut snapshots = Vec::new();
    let mut numbers = 0usize;
    for document in documents {
        let mut leaves = Vec::new();
        walk(document, String::new(), &mut leaves)
            .map_err(|what| SourceError::malformed(path, what))?;
        let (start, speed) = (stated_start(&leaves), stated_speed(&leaves));
        let (variables, others) = variables_of(leaves);
        numbers += variables.iter().map(|v| v.numbers.len()).sum::<usize>();
        check_samples(path, numbers)?;
        let told =
            check_variables(&variables, &[]).map_err(|what| SourceError::options(path, what))?;
        let wanted = pointed.as_deref();
        let mut own = recording_of_variables(path, "JSON document", variables, &others, wanted)?;
        own.notes.extend(speed.into_iter().chain(told));
        own.start_at(start);
        snapshots.push(own);
    }
    snapshots_of(path, snapshots, "document")
}

fn holds_array(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.len() > 1,
        Value::Object(fields) => fields.values().any(holds_array),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn push(leaves: &mut Vec<Leaf>, path: String, content: LeafContent) -> Result<(), String> {
    if leaves.len() == MAX_LEAVES {
        return Err(format!("more than {MAX_LEAVES} values, the most that is read"));
    }
    leaves.push(Leaf { path, content });
    Ok(())
}

/// Adds the leaves of a value. The depth is bounded by the parser.
fn walk(value: Value, path: String, leaves: &mut Vec<Leaf>) -> Result<(), String> {
    match value {
        Value::Null | Value::Bool(_) => Ok(()),
        Value::Number(number) => {
            let numbers = vec![number.as_f64().unwrap_or(f64::NAN)];
            let encoding = NumberEncoding::Real;
            push(leaves, path, LeafContent::Numbers { rows: 1, columns: 1, numbers, encoding })
        }
        Value::String(text) => push(leaves, path, LeafContent::Text(vec![text])),
        Value::Object(fields) => {
            let fields = match frame::indexed(fields) {
                Ok((index, items)) => {
                    if let Some(index) = index {
                        push_index(index, &path, leaves)?;
                    }
                    return array(items, path, leaves);
                }
                Err(fields) => fields,
            };
            for (key, value) in fields {
                walk(value, joined(&path, &key), leaves)?;
            }
            Ok(())
        }
        Value::Array(items) => array(items, path, leaves),
    }
}

/// Adds the index of a data frame beside its column, once.
fn push_index(index: Vec<f64>, path: &str, leaves: &mut Vec<Leaf>) -> Result<(), String> {
    let scope = path.rfind('.').map_or("", |at| path.get(..at).unwrap_or_default());
    let own = joined(scope, "index");
    if leaves.iter().any(|leaf| leaf.path == own) {
        return Ok(());
    }
    let (rows, encoding) = (index.len(), NumberEncoding::Real);
    push(leaves, own, LeafContent::Numbers { rows, columns: 1, numbers: index, encoding })
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn named(path: String) -> String {
    if path.is_empty() { "values".to_owned() } else { path }
}

fn array(items: Vec<Value>, path: String, leaves: &mut Vec<Leaf>) -> Result<(), String> {
    if items.iter().all(Value::is_string) {
        let text = |item: Value| item.as_str().map(str::to_owned).unwrap_or_default();
        return push(leaves, path, LeafContent::Text(items.into_iter().map(text).collect()));
    }
    if let Some(content) = matrix(&items) {
        return push(leaves, named(path), content);
    }
    check_long_form(&items)?;
    let columns = columns_of_objects(&items);
    if !columns.is_empty() {
        for (key, values) in columns {
            if let Some(content) = matrix(&values) {
                push(leaves, joined(&path, &key), content)?;
            }
        }
        return Ok(());
    }
    for (index, item) in items.into_iter().enumerate() {
        walk(item, format!("{}{{{index}}}", named(path.clone())), leaves)?;
    }
    Ok(())
}

/// Refuses objects of which each time stands once for each of several channels (`{"t": 0, "axis": "x", …}`).
fn check_long_form(items: &[Value]) -> Result<(), String> {
    let objects: Option<Vec<&Map<String, Value>>> = items.iter().map(Value::as_object).collect();
    let Some(objects) = objects else { return Ok(()) };
    let Some(first) = objects.first() else { return Ok(()) };
    let is_time = |key: &&String| ChannelRole::by_name(key) == ChannelRole::Time;
    let Some(time) = first.keys().find(is_time) else { return Ok(()) };
    let times = places(&objects, time, usize::MAX).map(|(_, rows)| rows);
    let Some(times) = times else { return Ok(()) };
    let is_channel = |(key, value): &(&String, &Value)| {
        *key != time && (value.is_string() || (value.is_number() && names_channels(key)))
    };
    for (key, _) in first.iter().filter(is_channel) {
        let Some((values, rows)) = places(&objects, key, MOST_CHANNELS) else { continue };
        let rows: Vec<u16> = rows.into_iter().map(|row| row as u16).collect();
        if let Some(repeated) = repeated_times(&times, &rows) {
            return Err(long_form_refusal(&format!("the key {key:?}"), &values, repeated));
        }
    }
    Ok(())
}

/// The different values of a key, and the place of each object's value among them; `None` where an object has
/// none, or there are more than `most`.
fn places(
    objects: &[&Map<String, Value>],
    key: &str,
    most: usize,
) -> Option<(Vec<String>, Vec<f64>)> {
    let mut known: HashMap<String, usize> = HashMap::new();
    let (mut values, mut rows) = (Vec::new(), Vec::with_capacity(objects.len()));
    for object in objects {
        let value = match object.get(key)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        let place = *known.entry(value.clone()).or_insert_with(|| {
            values.push(value);
            values.len() - 1
        });
        if values.len() > most {
            return None;
        }
        rows.push(place as f64);
    }
    Some((values, rows))
}

/// The columns of objects with the same keys, of which each value is a number or none.
fn columns_of_objects(items: &[Value]) -> Vec<(String, Vec<Value>)> {
    let objects: Option<Vec<&Map<String, Value>>> = items.iter().map(Value::as_object).collect();
    let Some(objects) = objects.filter(|objects| objects.len() > 1) else { return Vec::new() };
    let Some(first) = objects.first() else { return Vec::new() };
    let keys = first.iter().filter(|(_, value)| value.is_number()).map(|(key, _)| key.clone());
    keys.map(|key| {
        let value = |object: &&Map<String, Value>| object.get(&key).cloned().unwrap_or(Value::Null);
        let values = objects.iter().map(value).collect();
        (key, values)
    })
    .collect()
}

/// A vector of numbers, or a matrix of rows of equal length. `null` is a missing number.
fn matrix(items: &[Value]) -> Option<LeafContent> {
    let rows = items.len();
    let columns = items.iter().find_map(Value::as_array).map_or(1, Vec::len);
    let is_matrix = items.iter().any(Value::is_array);
    let mut numbers = vec![0.0; rows.checked_mul(columns)?];
    let mut bits = Some(0u32);
    for (row, item) in items.iter().enumerate() {
        let own = if is_matrix {
            item.as_array().filter(|own| own.len() == columns)?.as_slice()
        } else {
            std::slice::from_ref(item)
        };
        for (column, value) in own.iter().enumerate() {
            *numbers.get_mut(column * rows + row)? = match value {
                Value::Null => f64::NAN,
                Value::Number(number) => {
                    bits = bits.zip(bits_of(number)).map(|(a, b)| a.max(b));
                    number.as_f64()?
                }
                Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                    return None;
                }
            };
        }
    }
    if rows == 0 || columns == 0 || numbers.iter().all(|number| number.is_nan()) {
        return None;
    }
    // 0 and 1 alone are no counts of a converter
    let encoding = match bits {
        Some(bits @ 2..) => NumberEncoding::Counts { bits: bits.next_multiple_of(8).max(16) },
        _ => NumberEncoding::Real,
    };
    Some(LeafContent::Numbers { rows, columns, numbers, encoding })
}

/// Bits of a whole number with its sign; `None` for another number.
fn bits_of(number: &Number) -> Option<u32> {
    let whole = number.as_i64()?;
    Some(65 - whole.unsigned_abs().leading_zeros())
}

#[cfg(test)]
mod tests;
