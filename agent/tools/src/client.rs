//! The client side of the Model Context Protocol: one connection to a server, which runs in this
//! process ([`crate::mcp::in_process`]), in a child process or at another address.
//!
//! The workflow calls its tools through this client, wherever they run; so does a tool with the
//! executor `mcp`. A broken connection is reported as an error, and the caller connects again.

use std::collections::BTreeMap;

use pdm_service::secret::Secret;
use rmcp::model::{CallToolRequestParams, CallToolResult, MetaObject, RequestMetaObject};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Map, Value};

/// Key in a call's `_meta` for the identity of the call, by which a repeated call acts only once.
pub(crate) const CALL_ID: &str = "io.pdm/call-id";
/// Key in an answer's `_meta` for facts about the answer beside its content.
pub(crate) const ANSWER: &str = "io.pdm/answer";
/// Property of every structured answer that marks it as data from outside, not instructions: a
/// client that hands the data alone to a model keeps the mark.
pub(crate) const TRUST: &str = "_trust";
/// The value of [`TRUST`].
pub(crate) const UNTRUSTED: &str = "untrusted";

/// A call or connection that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No connection. The caller connects again later.
    #[error("cannot reach the MCP server: {0}")]
    Unreachable(String),
    /// The server refuses the request.
    #[error("the MCP server refuses the request: {0}")]
    Refused(String),
}

/// A tool that a server offers.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// The tool's name.
    pub name: String,
    /// The tool's purpose.
    pub description: String,
    /// Schema of the arguments.
    pub input_schema: Value,
    /// Schema of the answer, if the server gives one.
    pub output_schema: Option<Value>,
}

/// The answer of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct CallAnswer {
    /// Whether the tool reports a failure.
    pub is_error: bool,
    /// The kind of failure, a word of [`crate::ToolError::kind`], if the server gives it.
    pub failure: Option<String>,
    /// The text for a model.
    pub text: String,
    /// The answer as data, without the mark of its trust: whoever shows it to a model marks it
    /// anew.
    pub structured: Option<Value>,
}

/// A connection to an MCP server. Dropping it ends the connection.
#[derive(Debug)]
pub struct ToolClient {
    connection: RunningService<RoleClient, ()>,
}

impl ToolClient {
    /// The client of an established connection.
    pub(crate) fn over(connection: RunningService<RoleClient, ()>) -> Self {
        Self { connection }
    }

    /// Starts a server as a child process, which ends with the client.
    ///
    /// # Errors
    /// [`ClientError::Unreachable`] if the process cannot be started or does not use the protocol.
    pub async fn child(
        program: &str,
        arguments: &[String],
        environment: &BTreeMap<String, String>,
    ) -> Result<Self, ClientError> {
        let mut command = tokio::process::Command::new(program);
        command.args(arguments).envs(environment).kill_on_drop(true);
        let transport = TokioChildProcess::new(command)
            .map_err(|error| ClientError::Unreachable(format!("{program}: {error}")))?;
        let connection = ().serve(transport).await;
        let connection =
            connection.map_err(|error| ClientError::Unreachable(format!("{program}: {error}")))?;
        Ok(Self { connection })
    }

    /// Connects to a server at an address, over streamable HTTP.
    ///
    /// # Errors
    /// [`ClientError::Unreachable`] if the server does not answer or does not use the protocol.
    pub async fn http(url: &str, token: Option<&Secret>) -> Result<Self, ClientError> {
        // a provider that the program has installed before serves as well
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        if let Some(token) = token {
            config = config.auth_header(token.expose());
        }
        let transport = StreamableHttpClientTransport::from_config(config);
        let connection = ().serve(transport).await;
        let connection =
            connection.map_err(|error| ClientError::Unreachable(format!("{url}: {error}")))?;
        Ok(Self { connection })
    }

    /// Whether the server has closed the connection.
    pub fn is_closed(&self) -> bool {
        self.connection.is_transport_closed()
    }

    /// The current tools of the server.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn list(&self) -> Result<Vec<Offered>, ClientError> {
        let tools = self.connection.list_all_tools().await.map_err(|error| failed(&error))?;
        let offered = tools.into_iter().map(|tool| Offered {
            name: tool.name.into_owned(),
            description: tool.description.unwrap_or_default().into_owned(),
            input_schema: Value::Object((*tool.input_schema).clone()),
            output_schema: tool.output_schema.map(|schema| Value::Object((*schema).clone())),
        });
        Ok(offered.collect())
    }

    /// Calls a tool. `call_id` names the call: an action is done once for one id.
    ///
    /// # Errors
    /// [`ClientError`]. A tool that fails is not an error here but an [`CallAnswer`] with
    /// `is_error`.
    pub async fn call(
        &self,
        call_id: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<CallAnswer, ClientError> {
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let meta = Map::from_iter([(CALL_ID.to_owned(), Value::from(call_id))]);
        params.meta = Some(RequestMetaObject(MetaObject(meta)));
        let result = self.connection.call_tool(params).await.map_err(|error| failed(&error))?;
        Ok(answer(result))
    }
}

fn answer(result: CallToolResult) -> CallAnswer {
    let texts = result.content.iter().filter_map(|block| block.as_text());
    let text = texts.map(|text| text.text.as_str()).collect::<Vec<_>>().join("\n");
    let about = result.meta.as_ref().and_then(|meta| meta.0.get(ANSWER));
    let failure = about.and_then(|about| about.get("error")?.as_str()).map(str::to_owned);
    CallAnswer {
        is_error: result.is_error.unwrap_or(false),
        failure,
        text,
        structured: result.structured_content.map(unmarked),
    }
}

/// A structured answer without the mark of its trust.
fn unmarked(mut structured: Value) -> Value {
    if let Some(fields) = structured.as_object_mut() {
        fields.remove(TRUST);
    }
    structured
}

fn failed(error: &ServiceError) -> ClientError {
    if let ServiceError::McpError(refusal) = error {
        return ClientError::Refused(refusal.to_string());
    }
    ClientError::Unreachable(error.to_string())
}
