//! The HTTP/1.1 server of every program: bounded in connections, in waiting time and in requests a
//! second of each caller, so that nobody who connects, sends half a request or asks without a pause
//! keeps the others out.
//!
//! A connection keeps its place ([`crate::places`]) while a request that passed the guard is
//! answered. All others wait: for a request's head, for the rest of its body, for a refusal; these
//! may lose their places to new connections.

mod body;

use std::convert::Infallible;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode, header};
use axum::response::IntoResponse as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::peers::Rates;
use super::tls::Tls;
use crate::places::{ConnectionPlace, Full, Places};
use body::{Answering, InTime};

/// Most connections at once, unless [`ServerTerms`] say another number. Scrapers, people and tool
/// clients of one machine need fewer than thirty; 64 sockets are a sixteenth of a shell's usual
/// limit of 1,024 files.
const CONNECTIONS: usize = 64;
/// Longest time of a TLS handshake; a phone on a slow link needs a second.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Longest time until a request's head is complete, twice the usual interval of a scraper (15 s).
/// It also ends idle connections.
const HEAD: Duration = Duration::from_secs(30);
/// Longest time until a request's body is complete: the largest document (64 MiB) at 1 MiB/s.
const BODY: Duration = Duration::from_secs(64);
/// Longest time for unfinished answers when the program stops: an answer takes milliseconds.
const GRACE: Duration = Duration::from_secs(2);
/// Pause after a failed `accept`. The usual reason is that no file descriptor is left, so an
/// immediate attempt would fail too and use a whole core.
const REFUSED: Duration = Duration::from_millis(200);
/// Paths without a limit of requests a second: a monitor must be answered while another program of
/// the same address asks too fast.
const ALWAYS_ASKED: [&str; 3] = ["/livez", "/readyz", "/healthz"];

/// The caller's address, an extension of every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// How a server takes connections.
#[derive(Debug, Clone)]
pub struct ServerTerms {
    /// Most connections at once.
    pub connections: usize,
    /// The certificate; `None` for plain HTTP.
    pub tls: Option<Arc<Tls>>,
}

impl Default for ServerTerms {
    fn default() -> Self {
        Self { connections: CONNECTIONS, tls: None }
    }
}

/// Serves `routes` without TLS until stopped, then finishes the answers that are under way.
pub async fn serve(listener: TcpListener, routes: Router, stop: CancellationToken) {
    serve_under(&ServerTerms::default(), listener, routes, stop).await;
}

/// Serves `routes` under these terms until stopped, then finishes the answers that are under way.
pub async fn serve_under(
    terms: &ServerTerms,
    listener: TcpListener,
    routes: Router,
    stop: CancellationToken,
) {
    let places = Arc::new(Places::new(terms.connections));
    let rates = Arc::new(Rates::default());
    let under_way = GracefulShutdown::new();
    loop {
        let taken = tokio::select! {
            taken = take(&listener, &places) => taken,
            () = stop.cancelled() => break,
        };
        let Some((stream, peer, place)) = taken else { continue };
        let guarded = Guarded {
            routes: TowerToHyperService::new(routes.clone()),
            rates: Arc::clone(&rates),
            peer,
            place: place.clone(),
        };
        let (tls, watcher) = (terms.tls.clone(), under_way.watcher());
        tokio::spawn(async move {
            tokio::select! {
                // an error means that the client closed the connection: no answer is needed
                () = connection(stream, tls, guarded, watcher) => {}
                () = place.is_taken_away() => refused("connections", peer.0.ip()),
            }
            place.leave();
        });
    }
    drop(listener);
    if tokio::time::timeout(GRACE, under_way.shutdown()).await.is_err() {
        tracing::warn!(grace_s = GRACE.as_secs(), "HTTP requests were cut off");
    }
}

/// Answers the requests of one connection.
async fn connection(stream: TcpStream, tls: Option<Arc<Tls>>, guarded: Guarded, watcher: Watcher) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let Some(tls) = tls else {
        let served = builder.serve_connection(TokioIo::new(stream), guarded);
        let _closed_by_the_client = watcher.watch(served).await;
        return;
    };
    let peer = guarded.peer.0.ip();
    match tokio::time::timeout(HANDSHAKE, tls.acceptor().accept(stream)).await {
        Ok(Ok(stream)) => {
            let served = builder.serve_connection(TokioIo::new(stream), guarded);
            let _closed_by_the_client = watcher.watch(served).await;
        }
        Ok(Err(_)) | Err(_) => refused("tls", peer),
    }
}

/// Waits for a connection and for a place; `None` after a failed attempt.
async fn take(
    listener: &TcpListener,
    places: &Arc<Places>,
) -> Option<(TcpStream, Peer, ConnectionPlace)> {
    match listener.accept().await {
        Ok((stream, address)) => {
            let place = Places::take(places, address.ip()).await;
            Some((stream, Peer(address), place))
        }
        Err(error) => {
            tracing::warn!(%error, "an HTTP connection could not be taken");
            tokio::time::sleep(REFUSED).await;
            None
        }
    }
}

/// Counts a refusal. It is not logged: a flood would fill the log.
pub(super) fn refused(reason: &'static str, peer: IpAddr) {
    metrics::counter!("pdm_http_refused_total", "reason" => reason).increment(1);
    tracing::debug!(%peer, reason, "an HTTP request was refused");
}

/// The routes of one connection behind the limits.
#[derive(Debug, Clone)]
struct Guarded {
    routes: TowerToHyperService<Router>,
    rates: Arc<Rates>,
    peer: Peer,
    place: ConnectionPlace,
}

type ServedAnswer = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

impl Service<Request<Incoming>> for Guarded {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ServedAnswer;

    fn call(&self, request: Request<Incoming>) -> ServedAnswer {
        let address = self.peer.0.ip();
        let is_limited = !ALWAYS_ASKED.contains(&request.uri().path());
        if is_limited && !self.rates.admit(address) {
            refused("rate", address);
            let told = "too many requests a second\n";
            let after = [(header::RETRY_AFTER, "1")];
            let answer = (StatusCode::TOO_MANY_REQUESTS, after, told).into_response();
            return Box::pin(std::future::ready(Ok(answer)));
        }
        let place = self.place.clone();
        let mut request = request.map(|body| Body::new(InTime::new(body, BODY, place)));
        request.extensions_mut().insert(self.peer);
        request.extensions_mut().insert(self.place.clone());
        let (answer, place) = (self.routes.call(request), self.place.clone());
        Box::pin(async move {
            let answer = answer.await?;
            Ok(answer.map(|body| Body::new(Answering::new(body, place))))
        })
    }
}

/// Notes that a request of this caller passed the guard: its connection keeps its place until it is
/// answered. Who has not said who it is counts by its address.
///
/// # Errors
/// The answer to a caller that holds as many requests open as it may, or while all callers together
/// do.
pub fn admit<B>(request: &Request<B>, caller: Option<&str>) -> Result<(), Box<Response<Body>>> {
    let Some(place) = request.extensions().get::<ConnectionPlace>() else { return Ok(()) };
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    let peer = peer.unwrap_or(std::net::Ipv4Addr::UNSPECIFIED.into());
    let caller = caller.map_or_else(|| format!("address {peer}"), |name| format!("user {name}"));
    place.admit_for(&caller).map_err(|full| {
        refused("places", peer);
        let told = match full {
            Full::Share => "too many requests of this caller are open\n",
            Full::All => "too many requests are open\n",
        };
        let after = [(header::RETRY_AFTER, "1")];
        Box::new((StatusCode::TOO_MANY_REQUESTS, after, told).into_response())
    })
}

#[cfg(test)]
mod tests;
