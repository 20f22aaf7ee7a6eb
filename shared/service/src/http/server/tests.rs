//! Claims about the server: half requests, slow bodies and fast askers do not keep others out.

use axum::routing::{get, post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

async fn served() -> (SocketAddr, CancellationToken, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let address = listener.local_addr().expect("address");
    let stop = CancellationToken::new();
    let take = async |body: axum::body::Bytes| format!("{} bytes\n", body.len());
    let routes = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/metrics", get(|| async { "m 1\n" }))
        .route("/take", post(take));
    (address, stop.clone(), tokio::spawn(serve(listener, routes, stop)))
}

async fn ask(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("connected");
    let request = format!("GET {path} HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("asked");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("answered");
    answer
}

#[tokio::test]
async fn half_requests_lose_their_places_to_whole_ones() {
    let (address, stop, serving) = served().await;
    let mut silent = Vec::new();
    for _ in 0..5 * CONNECTIONS {
        let mut stream = TcpStream::connect(address).await.expect("connected");
        stream.write_all(b"GET /healthz HT").await.expect("begun");
        silent.push(stream);
    }
    for _ in 0..10 {
        let answer = ask(address, "/healthz").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("ok\n"), "{answer}");
    }
    let mut rest = Vec::new();
    silent[0].read_to_end(&mut rest).await.expect("closed by the server");
    assert!(rest.is_empty(), "the first has lost its place without an answer");
    stop.cancel();
    serving.await.expect("ends");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_comes_loses_its_connection() {
    let (address, stop, serving) = served().await;
    let mut silent = TcpStream::connect(address).await.expect("connected");
    silent.write_all(b"GET /healthz HT").await.expect("begun");
    let mut rest = Vec::new();
    silent.read_to_end(&mut rest).await.expect("closed by the server");
    stop.cancel();
    serving.await.expect("ends");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_ends_is_refused() {
    let (address, stop, serving) = served().await;
    let mut slow = TcpStream::connect(address).await.expect("connected");
    let head = "POST /take HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\nconnection: close\r\n\r\n";
    slow.write_all(head.as_bytes()).await.expect("begun");
    let mut answer = String::new();
    slow.read_to_string(&mut answer).await.expect("answered");
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    stop.cancel();
    serving.await.expect("ends");
}

#[tokio::test]
async fn who_asks_without_a_pause_is_told_to_wait_but_health_answers() {
    let (address, stop, serving) = served().await;
    let mut stream = TcpStream::connect(address).await.expect("connected");
    let mut refused = 0;
    for _ in 0..1000 {
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n").await.expect("asked");
        let mut answer = [0u8; 512];
        let length = stream.read(&mut answer).await.expect("answered");
        refused += usize::from(answer[..length].starts_with(b"HTTP/1.1 429"));
    }
    assert!(refused > 100, "{refused} of 1,000");
    assert!(ask(address, "/healthz").await.starts_with("HTTP/1.1 200"));
    stop.cancel();
    serving.await.expect("ends");
}
