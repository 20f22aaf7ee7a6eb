//! The OpenAPI 3.1 document of the API. Its schemas are those of the rows and of the contracts.

use std::sync::Arc;

use axum::routing::get;
use axum::{Json, Router};
use pdm_shared::capture::CaptureDocument;
use pdm_shared::delivery::Notification;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::trace::TraceStep;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::Shared;
use crate::accounts::Act;
use crate::api::acting::{AckBody, DemandBody, FollowUpBody, ShelfBody};
use crate::api::changing::{ForgetBody, ReasonBody, RenameBody, ReplaceBody};
use crate::plant::{
    BearingRow, CaptureDemandRow, CaptureRow, ChannelRow, DutyRow, EpisodeDetail, GatewayRow,
    PhotoRow, RefusedRow, RelearnRow, SpectrumRow, TakenOut, WindowRow, WorkRow,
};
use crate::talk;

mod parts;

use parts::{parameters, responses};

pub(crate) fn router() -> Router<Arc<Shared>> {
    Router::new().route("/openapi.json", get(|| async { Json(document()) }))
}

/// A route of the API that reads.
struct Route {
    path: &'static str,
    summary: &'static str,
    /// Query parameters.
    query: &'static [&'static str],
    answer: fn(&mut SchemaGenerator) -> Value,
}

/// A route of the API that acts: who calls it needs the role of a technician.
struct ActingRoute {
    path: &'static str,
    method: &'static str,
    summary: &'static str,
    body: Option<fn(&mut SchemaGenerator) -> Value>,
    /// The body of the answer 202; without one the answer is 204.
    answer: Option<fn(&mut SchemaGenerator) -> Value>,
}

/// A route of the API that changes the plant: who calls it needs the role of an administrator.
struct ChangingRoute {
    path: &'static str,
    summary: &'static str,
    body: fn(&mut SchemaGenerator) -> Value,
}

const BEARING: &str = "/bearings/{site}/{equipment}/{bearing}";

const ROUTES: [Route; 23] = [
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
    Route {
        path: "/bearings/{site}/{equipment}/{bearing}/waterfall",
        summary: "The bearing's last 60 envelope spectra, newest first",
        query: &["before"],
        answer: list::<SpectrumRow>,
    },
    Route {
        path: "/bearings/{site}/{equipment}/{bearing}/captures",
        summary: "Captured waveforms of a bearing, newest first",
        query: &["before", "limit"],
        answer: list::<CaptureRow>,
    },
    Route {
        path: "/bearings/{site}/{equipment}/{bearing}/captures/demand",
        summary: "The newest demand for a waveform of a bearing: waiting, taken, arrived, refused \
                  or lapsed",
        query: &[],
        answer: one::<CaptureDemandRow>,
    },
    Route {
        path: "/bearings/{site}/{equipment}/{bearing}/relearn",
        summary: "The newest request that the gateway learns a bearing anew: waiting, taken, done, \
                  refused or lapsed",
        query: &[],
        answer: one::<RelearnRow>,
    },
    Route {
        path: "/captures/{id}",
        summary: "The document of a captured waveform, as its gateway has sent it",
        query: &[],
        answer: one::<CaptureDocument>,
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
    Route {
        path: "/channels",
        summary: "The ways to staff: what fails since when and why, what waits",
        query: &[],
        answer: list::<ChannelRow>,
    },
    Route { path: "/gateways", summary: "Every gateway", query: &[], answer: list::<GatewayRow> },
    Route {
        path: "/refused",
        summary: "Events that are refused, by gateway, bearing and cause, with what admits them",
        query: &[],
        answer: list::<RefusedRow>,
    },
    Route {
        path: "/events/{event_id}/follow-ups",
        summary: "The actions that the judgement of an event asks for",
        query: &[],
        answer: list::<WorkRow>,
    },
    Route {
        path: "/events/{event_id}/photos",
        summary: "Photos of the work that a judgement asks for; `/photos/{photo_id}` is the \
                  picture",
        query: &[],
        answer: list::<PhotoRow>,
    },
    Route {
        path: "/duty",
        summary: "The rotas: who is on duty now and next, and the gaps of the next two weeks",
        query: &[],
        answer: list::<DutyRow>,
    },
    Route {
        path: "/episodes",
        summary: "Episodes, newest change first: those that stand unless `state` says otherwise",
        query: &["state", "cursor", "limit"],
        answer: paged::<EpisodeDetail>,
    },
    Route {
        path: "/episodes/{episode_id}",
        summary: "An episode with what staff was told of it",
        query: &[],
        answer: one::<EpisodeDetail>,
    },
    Route {
        path: "/work",
        summary: "Actions that judgements ask for, newest first: those that wait, or all",
        query: &["work_state", "cursor", "limit"],
        answer: paged::<WorkRow>,
    },
    Route {
        path: "/audit",
        summary: "Who did what, newest first; for administrators",
        query: &["cursor", "limit"],
        answer: paged::<Act>,
    },
];

const ACTING: [ActingRoute; 6] = [
    ActingRoute {
        path: "/bearings/{site}/{equipment}/{bearing}/acknowledgements",
        method: "post",
        summary: "Acknowledge the alarm that a person saw",
        body: Some(one::<AckBody>),
        answer: None,
    },
    ActingRoute {
        path: "/bearings/{site}/{equipment}/{bearing}/shelf",
        method: "post",
        summary: "Shelve a bearing: staff is told nothing for a time",
        body: Some(one::<ShelfBody>),
        answer: None,
    },
    ActingRoute {
        path: "/bearings/{site}/{equipment}/{bearing}/shelf",
        method: "delete",
        summary: "End the shelf of a bearing",
        body: None,
        answer: None,
    },
    ActingRoute {
        path: "/bearings/{site}/{equipment}/{bearing}/captures",
        method: "post",
        summary: "Ask the gateway for a waveform of now; the demand that stands, an earlier one \
                  while it waits",
        body: Some(one::<DemandBody>),
        answer: Some(one::<CaptureDemandRow>),
    },
    ActingRoute {
        path: "/bearings/{site}/{equipment}/{bearing}/relearn",
        method: "post",
        summary: "Ask the gateway to forget a bearing that was replaced and to learn the new one; \
                  the request that stands, an earlier one while it waits",
        body: Some(one::<DemandBody>),
        answer: Some(one::<RelearnRow>),
    },
    ActingRoute {
        path: "/events/{event_id}/follow-ups",
        method: "post",
        summary: "Report what became of the work that a judgement asked for, and what was found",
        body: Some(one::<FollowUpBody>),
        answer: None,
    },
];

const CHANGING: [ChangingRoute; 6] = [
    ChangingRoute {
        path: "/forget",
        summary: "Take out a site, a machine or a bearing that is gone; for administrators",
        body: one::<ForgetBody>,
    },
    ChangingRoute {
        path: "/rename",
        summary: "Give a site, a machine or a bearing its new name; for administrators",
        body: one::<RenameBody>,
    },
    ChangingRoute {
        path: "/gateways/{site}/{gateway}/forget",
        summary: "Take out a gateway that is gone; for administrators",
        body: one::<ReasonBody>,
    },
    ChangingRoute {
        path: "/gateways/{site}/{gateway}/replace",
        summary: "Let another gateway measure the bearings of one that is gone; for administrators",
        body: one::<ReplaceBody>,
    },
    ChangingRoute {
        path: "/gateways/{site}/{gateway}/release",
        summary: "Let the next event decide how a gateway proves itself; for administrators",
        body: one::<ReasonBody>,
    },
    ChangingRoute {
        path: "/bearings/{site}/{equipment}/{bearing}/release",
        summary: "Let the next event decide which gateway a bearing belongs to; for administrators",
        body: one::<ReasonBody>,
    },
];

/// A route of the chat, which reads by POST. The same stands below `/api/chat`, as the seed has it.
struct ChatRoute {
    path: &'static str,
    summary: &'static str,
    kind: &'static str,
    answer: fn(&mut SchemaGenerator) -> Value,
}

const CHAT: [ChatRoute; 2] = [
    ChatRoute {
        path: "/chat/message",
        summary: "Ask the chat; the answer with its steps (also at /api/chat/message)",
        kind: "application/json",
        answer: one::<talk::TalkReply>,
    },
    ChatRoute {
        path: "/chat/message/stream",
        summary: "The same as server-sent events: `{\"type\":\"step\",\"data\":TalkStep}` for each \
                  step, then `{\"type\":\"answer\",\"data\":TalkAnswer}` (also at \
                  /api/chat/message/stream)",
        kind: "text/event-stream",
        answer: text,
    },
];

/// A file of a capture.
struct FileRoute {
    path: &'static str,
    summary: &'static str,
    kind: &'static str,
}

const FILES: [FileRoute; 3] = [
    FileRoute {
        path: "/captures/{id}/capture.wav",
        summary: "The WAV file of a capture as its gateway has sent it: 32-bit float, m/s²",
        kind: "audio/wav",
    },
    FileRoute {
        path: "/captures/{id}/capture.npy",
        summary: "The same samples as a NumPy file",
        kind: "application/octet-stream",
    },
    FileRoute {
        path: "/captures/{id}/capture.npy.json",
        summary: "The document of the NumPy file (pdm.capture/1), with its own name, length and \
                  hash",
        kind: "application/json",
    },
];

/// Any event: the summary says which.
fn text(_: &mut SchemaGenerator) -> Value {
    json!({})
}

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

fn paged<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Value {
    let mut list = list::<T>(schemas);
    list["properties"]["next"] = json!({ "type": ["string", "null"] });
    list
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
    for route in &ACTING {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = act(route, &mut schemas);
    }
    for FileRoute { path, summary, kind } in &FILES {
        let answer = json!({ "description": "the file", "content": { *kind: {} } });
        let told = json!({
            "summary": summary,
            "parameters": parameters(path, &[]),
            "responses": responses("200", &answer),
        });
        paths.insert((*path).to_owned(), json!({ "get": told }));
    }
    for route in &CHANGING {
        paths.insert(route.path.to_owned(), json!({ "post": changed(route, &mut schemas) }));
    }
    for route in &CHAT {
        paths.insert(route.path.to_owned(), json!({ "post": chat(route, &mut schemas) }));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "PdM",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "What the agent knows of the plant's bearings, and what people do about it",
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

fn chat(route: &ChatRoute, schemas: &mut SchemaGenerator) -> Value {
    let body = one::<talk::Body>(schemas);
    json!({
        "summary": route.summary,
        "parameters": [],
        "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
        "responses": responses("200", &json!({
            "description": "the answer",
            "content": { route.kind: { "schema": (route.answer)(schemas) } },
        })),
    })
}

fn act(route: &ActingRoute, schemas: &mut SchemaGenerator) -> Value {
    let mut told = json!({
        "summary": route.summary,
        "parameters": parameters(route.path, &[]),
        "responses": responses("204", &json!({ "description": "done" })),
    });
    if let Some(answer) = route.answer {
        told["responses"] = responses(
            "202",
            &json!({
                "description": "what stands now",
                "content": { "application/json": { "schema": answer(schemas) } },
            }),
        );
    }
    if let Some(body) = route.body {
        let schema = body(schemas);
        told["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    told
}

fn changed(route: &ChangingRoute, schemas: &mut SchemaGenerator) -> Value {
    let (body, answer) = ((route.body)(schemas), one::<TakenOut>(schemas));
    json!({
        "summary": route.summary,
        "parameters": parameters(route.path, &[]),
        "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
        "responses": responses("200", &json!({
            "description": "what was changed, or with `dry_run` what would be",
            "content": { "application/json": { "schema": answer } },
        })),
    })
}
