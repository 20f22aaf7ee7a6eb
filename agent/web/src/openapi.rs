//! The OpenAPI 3.1 document of the API. Its schemas are those of the rows and of the contracts.

use pdm_shared::delivery::Notification;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::trace::TraceStep;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::plant::{BearingRow, GatewayRow, WindowRow};

/// A route of the API.
struct Route {
    path: &'static str,
    summary: &'static str,
    /// Query parameters.
    query: &'static [&'static str],
    answer: fn(&mut SchemaGenerator) -> Value,
}

const BEARING: &str = "/bearings/{site}/{equipment}/{bearing}";

const ROUTES: [Route; 9] = [
    Route {
        path: "/bearings",
        summary: "Every bearing, worst first",
        query: &["equipment"],
        answer: list::<BearingRow>,
    },
    Route { path: BEARING, summary: "One bearing", query: &[], answer: one::<BearingRow> },
    Route {
        path: "/bearings/{site}/{equipment}/{bearing}/windows",
        summary: "Windows of a bearing, oldest first; the page before the last one by `before`",
        query: &["before", "limit"],
        answer: list::<WindowRow>,
    },
    Route {
        path: "/bearings/{site}/{equipment}/{bearing}/spectra",
        summary: "The bearing's last event that carries spectra",
        query: &["before"],
        answer: one::<Event>,
    },
    Route { path: "/events/{event_id}", summary: "An event", query: &[], answer: one::<Event> },
    Route {
        path: "/events/{event_id}/diagnosis",
        summary: "The judgement of an event",
        query: &[],
        answer: one::<Diagnosis>,
    },
    Route {
        path: "/events/{event_id}/trace",
        summary: "The steps of the run that judged an event",
        query: &[],
        answer: list::<TraceStep>,
    },
    Route {
        path: "/notifications",
        summary: "What staff was told, newest first",
        query: &["before", "limit"],
        answer: list::<Notification>,
    },
    Route { path: "/gateways", summary: "Every gateway", query: &[], answer: list::<GatewayRow> },
];

fn one<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Value {
    schema(schemas.subschema_for::<T>())
}

fn list<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Value {
    let items = schema(schemas.subschema_for::<T>());
    json!({
        "type": "object",
        "required": ["items", "next"],
        "properties": {
            "items": { "type": "array", "items": items },
            "next": { "type": ["string", "null"], "format": "date-time" },
        },
    })
}

fn schema(schema: Schema) -> Value {
    schema.to_value()
}

/// The document.
pub(crate) fn document() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut schemas = settings.into_generator();
    let mut paths: Map<String, Value> = ROUTES
        .iter()
        .map(|route| (route.path.to_owned(), json!({ "get": read(route, &mut schemas) })))
        .collect();
    paths.insert(format!("{BEARING}/acknowledgements"), json!({ "post": acknowledgement() }));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "PdM",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "What the agent knows of the plant's bearings, and acknowledging alarms",
        },
        "servers": [{ "url": "/api/v1" }],
        "security": [{ "token": [] }, {}],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas.take_definitions(true),
        },
    })
}

fn read(route: &Route, schemas: &mut SchemaGenerator) -> Value {
    json!({
        "summary": route.summary,
        "parameters": parameters(route.path, route.query),
        "responses": responses("200", &json!({
            "description": "the answer",
            "content": { "application/json": { "schema": (route.answer)(schemas) } },
        })),
    })
}

fn acknowledgement() -> Value {
    json!({
        "summary": "Acknowledge the alarm that a person saw",
        "parameters": parameters(BEARING, &[]),
        "requestBody": { "required": true, "content": { "application/json": { "schema": {
            "type": "object",
            "required": ["notification_id", "by"],
            "additionalProperties": false,
            "properties": {
                "notification_id": { "type": "string", "format": "uuid" },
                "by": { "type": "string", "minLength": 1, "maxLength": pdm_shared::bounds::MAX_LINE },
                "note": { "type": ["string", "null"], "maxLength": pdm_shared::bounds::MAX_NOTE },
            },
        } } } },
        "responses": responses("204", &json!({ "description": "acknowledged" })),
    })
}

/// The answer, and what every route may say instead.
fn responses(status: &str, answer: &Value) -> Value {
    let problem = |told: &str| {
        let schema = json!({ "type": "object", "required": ["title", "status", "detail"] });
        json!({ "description": told, "content": { "application/problem+json": { "schema": schema } } })
    };
    let mut all: Map<String, Value> = [
        ("400", "a parameter is not what it has to be"),
        ("401", "no token, or a wrong one"),
        ("403", "not from this machine, and no token is configured"),
        ("404", "nothing is stored under that name"),
        ("409", "another alarm stands by now, or none"),
        ("413", "the body is too large"),
        ("415", "the body is not JSON"),
        ("422", "the body is not what it has to be"),
        ("429", "too many requests a second"),
        ("503", "the store does not answer"),
    ]
    .into_iter()
    .map(|(status, told)| (status.to_owned(), problem(told)))
    .collect();
    all.insert(status.to_owned(), answer.clone());
    Value::Object(all)
}

fn parameters(path: &str, query: &[&str]) -> Vec<Value> {
    let in_path = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = in_path.map(|name| {
        let mut schema = json!({ "type": "string" });
        if name == "event_id" {
            schema["format"] = json!("uuid");
        }
        json!({ "name": name, "in": "path", "required": true, "schema": schema })
    });
    let in_query = query.iter().map(|name| {
        let schema = match *name {
            "limit" => json!({ "type": "integer", "minimum": 1, "maximum": 1000 }),
            "before" => json!({ "type": "string", "format": "date-time" }),
            _ => json!({ "type": "string" }),
        };
        json!({ "name": name, "in": "query", "required": false, "schema": schema })
    });
    in_path.chain(in_query).collect()
}
