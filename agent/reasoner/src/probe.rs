//! Finds out what an endpoint is and can do by asking it: for `pdm-agent check` and the choice of
//! the dialect.
//!
//! The probe asks for a call of a function. A server that ignores that (llama.cpp ignores
//! `tool_choice`) is asked for one JSON object instead. [`speaks`] asks for a sentence in the
//! language of the prompts, [`writes_programs`] for a program. [`told`] describes the fault in
//! words that say what to change.

use async_trait::async_trait;
use pdm_script::{ProgramHost, ToolReply, Tools};
use pdm_shared::text::Language;
use serde_json::{Map, Value, json};

use crate::client::{Client, ModelError};
use crate::dialect::{Asking, Dialect, Message, ToolDefinition, Transcript, Turn, code};
use crate::guard::{TextLanguage, language_of};
use crate::wire::{self, ChatRequest, FinishReason, WireMessage};

/// A fault of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The server wants a key, and none is configured.
    #[error("the server wants a key and none is configured: set reasoner.key")]
    NoKey,
    /// The server does not take the key.
    #[error("the server does not take the key of reasoner.key ({0})")]
    WrongKey(u16),
    /// The server does not have the model.
    #[error("the server has no model {model:?}: change reasoner.model ({reason})")]
    UnknownModel {
        /// The name.
        model: String,
        /// The server's words.
        reason: String,
    },
    /// The address is no chat API.
    #[error("reasoner.base_url is no OpenAI-compatible API: {0}")]
    NoApi(String),
    /// The server does not answer.
    #[error("{0}")]
    Unavailable(String),
    /// The answer is longer than is read.
    #[error("{}", ModelError::TooLong)]
    TooLong,
    /// The model answers in another language.
    #[error("the model answers in another language than {wanted}: {shown:?}; choose another model")]
    OtherLanguage {
        /// The language of the settings.
        wanted: &'static str,
        /// The head of its answer.
        shown: String,
    },
    /// The model writes no program that runs.
    #[error(
        "the model writes no program that calls a tool: {0}; set reasoner.chat.actions = \"calls\""
    )]
    NoPrograms(String),
    /// The server answers, and not as asked for.
    #[error("the model answers, and neither calls a function nor writes the JSON asked for: {0}")]
    Unfit(String),
}

/// Asks the endpoint what it can do.
///
/// # Errors
/// [`ProbeError`] with what has to be changed.
pub async fn probe(client: &Client, model: &str) -> Result<Dialect, ProbeError> {
    let asked = client.raw(&native(model)).await.map_err(unavailable)?;
    match read_probe_answer(&asked.0, &asked.1, &asked.2, client.has_key(), model) {
        Ok(answer) if calls_the_function(&answer) => return Ok(Dialect::Native),
        // some servers refuse functions altogether
        Ok(_) | Err(ProbeError::Unfit(_)) => {}
        Err(error) => return Err(error),
    }
    let asked = client.raw(&one_object(model)).await.map_err(unavailable)?;
    let answer = read_probe_answer(&asked.0, &asked.1, &asked.2, client.has_key(), model)?;
    let object: Option<Value> = serde_json::from_str(answer.content.trim()).ok();
    if object.as_ref().and_then(|object| object.get("ready")).is_some_and(Value::is_boolean) {
        return Ok(Dialect::Json);
    }
    Err(ProbeError::Unfit(pdm_shared::bounds::in_one_line(&answer.content, 120).into_owned()))
}

fn unavailable(error: ModelError) -> ProbeError {
    if matches!(error, ModelError::TooLong) {
        return ProbeError::TooLong;
    }
    ProbeError::Unavailable(error.to_string())
}

/// Asks the model for a sentence in the language of the prompts.
///
/// # Errors
/// [`ProbeError`].
pub async fn speaks(client: &Client, model: &str, language: Language) -> Result<(), ProbeError> {
    let (ask, wanted) = match language {
        Language::Ko => ("구름베어링의 외륜 결함이 무엇인지 한국어 한 문장으로 답하라.", "Korean"),
        Language::En => ("Say in one English sentence what an outer race fault is.", "English"),
    };
    let asked = client.raw(&request(model, ask)).await.map_err(unavailable)?;
    let answer = read_probe_answer(&asked.0, &asked.1, &asked.2, client.has_key(), model)?;
    let is_wanted = match language_of(&answer.content) {
        TextLanguage::Korean => language == Language::Ko,
        TextLanguage::English => language == Language::En,
        TextLanguage::Other => false,
    };
    if is_wanted {
        return Ok(());
    }
    let shown = pdm_shared::bounds::in_one_line(&answer.content, 80).into_owned();
    Err(ProbeError::OtherLanguage { wanted, shown })
}

/// Asks the model for a program that calls a tool, and runs it.
///
/// # Errors
/// [`ProbeError`].
pub async fn writes_programs(
    client: &Client,
    model: &str,
    programs: &ProgramHost,
) -> Result<(), ProbeError> {
    let tool = ToolDefinition {
        name: "report_ready".to_owned(),
        description: "Reports whether you are ready.".to_owned(),
        parameters: schema(),
    };
    let ending = ToolDefinition { name: "final_answer".to_owned(), ..tool.clone() };
    let text = "Write a program that calls report_ready with ready=True.".to_owned();
    let messages = vec![
        Message::System { text: "You answer with programs.".to_owned() },
        Message::User { text },
    ];
    let tools = [tool];
    let asking = Asking {
        model,
        tools: &tools,
        ending: &ending,
        enforced: None,
        must_end: false,
        answer_tokens: 200,
    };
    let request = Dialect::Code.request(&Transcript { messages }, &asking);
    let asked = client.raw(&request).await.map_err(unavailable)?;
    let answer = read_probe_answer(&asked.0, &asked.1, &asked.2, client.has_key(), model)?;
    let shown = pdm_shared::bounds::in_one_line(&answer.content, 120).into_owned();
    let Turn::Calls { calls, .. } = Dialect::Code.read(answer) else {
        return Err(ProbeError::NoPrograms(shown));
    };
    let program = calls.first().and_then(code::of_call).unwrap_or_default();
    let mut ready = Ready(false);
    let outcome = programs.session().run(program, &["report_ready".to_owned()], &mut ready).await;
    if ready.0 {
        return Ok(());
    }
    Err(ProbeError::NoPrograms(outcome.error.unwrap_or(shown)))
}

/// Whether the program of the probe has called its tool.
struct Ready(bool);

#[async_trait]
impl Tools for Ready {
    async fn call(&mut self, _tool: &str, arguments: Map<String, Value>) -> ToolReply {
        self.0 = arguments.get("ready").is_some_and(Value::is_boolean);
        Ok("{}".to_owned())
    }
}

/// Reads the answer to a probe: returns the completion.
///
/// # Errors
/// [`ProbeError`], the fault of the endpoint.
pub fn read_probe_answer(
    status: &u16,
    content_type: &str,
    body: &[u8],
    has_key: bool,
    model: &str,
) -> Result<wire::Completion, ProbeError> {
    let text = String::from_utf8_lossy(body);
    let head = || format!("{status}: {}", pdm_shared::bounds::in_one_line(&text, 160));
    let error: Option<Value> = serde_json::from_slice(body).ok();
    let error = error.as_ref().and_then(|body| body.get("error"));
    let names_model = error.is_some_and(|error| is_about_name(&error.to_string()));
    match *status {
        401 | 403 if !has_key => Err(ProbeError::NoKey),
        401 | 403 => Err(ProbeError::WrongKey(*status)),
        400 | 404 | 422 if names_model => {
            Err(ProbeError::UnknownModel { model: model.to_owned(), reason: head() })
        }
        400 | 422 if error.is_some() => Err(ProbeError::Unfit(head())),
        300..=499 if *status != 429 => Err(ProbeError::NoApi(head())),
        200..=299 if !content_type.contains("json") => {
            Err(ProbeError::NoApi(format!("it answers {content_type:?}")))
        }
        200..=299 => match wire::read_completion(body) {
            Ok(answer) => Ok(answer),
            Err(wire::AnswerError::Reported(reason)) => Err(ProbeError::Unavailable(reason)),
            Err(error) => Err(ProbeError::NoApi(error.to_string())),
        },
        _ => Err(ProbeError::Unavailable(format!("the model's server answers {}", head()))),
    }
}

/// Whether the words of a refusal are about the model's name. Servers also speak of the model where
/// a request is too long for it, or asks for what it cannot do.
pub(crate) fn is_about_name(refusal: &str) -> bool {
    let refusal = refusal.to_lowercase();
    let is_about_request =
        ["tool", "token", "context", "support"].iter().any(|word| refusal.contains(word));
    refusal.contains("model_not_found") || (refusal.contains("model") && !is_about_request)
}

fn calls_the_function(answer: &wire::Completion) -> bool {
    let is_call = |call: &wire::WireCall| {
        call.function.name == "report_ready"
            && serde_json::from_str::<Value>(&call.function.arguments)
                .is_ok_and(|arguments| arguments.get("ready").is_some_and(Value::is_boolean))
    };
    answer.finish != FinishReason::Length && answer.calls.iter().any(is_call)
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "ready": { "type": "boolean" } },
        "required": ["ready"],
        "additionalProperties": false,
    })
}

fn request(model: &str, ask: &str) -> ChatRequest {
    ChatRequest {
        model: model.to_owned(),
        messages: vec![WireMessage::User { content: ask.to_owned() }],
        tools: Vec::new(),
        tool_choice: None,
        response_format: None,
        max_tokens: 60,
        temperature: 0.0,
        stream: false,
        stream_options: None,
    }
}

fn native(model: &str) -> ChatRequest {
    let function = json!({
        "name": "report_ready",
        "description": "Reports whether you are ready",
        "parameters": schema(),
    });
    ChatRequest {
        tools: vec![json!({ "type": "function", "function": function })],
        tool_choice: Some(json!({ "type": "function", "function": { "name": "report_ready" } })),
        ..request(model, "Call report_ready with ready = true.")
    }
}

fn one_object(model: &str) -> ChatRequest {
    ChatRequest {
        response_format: Some(json!({
            "type": "json_schema",
            "json_schema": { "name": "ready", "strict": true, "schema": schema() },
        })),
        ..request(model, "Answer with the JSON object {\"ready\": true} and nothing else.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(status: u16, kind: &str, body: &str, has_key: bool) -> ProbeError {
        read_probe_answer(&status, kind, body.as_bytes(), has_key, "gpt-9").expect_err("wrong")
    }

    #[test]
    fn what_is_wrong_is_told_by_what_has_to_be_changed() {
        let json = "application/json";
        let refused = r#"{"error":{"message":"Incorrect API key"}}"#;
        assert_eq!(wrong(401, json, refused, false), ProbeError::NoKey);
        assert_eq!(wrong(401, json, refused, true), ProbeError::WrongKey(401));
        let model =
            r#"{"error":{"message":"The model gpt-9 does not exist","code":"model_not_found"}}"#;
        let error = wrong(404, json, model, true);
        assert!(matches!(error, ProbeError::UnknownModel { .. }), "{error}");
        for (status, kind, body) in [
            (404, "text/html", "<html>not found"),
            (405, "text/html", ""),
            (301, "text/html", ""),
            (200, "text/html; charset=utf-8", "<html>welcome"),
            (200, json, r#"{"status":"ok"}"#),
        ] {
            let error = wrong(status, kind, body, true);
            assert!(matches!(error, ProbeError::NoApi(_)), "{status} {body}: {error}");
        }
        let busy = wrong(503, json, r#"{"error":{"message":"loading model"}}"#, true);
        assert!(matches!(busy, ProbeError::Unavailable(_)), "{busy}");
    }
}
