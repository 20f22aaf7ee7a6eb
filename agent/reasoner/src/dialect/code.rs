//! The third way: the model writes a program a turn, in which every tool is a function (R-CODE-1).
//!
//! A program stands between ``` marks in the answer. In the [`Transcript`] it is a call of
//! [`PROGRAM`] whose only argument is the code, so that conversations of all ways are stored and
//! told alike.

use serde_json::{Map, Value};

use super::{Message, ToolCall, ToolDefinition, Transcript, Turn};
use crate::wire::WireMessage;

/// The name of the call that stands for a program.
pub const PROGRAM: &str = "program";
/// Longest description of a tool in the list of functions, characters.
const MAX_DESCRIPTION: usize = 600;

/// The dialect in words.
const MANUAL: &str = "Work in steps. In each step write one short program between ```python and \
    ``` and nothing after it. It is a dialect of Python: variables, if, for, while, functions, \
    lambda, comprehensions, try, f-strings, lists, dicts, sets; import json is the only import; no \
    files, no classes. Every tool is a function that takes keyword arguments only and returns a \
    JSON text: data = json.loads(tool(name=value)). You see what print shows and the value of the \
    last statement; names stay for your next programs. Compute no new figures: choose, sort and \
    filter what the tools return. When you know the answer, end with final_answer(\"…\") in a \
    program.\nFunctions:\n";

/// The instruction to the model when it has to end.
const LAST: &str =
    "This is the last step: write a program that only calls final_answer with what is known.";

/// The messages of a request.
pub(super) fn messages(
    transcript: &Transcript,
    tools: &[ToolDefinition],
    must_end: bool,
) -> Vec<WireMessage> {
    let mut messages: Vec<WireMessage> = Vec::with_capacity(transcript.messages.len());
    for (at, message) in transcript.messages.iter().enumerate() {
        messages.push(match message {
            Message::System { text } if at == 0 => {
                WireMessage::System { content: format!("{text}\n\n{}", manual(tools)) }
            }
            Message::System { text } => WireMessage::System { content: text.clone() },
            Message::User { text } => WireMessage::User { content: text.clone() },
            Message::Assistant { text, .. } => {
                WireMessage::Assistant { content: Some(text.clone()), tool_calls: Vec::new() }
            }
            Message::Result { text, .. } => {
                WireMessage::User { content: format!("Observation:\n{text}") }
            }
        });
    }
    if must_end {
        messages.push(WireMessage::User { content: LAST.to_owned() });
    }
    messages
}

fn manual(tools: &[ToolDefinition]) -> String {
    let mut text = MANUAL.to_owned();
    for tool in tools {
        let description: String = tool.description.chars().take(MAX_DESCRIPTION).collect();
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = format!("def {}({}) -> str  # {description}\n", tool.name, signature(tool));
        text.push_str(&line);
    }
    text.push_str("def final_answer(answer: str)  # gives the answer to the person and ends\n");
    text
}

/// The arguments of a tool as a program writes them.
fn signature(tool: &ToolDefinition) -> String {
    let required: Vec<&str> = tool
        .parameters
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let Some(Value::Object(properties)) = tool.parameters.get("properties") else {
        return String::new();
    };
    let argument = |(name, schema): (&String, &Value)| {
        let kind = match schema.get("type").and_then(Value::as_str) {
            Some("integer") => "int",
            Some("number") => "float",
            Some("boolean") => "bool",
            Some("array") => "list",
            Some("object") => "dict",
            _ => "str",
        };
        let default = if required.contains(&name.as_str()) { "" } else { " = None" };
        format!("{name}: {kind}{default}")
    };
    let mut all: Vec<(&String, &Value)> = properties.iter().collect();
    all.sort_by_key(|(name, _)| !required.contains(&name.as_str()));
    let arguments: Vec<String> = all.into_iter().map(argument).collect();
    if arguments.is_empty() { String::new() } else { format!("*, {}", arguments.join(", ")) }
}

/// The program of an answer; an answer without one is words. Only the first program is taken: what
/// follows it was written without its observation.
pub(super) fn read_turn(content: String) -> Turn {
    let Some((before, program)) = program(&content) else { return Turn::Words(content) };
    let said = format!("{before}```python\n{program}\n```");
    let arguments = Map::from_iter([("code".to_owned(), Value::from(program))]);
    let call =
        ToolCall { id: "turn".to_owned(), name: PROGRAM.to_owned(), arguments: Ok(arguments) };
    Turn::Calls { text: said, calls: vec![call] }
}

/// The words before the first program, and the program.
fn program(content: &str) -> Option<(&str, String)> {
    let start = content.find("```")?;
    let rest = &content[start + 3..];
    // the word after the marks names the language
    let body = match rest.split_once('\n') {
        Some((word, body)) if word.trim().chars().all(char::is_alphanumeric) => body,
        _ => rest,
    };
    let end = body.find("```").unwrap_or(body.len());
    let program = body[..end].trim_matches(['\n', '\r']).trim_end();
    (!program.trim().is_empty()).then(|| (&content[..start], program.to_owned()))
}

/// The code of a call that stands for a program.
pub fn of_call(call: &ToolCall) -> Option<&str> {
    let is_program = call.name == PROGRAM;
    is_program.then(|| call.arguments.as_ref().ok()?.get("code")?.as_str()).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn code(content: &str) -> Option<String> {
        match read_turn(content.to_owned()) {
            Turn::Calls { calls, .. } => of_call(&calls[0]).map(str::to_owned),
            Turn::Words(_) => None,
        }
    }

    #[test]
    fn the_first_program_of_an_answer_is_taken() {
        assert_eq!(
            code("Thought: look.\n```python\nx = 1\nx\n```\nObservation: 5").as_deref(),
            Some("x = 1\nx")
        );
        assert_eq!(code("```py\na()\n```\n```py\nb()\n```").as_deref(), Some("a()"));
        assert_eq!(code("```\nfinal_answer('x')").as_deref(), Some("final_answer('x')"));
        assert_eq!(code("no program"), None);
        assert_eq!(code("```python\n```"), None);
    }

    #[test]
    fn tools_are_told_as_functions_with_their_arguments() {
        let tool = ToolDefinition {
            name: "get_etf_prices".to_owned(),
            description: "Prices\nof an ETF".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": { "period": { "type": "string" }, "etf_code": { "type": "string" } },
                "required": ["etf_code"],
            }),
        };
        let manual = manual(&[tool]);
        let line =
            "def get_etf_prices(*, etf_code: str, period: str = None) -> str  # Prices of an ETF";
        assert!(manual.contains(line), "{manual}");
    }
}
