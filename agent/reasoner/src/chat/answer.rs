//! The words of an answer: how the model ends, what its words are held to, and the fixed sentences.

use pdm_expert::grounding::WITHHELD;
use pdm_shared::text::Language;
use serde_json::{Value, json};

use super::Question;
use super::desk::{Focus, told_time};
use super::figures::Numbers;
use crate::client::ModelError;
use crate::dialect::{ToolCall, ToolDefinition};
use crate::guard::{Fence, plain};
use crate::prompt::{self, Task};

/// Longest answer, characters.
const MAX_ANSWER: usize = 4000;
/// So many characters of the instructions in an answer tell them.
const TOLD_CHARS: usize = 40;

/// The function by which the model ends.
pub(super) fn final_answer() -> ToolDefinition {
    ToolDefinition {
        name: "final_answer".to_owned(),
        description: "Gives the final answer to the person.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { "answer": { "type": "string" } },
            "required": ["answer"],
            "additionalProperties": false,
        }),
    }
}

/// The answer in a call, if the call is the ending.
pub(super) fn of_call(call: &ToolCall, ending: &ToolDefinition) -> Option<String> {
    if call.name != ending.name {
        return None;
    }
    Some(match &call.arguments {
        Ok(arguments) => match arguments.get("answer").or_else(|| arguments.get("text")) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        },
        Err(text) => text.clone(),
    })
}

/// Words held to what was read: plain text, figures with a source only. Nothing if no words are left or
/// they tell the instructions.
pub(super) fn held(words: &str, question: &Question, read: &str, fence: &Fence) -> Option<String> {
    if words.contains(fence.word()) || tells_instructions(words) {
        return None;
    }
    let mut numbers = Numbers::default();
    numbers.read(read);
    numbers.read(&question.message);
    for said in &question.history {
        numbers.read(&said.content);
    }
    let mark = match question.language {
        Language::Ko => WITHHELD.0,
        Language::En => WITHHELD.1,
    };
    let text = numbers.withheld(&plain(words, MAX_ANSWER), mark);
    (!text.trim().is_empty()).then_some(text)
}

/// Whether words repeat a passage of the instructions.
fn tells_instructions(words: &str) -> bool {
    [Language::Ko, Language::En].iter().any(|language| {
        prompt::system(Task::Chat, *language).lines().any(|line| {
            let line: Vec<char> = line.trim_start_matches(['-', '#', ' ']).chars().collect();
            line.chunks(TOLD_CHARS)
                .filter(|chunk| chunk.len() == TOLD_CHARS)
                .any(|chunk| words.contains(&chunk.iter().collect::<String>()))
        })
    })
}

/// The apology of the requirements.
pub(super) const fn apology(language: Language) -> &'static str {
    match language {
        Language::Ko => "죄송합니다. 답변 생성에 실패했습니다. 다시 질문해 주세요.",
        Language::En => "Sorry, no answer could be made. Please ask again.",
    }
}

/// Says that no model answers, and why.
pub(super) fn without_model(language: Language, reason: Option<&ModelError>) -> String {
    match (language, reason) {
        (Language::Ko, None) => "언어 모델 없이 기록과 문서에서 추린 답입니다.".to_owned(),
        (Language::En, None) => {
            "No language model answered: this is extracted from records and documents.".to_owned()
        }
        (Language::Ko, Some(error)) => {
            format!("언어 모델이 답하지 않아({}) 기록과 문서에서 추린 답입니다.", error.kind())
        }
        (Language::En, Some(error)) => format!(
            "The language model did not answer ({}): this is extracted from records and documents.",
            error.kind()
        ),
    }
}

/// The recorded judgement, which stands beside every answer about a bearing.
pub(super) fn recorded(focus: &Focus, language: Language) -> String {
    let line = focus.core.line(language);
    let at = focus.core.measured_at.map(told_time).unwrap_or_default();
    match language {
        Language::Ko => format!("[기록된 판정] {line} ({at})"),
        Language::En => format!("[Recorded judgement] {line} ({at})"),
    }
}
