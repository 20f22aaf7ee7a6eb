//! Reads the fields of a mapping and collects the errors of all of them, so that one run shows
//! every error of a file.

use std::ops::RangeInclusive;
use std::path::Path;

use serde_json::{Map, Value};

use super::problem::{Problem, dotted};
use super::yaml::{Document, escaped};

/// A file that is being read, with the problems found so far.
pub(super) struct FieldReading<'a> {
    pub(super) file: &'a Path,
    pub(super) document: &'a Document,
    pub(super) problems: Vec<Problem>,
}

impl<'a> FieldReading<'a> {
    pub(super) fn new(file: &'a Path, document: &'a Document) -> Self {
        Self { file, document, problems: Vec::new() }
    }

    /// Notes a problem of the field at `pointer`.
    pub(super) fn problem(&mut self, pointer: &str, message: impl Into<String>) {
        self.problems.push(Problem {
            file: self.file.to_owned(),
            at: self.document.position(pointer),
            field: dotted(pointer),
            message: message.into(),
        });
    }

    /// Notes every key that is not in `allowed`, so that a mistyped key is not taken for an absent
    /// one.
    pub(super) fn only(&mut self, pointer: &str, map: &Map<String, Value>, allowed: &[&str]) {
        for key in map.keys().filter(|key| !allowed.contains(&key.as_str())) {
            let message = format!("unknown field, allowed are {}", allowed.join(", "));
            self.problem(&format!("{pointer}/{}", escaped(key)), message);
        }
    }

    /// A required text, not empty.
    pub(super) fn text(
        &mut self,
        pointer: &str,
        map: &Map<String, Value>,
        key: &str,
    ) -> Option<String> {
        if !map.contains_key(key) {
            self.problem(&format!("{pointer}/{key}"), "is required and missing");
            return None;
        }
        self.maybe_text(pointer, map, key)
    }

    /// An optional text.
    pub(super) fn maybe_text(
        &mut self,
        pointer: &str,
        map: &Map<String, Value>,
        key: &str,
    ) -> Option<String> {
        let value = map.get(key)?;
        let text = value.as_str().filter(|text| !text.trim().is_empty());
        if text.is_none() {
            let message = format!("is {}, expected a text that is not empty", short_text(value));
            self.problem(&format!("{pointer}/{key}"), message);
        }
        text.map(str::to_owned)
    }

    /// A list of words; an absent list is empty.
    pub(super) fn words(
        &mut self,
        pointer: &str,
        map: &Map<String, Value>,
        key: &str,
    ) -> Vec<String> {
        let list = match map.get(key) {
            None => return Vec::new(),
            Some(Value::Array(list)) => list,
            Some(other) => {
                let message = format!("is {}, expected a list of words", short_text(other));
                self.problem(&format!("{pointer}/{key}"), message);
                return Vec::new();
            }
        };
        let mut words = Vec::with_capacity(list.len());
        for (index, item) in list.iter().enumerate() {
            let word = item.as_str().map(str::to_owned);
            if let Some(word) = word.filter(|w| !w.trim().is_empty() && !words.contains(w)) {
                words.push(word);
            } else {
                let message = format!("is {}, expected a word, each once", short_text(item));
                self.problem(&format!("{pointer}/{key}/{index}"), message);
            }
        }
        words
    }

    /// A number within `range`; `default` if absent.
    pub(super) fn number(
        &mut self,
        pointer: &str,
        map: &Map<String, Value>,
        key: &str,
        default: f64,
        range: RangeInclusive<f64>,
    ) -> f64 {
        let Some(value) = map.get(key) else { return default };
        match value.as_f64() {
            Some(number) if range.contains(&number) => number,
            _ => {
                let (low, high) = (range.start(), range.end());
                let message = format!("is {}, allowed is {low} to {high}", short_text(value));
                self.problem(&format!("{pointer}/{key}"), message);
                default
            }
        }
    }

    /// A whole number within `range`; `default` if absent.
    pub(super) fn whole(
        &mut self,
        pointer: &str,
        map: &Map<String, Value>,
        key: &str,
        default: u64,
        range: RangeInclusive<u64>,
    ) -> u64 {
        let Some(value) = map.get(key) else { return default };
        match value.as_u64() {
            Some(number) if range.contains(&number) => number,
            _ => {
                let (low, high) = (range.start(), range.end());
                let message =
                    format!("is {}, allowed is {low} to {high}, whole", short_text(value));
                self.problem(&format!("{pointer}/{key}"), message);
                default
            }
        }
    }

    /// An optional mapping.
    pub(super) fn map<'m>(
        &mut self,
        pointer: &str,
        map: &'m Map<String, Value>,
        key: &str,
    ) -> Option<&'m Map<String, Value>> {
        let value = map.get(key)?;
        if !value.is_object() {
            let message = format!("is {}, expected a mapping", short_text(value));
            self.problem(&format!("{pointer}/{key}"), message);
        }
        value.as_object()
    }
}

/// A value as text, short enough for a message.
pub(super) fn short_text(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}
