//! The HTTP/1.1 server: bounded in connections and in waiting time, so that clients that connect
//! and send nothing cannot block the others.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::log;

/// Most connections at once. A scraper and a few people need fewer than ten; further connections
/// wait in the queue of the operating system.
const CONNECTIONS: usize = 32;
/// Longest time until a request's head is complete, twice the usual interval of a scraper (15 s).
/// It also ends idle connections.
const HEAD: Duration = Duration::from_secs(30);
/// Longest time for unfinished answers when the edge stops: an answer takes milliseconds.
const GRACE: Duration = Duration::from_secs(2);
/// Pause after a failed `accept`. The usual reason is that no file descriptor is left, so an
/// immediate attempt would fail too and use a whole core.
const REFUSED: Duration = Duration::from_millis(200);

/// Serves `routes` until stopped, then finishes the answers that are under way.
pub(super) async fn serve(listener: TcpListener, routes: Router, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let under_way = GracefulShutdown::new();
    loop {
        let taken = tokio::select! {
            taken = take(&listener, &places) => taken,
            () = stop.cancelled() => break,
        };
        let Some((stream, place)) = taken else { continue };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes.clone()));
        let connection = under_way.watch(connection);
        tokio::spawn(async move {
            // an error means that the client closed the connection: no answer is needed
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(GRACE, under_way.shutdown()).await.is_err() {
        log::cut_off(GRACE);
    }
}

/// Waits for room and then for a connection; `None` after a failed attempt.
async fn take(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, place)),
        Err(error) => {
            log::not_accepted(&error);
            tokio::time::sleep(REFUSED).await;
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn served() -> (std::net::SocketAddr, CancellationToken, tokio::task::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let address = listener.local_addr().expect("address");
        let stop = CancellationToken::new();
        let routes = Router::new().route("/healthz", get(|| async { "ok\n" }));
        (address, stop.clone(), tokio::spawn(serve(listener, routes, stop)))
    }

    async fn ask(address: std::net::SocketAddr) -> String {
        let mut stream = TcpStream::connect(address).await.expect("connected");
        let request = b"GET /healthz HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await.expect("asked");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("answered");
        answer
    }

    #[tokio::test]
    async fn clients_that_send_nothing_do_not_block_others() {
        let (address, stop, serving) = served().await;
        let mut silent = Vec::new();
        for _ in 1..CONNECTIONS {
            silent.push(TcpStream::connect(address).await.expect("connected"));
        }
        let answer = ask(address).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("ok\n"), "{answer}");
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
}
