//! The server over streamable HTTP, as a router to be mounted at `/mcp`.
//!
//! Invariants: on loopback only loopback names are answered (no DNS rebinding) and no browser page
//! may call; on any other address nothing is answered without the token.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use pdm_shared::secret::Secret;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::server::ToolServer;
use crate::tools::Runtime;

/// Largest request, bytes. Chosen: arguments are questions and short messages.
const MAX_REQUEST_BYTES: usize = 256 * 1024;

/// The address is open to others and there is no token: a configuration error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "MCP on {listen} needs a token: without one it is served on loopback (127.0.0.1, ::1) only"
)]
pub struct NeedsToken {
    /// The address.
    pub listen: SocketAddr,
}

/// Who may call.
#[derive(Debug, Clone)]
pub struct Access {
    token: Option<Secret>,
    is_loopback: bool,
}

impl Access {
    /// Access for a server on `listen`.
    ///
    /// # Errors
    /// [`NeedsToken`] if others than this machine could call and there is no token.
    pub fn new(listen: SocketAddr, token: Option<Secret>) -> Result<Self, NeedsToken> {
        let is_loopback = listen.ip().is_loopback();
        let token = token.filter(|token| !token.expose().is_empty());
        if token.is_none() && !is_loopback {
            return Err(NeedsToken { listen });
        }
        Ok(Self { token, is_loopback })
    }
}

/// The router; `Router::nest("/mcp", router(…))` mounts it. Sessions end with `stop`.
pub fn router(runtime: Arc<Runtime>, access: Access, stop: CancellationToken) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stop)
        .with_max_request_body_bytes(MAX_REQUEST_BYTES)
        .enforce_origin_validation();
    // elsewhere the token says who may call; the names of the host are not known here
    let config = if access.is_loopback { config } else { config.disable_allowed_hosts() };
    let service = StreamableHttpService::new(
        move || Ok(ToolServer::new(Arc::clone(&runtime))),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    Router::new()
        .fallback_service(service)
        .layer(middleware::from_fn_with_state(Arc::new(access), admit))
}

async fn admit(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let Some(token) = &access.token else { return next.run(request).await };
    let given = request.headers().get(header::AUTHORIZATION);
    let given = given.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    if given.is_some_and(|given| same(given.trim(), token.expose())) {
        return next.run(request).await;
    }
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (StatusCode::UNAUTHORIZED, challenge, "a bearer token is required").into_response()
}

/// Compares without telling by its duration how much was right.
fn same(given: &str, token: &str) -> bool {
    given.len() == token.len()
        && given.bytes().zip(token.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
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
    fn tokens_are_compared_whole() {
        assert!(same("abc", "abc"));
        for wrong in ["", "ab", "abd", "abcd"] {
            assert!(!same(wrong, "abc"), "{wrong}");
        }
    }
}
