//! Executor `mcp`: a tool of another MCP server, which the operator's settings name.
//!
//! A connection is made when a tool first needs it, and kept; a broken one is made again at the
//! next attempt.

use std::collections::BTreeMap;
use std::sync::Arc;

use pdm_service::secret::Secret;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{Failure, Invocation};
use crate::client::{ClientError, ToolClient};

/// The way to reach a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Endpoint {
    /// A program, reached over its standard input and output.
    Child {
        /// The program.
        program: String,
        /// The program's arguments.
        arguments: Vec<String>,
        /// Environment variables beside this program's own.
        environment: BTreeMap<String, String>,
    },
    /// An address, reached over streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// The bearer token, if the server requires one.
        token: Option<Secret>,
    },
}

/// The servers that tools may use, by name.
#[derive(Debug, Default)]
pub struct Servers {
    endpoints: BTreeMap<String, Endpoint>,
    open: Mutex<BTreeMap<String, Arc<ToolClient>>>,
}

impl Servers {
    /// Servers from their names and endpoints.
    pub fn new(endpoints: BTreeMap<String, Endpoint>) -> Self {
        Self { endpoints, open: Mutex::default() }
    }

    async fn client(&self, name: &str) -> Result<Arc<ToolClient>, Failure> {
        let Some(endpoint) = self.endpoints.get(name) else {
            let names = self.endpoints.keys().cloned().collect::<Vec<_>>().join(", ");
            let message = format!("no MCP server {name} in the settings; there are: {names}");
            return Err(Failure::Permanent(message));
        };
        let mut open = self.open.lock().await;
        if let Some(client) = open.get(name).filter(|client| !client.is_closed()) {
            return Ok(Arc::clone(client));
        }
        let client = match endpoint {
            Endpoint::Child { program, arguments, environment } => {
                ToolClient::child(program, arguments, environment).await
            }
            Endpoint::Http { url, token } => ToolClient::http(url, token.as_ref()).await,
        };
        let client = Arc::new(client.map_err(|error| Failure::Transient(error.to_string()))?);
        open.insert(name.to_owned(), Arc::clone(&client));
        Ok(client)
    }

    pub(crate) async fn run(
        &self,
        server: &str,
        tool: &str,
        invocation: Invocation<'_>,
    ) -> Result<Value, Failure> {
        let client = self.client(server).await?;
        let called = client.call(invocation.call_id, tool, invocation.arguments.clone()).await;
        match called {
            Ok(answer) if answer.is_error => Err(Failure::Permanent(answer.text)),
            Ok(answer) => Ok(answer.structured.unwrap_or_else(|| json!({ "text": answer.text }))),
            Err(ClientError::Refused(reason)) => Err(Failure::Permanent(reason)),
            Err(ClientError::Unreachable(reason)) => {
                self.open.lock().await.remove(server);
                Err(Failure::Transient(reason))
            }
        }
    }
}
