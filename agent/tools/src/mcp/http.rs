//! The MCP server over streamable HTTP, as a router for the path `/mcp`. [`Access`] decides which
//! requests are allowed, `sessions` how many sessions and streams.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use pdm_service::http::guard::Access;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::server::ToolServer;
use super::sessions::{IDLE, Sessions, bounded};
use crate::Runtime;

/// Largest request, bytes. No data chose it: arguments are questions and short messages of a few
/// kilobytes, and a session's memory stays bounded.
const MAX_REQUEST_BYTES: usize = 256 * 1024;

/// The router; `Router::nest("/mcp", router(…))` mounts it. Sessions end with `stop`.
pub fn router(runtime: Arc<Runtime>, access: Access, stop: CancellationToken) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stop)
        .with_max_request_body_bytes(MAX_REQUEST_BYTES)
        .enforce_origin_validation();
    // on other addresses the token authorizes callers, and the names of the host are not known here
    let config = if access.is_loopback() { config } else { config.disable_allowed_hosts() };
    let mut manager = LocalSessionManager::default();
    manager.session_config.keep_alive = Some(IDLE);
    let manager = Arc::new(manager);
    let service = StreamableHttpService::new(
        move || Ok(ToolServer::new(Arc::clone(&runtime))),
        Arc::clone(&manager),
        config,
    );
    let sessions = Arc::new(Sessions::new(manager, MAX_REQUEST_BYTES));
    let routes = Router::new().fallback_service(service);
    access.guard_actions(routes.layer(from_fn_with_state(sessions, bounded)))
}
