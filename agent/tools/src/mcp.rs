//! The tools over the Model Context Protocol: [`server`] offers every tool of the catalogue;
//! [`http`], [`stdio`] and [`in_process`] are its transports; [`crate::client`] calls this server
//! and the servers of others.
//!
//! Supported protocol: up to revision 2025-11-25, with sessions, structured answers and
//! `tools/list_changed`.

pub mod http;
pub mod server;
mod sessions;
pub mod stdio;

use std::sync::Arc;

use rmcp::ServiceExt as _;

use crate::Runtime;
use crate::client::{ClientError, ToolClient};
use server::ToolServer;

/// Size of the buffer between client and server in one process, bytes.
const DUPLEX_BYTES: usize = 64 * 1024;

/// A client of the tools of `runtime`, in this process.
///
/// # Errors
/// [`ClientError::Unreachable`] if client and server do not connect.
pub async fn in_process(runtime: Arc<Runtime>) -> Result<ToolClient, ClientError> {
    let (near, far) = tokio::io::duplex(DUPLEX_BYTES);
    let server = Box::pin(ToolServer::new(runtime).serve(far));
    let client = Box::pin(().serve(near));
    let (server, client) = tokio::join!(server, client);
    let server = server.map_err(|error| ClientError::Unreachable(error.to_string()))?;
    let connection = client.map_err(|error| ClientError::Unreachable(error.to_string()))?;
    // the task ends with the client, which closes its end of the pipe
    tokio::spawn(server.waiting());
    Ok(ToolClient::over(connection))
}
