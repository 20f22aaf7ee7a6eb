//! Tests of the client against a scripted endpoint on loopback.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::*;

#[derive(Debug, Default)]
struct Script {
    calls: AtomicUsize,
    failures: usize,
    dimensions: usize,
}

async fn answer(
    State(script): State<Arc<Script>>,
    headers: HeaderMap,
    Json(request): Json<Value>,
) -> (StatusCode, Json<Value>) {
    if script.calls.fetch_add(1, Ordering::SeqCst) < script.failures {
        return (StatusCode::SERVICE_UNAVAILABLE, Json(json!({"error": "busy"})));
    }
    if headers.get("authorization").is_none_or(|key| key != "Bearer k-1") {
        return (StatusCode::UNAUTHORIZED, Json(json!({"error": "bad key"})));
    }
    let texts = request["input"].as_array().map_or(0, Vec::len);
    let data: Vec<Value> = (0..texts)
        .rev()
        .map(|index| {
            let mut vector = vec![0.0; script.dimensions];
            vector[index % script.dimensions] = 2.0;
            json!({"index": index, "embedding": vector})
        })
        .collect();
    (StatusCode::OK, Json(json!({"data": data})))
}

async fn embedder(script: Arc<Script>, key: &str) -> OpenAiEmbedder {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("port");
    let port = listener.local_addr().expect("address").port();
    let router = Router::new().route("/v1/embeddings", post(answer)).with_state(script);
    tokio::spawn(async move { axum::serve(listener, router).await });
    let key = Some(Secret::new(key.to_owned()));
    let mut made =
        OpenAiEmbedder::new(&format!("http://127.0.0.1:{port}/v1/"), "m", 4, key).expect("client");
    made.pauses = [Duration::from_millis(1); 3];
    made
}

fn script(failures: usize, dimensions: usize) -> Arc<Script> {
    Arc::new(Script { failures, dimensions, ..Script::default() })
}

#[tokio::test]
async fn vectors_come_in_the_order_of_the_texts_with_length_one() {
    let embedder = embedder(script(0, 4), "k-1").await;
    let passage = |text: &str| Passage { head: text.to_owned(), body: String::new() };
    let vectors = embedder.embed_passages(&[passage("가"), passage("나")]).await.expect("vectors");
    assert_eq!(vectors, [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]);
}

#[tokio::test]
async fn a_busy_endpoint_is_asked_four_times_in_all() {
    let passages = [Passage { head: "가".to_owned(), body: String::new() }];
    let busy = script(3, 4);
    assert!(embedder(busy.clone(), "k-1").await.embed_passages(&passages).await.is_ok());
    let dead = script(9, 4);
    let dead_one = embedder(dead.clone(), "k-1").await;
    let error = dead_one.embed_passages(&passages).await.expect_err("dead");
    assert!(matches!(error, EmbedError::Unavailable { .. }), "{error}");
    assert_eq!(dead.calls.load(Ordering::SeqCst), 4);
    let error = dead_one.embed_query("가").await.expect_err("dead");
    assert!(matches!(error, EmbedError::Unavailable { .. }), "{error}");
    assert_eq!(dead.calls.load(Ordering::SeqCst), 5, "who asks does not wait for more tries");
}

#[tokio::test]
async fn a_wrong_key_is_refused_at_once_and_not_shown() {
    let script = script(0, 4);
    let error = embedder(script.clone(), "k-2").await.embed_query("가").await.expect_err("key");
    assert!(matches!(error, EmbedError::Refused { .. }), "{error}");
    assert!(!error.to_string().contains("k-2"), "{error}");
    assert_eq!(script.calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_vector_of_another_length_is_told() {
    let error = embedder(script(0, 5), "k-1").await.embed_query("가").await.expect_err("length");
    assert!(error.to_string().contains("with 5 dimensions, expected vectors of 4"), "{error}");
}
