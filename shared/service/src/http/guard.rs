//! Authorization of HTTP requests by bearer token, or by a loopback address.
//!
//! Two kinds of routes are guarded. [`Access::guard_actions`] is for routes that act or show more
//! than health: on loopback without a token these answer only requests with a loopback host name
//! (against DNS rebinding) and without a foreign origin. [`Access::guard_reads`] is for health and
//! metrics: on loopback without a token every local client may read. With a token both kinds
//! require it. On any other address than loopback a token is required ([`Access::new`] refuses
//! without).

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};

use crate::secret::Secret;

/// The address is reachable from other machines and there is no token: a configuration error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{listen} needs a token: without one only loopback (127.0.0.1, ::1) is served")]
pub struct NeedsToken {
    /// The address.
    pub listen: SocketAddr,
}

/// The authorization that a server asks for.
#[derive(Debug, Clone)]
pub struct Access {
    token: Option<Secret>,
    is_loopback: bool,
}

impl Access {
    /// Access for a server on `listen`.
    ///
    /// # Errors
    /// [`NeedsToken`] if other machines can connect and there is no token.
    pub fn new(listen: SocketAddr, token: Option<Secret>) -> Result<Self, NeedsToken> {
        let is_loopback = listen.ip().is_loopback();
        let token = token.filter(|token| !token.expose().is_empty());
        if token.is_none() && !is_loopback {
            return Err(NeedsToken { listen });
        }
        Ok(Self { token, is_loopback })
    }

    /// True if only this machine can connect.
    pub const fn is_loopback(&self) -> bool {
        self.is_loopback
    }

    /// `router` behind the guard for requests that act.
    pub fn guard_actions<S>(&self, router: Router<S>) -> Router<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        router.layer(middleware::from_fn_with_state(Arc::new(self.clone()), admit_action))
    }

    /// `router` behind the guard for requests that read health and metrics.
    pub fn guard_reads<S>(&self, router: Router<S>) -> Router<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        router.layer(middleware::from_fn_with_state(Arc::new(self.clone()), admit_read))
    }
}

async fn admit_action(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let refused = match &access.token {
        Some(token) => without_token(request.headers(), token),
        None if is_local(request.headers()) => None,
        None => {
            let told = "only programs of this machine may call\n";
            Some((StatusCode::FORBIDDEN, told).into_response())
        }
    };
    pass(refused, request, next).await
}

async fn admit_read(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let refused = access.token.as_ref().and_then(|token| without_token(request.headers(), token));
    pass(refused, request, next).await
}

async fn pass(refused: Option<Response>, request: Request, next: Next) -> Response {
    match refused {
        Some(refusal) => refusal,
        None => next.run(request).await,
    }
}

/// The refusal of a request whose headers do not carry the token.
fn without_token(headers: &HeaderMap, token: &Secret) -> Option<Response> {
    let given = headers.get(header::AUTHORIZATION);
    let given = given.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    if given.is_some_and(|given| same(given.trim(), token.expose())) {
        return None;
    }
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    Some((StatusCode::UNAUTHORIZED, challenge, "a bearer token is required\n").into_response())
}

/// True if the request names a loopback host and no page of another origin makes it.
fn is_local(headers: &HeaderMap) -> bool {
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
        assert!(Access::new(open, Some(Secret::new("t".to_owned()))).is_ok());
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
