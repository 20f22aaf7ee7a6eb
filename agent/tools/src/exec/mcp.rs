//! Executor `mcp`: a tool of another MCP server, which the operator's settings name.
//!
//! A connection is made when a tool first needs it, and kept; a broken one is made again at the
//! next attempt, and one whose token has changed at the next call.
//!
//! The length of an answer is its sender's decision, so it is bounded twice: the transport drops a
//! message above 16 MiB (the library's bound), and an answer above [`MAX_ANSWER_BYTES`] is refused
//! with its first words, quoted. A failure's text is cut the same way.

use std::collections::BTreeMap;
use std::sync::Arc;

use pdm_service::secret::{LiveSecret, Secret};
use pdm_shared::bounds;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{Failure, Invocation};
use crate::client::{CallAnswer, ClientError, ToolClient};

/// Most bytes of an answer, its text and its data as JSON together. The executor `http` takes as
/// much by default.
const MAX_ANSWER_BYTES: usize = 1_000_000;
/// Most bytes of an answer that are quoted when it is refused, and of a failure's text.
const QUOTED_BYTES: usize = 1024;

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
        /// The bearer token, if the server requires one; read again for each call.
        token: Option<LiveSecret>,
    },
}

/// A connection, and the token that it was made with.
#[derive(Debug)]
struct Connected {
    client: Arc<ToolClient>,
    token: Option<Secret>,
}

/// The servers that tools may use, by name.
#[derive(Debug, Default)]
pub struct Servers {
    endpoints: BTreeMap<String, Endpoint>,
    open: Mutex<BTreeMap<String, Connected>>,
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
        let token = match endpoint {
            Endpoint::Child { .. } => None,
            Endpoint::Http { token, .. } => token.as_ref().map(LiveSecret::current),
        };
        let is_usable = |known: &&Connected| !known.client.is_closed() && known.token == token;
        if let Some(known) = open.get(name).filter(is_usable) {
            return Ok(Arc::clone(&known.client));
        }
        let client = match endpoint {
            Endpoint::Child { program, arguments, environment } => {
                ToolClient::child(program, arguments, environment).await
            }
            Endpoint::Http { url, .. } => ToolClient::http(url, token.as_ref()).await,
        };
        let client = Arc::new(client.map_err(|error| Failure::Transient(error.to_string()))?);
        open.insert(name.to_owned(), Connected { client: Arc::clone(&client), token });
        Ok(client)
    }

    /// Calls a tool of a server.
    ///
    /// # Errors
    /// [`Failure::Transient`] if the server does not answer, [`Failure::Permanent`] if it refuses.
    pub async fn run(
        &self,
        server: &str,
        tool: &str,
        invocation: Invocation<'_>,
    ) -> Result<Value, Failure> {
        let client = self.client(server).await?;
        let called = client.call(invocation.call_id, tool, invocation.arguments.clone()).await;
        match called {
            Ok(answer) if answer.is_error => Err(Failure::Permanent(quoted(&answer.text))),
            Ok(answer) => value_of(server, answer),
            Err(ClientError::Refused(reason)) => Err(Failure::Permanent(quoted(&reason))),
            Err(ClientError::Unreachable(reason)) => {
                self.open.lock().await.remove(server);
                Err(Failure::Transient(quoted(&reason)))
            }
        }
    }
}

/// The data of an answer; its text where it has none.
fn value_of(server: &str, answer: CallAnswer) -> Result<Value, Failure> {
    let data = answer.structured.as_ref().map_or(Ok(0), json_bytes).unwrap_or(usize::MAX);
    let bytes = answer.text.len().saturating_add(data);
    if bytes <= MAX_ANSWER_BYTES {
        return Ok(answer.structured.unwrap_or_else(|| json!({ "text": answer.text })));
    }
    metrics::counter!("pdm_tools_answers_refused_total").increment(1);
    let head = if answer.text.is_empty() {
        answer.structured.map(|data| data.to_string()).unwrap_or_default()
    } else {
        answer.text
    };
    Err(Failure::Permanent(format!(
        "the answer of the MCP server {server} has {bytes} bytes, allowed are at most \
         {MAX_ANSWER_BYTES}: refused; it begins {:?}",
        bounds::cut(&head, QUOTED_BYTES / 4)
    )))
}

/// Returns how many bytes a value has as JSON, counted without writing it.
fn json_bytes(value: &Value) -> Result<usize, serde_json::Error> {
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value)?;
    Ok(count.0)
}

/// Counts what is written.
struct Count(usize);

impl std::io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A foreign text on one line, cut.
fn quoted(text: &str) -> String {
    bounds::cut(text, QUOTED_BYTES)
}
