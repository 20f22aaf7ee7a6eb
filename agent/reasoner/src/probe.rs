//! What an endpoint is and can do, found out by asking it: for `pdm-agent check` and the choice of the
//! dialect.
//!
//! The probe asks for a call of a function. A server that ignores that (llama.cpp ignores
//! `tool_choice`) is asked for one JSON object instead. [`told`] names what is wrong in words that say
//! what to change.

use serde_json::{Value, json};

use crate::client::{Client, ModelError};
use crate::dialect::Dialect;
use crate::wire::{self, ChatRequest, FinishReason, WireMessage};

/// What is wrong with an endpoint.
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
    match told(&asked.0, &asked.1, &asked.2, client.has_key(), model) {
        Ok(answer) if calls_the_function(&answer) => return Ok(Dialect::Native),
        // some servers refuse functions altogether
        Ok(_) | Err(ProbeError::Unfit(_)) => {}
        Err(error) => return Err(error),
    }
    let asked = client.raw(&one_object(model)).await.map_err(unavailable)?;
    let answer = told(&asked.0, &asked.1, &asked.2, client.has_key(), model)?;
    let object: Option<Value> = serde_json::from_str(answer.content.trim()).ok();
    if object.as_ref().and_then(|object| object.get("ready")).is_some_and(Value::is_boolean) {
        return Ok(Dialect::Json);
    }
    Err(ProbeError::Unfit(pdm_shared::bounds::shown(&answer.content, 120).into_owned()))
}

fn unavailable(error: ModelError) -> ProbeError {
    ProbeError::Unavailable(error.to_string())
}

/// What an answer says of the endpoint: the completion, or what is wrong.
///
/// # Errors
/// [`ProbeError`].
pub fn told(
    status: &u16,
    content_type: &str,
    body: &[u8],
    has_key: bool,
    model: &str,
) -> Result<wire::Completion, ProbeError> {
    let text = String::from_utf8_lossy(body);
    let head = || format!("{status}: {}", pdm_shared::bounds::shown(&text, 160));
    let error: Option<Value> = serde_json::from_slice(body).ok();
    let error = error.as_ref().and_then(|body| body.get("error"));
    let names_model = error.is_some_and(|error| {
        let error = error.to_string().to_lowercase();
        error.contains("model_not_found") || (error.contains("model") && !error.contains("tool"))
    });
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
        200..=299 => match wire::read(body) {
            Ok(answer) => Ok(answer),
            Err(wire::AnswerError::Reported(reason)) => Err(ProbeError::Unavailable(reason)),
            Err(error) => Err(ProbeError::NoApi(error.to_string())),
        },
        _ => Err(ProbeError::Unavailable(format!("the model's server answers {}", head()))),
    }
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
        told(&status, kind, body.as_bytes(), has_key, "gpt-9").expect_err("wrong")
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
