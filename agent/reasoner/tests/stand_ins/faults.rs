//! The client, the opinions' loop and the chat against llmock, which breaks its answers on demand
//! and judges the client by what it does then.
//!
//! Every request that it saw is held to the schema that OpenAI publishes with its Python library,
//! and to the rule that each call of a tool has exactly one result.

use std::time::Duration;

use futures_util::future::join_all;
use pdm_reasoner::client::{Client, Model as _, ModelError};
use pdm_reasoner::dialect::Dialect;
use pdm_reasoner::settings::ReasonerSettings;
use pdm_shared::diagnosis::OpinionStance;
use serde_json::{Value, json};

use crate::llmock::LlMock;
use crate::{plant, print};

/// The client's result of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The answer, after it was asked for again.
    Answered,
    /// This kind of error.
    Failed(&'static str),
}

/// A kind of fault: its name, which is also the name of the model that it strikes, and what llmock
/// does.
struct Fault {
    name: &'static str,
    does: Value,
    end: End,
}

fn status(name: &'static str, status: u16, more: Value, end: End) -> Fault {
    let mut does = json!({ "type": "fail", "status": status });
    let more = more.as_object().cloned().unwrap_or_default();
    does.as_object_mut().expect("a mapping").extend(more);
    Fault { name, does, end }
}

fn stream(name: &'static str, kind: &str, end: End) -> Fault {
    let does = json!({ "type": "stream_fault", "kind": kind, "after_chunks": 2 });
    Fault { name, does, end }
}

/// Left out is a pause that is longer than there is time (429 for a day): llmock warns of a client
/// that gives up at once as well as of one that asks before the pause is over. `client.rs` has it.
fn faults() -> Vec<Fault> {
    use End::{Answered, Failed};
    let none = Value::Null;
    let says = |reason: &str| json!({ "type": "reply", "text": "half", "finish_reason": reason });
    vec![
        status("status-408", 408, none.clone(), Answered),
        status("status-409", 409, none.clone(), Answered),
        status("status-500-twice", 500, json!({ "times": 2 }), Answered),
        status("status-502", 502, none.clone(), Answered),
        status("status-503", 503, none.clone(), Answered),
        status("status-504", 504, none.clone(), Answered),
        status("status-529", 529, none.clone(), Answered),
        status("too-many-without-a-pause", 429, none.clone(), Answered),
        status("too-many-for-two-seconds", 429, json!({ "retry_after": 2 }), Answered),
        status("too-many-for-half-a-second", 429, json!({ "retry_after": 0.5 }), Answered),
        status("outage", 503, json!({ "times": null }), Failed("unavailable")),
        status("bad-request", 400, none.clone(), Failed("refused")),
        status("wrong-key", 401, none.clone(), Failed("refused")),
        status("forbidden", 403, none.clone(), Failed("refused")),
        status("unknown-model", 404, none.clone(), Failed("refused")),
        status("unprocessable", 422, none, Failed("refused")),
        stream("connection-dropped", "disconnect", Answered),
        stream("stream-cut-off", "truncate", Answered),
        stream("piece-no-json", "malformed", Answered),
        stream("stream-hangs", "stall", Failed("late")),
        Fault {
            name: "slow-first-piece",
            does: json!({ "type": "slow_first_token", "seconds": 1 }),
            end: Answered,
        },
        Fault { name: "slow", does: json!({ "type": "delay", "seconds": 1 }), end: Answered },
        Fault { name: "cut-at-the-limit", does: says("length"), end: Failed("cut") },
        Fault { name: "withheld", does: says("content_filter"), end: Failed("withheld") },
    ]
}

fn client(server: &LlMock, model: &str) -> Client {
    let _there = rustls::crypto::ring::default_provider().install_default();
    let settings = ReasonerSettings {
        base_url: server.base_url(),
        model: model.to_owned(),
        timeout_s: 4.0,
        ..ReasonerSettings::default()
    };
    Client::new(&settings, None).expect("a client")
}

/// Strikes the client with each fault, all at once, each at a model of its own.
async fn strike(server: &LlMock) -> Vec<String> {
    let faults = faults();
    for fault in &faults {
        server.queue(fault.name, vec![fault.does.clone()]).await;
    }
    let asked = faults.iter().map(|fault| async {
        let client = client(server, fault.name);
        let request = plant::question(fault.name);
        let asked = client.complete(&request, Duration::from_secs(30)).await;
        let end = match asked.result {
            Ok(answer) if answer.content.is_empty() => End::Failed("an empty answer"),
            Ok(_) => End::Answered,
            Err(error) => End::Failed(ModelError::kind(&error)),
        };
        (end != fault.end).then(|| format!("{}: {end:?}, expected {:?}", fault.name, fault.end))
    });
    join_all(asked).await.into_iter().flatten().collect()
}

/// R-AGENT-5
#[tokio::test]
async fn the_client_fails_in_nothing_by_the_verdict_of_llmock_and_sends_what_openai_publishes() {
    let name =
        "the_client_fails_in_nothing_by_the_verdict_of_llmock_and_sends_what_openai_publishes";
    let Some(server) = LlMock::start(name).await else { return };
    let wrong = strike(&server).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    let calls = |name: &str, arguments: Value| {
        json!({ "type": "reply",
        "tool_calls": [{ "name": name, "arguments": arguments }] })
    };
    let search = || calls(plant::SEARCH, json!({ "query": "outer race" }));
    let conclude = || calls("conclude", plant::conclusion());
    for fault in ["malformed_arguments", "unknown_tool"] {
        let broken = json!({ "type": "tool_fault", "kind": fault });
        server.queue(fault, vec![search(), conclude(), broken]).await;
        let opinion = plant::opinion(&client(&server, fault), Dialect::Native).await;
        assert_eq!(opinion.stance, Some(OpinionStance::Agrees), "{fault}: {opinion:?}");
        assert!(opinion.tools[0].failure.is_some(), "{fault}: the broken call was refused");
    }
    // llmock makes up what it says here: arguments by their schema, and texts
    for (model, dialect) in [("made-up", Dialect::Native), ("made-up-json", Dialect::Json)] {
        let opinion = plant::opinion(&client(&server, model), dialect).await;
        assert!(opinion.stance.is_some() != opinion.failure.is_some(), "{opinion:?}");
        let history = plant::turn("P-101 어때?", "경고입니다.");
        let question = ("P-101 교체 절차는?", history);
        let answer = plant::answer(&client(&server, model), dialect, question).await;
        assert!(!answer.answer.is_empty());
    }

    let verdict = server.verdict().await;
    print(&verdict.text);
    assert_eq!((verdict.errors, verdict.warnings), (0, 0), "{}", verdict.text);
    assert!(verdict.faults >= faults().len() as u64, "{}", verdict.text);

    let (requests, schema) = (server.requests().await, server.published_schema());
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let against = |request: &Value| -> Vec<String> {
        let errors = validator.iter_errors(request);
        let of_schema = errors.map(|error| format!("{}: {error}", error.instance_path()));
        of_schema.chain(pdm_harness::request_violations(request)).collect()
    };
    let wrong: Vec<String> = requests.iter().flat_map(against).collect();
    print(&format!("{} requests, {} against the published schema", requests.len(), wrong.len()));
    assert!(requests.len() > 50 && wrong.is_empty(), "{}", wrong.join("\n"));
    // the schema is at work: what it does not know is found
    let mut odd = requests[0].clone();
    odd["temprature"] = json!(1);
    odd["messages"][0]["role"] = json!("boss");
    assert!(!validator.is_valid(&odd), "{odd}");
}
