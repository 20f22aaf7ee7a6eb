//! The messages between parent and child: one JSON object a line.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Most bytes of a line of the child: the arguments of a call, or what a program printed.
pub(crate) const MAX_LINE_OF_CHILD: usize = 64 << 10;
/// Most bytes of the arguments of a call.
pub(crate) const MAX_ARGUMENTS: usize = 32 << 10;
/// Most bytes of a line of the parent: the result of a tool.
pub(crate) const MAX_LINE_OF_PARENT: usize = 2 << 20;
/// Most bytes of a tool's result that a program gets.
pub(crate) const MAX_RESULT: usize = 256 << 10;
/// Most characters of an answer or a reason.
pub(crate) const MAX_TEXT: usize = 6000;

/// A message of the parent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum ToChild {
    /// The program, and the tools that it may call.
    Start { program: String, tools: Vec<String> },
    /// The result of a tool.
    Result { text: String },
    /// Why a tool has none.
    Failed { reason: String },
}

/// A message of the child.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum FromChild {
    /// The child is confined and reads its input.
    Ready,
    /// The program calls a tool.
    Call { tool: String, arguments: Map<String, Value> },
    /// The program has ended.
    Ended { printed: String, answer: Option<String>, error: Option<String> },
}

/// The first characters of a text.
pub(crate) fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
