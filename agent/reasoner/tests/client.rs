//! The client against a stand-in for an OpenAI-compatible server: faults, bounds, repetitions, the
//! form of every request, and the probe.

use std::time::{Duration, Instant};

use pdm_harness::{ModelReply, ModelStandIn};
use pdm_reasoner::client::{Attempted, Client, Model as _, ModelError};
use pdm_reasoner::dialect::{Asking, Dialect, Message, ToolDefinition, Transcript};
use pdm_reasoner::probe::{ProbeError, probe};
use pdm_reasoner::settings::ReasonerSettings;
use pdm_reasoner::wire::{AnswerError, ChatRequest, MAX_ANSWER_BYTES};
use pdm_service::secret::{Secret, SecretSource};
use serde_json::json;

const KEY: &str = "sk-canary-of-the-key-0001";

fn client(server: &ModelStandIn, timeout_s: f64, stream: bool) -> Client {
    let _there = rustls::crypto::ring::default_provider().install_default();
    let settings = ReasonerSettings {
        base_url: server.base_url(),
        timeout_s,
        stream,
        ..ReasonerSettings::default()
    };
    Client::new(&settings, Some(Secret::new(KEY.to_owned()))).expect("a client")
}

fn request() -> ChatRequest {
    let ending = ToolDefinition {
        name: "conclude".to_owned(),
        description: "ends".to_owned(),
        parameters: json!({ "type": "object", "properties": {} }),
    };
    let messages =
        vec![Message::System { text: "s".to_owned() }, Message::User { text: "q".to_owned() }];
    let asking = Asking {
        model: "gpt-4o",
        tools: &[],
        ending: &ending,
        enforced: None,
        must_end: false,
        answer_tokens: 100,
    };
    Dialect::Native.request(&Transcript { messages }, &asking)
}

async fn asked(
    replies: Vec<ModelReply>,
    timeout_s: f64,
    stream: bool,
) -> (Attempted, ModelStandIn) {
    let server = ModelStandIn::scripted(replies);
    let client = client(&server, timeout_s, stream);
    let attempted = client.complete(&request(), Duration::from_secs(20)).await;
    assert_eq!(server.violations(), Vec::<String>::new());
    (attempted, server)
}

/// Issue 33, point 5.
#[tokio::test]
async fn a_rotated_key_is_used_by_the_next_request() {
    let file = tempfile::NamedTempFile::new().expect("file");
    let write = |text: &str| std::fs::write(file.path(), text).expect("written");
    write("sk-first");
    let replies = (0..3).map(|_| refused(400, Vec::new())).collect();
    let server = ModelStandIn::scripted(replies);
    let settings = ReasonerSettings {
        base_url: server.base_url(),
        key: Some(SecretSource::File(file.path().to_owned())),
        ..ReasonerSettings::default()
    };
    let _there = rustls::crypto::ring::default_provider().install_default();
    let key = settings.key().expect("read");
    let client = Client::new(&settings, key).expect("a client");
    for text in ["sk-first", "sk-second", ""] {
        write(text);
        let _refused = client.complete(&request(), Duration::from_secs(20)).await;
    }
    let raw = server.raw();
    assert!(raw[0].contains("sk-first") && raw[1].contains("sk-second"), "{raw:?}");
    assert!(raw[2].contains("sk-second"), "an empty file is no new key: {raw:?}");
}

fn refused(status: u16, headers: Vec<(&'static str, String)>) -> ModelReply {
    let body = json!({ "error": { "message": format!("status {status}") } }).to_string();
    ModelReply::Raw(status, headers, body)
}

#[tokio::test]
async fn a_stream_and_one_piece_give_the_same_answer() {
    let calls = ModelReply::Calls(vec![("conclude".to_owned(), json!({ "a": "외륜" }))]);
    let (streamed, _) = asked(vec![calls.clone()], 5.0, true).await;
    let (whole, server) = asked(vec![calls], 5.0, false).await;
    assert_eq!(streamed.result, whole.result);
    let answer = whole.result.expect("an answer");
    assert_eq!(answer.calls[0].function.arguments, "{\"a\":\"외륜\"}");
    assert_eq!(answer.usage.expect("usage").prompt_tokens, 100);
    assert!(server.raw()[0].contains(KEY), "the key is sent in the head");
    assert!(!server.requests()[0].to_string().contains(KEY), "and nowhere else");
}

/// A request that is refused for its content is not sent again.
#[tokio::test]
async fn a_refusal_is_not_repeated_and_does_not_tell_the_key() {
    for status in [400, 401, 403, 404, 422] {
        let (attempted, server) = asked(vec![refused(status, Vec::new())], 5.0, true).await;
        let error = attempted.result.expect_err("refused");
        assert!(matches!(error, ModelError::Refused { status: told, .. } if told == status));
        assert_eq!((attempted.calls, server.requests().len()), (1, 1));
        assert!(!format!("{error} {error:?}").contains(KEY));
    }
}

#[tokio::test]
async fn what_may_pass_is_tried_again_after_the_pause_that_the_server_names() {
    let busy = |status| refused(status, vec![("retry-after", "0".to_owned())]);
    let says = ModelReply::Says("ok".to_owned());
    let (attempted, _) =
        asked(vec![busy(429), busy(503), ModelReply::BreaksOff, says], 5.0, true).await;
    assert_eq!(attempted.result.expect("in the end").content, "ok");
    assert_eq!(attempted.calls, 4);
    let (attempted, server) = asked(vec![busy(500)], 5.0, true).await;
    assert!(matches!(attempted.result, Err(ModelError::Unavailable(_))));
    assert_eq!(server.requests().len(), 4, "three repetitions");
}

#[tokio::test]
async fn a_pause_longer_than_the_time_left_is_not_waited_for() {
    let day = refused(429, vec![("retry-after", "86400".to_owned())]);
    let begun = Instant::now();
    let (attempted, _) = asked(vec![day], 5.0, true).await;
    assert!(matches!(attempted.result, Err(ModelError::Unavailable(_))));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_stream_without_a_reason_to_end_is_a_failure() {
    let server = ModelStandIn::scripted(vec![ModelReply::BreaksOff]);
    let client = client(&server, 5.0, true);
    let attempted = client.complete(&request(), Duration::from_millis(900)).await;
    assert_eq!(attempted.result, Err(ModelError::Answer(AnswerError::Unfinished)));
}

#[tokio::test]
async fn an_answer_of_five_megabytes_is_not_read_to_its_end() {
    let (attempted, _) = asked(vec![ModelReply::Endless(5_000_000)], 10.0, false).await;
    assert_eq!(attempted.result, Err(ModelError::TooLong));
    const { assert!(MAX_ANSWER_BYTES < 5_000_000) };
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up_once() {
    let (attempted, server) = asked(vec![ModelReply::Hangs], 0.3, true).await;
    assert!(matches!(attempted.result, Err(ModelError::Late(_))), "{attempted:?}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let away = vec![("location", "http://127.0.0.1:1/v1/chat/completions".to_owned())];
    let (attempted, server) =
        asked(vec![ModelReply::Raw(307, away, String::new())], 5.0, true).await;
    assert!(matches!(attempted.result, Err(ModelError::Refused { status: 307, .. })));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn odd_answers_are_errors_and_never_more() {
    for body in
        ["", "{}", "[]", "null", "<html>", "{\"choices\":[{}]}", "\u{0}", "{\"choices\":null}"]
    {
        let odd = ModelReply::Raw(
            200,
            vec![("content-type", "application/json".to_owned())],
            body.to_owned(),
        );
        let (attempted, _) = asked(vec![odd], 5.0, false).await;
        assert!(attempted.result.is_err(), "{body:?}");
    }
}

#[tokio::test]
async fn the_probe_finds_out_what_the_server_can_do() {
    let ready = || ModelReply::Calls(vec![("report_ready".to_owned(), json!({ "ready": true }))]);
    let native = ModelStandIn::scripted(vec![ready()]);
    assert_eq!(probe(&client(&native, 5.0, true), "m").await, Ok(Dialect::Native));
    // llama.cpp answers with words although a call is asked for, and keeps to a JSON Schema
    let words = ModelStandIn::scripted(vec![
        ModelReply::Says("I am ready!".to_owned()),
        ModelReply::Says("{\"ready\": true}".to_owned()),
    ]);
    assert_eq!(probe(&client(&words, 5.0, true), "m").await, Ok(Dialect::Json));
    let neither = ModelStandIn::scripted(vec![ModelReply::Says("no".to_owned())]);
    let error = probe(&client(&neither, 5.0, true), "m").await.expect_err("unfit");
    assert!(matches!(error, ProbeError::Unfit(_)), "{error}");
    for server in [&native, &words, &neither] {
        assert_eq!(server.violations(), Vec::<String>::new());
    }
    let wrong = ModelStandIn::scripted(vec![refused(401, Vec::new())]);
    let error = probe(&client(&wrong, 5.0, true), "m").await.expect_err("a wrong key");
    assert_eq!(error, ProbeError::WrongKey(401));
}
