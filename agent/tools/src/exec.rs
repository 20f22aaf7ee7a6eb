//! The executors: each runs a single attempt of a tool, one file for each executor.
//! [`super::runtime`] checks, retries and cuts; an attempt succeeds, or fails with the information
//! whether another attempt makes sense.

pub mod articles;
pub mod builtin;
pub mod graph;
pub mod http;
pub mod mcp;
pub mod prompt;
pub mod search;
pub mod sql;
pub mod table;

use serde_json::{Map, Value};

/// One attempt: the call it belongs to, and the arguments.
#[derive(Debug, Clone, Copy)]
pub struct Invocation<'a> {
    /// The identity of the call, the same for every attempt, so that an action may use it as its
    /// idempotency key.
    pub call_id: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// Arguments, checked against the input schema.
    pub arguments: &'a Map<String, Value>,
}

impl Invocation<'_> {
    /// A text argument.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str)
    }
}

/// An attempt that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The runtime tries again after a pause.
    #[error("{0}")]
    Transient(String),
    /// Another attempt would fail in the same way, so the caller gets the failure.
    #[error("{0}")]
    Permanent(String),
    /// The answer cannot be read. A remote tool is tried again.
    #[error("{0}")]
    Malformed(String),
}
