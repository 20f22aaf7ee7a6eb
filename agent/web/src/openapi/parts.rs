//! Parts of the document that every route has: parameters, and answers.

use serde_json::{Map, Value, json};

/// The answer, and what every route may say instead.
pub(super) fn responses(status: &str, answer: &Value) -> Value {
    let problem = |told: &str| {
        let schema = json!({ "type": "object", "required": ["title", "status", "detail"] });
        json!({ "description": told, "content": { "application/problem+json": { "schema": schema } } })
    };
    let mut all: Map<String, Value> = [
        ("400", "a parameter is not what it has to be"),
        ("401", "no token, or a wrong one"),
        ("403", "a role that is too low, or not from this machine where no token is configured"),
        ("404", "nothing is stored under that name"),
        ("405", "the route has no such method"),
        (
            "409",
            "another alarm stands by now, or none; a new name is known already; no waveforms \
                 are taken",
        ),
        ("413", "the body is too large"),
        ("415", "the body is not JSON"),
        ("422", "the body is not what it has to be"),
        ("429", "too many requests a second"),
        ("500", "an entry of the store cannot be read; the log names it"),
        ("503", "the store does not answer"),
    ]
    .into_iter()
    .map(|(status, told)| (status.to_owned(), problem(told)))
    .collect();
    all.insert(status.to_owned(), answer.clone());
    Value::Object(all)
}

/// The parameters of a path and of a query.
pub(super) fn parameters(path: &str, query: &[&str]) -> Vec<Value> {
    let in_path = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = in_path.map(|name| {
        let mut schema = json!({ "type": "string" });
        if matches!(name, "event_id" | "episode_id" | "id") {
            schema["format"] = json!("uuid");
        }
        json!({ "name": name, "in": "path", "required": true, "schema": schema })
    });
    let is_work = query.contains(&"work_state");
    let in_query = query.iter().map(|name| {
        let name = if *name == "work_state" { "state" } else { name };
        let schema = match name {
            "state" if is_work => json!({ "enum": ["open", "all"] }),
            "state" => json!({ "enum": ["open", "closed", "shelved", "all"] }),
            "limit" => json!({ "type": "integer", "minimum": 1, "maximum": 1000 }),
            "before" => json!({ "type": "string", "format": "date-time" }),
            _ => json!({ "type": "string" }),
        };
        json!({ "name": name, "in": "query", "required": false, "schema": schema })
    });
    in_path.chain(in_query).collect()
}
