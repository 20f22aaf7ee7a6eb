//! The words of an answer: how the model ends, what its words are held to, and the fixed sentences.

use pdm_expert::grounding::{Readings, WITHHELD};
use pdm_shared::text::Language;
use serde_json::{Value, json};

use super::desk::Focus;
use super::planning::Part;
use super::reader::Reader;
use super::{Question, bare};
use crate::client::ModelError;
use crate::dialect::{ToolCall, ToolDefinition};
use crate::guard::{Fence, plain};
use crate::prompt::{self, Task};

/// Longest answer, characters.
const MAX_ANSWER: usize = 4000;
/// An answer that contains this many consecutive characters of the instructions reveals them.
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

/// Words held to what was read: plain text, figures with a source only. Nothing if no words are
/// left or they tell the instructions.
pub(super) fn grounded_words(
    words: &str,
    question: &Question,
    mut read: Readings,
    fence: &Fence,
) -> Option<String> {
    if words.contains(fence.word()) || tells_instructions(words) {
        return None;
    }
    read.add_said(&question.message);
    for said in &question.history {
        read.add_said(&said.content);
    }
    let read = read.for_quantity(bare::asks_quantity(&question.message));
    let mark = match question.language {
        Language::Ko => WITHHELD.0,
        Language::En => WITHHELD.1,
    };
    let text = read.withheld(&plain(words, MAX_ANSWER), mark);
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

/// Results put together: by bearing where there are several, each with its source; documents are
/// named in their own lines.
pub(super) fn fused(told: &[(&Part, String)], foci: &[Focus], reader: Reader) -> String {
    let mut parts = Vec::new();
    for focus in foci {
        let of: Vec<&str> = told
            .iter()
            .filter(|(part, _)| part.about.as_ref() == Some(&focus.core.key))
            .map(|(_, text)| text.as_str())
            .collect();
        if of.is_empty() {
            continue;
        }
        let heading =
            if foci.len() > 1 { format!("■ {}\n", focus.core.name()) } else { String::new() };
        let told = each_once(&of.join("\n\n"));
        parts.push(format!("{heading}{told}\n{}", source(focus, reader)));
    }
    parts
        .extend(told.iter().filter(|(part, _)| part.about.is_none()).map(|(_, text)| text.clone()));
    parts.join("\n\n")
}

/// A text whose lines stand once each: a state and an advice share some.
fn each_once(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.is_empty() || !lines.contains(&line) {
            lines.push(line);
        }
    }
    without_empty_headings(text, lines).join("\n").replace("\n\n\n", "\n\n")
}

/// Lines without the headings all of whose entries were told above.
fn without_empty_headings<'t>(text: &'t str, lines: Vec<&'t str>) -> Vec<&'t str> {
    let is_heading = |line: &str| line.ends_with(':') && !line.starts_with("- ");
    let is_entry = |line: Option<&&str>| line.is_some_and(|line| line.starts_with("- "));
    let all: Vec<&str> = text.lines().collect();
    let had_entries =
        |line: &str| all.windows(2).any(|pair| pair[0] == line && pair[1].starts_with("- "));
    let kept = lines.iter().enumerate().filter(|(at, line)| {
        !is_heading(line) || !had_entries(line) || is_entry(lines.get(at + 1))
    });
    kept.map(|(_, line)| *line).collect()
}

/// Names the source of the words about a bearing.
fn source(focus: &Focus, reader: Reader) -> String {
    let language = reader.language;
    let at = focus.core.measured_at.map(|at| reader.clock_time(at)).unwrap_or_default();
    let event = focus.core.event_id.map(|id| id.to_string()).unwrap_or_default();
    let (event, at) = (event.trim(), at.trim());
    match language {
        Language::Ko => format!("[출처: 판정 {event} {at}]"),
        Language::En => format!("[Source: judgement {event} {at}]"),
    }
}

/// An answer with the recorded judgements of the bearings that it is about.
pub(super) fn with_records(answer: String, about: &[Focus], reader: Reader) -> String {
    if about.is_empty() {
        return answer;
    }
    let recorded: Vec<String> =
        about.iter().map(|focus| recorded(focus, &answer, reader)).collect();
    format!("{answer}\n\n{}", recorded.join("\n"))
}

/// The recorded judgement, which stands beside every answer about a bearing; its risk alone where
/// the answer has the rest of its words.
fn recorded(focus: &Focus, answer: &str, reader: Reader) -> String {
    let language = reader.language;
    let line = focus.core.line(language);
    let risk = focus.core.risk_in_words(language);
    let told = if answer.contains(&line) { format!("{}: {risk}", focus.core.name()) } else { line };
    let at = focus.core.measured_at.map(|at| reader.clock_time(at)).unwrap_or_default();
    match language {
        Language::Ko => format!("[기록된 판정] {told} ({at})"),
        Language::En => format!("[Recorded judgement] {told} ({at})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_whose_entries_stand_above_is_left_out() {
        let text = "이름\n메모:\n- 하나\n보낸 알림:\n- 둘\n\n점검 결과:\n- 하나\n끝";
        assert_eq!(each_once(text), "이름\n메모:\n- 하나\n보낸 알림:\n- 둘\n\n끝");
        assert_eq!(each_once("열린 경보:\n없음"), "열린 경보:\n없음");
    }
}
