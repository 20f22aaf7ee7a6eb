//! R-TOOL-6: `http` requests go to allowed hosts only, follow no redirect to another host, and are
//! limited in time and size. A real server on loopback answers.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use pdm_tools::ExecutorResources;
use pdm_tools::exec::http::Web;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{call, runtime_of, tool};

/// A server whose `/elsewhere` redirects to `other`.
async fn serve(other: Option<SocketAddr>) -> SocketAddr {
    let target = other.map_or_else(String::new, |other| format!("http://{other}/order/7"));
    let order = |Path(id): Path<String>| async move { axum::Json(json!({ "order": id })) };
    let json_kind = [(header::CONTENT_TYPE, "application/json")];
    let router = Router::new()
        .route("/order/{id}", get(order))
        .route("/elsewhere", get(move || async move { Redirect::temporary(&target) }))
        .route("/here", get(|| async { Redirect::temporary("/order/8") }))
        .route("/round", get(|| async { Redirect::temporary("/round") }))
        .route("/list", get(|| async { axum::Json(json!([1, 2])) }))
        .route("/text", get(|| async { "plain" }))
        .route("/broken", get(move || async move { (json_kind, "{\"a\": ").into_response() }))
        .route("/large", get(|| async { "x".repeat(5000) }))
        .route("/gone", get(|| async { (StatusCode::GONE, "no more") }))
        .route("/busy", get(|| async { (StatusCode::SERVICE_UNAVAILABLE, "later") }));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

async fn ask(server: SocketAddr, path: &str, allowed: &[String]) -> Result<Value, String> {
    let url = format!("http://{server}{path}");
    let config = format!("config: {{url: '{url}', retries: 0, max_bytes: 2000, timeout_s: 5}}");
    let text = tool("t", "collection", &format!("executor: http\n{config}\n"));
    let web = Some(Web::allowing(allowed.iter().cloned()));
    let (runtime, _folder) =
        runtime_of(&text, ExecutorResources { web, ..ExecutorResources::default() });
    let answer = runtime.call(&call("t", json!({"query": "a/../b"}))).await;
    answer.map(|answer| answer.value).map_err(|error| error.to_string())
}

#[tokio::test]
async fn an_allowed_host_is_asked() {
    let server = serve(None).await;
    let allowed = [server.to_string()];
    let order = ask(server, "/order/{query}", &allowed).await;
    assert_eq!(order, Ok(json!({"order": "a/../b"})), "one segment, not a path");
    assert_eq!(ask(server, "/list", &allowed).await, Ok(json!({"result": [1, 2]})));
    assert_eq!(ask(server, "/text", &allowed).await, Ok(json!({"text": "plain"})));
    assert_eq!(ask(server, "/here", &allowed).await, Ok(json!({"order": "8"})));
}

#[tokio::test]
async fn a_host_that_is_not_on_the_list_is_refused() {
    let server = serve(None).await;
    let error = ask(server, "/list", &["cmms.plant".to_owned()]).await.expect_err("refused");
    assert!(
        error.contains(&format!("the host {server} is not allowed; allowed are: cmms.plant")),
        "{error}"
    );
    let error = ask(server, "/list", &[]).await.expect_err("refused");
    assert!(error.contains("is not allowed"), "{error}");
}

#[tokio::test]
async fn a_redirect_to_another_host_is_refused() {
    let other = serve(None).await;
    let server = serve(Some(other)).await;
    // even a redirect to a host of the list is refused: the tool names another host
    let allowed = [server.to_string(), other.to_string()];
    let error = ask(server, "/elsewhere", &allowed).await.expect_err("refused");
    assert!(
        error.contains(&format!("redirected to another host, http://{other}/order/7: refused")),
        "{error}"
    );
    let error = ask(server, "/round", &allowed).await.expect_err("refused");
    assert!(error.contains("redirected too often"), "{error}");
}

#[tokio::test]
async fn what_is_too_large_broken_or_refused_is_told() {
    let server = serve(None).await;
    let allowed = [server.to_string()];
    let told = |path: &'static str| {
        let allowed = allowed.clone();
        async move { ask(server, path, &allowed).await.expect_err(path) }
    };
    assert!(told("/large").await.contains("larger than 2000 bytes"));
    assert!(told("/broken").await.contains("not the JSON it claims to be"));
    assert_eq!(told("/gone").await, "t: answered 410 Gone: no more");
    assert!(told("/busy").await.contains("failed 1 times, at last: answered 503"));
}
