//! Tests what the dialects offer and read, and that no words of a model end the program.

use proptest::prelude::*;

use super::*;
use crate::wire::FinishReason;

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        description: "does".to_owned(),
        parameters: json!({ "type": "object", "properties": { "query": { "type": "string" } } }),
    }
}

fn completion(content: &str, calls: Vec<WireCall>) -> Completion {
    Completion { content: content.to_owned(), calls, finish: FinishReason::Stop, usage: None }
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: Ok(Map::new()) }
}

fn asking<'a>(tools: &'a [ToolDefinition], ending: &'a ToolDefinition) -> Asking<'a> {
    Asking { model: "m", tools, ending, enforced: None, must_end: false, answer_tokens: 100 }
}

#[test]
fn a_model_that_must_end_is_offered_its_ending_alone() {
    let (tools, ending) = ([tool("search")], tool("conclude"));
    let asking = Asking { must_end: true, ..asking(&tools, &ending) };
    let request = Dialect::Native.request(&Transcript::default(), &asking);
    assert_eq!(request.tools.len(), 1);
    assert_eq!(request.tool_choice.expect("a choice")["function"]["name"], "conclude");
    let request = Dialect::Json.request(&Transcript::default(), &asking);
    let schema = &request.response_format.expect("a form")["json_schema"]["schema"];
    assert_eq!(schema["required"], json!(["conclude"]));
}

/// A reference finds its definition at the root of a schema alone.
#[test]
fn an_enforced_schema_takes_the_endings_place_and_its_definitions_come_to_the_root() {
    let (tools, ending) = ([tool("search")], tool("conclude"));
    let enforced = json!({
        "type": "object", "properties": { "at": { "$ref": "#/$defs/path" } },
        "$defs": { "path": { "enum": ["trend.slope"] } },
    });
    let asking = Asking { enforced: Some(&enforced), ..asking(&tools, &ending) };
    for must_end in [false, true] {
        let request = Dialect::Json.request(&Transcript::default(), &Asking { must_end, ..asking });
        let schema = &request.response_format.expect("a form")["json_schema"]["schema"];
        assert_eq!(schema["$defs"], enforced["$defs"]);
        let end = if must_end { schema } else { &schema["anyOf"][2] };
        let arguments = &end["properties"]["conclude"];
        assert_eq!(arguments["properties"], enforced["properties"]);
        assert_eq!(arguments.get("$defs"), None);
        // the words of the prompt stay those of the ending
        let manual = serde_json::to_string(&request.messages).expect("json");
        assert!(!manual.contains("#/$defs/path"), "{manual}");
    }
}

/// A small model on one core reads eight tokens a second, so the begin of a prompt must not change.
#[test]
fn a_prompt_of_one_object_a_turn_begins_as_the_one_before() {
    let (tools, ending) = ([tool("search")], tool("conclude"));
    let mut transcript = Transcript { messages: vec![Message::System { text: "s".to_owned() }] };
    let before = Dialect::Json.request(&transcript, &asking(&tools, &ending)).messages;
    transcript.said(String::new(), vec![call("a", "search")]);
    transcript.answered(&call("a", "search"), "found");
    let asking = Asking { must_end: true, ..asking(&tools, &ending) };
    let after = Dialect::Json.request(&transcript, &asking).messages;
    assert!(after.starts_with(&before), "{after:?}");
    let last = serde_json::to_string(after.last().expect("one")).expect("json");
    assert!(last.contains("Answer with conclude"), "{last}");
}

#[test]
fn the_object_of_a_turn_is_read_with_and_without_fences() {
    for content in [
        r#"{"call_tool":{"name":"search","arguments":{"query":"외륜"}}}"#,
        "```json\n{\"call_tool\":{\"name\":\"search\",\"arguments\":{\"query\":\"외륜\"}}}\n```",
        "I search. {\"call_tool\":{\"name\":\"search\",\"arguments\":{\"query\":\"외륜\"}}} Done.",
    ] {
        let Turn::Calls { calls, .. } = Dialect::Json.read(completion(content, Vec::new())) else {
            panic!("{content}");
        };
        assert_eq!(calls[0].name, "search");
        assert_eq!(calls[0].arguments.as_ref().expect("a mapping")["query"], "외륜");
    }
    let turn = Dialect::Json.read(completion("정상입니다", Vec::new()));
    assert_eq!(turn, Turn::Words("정상입니다".to_owned()));
}

#[test]
fn arguments_that_are_no_mapping_are_kept_as_text() {
    let function = WireFunction { name: "search".to_owned(), arguments: "{\"query\": ".to_owned() };
    let wire = WireCall { id: "a".to_owned(), kind: "function".to_owned(), function };
    let Turn::Calls { calls, .. } = Dialect::Native.read(completion("", vec![wire])) else {
        panic!("calls");
    };
    assert_eq!(calls[0].arguments, Err("{\"query\": ".to_owned()));
    assert_eq!(wire_call(&calls[0]).function.arguments, "{}", "sent back as JSON");
}

#[test]
fn what_has_no_result_yet_is_known_after_a_crash() {
    let mut transcript = Transcript::default();
    transcript.said(String::new(), vec![call("a", "f"), call("b", "g")]);
    assert_eq!(transcript.unanswered().len(), 2);
    transcript.answered(&call("a", "f"), "1");
    let left: Vec<&str> = transcript.unanswered().iter().map(|call| call.id.as_str()).collect();
    assert_eq!(left, ["b"]);
    let text = serde_json::to_string(&transcript).expect("json");
    assert_eq!(serde_json::from_str::<Transcript>(&text).expect("read"), transcript);
}

proptest! {
    /// Whatever identities a server gives its calls, no two of a conversation are equal.
    #[test]
    fn no_two_calls_of_a_conversation_have_one_identity(
        rounds in proptest::collection::vec("[ab]{0,2}", 1..12)) {
        let mut transcript = Transcript::default();
        for id in rounds {
            transcript.said(String::new(), vec![call(&id, "f")]);
            let open: Vec<ToolCall> = transcript.unanswered().into_iter().cloned().collect();
            prop_assert_eq!(open.len(), 1);
            transcript.answered(&open[0], "r");
        }
        let mut ids: Vec<String> = Vec::new();
        let mut results: Vec<String> = Vec::new();
        for message in &transcript.messages {
            match message {
                Message::Assistant { calls, .. } => ids.extend(calls.iter().map(|call| call.id.clone())),
                Message::Result { id, .. } => results.push(id.clone()),
                Message::System { .. } | Message::User { .. } => {}
            }
        }
        prop_assert_eq!(&ids, &results);
        let count = ids.len();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ids.len(), count);
    }

    #[test]
    fn no_words_of_a_model_end_the_program(words in "\\PC{0,200}") {
        let _turn = Dialect::Json.read(completion(&words, Vec::new()));
    }
}

/// R-CHAT-5: a model without function calling asks for several tools in one turn, and reads its
/// turn again.
#[test]
fn several_calls_of_one_json_turn_are_read_and_written_alike() {
    let call = |query: &str| json!({ "name": "search", "arguments": { "query": query } });
    let content = json!({ "call_tools": [call("외륜"), call("교체")] }).to_string();
    let Turn::Calls { text, calls } = Dialect::Json.read(completion(&content, Vec::new())) else {
        panic!("calls")
    };
    assert_eq!(calls.len(), 2);
    assert_ne!(calls[0].id, calls[1].id, "each has its own result");
    let mut transcript = Transcript::default();
    transcript.said(text, calls);
    assert_eq!(transcript.unanswered().len(), 2);
    let request = Dialect::Json.request(&transcript, &asking(&[tool("search")], &tool("conclude")));
    let written = serde_json::to_value(&request.messages).expect("json");
    assert_eq!(written[0]["content"].as_str(), Some(content.as_str()));
}
