//! A tool's JSON Schema (2020-12): checked when the tool is read, applied when the tool is called.
//!
//! Invariants: a [`Schema`] is compiled and needs no network or file (references inside itself
//! only); its patterns run in linear time. Source of the rules: tool specification, section 7.3.

use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use super::fields::{FieldReading, short_text};
use super::problem::dotted;
use super::yaml::escaped;

/// Most complaints about one value. No data chose it: a caller corrects the first errors first, and
/// the text for a model stays short.
const MAX_COMPLAINTS: usize = 5;
/// Keywords that can replace `type` in a property.
const INSTEAD_OF_TYPE: [&str; 6] = ["$ref", "anyOf", "oneOf", "allOf", "enum", "const"];

/// A compiled schema.
#[derive(Debug, Clone)]
pub struct Schema {
    value: Arc<Map<String, Value>>,
    validator: Arc<Validator>,
}

impl Schema {
    /// The schema in its written form.
    pub fn value(&self) -> &Arc<Map<String, Value>> {
        &self.value
    }

    /// Whether the schema describes an object.
    pub fn is_object(&self) -> bool {
        self.value.get("type").is_some_and(|kind| kind == "object")
    }

    /// Whether the schema has a property of this name.
    pub fn has_property(&self, name: &str) -> bool {
        self.properties().is_some_and(|properties| properties.contains_key(name))
    }

    /// The names of the properties.
    pub(crate) fn property_names(&self) -> Vec<String> {
        self.properties().into_iter().flat_map(Map::keys).cloned().collect()
    }

    fn properties(&self) -> Option<&Map<String, Value>> {
        self.value.get("properties").and_then(Value::as_object)
    }

    /// `value` with the schema's `default`s for absent properties.
    pub fn with_defaults(&self, mut value: Value) -> Value {
        if let (Some(given), Some(properties)) = (value.as_object_mut(), self.properties()) {
            for (name, property) in properties {
                if let Some(default) = property.get("default")
                    && !given.contains_key(name)
                {
                    given.insert(name.clone(), default.clone());
                }
            }
        }
        value
    }

    /// The errors of `value`, each with its field; empty if the value is valid.
    pub fn complaints(&self, value: &Value) -> Vec<String> {
        let errors = self.validator.iter_errors(value).take(MAX_COMPLAINTS);
        errors.map(|error| self.complaint(&error)).collect()
    }

    fn complaint(&self, error: &ValidationError<'_>) -> String {
        let at = dotted(error.instance_path().as_str());
        let inside = |name: &str| if at.is_empty() { name.into() } else { format!("{at}.{name}") };
        if let ValidationErrorKind::Required { property } = error.kind() {
            return format!(
                "{}: is required and missing",
                inside(property.as_str().unwrap_or("?"))
            );
        }
        if let ValidationErrorKind::AdditionalProperties { unexpected } = error.kind() {
            let names: Vec<String> = unexpected.iter().map(|name| inside(name)).collect();
            let known = self.properties().filter(|_| at.is_empty());
            let known = known.map(|map| map.keys().cloned().collect::<Vec<_>>().join(", "));
            let allowed = known.map(|names| format!(", allowed are {names}"));
            return format!("{}: unknown{}", names.join(", "), allowed.unwrap_or_default());
        }
        let masked = error.masked_with(short_text(error.instance())).to_string();
        if at.is_empty() { masked } else { format!("{at}: {masked}") }
    }
}

/// Reads the schema in `key` of a tool and notes all its errors.
pub(super) fn read_schema(
    reading: &mut FieldReading<'_>,
    map: &Map<String, Value>,
    key: &str,
    must_be_object: bool,
) -> Option<Schema> {
    let pointer = format!("/{key}");
    if !map.contains_key(key) {
        reading.problem(&pointer, "is required and missing");
        return None;
    }
    let schema = reading.map("", map, key)?;
    let before = reading.problems.len();
    check_root(reading, schema, &pointer, must_be_object);
    check_required(reading, schema, &pointer);
    let value = Value::Object(schema.clone());
    if let Err(error) = jsonschema::draft202012::meta::validate(&value) {
        let at = format!("{pointer}{}", error.instance_path().as_str());
        reading.problem(&at, format!("not a valid JSON Schema (2020-12): {error}"));
    }
    if reading.problems.len() > before {
        return None;
    }
    let options = jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_pattern_options(PatternOptions::regex().size_limit(1 << 20));
    match options.build(&value) {
        Ok(validator) => {
            Some(Schema { value: Arc::new(schema.clone()), validator: Arc::new(validator) })
        }
        Err(error) => {
            reading.problem(&pointer, format!("cannot be compiled: {error}"));
            None
        }
    }
}

fn check_root(
    reading: &mut FieldReading<'_>,
    schema: &Map<String, Value>,
    pointer: &str,
    must_be_object: bool,
) {
    match schema.get("type") {
        None => reading.problem(&format!("{pointer}/type"), "is required and missing"),
        Some(kind) if kind == "object" => {
            if !schema.get("properties").is_some_and(Value::is_object) {
                let message = "is required for an object and missing";
                reading.problem(&format!("{pointer}/properties"), message);
            }
        }
        Some(kind) if must_be_object => {
            let message = format!("is {}, expected object: arguments have names", short_text(kind));
            reading.problem(&format!("{pointer}/type"), message);
        }
        Some(_other) => {}
    }
}

/// Checks at every level that a property has a type (or a replacement) and that required properties
/// exist.
fn check_required(reading: &mut FieldReading<'_>, schema: &Map<String, Value>, pointer: &str) {
    let properties = schema.get("properties").and_then(Value::as_object);
    if let (Some(properties), Some(Value::Array(required))) = (properties, schema.get("required")) {
        for (index, name) in required.iter().enumerate() {
            if name.as_str().is_some_and(|name| !properties.contains_key(name)) {
                let message = format!("{} is none of the properties", short_text(name));
                reading.problem(&format!("{pointer}/required/{index}"), message);
            }
        }
    }
    for (name, property) in properties.into_iter().flatten() {
        let at = format!("{pointer}/properties/{}", escaped(name));
        let Some(property) = property.as_object() else { continue };
        if !property.contains_key("type")
            && !INSTEAD_OF_TYPE.iter().any(|word| property.contains_key(*word))
        {
            reading.problem(&format!("{at}/type"), "is required and missing");
        }
        check_required(reading, property, &at);
    }
    if let Some(items) = schema.get("items").and_then(Value::as_object) {
        check_required(reading, items, &format!("{pointer}/items"));
    }
}
