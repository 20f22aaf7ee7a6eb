//! The tools over the Model Context Protocol: [`server`] offers every tool of the catalogue,
//! [`http`], [`stdio`] and [`in_process`] carry it; [`crate::client`] calls it, as it calls the
//! servers of others.
//!
//! The protocol is spoken up to revision 2025-11-25: sessions, structured answers,
//! `tools/list_changed`.

pub mod http;
pub mod server;
pub mod stdio;

use std::sync::Arc;

use rmcp::ServiceExt as _;

use crate::Runtime;
use crate::client::{ClientError, ToolClient};
use server::ToolServer;

/// Bytes in flight between the two ends in one process.
const DUPLEX_BYTES: usize = 64 * 1024;

/// A client of the tools of `runtime`, in this process.
///
/// # Errors
/// [`ClientError::Unreachable`] if the two ends do not find together.
pub async fn in_process(runtime: Arc<Runtime>) -> Result<ToolClient, ClientError> {
    let (near, far) = tokio::io::duplex(DUPLEX_BYTES);
    let server = Box::pin(ToolServer::new(runtime).serve(far));
    let client = Box::pin(().serve(near));
    let (server, client) = tokio::join!(server, client);
    let server = server.map_err(|error| ClientError::Unreachable(error.to_string()))?;
    let connection = client.map_err(|error| ClientError::Unreachable(error.to_string()))?;
    // ends with the client: when its end of the pipe is gone
    tokio::spawn(server.waiting());
    Ok(ToolClient::over(connection))
}
