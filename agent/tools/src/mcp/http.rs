//! The server over streamable HTTP, as a router to be mounted at `/mcp`. Who may call is decided by
//! [`Access`].

use std::sync::Arc;

use axum::Router;
use pdm_service::http::guard::Access;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::server::ToolServer;
use crate::Runtime;

/// Largest request, bytes. Chosen: arguments are questions and short messages.
const MAX_REQUEST_BYTES: usize = 256 * 1024;

/// The router; `Router::nest("/mcp", router(…))` mounts it. Sessions end with `stop`.
pub fn router(runtime: Arc<Runtime>, access: Access, stop: CancellationToken) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stop)
        .with_max_request_body_bytes(MAX_REQUEST_BYTES)
        .enforce_origin_validation();
    // elsewhere the token says who may call; the names of the host are not known here
    let config = if access.is_loopback() { config } else { config.disable_allowed_hosts() };
    let service = StreamableHttpService::new(
        move || Ok(ToolServer::new(Arc::clone(&runtime))),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    access.guard_actions(Router::new().fallback_service(service))
}
