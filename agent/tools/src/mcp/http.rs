//! The MCP server over streamable HTTP, as a router for the path `/mcp`. [`Access`] decides which
//! requests are allowed.

use std::sync::Arc;

use axum::Router;
use pdm_service::http::guard::Access;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::server::ToolServer;
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
    let service = StreamableHttpService::new(
        move || Ok(ToolServer::new(Arc::clone(&runtime))),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    access.guard_actions(Router::new().fallback_service(service))
}
