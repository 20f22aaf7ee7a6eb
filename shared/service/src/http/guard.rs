//! Authorization of HTTP requests by bearer token, or by a loopback address.
//!
//! Three kinds of routes are guarded. [`Access::guard_actions`] is for routes that act or show more
//! than health: on loopback without a token these answer only requests with a loopback host name
//! (against DNS rebinding) and without a foreign origin. [`Access::guard_reads`] is for metrics: on
//! loopback without a token every local client may read. [`Access::guard_uploads`] is for routes
//! that change what people are told later: these always require a token. With a token all kinds
//! require it. On any other address than loopback a token is required ([`Access::new`] refuses
//! without).
//!
//! A wrong token is counted, logged with the caller's address and answered after a pause that grows
//! with each further one; the right token is never delayed.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};

use super::peers::Failures;
use super::server::{self, Peer};
use crate::secret::Secret;

/// Fewest characters of a token. 16 characters of `openssl rand -hex` are 64 random bits, which
/// nobody guesses over a network.
pub const LEAST_TOKEN: usize = 16;

/// An address or a token with which nothing is served: a configuration error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// The address is reachable from other machines and there is no token.
    #[error("{listen} needs a token: without one only loopback (127.0.0.1, ::1) is served")]
    NeedsToken {
        /// The address.
        listen: SocketAddr,
    },
    /// The token is too short.
    #[error(
        "the token has {characters} characters, allowed are {LEAST_TOKEN} or more \
         (openssl rand -hex 24 makes one)"
    )]
    ShortToken {
        /// Its characters.
        characters: usize,
    },
}

/// The authorization that a server asks for.
#[derive(Debug, Clone)]
pub struct Access {
    token: Option<Secret>,
    is_loopback: bool,
    failures: Arc<Failures>,
}

/// The caller that a guard let pass, an extension of the request: for the log of what was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The caller's address; `None` outside of [`server::serve`].
    pub peer: Option<Peer>,
    /// True if the caller sent the token.
    pub has_token: bool,
}

/// The kind of guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    Actions,
    Reads,
    /// With the key that has to be set.
    Uploads(&'static str),
}

impl Access {
    /// Access for a server on `listen`.
    ///
    /// # Errors
    /// [`AccessError`] if other machines can connect and there is no token, or if the token is
    /// short. An empty token is none.
    pub fn new(listen: SocketAddr, token: Option<Secret>) -> Result<Self, AccessError> {
        let is_loopback = listen.ip().is_loopback();
        let token = token.filter(|token| !token.expose().is_empty());
        match &token {
            None if !is_loopback => return Err(AccessError::NeedsToken { listen }),
            Some(token) if token.expose().chars().count() < LEAST_TOKEN => {
                let characters = token.expose().chars().count();
                return Err(AccessError::ShortToken { characters });
            }
            _ => {}
        }
        Ok(Self { token, is_loopback, failures: Arc::default() })
    }

    /// True if only this machine can connect.
    pub const fn is_loopback(&self) -> bool {
        self.is_loopback
    }

    /// True if callers have to send the token.
    pub const fn needs_token(&self) -> bool {
        self.token.is_some()
    }

    /// Whether this is the token, for a request of `path`. A wrong one is logged and answered after a pause, as those of the
    /// guards.
    pub async fn admits(&self, peer: Option<Peer>, path: &str, given: &str) -> bool {
        if self.token.as_ref().is_some_and(|token| same(given, token.expose())) {
            return true;
        }
        if let Some(peer) = peer {
            tokio::time::sleep(self.wrong_token(peer, path)).await;
        }
        false
    }

    /// Counts and logs a wrong token; tells the pause before the answer.
    fn wrong_token(&self, peer: Peer, path: &str) -> Duration {
        let (failures, pause) = self.failures.note(peer.0.ip());
        // the first and every doubling: a flood of guesses does not fill the log
        if failures.is_power_of_two() {
            tracing::warn!(%peer, path, failures, "a request with a wrong token was refused");
        }
        pause
    }

    /// `router` behind the guard for requests that act.
    pub fn guard_actions<S>(&self, router: Router<S>) -> Router<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        self.guard(router, Guard::Actions)
    }

    /// `router` behind the guard for requests that read metrics.
    pub fn guard_reads<S>(&self, router: Router<S>) -> Router<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        self.guard(router, Guard::Reads)
    }

    /// `router` behind the guard for uploads. Without a token every upload is refused with a text
    /// that names `key`, the key of the configuration that sets one.
    pub fn guard_uploads<S>(&self, router: Router<S>, key: &'static str) -> Router<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        self.guard(router, Guard::Uploads(key))
    }

    fn guard<S>(&self, router: Router<S>, guard: Guard) -> Router<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        let state = (Arc::new(self.clone()), guard);
        router.layer(middleware::from_fn_with_state(state, admit))
    }

    /// The refusal of a request and the pause before it, or `None` if the request may pass.
    fn refusal(&self, guard: Guard, request: &Request) -> Option<(Response, Duration)> {
        let at_once = |answer: (StatusCode, String)| Some((answer.into_response(), Duration::ZERO));
        match (&self.token, guard) {
            (Some(token), _) => self.without_token(request, token),
            (None, Guard::Reads) => None,
            (None, Guard::Actions) if is_local(request.headers()) => None,
            (None, Guard::Actions) => {
                refused(request, "origin");
                at_once((
                    StatusCode::FORBIDDEN,
                    "only programs of this machine may call\n".to_owned(),
                ))
            }
            (None, Guard::Uploads(key)) => {
                refused(request, "token");
                let told = format!(
                    "an upload needs a token: set {key} in the configuration ({LEAST_TOKEN} \
                     characters or more) and send it as Authorization: Bearer\n"
                );
                at_once((StatusCode::FORBIDDEN, told))
            }
        }
    }

    /// The refusal of a request whose headers do not carry the token.
    fn without_token(&self, request: &Request, token: &Secret) -> Option<(Response, Duration)> {
        let given = request.headers().get(header::AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        if given.is_some_and(|given| same(given.trim(), token.expose())) {
            return None;
        }
        refused(request, "token");
        let mut pause = Duration::ZERO;
        if let (Some(peer), Some(_wrong)) = (request.extensions().get::<Peer>(), given) {
            pause = self.wrong_token(*peer, request.uri().path());
        }
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        let told = (StatusCode::UNAUTHORIZED, challenge, "a bearer token is required\n");
        Some((told.into_response(), pause))
    }
}

async fn admit(
    State((access, guard)): State<(Arc<Access>, Guard)>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Some((refusal, pause)) = access.refusal(guard, &request) {
        tokio::time::sleep(pause).await;
        return refusal;
    }
    server::admit(&request);
    let peer = request.extensions().get::<Peer>().copied();
    request.extensions_mut().insert(Caller { peer, has_token: access.token.is_some() });
    next.run(request).await
}

/// Counts the refusal of a request.
fn refused(request: &Request, reason: &'static str) {
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    server::refused(reason, peer.unwrap_or(std::net::Ipv4Addr::UNSPECIFIED.into()));
}

/// True if the request names a loopback host and no page of another origin makes it.
pub fn is_local(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().ok());
    host.is_some_and(|host| is_loopback_name(&format!("http://{host}")))
        && origin.is_none_or(|origin| origin.is_some_and(is_loopback_name))
}

fn is_loopback_name(origin: &str) -> bool {
    let host = origin.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
    host.is_some_and(|host| matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]"))
}

/// Compares the tokens so that the duration does not show how much of a wrong one was right.
fn same(given: &str, token: &str) -> bool {
    given.len() == token.len()
        && std::hint::black_box(
            given.bytes().zip(token.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b)),
        ) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_address_needs_a_token() {
        let open: SocketAddr = "0.0.0.0:8080".parse().expect("address");
        let own: SocketAddr = "127.0.0.1:8080".parse().expect("address");
        assert!(Access::new(own, None).is_ok());
        assert!(Access::new(open, None).is_err());
        assert!(Access::new(open, Some(Secret::new(String::new()))).is_err());
        let token = |text: &str| Some(Secret::new(text.to_owned()));
        assert!(Access::new(open, token("sixteen letters.")).is_ok());
        for address in [open, own] {
            let error = Access::new(address, token("fifteen letters")).expect_err("short");
            assert_eq!(error, AccessError::ShortToken { characters: 15 });
            assert!(!error.to_string().contains("fifteen"), "{error}");
        }
    }

    #[test]
    fn a_page_of_another_origin_and_a_foreign_host_name_are_not_local() {
        let local = |host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().expect("value"));
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().expect("value"));
            }
            is_local(&headers)
        };
        for host in ["localhost:9465", "127.0.0.1:9465", "[::1]:9465"] {
            assert!(local(host, None), "{host}");
        }
        assert!(local("localhost:9465", Some("http://localhost:9465")));
        assert!(!local("evil.example", None));
        assert!(!local("localhost:9465", Some("https://evil.example")));
        assert!(!local("localhost:9465", Some("null")));
        assert!(!is_local(&HeaderMap::new()));
    }

    #[test]
    fn tokens_are_compared_whole() {
        assert!(same("abc", "abc"));
        for wrong in ["", "ab", "abd", "abcd"] {
            assert!(!same(wrong, "abc"), "{wrong}");
        }
    }
}
