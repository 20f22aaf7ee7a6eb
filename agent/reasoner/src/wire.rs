//! The request and the answer of `POST {base_url}/chat/completions`, as OpenAI publishes them.
//!
//! Requests hold only fields that every compatible server knows. Answers are foreign: they are read
//! within bounds, unknown fields are left out, and an answer without `finish_reason` is none,
//! because a stream that was cut off would otherwise pass for a short answer.

pub mod stream;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Most bytes of an answer. Chosen: an answer of 2,000 tokens has 20 KB, its stream 500 KB.
pub const MAX_ANSWER_BYTES: usize = 2 * 1024 * 1024;
/// Most calls of tools in one answer.
pub const MAX_CALLS: usize = 16;

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChatRequest {
    /// Name of the model.
    pub model: String,
    /// The conversation.
    pub messages: Vec<WireMessage>,
    /// The functions that the model may call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Value>,
    /// Which function it has to call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<Value>,
    /// The form of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_format: Option<Value>,
    /// Most tokens of the answer.
    pub max_tokens: u32,
    /// 0: the likeliest answer.
    pub temperature: f64,
    /// Whether the answer comes in pieces.
    pub stream: bool,
    /// Asks for the usage at the end of a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_options: Option<Value>,
}

impl ChatRequest {
    /// The request as a stream, or in one piece.
    #[must_use]
    pub fn streamed(mut self, stream: bool) -> Self {
        self.stream = stream;
        self.stream_options = stream.then(|| json!({ "include_usage": true }));
        self
    }

    /// Characters of everything that is sent: an upper bound of the tokens.
    pub fn characters(&self) -> u64 {
        serde_json::to_string(self).map_or(u64::MAX, |text| text.chars().count() as u64)
    }
}

/// A message of a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum WireMessage {
    /// The instructions of the program.
    System {
        /// The text.
        content: String,
    },
    /// The question, and data.
    User {
        /// The text.
        content: String,
    },
    /// The answer of the model.
    Assistant {
        /// The text; null beside calls.
        content: Option<String>,
        /// The calls.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall>,
    },
    /// The result of one call.
    Tool {
        /// The call.
        tool_call_id: String,
        /// The result.
        content: String,
    },
}

/// A call in a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WireCall {
    /// Identity of the call.
    pub id: String,
    /// Always `function`.
    #[serde(rename = "type", default = "function")]
    pub kind: String,
    /// The function.
    pub function: WireFunction,
}

fn function() -> String {
    "function".to_owned()
}

/// A function with its arguments as JSON text, as the model wrote them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WireFunction {
    /// The function.
    #[serde(default)]
    pub name: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: String,
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// The model is done.
    Stop,
    /// The model calls functions.
    ToolCalls,
    /// The limit of tokens was reached: the answer is cut.
    Length,
    /// The server withheld the answer.
    ContentFilter,
    /// A word that this program does not know.
    Other,
}

impl FinishReason {
    fn named(word: &str) -> Self {
        match word {
            "stop" => Self::Stop,
            "tool_calls" | "function_call" => Self::ToolCalls,
            "length" => Self::Length,
            "content_filter" => Self::ContentFilter,
            _ => Self::Other,
        }
    }
}

/// Tokens, as the server counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the question.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The text.
    pub content: String,
    /// The calls.
    pub calls: Vec<WireCall>,
    /// Why it ends.
    pub finish: FinishReason,
    /// Tokens, if the server tells them.
    pub usage: Option<Usage>,
}

/// Why an answer is not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// Not JSON of the published form.
    #[error("the answer is not of the form of a chat completion: {0}")]
    Form(String),
    /// A piece of a stream is no JSON of the published form: it was damaged on its way.
    #[error("a piece of the answer is damaged: {0}")]
    Garbled(String),
    /// The stream ended, or the answer is whole, and nothing says why it ends.
    #[error("the answer has no finish_reason: it was cut off")]
    Unfinished,
    /// The server reports an error in the answer.
    #[error("the server reports: {0}")]
    Reported(String),
    /// More calls than one answer may have.
    #[error("the answer calls more than {MAX_CALLS} functions")]
    TooManyCalls,
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    message: Option<Said>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<WireCall>>,
}

/// Reads an answer in one piece.
///
/// # Errors
/// [`AnswerError`].
pub fn read_completion(body: &[u8]) -> Result<Completion, AnswerError> {
    let form = |reason: &str| AnswerError::Form(reason.to_owned());
    let body: Body = serde_json::from_slice(body).map_err(|error| form(&error.to_string()))?;
    if let Some(error) = &body.error {
        return Err(AnswerError::Reported(reported(error)));
    }
    let choice = body.choices.into_iter().next().ok_or_else(|| form("no choice"))?;
    let said = choice.message.ok_or_else(|| form("no message"))?;
    let finish = choice.finish_reason.ok_or(AnswerError::Unfinished)?;
    whole(
        said.content.unwrap_or_default(),
        said.tool_calls.unwrap_or_default(),
        &finish,
        body.usage,
    )
}

fn whole(
    content: String,
    mut calls: Vec<WireCall>,
    finish: &str,
    usage: Option<Usage>,
) -> Result<Completion, AnswerError> {
    if calls.len() > MAX_CALLS {
        return Err(AnswerError::TooManyCalls);
    }
    // a server that gives its calls no identity, or one identity twice, would get a transcript in
    // which a result belongs to two calls
    let mut seen = std::collections::BTreeSet::new();
    for (at, call) in calls.iter_mut().enumerate() {
        "function".clone_into(&mut call.kind);
        if call.id.is_empty() || call.id.len() > 128 || !seen.insert(call.id.clone()) {
            call.id = format!("call_{at}_{}", seen.len());
            seen.insert(call.id.clone());
        }
    }
    Ok(Completion { content, calls, finish: FinishReason::named(finish), usage })
}

/// An error that a server reports, in one line of at most 300 characters.
pub(crate) fn reported(error: &Value) -> String {
    let text = error.get("message").and_then(Value::as_str).or_else(|| error.as_str());
    let text = text.map_or_else(|| error.to_string(), str::to_owned);
    pdm_shared::bounds::in_one_line(&text, 300).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_a_reason_to_end_is_none() {
        let body = br#"{"choices":[{"message":{"content":"Normal"}}]}"#;
        assert_eq!(read_completion(body), Err(AnswerError::Unfinished));
        let null = br#"{"choices":[{"message":{"content":"x"},"finish_reason":null}]}"#;
        assert_eq!(read_completion(null), Err(AnswerError::Unfinished));
    }

    #[test]
    fn calls_and_usage_are_read_and_calls_without_identity_get_one() {
        let body = br#"{"choices":[{"finish_reason":"tool_calls","message":{"content":null,
            "tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
            {"id":"a","function":{"name":"g"}},{"id":"","function":{"name":"h"}}]}}],
            "usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}"#;
        let answer = read_completion(body).expect("an answer");
        let ids: std::collections::BTreeSet<_> = answer.calls.iter().map(|call| &call.id).collect();
        assert_eq!((ids.len(), answer.calls[0].id.as_str()), (3, "a"));
        assert_eq!(answer.usage, Some(Usage { prompt_tokens: 7, completion_tokens: 3 }));
    }

    #[test]
    fn what_is_no_completion_is_refused() {
        for body in ["", "null", "[]", "{}", "<html>", r#"{"choices":[]}"#, r#"{"choices":[{}]}"#] {
            assert!(read_completion(body.as_bytes()).is_err(), "{body}");
        }
        let error =
            read_completion(br#"{"error":{"message":"no such model"}}"#).expect_err("an error");
        assert!(error.to_string().contains("no such model"));
    }

    #[test]
    fn a_request_has_the_published_form() {
        let request = ChatRequest {
            model: "m".to_owned(),
            messages: vec![
                WireMessage::System { content: "s".to_owned() },
                WireMessage::Assistant {
                    content: None,
                    tool_calls: vec![WireCall {
                        id: "a".to_owned(),
                        kind: function(),
                        function: WireFunction { name: "f".to_owned(), arguments: "{}".to_owned() },
                    }],
                },
                WireMessage::Tool { tool_call_id: "a".to_owned(), content: "r".to_owned() },
            ],
            tools: Vec::new(),
            tool_choice: None,
            response_format: None,
            max_tokens: 10,
            temperature: 0.0,
            stream: false,
            stream_options: None,
        };
        let sent = serde_json::to_value(request.streamed(true)).expect("json");
        assert_eq!(
            sent,
            json!({
                "model": "m", "max_tokens": 10, "temperature": 0.0, "stream": true,
                "stream_options": { "include_usage": true },
                "messages": [
                    { "role": "system", "content": "s" },
                    { "role": "assistant", "content": null, "tool_calls": [
                        { "id": "a", "type": "function",
                          "function": { "name": "f", "arguments": "{}" } } ] },
                    { "role": "tool", "tool_call_id": "a", "content": "r" },
                ],
            })
        );
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_end_the_program(bytes in proptest::collection::vec(0_u8..=255, 0..200)) {
            let _refused = read_completion(&bytes);
        }
    }
}
