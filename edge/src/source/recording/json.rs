//! JSON documents with arrays of samples, as sensors publish them and scripts save them.
//!
//! Every array of numbers is a variable with the path of its keys (`payload.samples`; a JSON
//! pointer `/payload/samples` names it, too); the fields beside it state rate, unit and name. An
//! array of arrays is a matrix, an array of objects has a column per key. Several documents, one
//! after the other or one a line, are snapshots; if none of them holds an array they are rows.
//! Whole numbers of an array are counts of a converter, unless a unit stands beside them.

use std::collections::HashMap;
use std::path::Path;

use pdm_shared::time::Timestamp;
use serde_json::{Map, Number, Value};

use super::bounds::check_samples;
use super::leaves::{Leaf, LeafContent, stated_speed, stated_start, variables_of};
use super::repeats::{
    MOST_CHANNELS, check_variables, long_form_refusal, names_channels, repeated_times,
};
use super::variables::recording_of_variables;
use super::{NumberEncoding, RawRecording, SourceError, snapshots_of, stations};
use crate::source::interpretation::ChannelRole;

mod columns;
mod frame;
mod senml;
mod topic;

pub(super) use topic::documents as topic_documents;

/// Most bytes of a document. A parsed number takes up to 16 times its text: 16 MiB stay below the
/// memory that the service's unit grants.
pub(super) const MAX_BYTES: usize = 16 << 20;

/// Most arrays and texts of a document.
const MAX_LEAVES: usize = 20_000;

/// Whether the file can be a document: its first character opens an object or an array.
pub(super) fn may_be_json(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
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

/// Replaces `NaN`, `Infinity` and `-Infinity`, which Python writes although JSON has no such words,
/// by `null`; `None` if the content has none of them.
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

/// Returns why a content whose name says JSON is no JSON.
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
    let mut notes = Vec::new();
    let documents: Vec<Value> =
        documents.into_iter().map(|document| unpacked(document, &mut notes)).collect();
    let documents = messages_of(documents);
    let has_array = |value: &Value| matches!(value, Value::Array(_)) || holds_array(value);
    let documents = if documents.len() > 1 && !documents.iter().any(has_array) {
        vec![Value::Array(documents)]
    } else {
        documents
    };
    let mut snapshots = Vec::new();
    let mut numbers = 0usize;
    for document in documents {
        let mut tree = TreeWalk::default();
        tree.walk(document, String::new()).map_err(|what| SourceError::malformed(path, what))?;
        let TreeWalk { leaves, notes: of_tree, start } = tree;
        let (start, speed) = (start.or_else(|| stated_start(&leaves)), stated_speed(&leaves));
        let hints = rate_hints(&leaves);
        let (variables, others) = variables_of(leaves);
        numbers += variables.iter().map(|v| v.numbers.len()).sum::<usize>();
        check_samples(path, numbers)?;
        let told = check_variables(&variables, &[], pointed.is_some())
            .map_err(|what| SourceError::options(path, what))?;
        let wanted = pointed.as_deref();
        let mut own = recording_of_variables(path, "JSON document", variables, &others, wanted)?;
        own.notes.extend(speed.into_iter().chain(told).chain(of_tree));
        if own.stated_rate_hz.is_none() && own.time.is_none() {
            own.notes.extend(hints);
        }
        own.start_at(start);
        snapshots.push(own);
    }
    let mut recording = snapshots_of(path, snapshots, "document")?;
    recording.notes.extend(notes);
    Ok(recording)
}

/// Keys of single numbers that may state a rate and are not understood, each in words.
fn rate_hints(leaves: &[Leaf]) -> Vec<String> {
    const HINTS: [&str; 5] = ["hz", "rate", "freq", "odr", "sampl"];
    const MOST_HINTS: usize = 3;
    let hint = |leaf: &Leaf| {
        let key = leaf.path.rsplit('.').next().unwrap_or_default().to_lowercase();
        let LeafContent::Numbers { numbers, .. } = &leaf.content else { return None };
        let [number] = numbers.as_slice() else { return None };
        HINTS.iter().any(|word| key.contains(word)).then(|| {
            format!("the field {:?} ({number}) gives no rate that is understood", leaf.path)
        })
    };
    leaves.iter().filter_map(hint).take(MOST_HINTS).collect()
}

/// A document in which texts that are documents themselves became these, as recorders of messages
/// keep a payload.
fn unpacked(value: Value, notes: &mut Vec<String>) -> Value {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            match serde_json::from_str::<Value>(&text) {
                Ok(inner) => {
                    let note = "a text that is JSON itself was read as such".to_owned();
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                    inner
                }
                Err(_) => Value::String(text),
            }
        }
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| unpacked(item, notes)).collect())
        }
        Value::Object(fields) => Value::Object(
            fields.into_iter().map(|(key, value)| (key, unpacked(value, notes))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// A single array of messages, each with an array of samples, as documents of their own.
fn messages_of(documents: Vec<Value>) -> Vec<Value> {
    let is_message = |item: &Value| item.is_object() && holds_array(item);
    match documents.as_slice() {
        [Value::Array(items)] if !items.is_empty() && items.iter().all(is_message) => {}
        _ => return documents,
    }
    documents
        .into_iter()
        .flat_map(|document| match document {
            Value::Array(items) => items,
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_)) => vec![other],
        })
        .collect()
}

fn holds_array(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.len() > 1,
        Value::Object(fields) => fields.values().any(holds_array),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The leaves of a document, as they are found.
#[derive(Default)]
struct TreeWalk {
    leaves: Vec<Leaf>,
    notes: Vec<String>,
    start: Option<(Timestamp, bool)>,
}

impl TreeWalk {
    fn push(&mut self, path: String, content: LeafContent) -> Result<(), String> {
        if self.leaves.len() == MAX_LEAVES {
            return Err(format!("more than {MAX_LEAVES} values, the most that is read"));
        }
        self.leaves.push(Leaf { path, content });
        Ok(())
    }

    /// Adds the leaves of a value. The depth is bounded by the parser.
    fn walk(&mut self, value: Value, path: String) -> Result<(), String> {
        match value {
            Value::Null | Value::Bool(_) => Ok(()),
            Value::Number(number) => {
                let numbers = vec![number.as_f64().unwrap_or(f64::NAN)];
                let encoding = NumberEncoding::Real;
                self.push(path, LeafContent::Numbers { rows: 1, columns: 1, numbers, encoding })
            }
            Value::String(text) if is_base64(&text) => {
                let what =
                    format!("{} characters of base64; write the numbers as an array", text.len());
                self.push(path, LeafContent::Other(what))
            }
            Value::String(text) => self.push(path, LeafContent::Text(vec![text])),
            Value::Object(fields) => {
                let fields = match frame::indexed(fields) {
                    Ok((index, items)) => {
                        if let Some(index) = index {
                            self.push_index(index, &path)?;
                        }
                        return self.array(items, path);
                    }
                    Err(fields) => fields,
                };
                for (key, value) in fields {
                    self.walk(value, joined(&path, &key))?;
                }
                Ok(())
            }
            Value::Array(items) => self.array(items, path),
        }
    }

    /// Adds the index of a data frame beside its column, once.
    fn push_index(&mut self, index: Vec<f64>, path: &str) -> Result<(), String> {
        let scope = path.rfind('.').map_or("", |at| path.get(..at).unwrap_or_default());
        let own = joined(scope, "index");
        if self.leaves.iter().any(|leaf| leaf.path == own) {
            return Ok(());
        }
        let (rows, encoding) = (index.len(), NumberEncoding::Real);
        self.push(own, LeafContent::Numbers { rows, columns: 1, numbers: index, encoding })
    }

    fn array(&mut self, items: Vec<Value>, path: String) -> Result<(), String> {
        if items.iter().all(Value::is_string) {
            let text = |item: Value| item.as_str().map(str::to_owned).unwrap_or_default();
            return self.push(path, LeafContent::Text(items.into_iter().map(text).collect()));
        }
        if let Some(content) = matrix(&items) {
            return self.push(named(path), content);
        }
        if let Some(resolved) = senml::resolved(&items)? {
            self.notes.push("records of SenML (RFC 8428)".to_owned());
            return self.walk(resolved, path);
        }
        check_long_form(&items)?;
        let columns = match columns::of_rows(&items) {
            Some(rows) => columns::of_objects(&rows)?,
            None => columns::of_objects(&items)?,
        };
        if !columns.numbers.is_empty() {
            for (key, values) in columns.numbers {
                if let Some(content) = matrix(&values) {
                    self.push(joined(&path, &key), content)?;
                }
            }
            for (key, text) in columns.texts {
                self.push(joined(&path, &key), LeafContent::Text(vec![text]))?;
            }
            self.notes.extend(columns.notes);
            self.start = self.start.or(columns.start);
            return Ok(());
        }
        for (index, item) in items.into_iter().enumerate() {
            self.walk(item, format!("{}{{{index}}}", named(path.clone())))?;
        }
        Ok(())
    }
}

/// Shortest text that is taken for numbers in base64.
const LEAST_BASE64: usize = 64;

/// Whether a text is bytes in base64: no blank, and letters of both cases and digits among its
/// signs.
fn is_base64(text: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    text.len() >= LEAST_BASE64
        && text.len().is_multiple_of(4)
        && text.bytes().all(is_sign)
        && text.bytes().any(|byte| byte.is_ascii_lowercase())
        && text.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn named(path: String) -> String {
    if path.is_empty() { "values".to_owned() } else { path }
}

/// Refuses objects of which each time stands once for each of several channels (`{"t": 0, "axis":
/// "x", …}`).
fn check_long_form(items: &[Value]) -> Result<(), String> {
    const LEAST_ROWS: usize = 16;
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
    for (key, value) in first.iter().filter(is_channel) {
        let Some((values, rows)) = places(&objects, key, MOST_CHANNELS) else { continue };
        let rows: Vec<u16> = rows.into_iter().map(|row| row as u16).collect();
        if value.is_string()
            && stations::names_points(key)
            && objects.len() >= LEAST_ROWS
            && let Some(told) =
                stations::several_points(&format!("the key {key:?}"), &values, &rows)
            && repeated_times(&times, &rows).is_none()
        {
            return Err(stations::refusal(&told));
        }
        if let Some(repeated) = repeated_times(&times, &rows) {
            return Err(long_form_refusal(&format!("the key {key:?}"), &values, repeated));
        }
    }
    Ok(())
}

/// The different values of a key, and the place of each object's value among them; `None` where an
/// object has none, or there are more than `most`.
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
