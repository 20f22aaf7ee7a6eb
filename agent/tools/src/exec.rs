//! What runs a single attempt of a tool, one file an executor. Checking, retrying and cutting are
//! [`super::runtime`]'s; here an attempt succeeds, or fails in a way that says whether another
//! attempt makes sense.

pub mod builtin;
pub mod http;
pub mod mcp;
pub mod search;
pub mod sql;

use serde_json::{Map, Value};

/// An attempt: which call it belongs to, and with which arguments.
#[derive(Debug, Clone, Copy)]
pub struct Invocation<'a> {
    /// The same for every attempt of one call: what acts may use it as its idempotency key.
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
    /// Try again after a while.
    #[error("{0}")]
    Transient(String),
    /// Another attempt would fail the same way: tell the caller.
    #[error("{0}")]
    Permanent(String),
    /// The answer is none that can be read: worth another attempt if it came from afar.
    #[error("{0}")]
    Malformed(String),
}
