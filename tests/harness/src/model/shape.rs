//! The published form of a request to `POST /chat/completions` (OpenAI's
//! `CreateChatCompletionRequest`, the fields that this project may use), and the rule that each
//! call of a tool has exactly one result before the conversation goes on.

use std::collections::BTreeSet;

use serde_json::Value;

/// The fields that this project may use.
const KNOWN: [&str; 10] = [
    "model",
    "messages",
    "tools",
    "tool_choice",
    "response_format",
    "max_tokens",
    "temperature",
    "stream",
    "stream_options",
    "seed",
];

/// Returns the faults of a request.
pub(super) fn violations(head: &str, request: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    if !head.starts_with("POST /v1/chat/completions ") {
        wrong.push(format!("sent to {:?}", head.lines().next().unwrap_or_default()));
    }
    let Some(fields) = request.as_object() else {
        wrong.push("the body is no JSON object".to_owned());
        return wrong;
    };
    for name in fields.keys().filter(|name| !KNOWN.contains(&name.as_str())) {
        wrong.push(format!("unknown field {name}"));
    }
    if request["model"].as_str().is_none_or(str::is_empty) {
        wrong.push("model is no name".to_owned());
    }
    if !request["stream"].as_bool().unwrap_or(false) && fields.contains_key("stream_options") {
        wrong.push("stream_options without stream".to_owned());
    }
    if request.get("max_tokens").is_some_and(|most| most.as_u64().is_none_or(|most| most == 0)) {
        wrong.push("max_tokens is no positive number".to_owned());
    }
    tools(request, &mut wrong);
    form(request, &mut wrong);
    messages(request, &mut wrong);
    wrong
}

fn is_name(name: Option<&str>) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.is_some_and(|name| !name.is_empty() && name.len() <= 64 && name.chars().all(fits))
}

fn tools(request: &Value, wrong: &mut Vec<String>) {
    let Some(tools) = request.get("tools") else {
        if request.get("tool_choice").is_some() {
            wrong.push("tool_choice without tools".to_owned());
        }
        return;
    };
    let tools = tools.as_array().map_or(&[][..], Vec::as_slice);
    if tools.is_empty() || tools.len() > 128 {
        wrong.push(format!("{} tools", tools.len()));
    }
    let mut names = BTreeSet::new();
    for tool in tools {
        let name = tool["function"]["name"].as_str();
        if tool["type"] != "function" || !is_name(name) || !names.insert(name) {
            wrong.push(format!("no function, or one name twice: {tool}"));
        }
        if tool["function"]["parameters"]["type"] != "object" {
            wrong.push(format!("parameters of {name:?} are no object"));
        }
    }
    if let Some(choice) = request.get("tool_choice") {
        let named = choice["function"]["name"].as_str();
        let fits = matches!(choice.as_str(), Some("auto" | "none" | "required"))
            || (choice["type"] == "function" && names.contains(&named));
        if !fits {
            wrong.push(format!("tool_choice {choice}"));
        }
    }
}

fn form(request: &Value, wrong: &mut Vec<String>) {
    let Some(form) = request.get("response_format") else { return };
    let fits = match form["type"].as_str() {
        Some("text" | "json_object") => true,
        Some("json_schema") => {
            is_name(form["json_schema"]["name"].as_str())
                && form["json_schema"]["schema"].is_object()
        }
        _ => false,
    };
    if !fits {
        wrong.push(format!("response_format {form}"));
    }
}

fn messages(request: &Value, wrong: &mut Vec<String>) {
    let messages = request["messages"].as_array().map_or(&[][..], Vec::as_slice);
    if messages.is_empty() {
        wrong.push("no message".to_owned());
    }
    // calls of the last answer that wait for their result
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut all: BTreeSet<&str> = BTreeSet::new();
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            if !open.remove(id) {
                wrong.push(format!("a result of {id:?}, which waits for none"));
            }
        } else if !open.is_empty() {
            wrong.push(format!("{open:?} have no result before a message of {role:?}"));
            open.clear();
        }
        match role {
            "system" | "user" | "tool" if message["content"].is_string() => {}
            "assistant" => {
                let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
                if calls.is_empty() && !message["content"].is_string() {
                    wrong.push("an answer without words and calls".to_owned());
                }
                for call in calls {
                    let id = call["id"].as_str().unwrap_or_default();
                    let arguments = call["function"]["arguments"].as_str().unwrap_or("?");
                    let is_json = serde_json::from_str::<Value>(arguments).is_ok();
                    if id.is_empty() || !all.insert(id) || call["type"] != "function" || !is_json {
                        wrong.push(format!("the call {call}"));
                    }
                    if !is_name(call["function"]["name"].as_str()) {
                        wrong.push(format!("the name of the call {call}"));
                    }
                    open.insert(id);
                }
            }
            _ => wrong.push(format!("the message {message}")),
        }
    }
    if !open.is_empty() {
        wrong.push(format!("{open:?} have no result"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const HEAD: &str = "POST /v1/chat/completions HTTP/1.1";

    fn wrong(messages: Value) -> Vec<String> {
        violations(HEAD, &json!({ "model": "m", "messages": messages }))
    }

    fn call(id: &str) -> Value {
        json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } }] })
    }

    fn result(id: &str) -> Value {
        json!({ "role": "tool", "tool_call_id": id, "content": "r" })
    }

    #[test]
    fn a_conversation_of_the_published_form_is_accepted() {
        let user = json!({ "role": "user", "content": "q" });
        assert_eq!(wrong(json!([user, call("a"), result("a"), user])), Vec::<String>::new());
    }

    #[test]
    fn a_call_has_exactly_one_result() {
        let user = json!({ "role": "user", "content": "q" });
        for messages in [
            json!([user, call("a")]),
            json!([user, call("a"), user]),
            json!([user, call("a"), result("a"), result("a")]),
            json!([user, result("a")]),
            json!([user, call("a"), result("a"), call("a"), result("a")]),
        ] {
            assert!(!wrong(messages.clone()).is_empty(), "{messages}");
        }
    }

    #[test]
    fn fields_of_no_published_form_are_named() {
        let request =
            json!({ "model": "m", "messages": [], "temprature": 1, "tool_choice": "auto" });
        let wrong = violations("GET / HTTP/1.1", &request).join("; ");
        for told in ["temprature", "GET /", "no message", "tool_choice without tools"] {
            assert!(wrong.contains(told), "{wrong}");
        }
    }
}
