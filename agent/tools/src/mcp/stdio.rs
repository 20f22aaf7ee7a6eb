//! The MCP server over standard input and output. Its one client is the parent process. No other
//! code may write to standard output meanwhile (logs go to standard error).

use std::sync::Arc;

use rmcp::ServiceExt;

use super::server::ToolServer;
use crate::Runtime;

/// The conversation could not start or was broken off.
#[derive(Debug, thiserror::Error)]
#[error("MCP over standard input: {0}")]
pub struct StdioError(String);

/// Serves until the client closes its end or `shutdown` resolves.
///
/// [`StdioError`] if the client does not use the protocol.
/// [`StdioError`] if the client does not use the protocol.
pub async fn serve(
    runtime: Arc<Runtime>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), StdioError> {
    let fail = |error: &dyn std::fmt::Display| StdioError(error.to_string());
    tokio::pin!(shutdown);
    let started = ToolServer::new(runtime).serve(rmcp::transport::stdio());
    let running = tokio::select! {
        started = started => started.map_err(|error| fail(&error))?,
        () = &mut shutdown => return Ok(()),
    };
    let stop = running.cancellation_token();
    let ended = running.waiting();
    tokio::pin!(ended);
    tokio::select! {
        ended = &mut ended => {
            ended.map_err(|error| fail(&error))?;
        }
        () = &mut shutdown => {
            stop.cancel();
            ended.await.map_err(|error| fail(&error))?;
        }
    }
    Ok(())
}
