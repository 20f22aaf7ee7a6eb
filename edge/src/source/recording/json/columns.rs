//! The columns of an array of objects: numbers, numbers and times that are written as text, and
//! what stands in structs within them (`{"acc": {"value": 0.5, "unit": "m/s2"}}`).
//!
//! Invariant: a unit that changes from one object to the next is refused; the newest object first
//! is turned round.

use pdm_shared::time::Timestamp;
use serde_json::{Map, Value};

use crate::source::interpretation::ChannelRole;
use crate::source::recording::leaves::{UNIT_KEYS, plain};
use crate::source::recording::text_times::times_of_words;

/// The columns of objects with the same keys.
#[derive(Default)]
pub(super) struct ObjectColumns {
    /// Key and values of each.
    pub(super) numbers: Vec<(String, Vec<Value>)>,
    /// Key and text of each unit.
    pub(super) texts: Vec<(String, String)>,
    /// When the first object was measured, and whether its zone is stated nowhere.
    pub(super) start: Option<(Timestamp, bool)>,
    pub(super) notes: Vec<String>,
}

/// Returns the columns of objects; without columns if an item is no object, or holds an array.
///
/// # Errors
/// A unit changes; in words.
pub(super) fn of_objects(items: &[Value]) -> Result<ObjectColumns, String> {
    let mut found = ObjectColumns::default();
    let objects: Option<Vec<Map<String, Value>>> =
        items.iter().map(|item| item.as_object().map(flat)).collect();
    let Some(mut objects) = objects.filter(|objects| objects.len() > 1) else {
        return Ok(found);
    };
    let holds_array = |object: &Map<String, Value>| {
        object.values().any(|value| value.as_array().is_some_and(|items| items.len() > 1))
    };
    if objects.iter().any(holds_array) {
        return Ok(found);
    }
    if is_newest_first(&objects) {
        objects.reverse();
        found.notes.push("the newest object came first; the objects were turned round".to_owned());
    }
    let Some(first) = objects.first() else { return Ok(found) };
    let keys: Vec<String> = first.keys().cloned().collect();
    for key in keys {
        found.take(&key, &objects)?;
    }
    Ok(found)
}

/// Rows of equal length in which a text stands beside numbers (`["2026-05-04T06:07:08Z", 0.5]`,
/// `[1780000000, "0.5"]`) as objects with the keys of their places; `None` for other items.
pub(super) fn of_rows(items: &[Value]) -> Option<Vec<Value>> {
    let width = items.first()?.as_array()?.len();
    let is_scalar = |value: &Value| !value.is_array() && !value.is_object();
    let is_row = |item: &Value| {
        item.as_array().is_some_and(|row| row.len() == width && row.iter().all(is_scalar))
    };
    if items.len() < 2 || !items.iter().all(is_row) {
        return None;
    }
    let first_is_time = |row: &[Value]| match row.first() {
        Some(Value::String(text)) => crate::tabular::Stamp::parse(text).is_some(),
        Some(Value::Number(_)) => true,
        _ => false,
    };
    let object = |item: &Value| {
        let row = item.as_array()?;
        let key = |place: usize| {
            if place == 0 && first_is_time(row) {
                "time".to_owned()
            } else {
                format!("column {place}")
            }
        };
        let fields = row.iter().enumerate().map(|(place, value)| (key(place), value.clone()));
        Some(Value::Object(fields.collect()))
    };
    items.iter().map(object).collect()
}

impl ObjectColumns {
    fn take(&mut self, key: &str, objects: &[Map<String, Value>]) -> Result<(), String> {
        let of = |object: &Map<String, Value>| object.get(key).cloned().unwrap_or(Value::Null);
        let first = objects.first().map_or(Value::Null, of);
        if first.is_number() {
            self.numbers.push((key.to_owned(), objects.iter().map(of).collect()));
            return Ok(());
        }
        let texts: Option<Vec<&str>> =
            objects.iter().map(|object| object.get(key)?.as_str()).collect();
        let Some(texts) = texts else { return Ok(()) };
        let last = plain(key.rsplit('.').next().unwrap_or(key));
        if UNIT_KEYS.contains(&last.as_str()) {
            let own = texts.first().copied().unwrap_or_default();
            if let Some(other) = texts.iter().find(|other| **other != own) {
                return Err(format!(
                    "{key:?} is {own:?} and {other:?}: a channel has one unit; bring all values \
                     into one"
                ));
            }
            self.texts.push((key.to_owned(), own.to_owned()));
            return Ok(());
        }
        let number = |text: &&str| Some(Value::from(text.trim().parse::<f64>().ok()?));
        if let Some(numbers) = texts.iter().map(number).collect() {
            self.notes.push(format!("{key}: the numbers are written as text"));
            self.numbers.push((key.to_owned(), numbers));
        } else if let Some(times) = times_of_words(key, texts.iter().copied()) {
            self.notes.extend(times.note);
            self.start = self.start.or(times.start);
            self.numbers
                .push((key.to_owned(), times.seconds.into_iter().map(Value::from).collect()));
            self.texts.push((format!("{key}_unit"), "s".to_owned()));
        }
        Ok(())
    }
}

/// An object with the fields of structs within it under their paths.
fn flat(object: &Map<String, Value>) -> Map<String, Value> {
    let mut own = Map::new();
    for (key, value) in object {
        match value {
            Value::Object(inner) => {
                own.extend(
                    flat(inner).into_iter().map(|(name, value)| (format!("{key}.{name}"), value)),
                );
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {
                own.insert(key.clone(), value.clone());
            }
        }
    }
    own
}

/// Whether the times fall from one object to the next.
fn is_newest_first(objects: &[Map<String, Value>]) -> bool {
    let Some(first) = objects.first() else { return false };
    let is_time = |key: &&String| ChannelRole::by_name(key) == ChannelRole::Time;
    first.keys().filter(is_time).any(|key| {
        let times: Option<Vec<f64>> =
            objects.iter().map(|object| object.get(key)?.as_f64()).collect();
        times.is_some_and(|times| times.windows(2).all(|two| two[1] < two[0]))
    })
}
