//! Executor `prompt`: one request to a language model, whose answer is JSON in the form of the
//! tool's `output_schema`.
//!
//! The model belongs to the program ([`LanguageModel`]). Without one the tool refuses and says so:
//! no answer is made up in its place. Arguments are data in the request, never instructions.

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{Failure, Invocation};

/// A request to a language model.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The tool that asks.
    pub tool: String,
    /// The instructions to the model: the tool's description and its own instructions.
    pub instructions: String,
    /// The arguments: data.
    pub data: Value,
    /// JSON Schema of the answer.
    pub schema: Value,
}

/// A language model of the program.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// The model's answer, a JSON text.
    ///
    /// # Errors
    /// [`Failure`]: a model that is away or busy is transient, a budget that is spent is permanent.
    async fn answer(&self, prompt: &Prompt) -> Result<String, Failure>;
}

/// The found items, which are judged before they are shown.
pub(crate) struct FoundItems {
    /// The name under which the model is asked.
    pub(crate) tool: &'static str,
    /// The instructions to the model: which items to name, and by which field.
    pub(crate) instructions: &'static str,
    /// The question and the items: data.
    pub(crate) data: Value,
    /// The numbers of the items.
    pub(crate) numbers: Vec<i64>,
}

/// The numbers of the items that the model holds relevant to the question.
///
/// # Errors
/// As [`LanguageModel::answer`]; an answer that is no list of numbers is malformed.
pub(crate) async fn relevant(
    model: &dyn LanguageModel,
    items: FoundItems,
) -> Result<Vec<i64>, Failure> {
    let FoundItems { tool, instructions, data, numbers } = items;
    let list = json!({ "type": "array", "items": { "type": "integer", "enum": numbers } });
    let prompt = Prompt {
        tool: tool.to_owned(),
        instructions: instructions.to_owned(),
        data,
        schema: json!({
            "type": "object", "properties": { "relevant": list }, "required": ["relevant"]
        }),
    };
    let answer = read_json_answer(&model.answer(&prompt).await?)?;
    let malformed = || Failure::Malformed("the model's answer names no list of numbers".to_owned());
    let named = answer["relevant"].as_array().ok_or_else(malformed)?;
    Ok(named.iter().filter_map(Value::as_i64).collect())
}

/// The answer of a tool without a model.
const NO_MODEL: &str = "needs a language model, and none is configured for this program";

/// A `prompt` tool.
pub(crate) struct PromptRequest<'a> {
    pub(crate) description: &'a str,
    pub(crate) instructions: &'a str,
    pub(crate) schema: &'a Map<String, Value>,
}

pub(crate) async fn run(
    asked: PromptRequest<'_>,
    model: Option<&dyn LanguageModel>,
    invocation: Invocation<'_>,
) -> Result<Value, Failure> {
    let Some(model) = model else { return Err(Failure::Permanent(NO_MODEL.to_owned())) };
    let PromptRequest { description, instructions, schema } = asked;
    let prompt = Prompt {
        tool: invocation.tool.to_owned(),
        instructions: format!("{description}\n\n{instructions}").trim().to_owned(),
        data: Value::Object(invocation.arguments.clone()),
        schema: Value::Object(schema.clone()),
    };
    let answer = model.answer(&prompt).await?;
    read_json_answer(&answer)
}

/// The JSON of an answer, which models put between fences at times.
pub(crate) fn read_json_answer(answer: &str) -> Result<Value, Failure> {
    let text = answer.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let text = inner.map_or(text, |inner| inner.strip_prefix("json").unwrap_or(inner).trim());
    serde_json::from_str(text)
        .map_err(|error| Failure::Malformed(format!("the model's answer is no JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_read_with_and_without_fences() {
        for text in ["{\"a\": 1}", "```json\n{\"a\": 1}\n```", " ```\n{\"a\":1}```"] {
            assert_eq!(read_json_answer(text), Ok(json!({"a": 1})), "{text}");
        }
        assert!(matches!(read_json_answer("I think that"), Err(Failure::Malformed(_))));
    }
}
