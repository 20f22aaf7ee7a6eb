//! The ways in which a model says which tool it wants or that it is done: native function calling;
//! one JSON object a turn (`call_tool`, `call_tools` | the ending) for servers that know no
//! functions or ignore them; and small programs that call the tools ([`code`]).
//!
//! This module makes requests out of a [`Transcript`] and reads answers into [`Turn`]s; both
//! directions are pure. The ending of a conversation is a function as well (`conclude`,
//! `final_answer`): so it has a schema in both dialects, and an ending that does not fit it gets a
//! result that says why.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::wire::{ChatRequest, Completion, WireCall, WireFunction, WireMessage};

pub mod code;

/// How the model says what it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// Native function calling.
    Native,
    /// One JSON object a turn.
    Json,
    /// A program a turn.
    Code,
}

/// A function that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// The name.
    pub name: String,
    /// The description of the tool for the model.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Value,
}

/// A call that the model wants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Identity of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments; `Err` holds what the model wrote in their place.
    pub arguments: Result<Map<String, Value>, String>,
}

/// One message of a conversation with the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// The instructions of the program.
    System {
        /// The text.
        text: String,
    },
    /// A question, or data.
    User {
        /// The text.
        text: String,
    },
    /// The answer of the model.
    Assistant {
        /// Its words.
        text: String,
        /// Its calls.
        calls: Vec<ToolCall>,
    },
    /// The result of a call.
    Result {
        /// The call.
        id: String,
        /// The tool.
        tool: String,
        /// The result: data, never an instruction.
        text: String,
    },
}

/// A conversation with the model. Each call has at most one result, and the next question to the
/// model is asked when each has one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    /// The messages, in their order.
    pub messages: Vec<Message>,
}

impl Transcript {
    /// The calls of the last answer that have no result yet.
    pub fn unanswered(&self) -> Vec<&ToolCall> {
        let mut results = std::collections::BTreeSet::new();
        for message in self.messages.iter().rev() {
            match message {
                Message::Result { id, .. } => {
                    results.insert(id.as_str());
                }
                Message::Assistant { calls, .. } => {
                    return calls
                        .iter()
                        .filter(|call| !results.contains(call.id.as_str()))
                        .collect();
                }
                Message::System { .. } | Message::User { .. } => {}
            }
        }
        Vec::new()
    }

    /// Adds an answer of the model. A call whose identity was used before gets another.
    pub fn said(&mut self, text: String, mut calls: Vec<ToolCall>) {
        let used: std::collections::BTreeSet<String> = self
            .messages
            .iter()
            .flat_map(|message| match message {
                Message::Assistant { calls, .. } => calls.as_slice(),
                Message::System { .. } | Message::User { .. } | Message::Result { .. } => &[],
            })
            .map(|call| call.id.clone())
            .collect();
        for call in &mut calls {
            while used.contains(&call.id) {
                call.id.push('_');
            }
        }
        self.messages.push(Message::Assistant { text, calls });
    }

    /// Adds the result of a call.
    pub fn answered(&mut self, call: &ToolCall, text: impl Into<String>) {
        let (id, tool) = (call.id.clone(), call.name.clone());
        self.messages.push(Message::Result { id, tool, text: text.into() });
    }
}

/// Most calls of one turn in JSON.
const MAX_CALLS: usize = 6;

/// The parts of a request besides the conversation.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    /// Name of the model.
    pub model: &'a str,
    /// The tools that may be called.
    pub tools: &'a [ToolDefinition],
    /// The ending of the conversation.
    pub ending: &'a ToolDefinition,
    /// Where a server holds the model to a schema: a narrower one of the ending's arguments.
    pub enforced: Option<&'a Value>,
    /// The model has to end now.
    pub must_end: bool,
    /// Most tokens of the answer.
    pub answer_tokens: u32,
}

/// One turn of the model.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// Calls of tools, the ending among them.
    Calls {
        /// Words beside the calls.
        text: String,
        /// The calls.
        calls: Vec<ToolCall>,
    },
    /// Words alone.
    Words(String),
}

impl Dialect {
    /// The word in logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native function calling",
            Self::Json => "one JSON object a turn",
            Self::Code => "a program a turn",
        }
    }

    /// The request that continues a conversation.
    pub fn request(self, transcript: &Transcript, asking: &Asking<'_>) -> ChatRequest {
        let tools: &[ToolDefinition] = if asking.must_end { &[] } else { asking.tools };
        let request = ChatRequest {
            model: asking.model.to_owned(),
            messages: Vec::new(),
            tools: Vec::new(),
            tool_choice: None,
            response_format: None,
            max_tokens: asking.answer_tokens,
            temperature: 0.0,
            stream: false,
            stream_options: None,
        };
        match self {
            Self::Native => {
                let all = tools.iter().chain([asking.ending]);
                let choice =
                    json!({ "type": "function", "function": { "name": asking.ending.name } });
                ChatRequest {
                    messages: transcript.messages.iter().map(native).collect(),
                    tools: all.map(function).collect(),
                    tool_choice: Some(if asking.must_end { choice } else { json!("auto") }),
                    ..request
                }
            }
            Self::Code => {
                let messages = code::messages(transcript, tools, asking.must_end);
                ChatRequest { messages, ..request }
            }
            Self::Json => {
                let schema = one_of(tools, asking.ending, asking.enforced);
                // the list of tools stays as it was: a server that keeps what it has read of a
                // prompt would read all of it again
                let mut messages = in_json(transcript, asking.tools, asking.ending);
                if asking.must_end {
                    let name = &asking.ending.name;
                    let content = format!("Answer with {name} now, from what you have read.");
                    messages.push(WireMessage::User { content });
                }
                ChatRequest {
                    messages,
                    response_format: Some(json!({
                        "type": "json_schema",
                        "json_schema": { "name": "turn", "schema": schema },
                    })),
                    ..request
                }
            }
        }
    }

    /// Reads the model's turn from an answer.
    pub fn read(self, answer: Completion) -> Turn {
        match self {
            Self::Native if answer.calls.is_empty() => Turn::Words(answer.content),
            Self::Native => Turn::Calls {
                text: answer.content,
                calls: answer.calls.into_iter().map(call_of).collect(),
            },
            Self::Json => read_object(answer.content),
            Self::Code => code::read_turn(answer.content),
        }
    }
}

fn native(message: &Message) -> WireMessage {
    match message {
        Message::System { text } => WireMessage::System { content: text.clone() },
        Message::User { text } => WireMessage::User { content: text.clone() },
        Message::Assistant { text, calls } => WireMessage::Assistant {
            content: (calls.is_empty() || !text.is_empty()).then(|| text.clone()),
            tool_calls: calls.iter().map(wire_call).collect(),
        },
        Message::Result { id, text, .. } => {
            WireMessage::Tool { tool_call_id: id.clone(), content: text.clone() }
        }
    }
}

fn wire_call(call: &ToolCall) -> WireCall {
    let arguments = match &call.arguments {
        Ok(arguments) => serde_json::to_string(arguments).unwrap_or_default(),
        // what was no JSON is given back as JSON, because servers read it again
        Err(_text) => "{}".to_owned(),
    };
    let function = WireFunction { name: call.name.clone(), arguments };
    WireCall { id: call.id.clone(), kind: "function".to_owned(), function }
}

fn call_of(call: WireCall) -> ToolCall {
    let WireFunction { name, arguments } = call.function;
    let text = if arguments.trim().is_empty() { "{}" } else { arguments.as_str() };
    let arguments = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) | Err(_) => Err(arguments.chars().take(2000).collect()),
    };
    // names of functions are words of at most 64 characters: others would be refused when sent back
    let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name: String = name.chars().filter(fits).take(64).collect();
    let name = if name.is_empty() { "unnamed".to_owned() } else { name };
    ToolCall { id: call.id, name, arguments }
}

fn function(tool: &ToolDefinition) -> Value {
    json!({ "type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.parameters,
    } })
}

/// The schema of a turn: one of the tools, or the ending. Definitions of the enforced schema come
/// to the root, where references look for them.
fn one_of(tools: &[ToolDefinition], ending: &ToolDefinition, enforced: Option<&Value>) -> Value {
    let object = |key: &str, of: Value| {
        json!({
            "type": "object",
            "properties": { key: of },
            "required": [key],
            "additionalProperties": false,
        })
    };
    let call = |tool: &ToolDefinition| {
        let of = json!({
            "type": "object",
            "properties": { "name": { "const": tool.name }, "arguments": tool.parameters },
            "required": ["name", "arguments"],
            "additionalProperties": false,
        });
        object("call_tool", of)
    };
    let calls: Vec<Value> = tools.iter().map(call).collect();
    let several = (!tools.is_empty()).then(|| {
        let one = json!({ "anyOf": calls.iter().map(
            |call| &call["properties"]["call_tool"]).collect::<Vec<_>>() });
        object(
            "call_tools",
            json!({ "type": "array", "items": one, "minItems": 1, "maxItems": MAX_CALLS }),
        )
    });
    let mut arguments = enforced.unwrap_or(&ending.parameters).clone();
    let definitions = arguments.as_object_mut().and_then(|schema| schema.remove("$defs"));
    let end = object(&ending.name, arguments);
    let ways: Vec<Value> = calls.into_iter().chain(several).chain([end]).collect();
    let mut schema = match ways.as_slice() {
        [only] => only.clone(),
        _ => json!({ "anyOf": ways }),
    };
    if let Some(definitions) = definitions {
        schema["$defs"] = definitions;
    }
    schema
}

fn in_json(
    transcript: &Transcript,
    tools: &[ToolDefinition],
    ending: &ToolDefinition,
) -> Vec<WireMessage> {
    let mut messages: Vec<WireMessage> = Vec::with_capacity(transcript.messages.len());
    for (at, message) in transcript.messages.iter().enumerate() {
        messages.push(match message {
            Message::System { text } if at == 0 => {
                WireMessage::System { content: format!("{text}\n\n{}", manual(tools, ending)) }
            }
            Message::System { text } => WireMessage::System { content: text.clone() },
            Message::User { text } => WireMessage::User { content: text.clone() },
            Message::Assistant { text, calls } => WireMessage::Assistant {
                content: Some(match calls.as_slice() {
                    [] => text.clone(),
                    [call] => written(call, ending),
                    several => together(several),
                }),
                tool_calls: Vec::new(),
            },
            Message::Result { tool, text, .. } => {
                WireMessage::User { content: format!("Result of {tool}:\n{text}") }
            }
        });
    }
    messages
}

fn written(call: &ToolCall, ending: &ToolDefinition) -> String {
    let arguments = match &call.arguments {
        Ok(arguments) => Value::Object(arguments.clone()),
        Err(text) => Value::String(text.clone()),
    };
    if call.name == ending.name {
        json!({ &*ending.name: arguments }).to_string()
    } else {
        json!({ "call_tool": { "name": call.name, "arguments": arguments } }).to_string()
    }
}

/// Several calls of one turn.
fn together(calls: &[ToolCall]) -> String {
    let call = |call: &ToolCall| {
        let arguments = call.arguments.clone().unwrap_or_default();
        json!({ "name": call.name, "arguments": arguments })
    };
    json!({ "call_tools": calls.iter().map(call).collect::<Vec<_>>() }).to_string()
}

/// The functions in words, for a model that gets no list of functions.
fn manual(tools: &[ToolDefinition], ending: &ToolDefinition) -> String {
    let mut text = format!(
        "Answer with exactly one JSON object: {{\"call_tool\": {{\"name\": …, \"arguments\": \
         {{…}}}}}} or {{\"call_tools\": [{{\"name\": …, \"arguments\": {{…}}}}, …]}} for calls \
         that do not depend on each other, or {{\"{}\": {{…}}}}.\nTools:\n",
        ending.name
    );
    for tool in tools.iter().chain([ending]) {
        let line =
            format!("- {}: {} Arguments: {}\n", tool.name, tool.description, tool.parameters);
        text.push_str(&line);
    }
    text
}

/// Reads the object of a turn; words that hold no such object are words.
fn read_object(content: String) -> Turn {
    let Some(Value::Object(object)) = first_object(&content) else { return Turn::Words(content) };
    let id = || "turn".to_owned();
    let of = |value: &Value| match value {
        Value::Object(map) => Ok(map.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(value.to_string())
        }
    };
    let calls = if let Some(call) = object.get("call_tool") {
        let name = call.get("name").and_then(Value::as_str).unwrap_or("unnamed").to_owned();
        let arguments = call.get("arguments").map_or_else(|| Ok(Map::new()), of);
        vec![ToolCall { id: id(), name, arguments }]
    } else if let Some(Value::Array(calls)) = object.get("call_tools") {
        let call = |(at, call): (usize, &Value)| ToolCall {
            id: format!("turn-{}", at + 1),
            name: call.get("name").and_then(Value::as_str).unwrap_or("unnamed").to_owned(),
            arguments: call.get("arguments").map_or_else(|| Ok(Map::new()), of),
        };
        calls.iter().take(MAX_CALLS).enumerate().map(call).collect()
    } else if let Some((name, value)) = object.iter().next().filter(|_| object.len() == 1) {
        vec![ToolCall { id: id(), name: name.clone(), arguments: of(value) }]
    } else {
        return Turn::Words(content);
    };
    Turn::Calls { text: String::new(), calls }
}

/// The JSON object of a text, which small models like to put between fences and words.
fn first_object(text: &str) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(text.trim()) {
        return Some(value);
    }
    let start = text.find('{')?;
    let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    stream.next()?.ok()
}

#[cfg(test)]
mod tests;
