//! The schema of `diagnosis_result`, as models read it, and the narrower one to which a server
//! holds them.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::{VerdictPlace, value_at};

/// Most paths of evidence in one thought.
const MAX_EVIDENCE: usize = 8;
/// Most paths of evidence in one thought where a server holds the model to it.
const ENFORCED_EVIDENCE: usize = 3;
/// A text of Korean letters, with names and units in Latin ones. The longest is what a sentence or
/// two take.
const KOREAN: &str = "^[가-힣][가-힣A-Za-z0-9 .,;:()%/_{}+-]{3,160}$";
/// A text of Latin letters.
const ENGLISH: &str = "^[A-Z][A-Za-z0-9 .,;:'()%/_{}+-]{3,240}$";
/// The five thoughts in their order.
const TITLES: [&str; 5] = ["initial_screening", "pf_stage", "degradation", "rul", "overall_risk"];

/// The schema of `diagnosis_result`.
pub(super) fn schema(place: VerdictPlace) -> Value {
    let text = json!({
        "type": "object",
        "properties": { "ko": { "type": "string" }, "en": { "type": "string" } },
        "required": ["ko", "en"],
        "additionalProperties": false,
    });
    let mut thought = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "enum": TITLES },
            "evidence": { "type": "array", "items": { "type": "string" },
                "maxItems": MAX_EVIDENCE },
        },
        "required": ["title", "evidence"],
        "additionalProperties": false,
    });
    if place == VerdictPlace::InTheLoop {
        // not required: a thought without words keeps the expert's alone
        thought["properties"]["conclusion"] = text.clone();
    }
    json!({
        "type": "object",
        "properties": {
            "thoughts": { "type": "array", "items": thought, "minItems": 5, "maxItems": 5 },
            "fault_type": { "enum": ["outer_race", "inner_race", "ball", "cage", null] },
            "fault_stage": { "type": "integer", "enum": [0, 1, 2, 3, 4] },
            "degradation_speed": { "type": "string",
                "enum": ["none", "slow", "moderate", "rapid"] },
            "rul_basis": { "type": "string", "enum": ["ci_low_hours", "hours", "unknown"] },
            "risk_level": { "type": "string", "enum": ["Normal", "Watch", "Warning", "Critical"] },
            "uncertainty_level": { "type": "string", "enum": ["low", "medium", "high"] },
            "reason": text,
            "recommendation": text,
        },
        "required": ["thoughts", "fault_type", "fault_stage", "degradation_speed", "rul_basis",
            "risk_level", "uncertainty_level", "reason", "recommendation"],
        "additionalProperties": false,
    })
}

/// Returns the schema of a conclusion over this event, for a server that can hold a model to a
/// schema. It has, beyond the schema of `diagnosis_result`, the titles in their order, evidence
/// among the paths that the event holds, and texts in the letters of their language. A small model
/// that is told its mistake repeats it word for word (`tests/run model`); this schema makes the
/// mistake impossible.
pub fn enforced(place: VerdictPlace, event: &Value) -> Value {
    let mut schema = schema(place);
    let paths = paths(event);
    let with_low = value_at(event, "rul.ci_low_hours").is_some();
    let texts = json!({
        "type": "object",
        "properties": {
            "ko": { "type": "string", "pattern": KOREAN },
            "en": { "type": "string", "pattern": ENGLISH },
        },
        "required": ["ko", "en"],
        "additionalProperties": false,
    });
    let properties = &mut schema["properties"];
    let mut thought = properties["thoughts"]["items"].take();
    thought["properties"]["evidence"] = json!({
        "type": "array", "items": { "$ref": "#/$defs/path" }, "minItems": 1,
        "maxItems": ENFORCED_EVIDENCE,
    });
    if place == VerdictPlace::InTheLoop {
        thought["properties"]["conclusion"] = texts.clone();
    }
    let titled = TITLES.map(|title| {
        let mut thought = thought.clone();
        thought["properties"]["title"] = json!({ "const": title });
        thought
    });
    properties["thoughts"] =
        json!({ "type": "array", "prefixItems": titled, "minItems": 5, "maxItems": 5 });
    if !with_low {
        properties["rul_basis"] = json!({ "type": "string", "enum": ["hours", "unknown"] });
    }
    properties["reason"] = texts.clone();
    properties["recommendation"] = texts;
    schema["$defs"] = json!({ "path": { "type": "string", "enum": paths } });
    schema
}

/// Returns the paths of the event's facts that are about the bearing: names and times of the event
/// itself stand at its top.
pub(super) fn paths(event: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    gather(event, "", &mut paths);
    paths.retain(|path| path.contains('.') || path == "anomaly_detected");
    paths.retain(|path| value_at(event, path).is_some());
    paths
}

fn gather(value: &Value, at: &str, paths: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                gather(value, &at, paths);
            }
        }
        // a list's values have no names by which words could quote them
        Value::Array(_) | Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) => paths.push(at.to_owned()),
    }
}

pub(super) static BESIDE: LazyLock<Option<Validator>> =
    LazyLock::new(|| jsonschema::validator_for(&schema(VerdictPlace::Beside)).ok());
pub(super) static IN_THE_LOOP: LazyLock<Option<Validator>> =
    LazyLock::new(|| jsonschema::validator_for(&schema(VerdictPlace::InTheLoop)).ok());
