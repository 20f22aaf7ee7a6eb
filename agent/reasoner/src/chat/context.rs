//! The context of a question, by the three strategies of the requirements: core fields in place of
//! the whole analysis; older turns as their key conclusion in a line; the last turns as they were
//! said.

use pdm_shared::text::Language;

use super::desk::{CoreFields, Focus};
use super::{MAX_HISTORY, MAX_QUESTION, Question, Said, Speaker};
use crate::dialect::Message;
use crate::guard::{Fence, Redactor, without_control};
use crate::prompt::{self, Task};

/// Messages that are told as they were said: the last three turns, of the last ten messages.
const VERBATIM: usize = 6;
/// Longest conclusion of a turn, characters.
const MAX_CONCLUSION: usize = 160;
/// Longest message that is told as it was said, characters.
const MAX_SAID: usize = 2000;
/// Bearings that are listed in the context.
const MAX_FLEET: usize = 30;

/// A context.
pub(super) struct Context {
    /// The messages for the model.
    pub(super) messages: Vec<Message>,
    /// The facts in it, which figures may come from.
    pub(super) read: String,
}

/// Builds the context of a question.
pub(super) fn build(
    question: &Question,
    fleet: &[CoreFields],
    foci: &[Focus],
    redactor: &Redactor,
    fence: &Fence,
) -> Context {
    let language = question.language;
    let core = redactor.clean(&core(fleet, foci, language));
    let system = prompt::system(Task::Chat, language).to_owned();
    let mut messages = vec![Message::System { text: system }];
    let history = recent(&question.history);
    let (older, last) = history.split_at(history.len().saturating_sub(VERBATIM));
    let mut about = fence.around("core", &core);
    if !older.is_empty() {
        about.push('\n');
        about.push_str(&fence.around("earlier_turns", &redactor.clean(&compressed(older))));
    }
    messages.push(Message::User { text: about });
    for said in last {
        let text = told(&said.content, MAX_SAID, redactor);
        messages.push(match said.role {
            Speaker::User => Message::User { text },
            Speaker::Assistant => Message::Assistant { text, calls: Vec::new() },
        });
    }
    messages.push(Message::User { text: told(&question.message, MAX_QUESTION, redactor) });
    Context { messages, read: core }
}

/// Returns the text of a person or of the program as it is sent to the model: redacted, without
/// control characters, and cut to `most` characters.
fn told(text: &str, most: usize, redactor: &Redactor) -> String {
    without_control(&redactor.clean(text)).chars().take(most).collect()
}

/// The newest messages of a conversation.
fn recent(history: &[Said]) -> &[Said] {
    &history[history.len().saturating_sub(MAX_HISTORY)..]
}

/// The core fields: of the bearings in question with their key grounds, and a line for each other
/// one.
fn core(fleet: &[CoreFields], foci: &[Focus], language: Language) -> String {
    let mut lines = Vec::new();
    for focus in foci {
        lines.push(focus.core.line(language));
        lines.extend(focus.grounds.iter().map(|text| format!("- {}", text.in_language(language))));
        let advice = focus.core.is_advised().then(|| focus.advice.in_language(language));
        lines.extend(advice.map(|advice| format!("→ {advice}")));
        lines.extend(focus.disagreement.iter().map(|text| text.in_language(language).to_owned()));
    }
    let others = fleet.iter().filter(|core| foci.iter().all(|focus| focus.core.key != core.key));
    lines.extend(others.take(MAX_FLEET).map(|core| core.line(language)));
    lines.join("\n")
}

/// Older turns, each as its key conclusion.
fn compressed(older: &[Said]) -> String {
    let line = |said: &Said| {
        let who = match said.role {
            Speaker::User => "Q",
            Speaker::Assistant => "A",
        };
        format!("{who}: {}", conclusion(&said.content))
    };
    older.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The key conclusion of a message: its first sentence with a figure, a name or a risk, else its
/// first sentence.
fn conclusion(text: &str) -> String {
    let sentences: Vec<&str> =
        text.split(['\n', '!', '?']).flat_map(|line| line.split(". ")).map(str::trim).collect();
    let is_key = |sentence: &&&str| {
        sentence.chars().any(|c| c.is_ascii_digit())
            || ["정상", "주의", "경고", "위험", "Normal", "Watch", "Warning", "Critical"]
                .iter()
                .any(|word| sentence.contains(word))
    };
    let first = sentences.iter().find(|sentence| !sentence.is_empty());
    let key = sentences.iter().find(is_key).or(first).copied().unwrap_or_default();
    key.chars().take(MAX_CONCLUSION).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(role: Speaker, content: &str) -> Said {
        Said { role, content: content.to_owned() }
    }

    fn question(turns: usize) -> Question {
        let mut history = Vec::new();
        for turn in 1..=turns {
            history.push(said(
                Speaker::User,
                &format!("질문 {turn}: 예비품 위치는 창고 {turn}번인가?"),
            ));
            history.push(said(
                Speaker::Assistant,
                &format!("네. 창고 {turn}번 선반입니다. 더 긴 설명이 이어집니다."),
            ));
        }
        let message = "처음에 말한 창고는 몇 번이지?".to_owned();
        Question { message, history, about: None, language: Language::Ko }
    }

    fn text_of(context: &Context) -> String {
        serde_json::to_string(&context.messages).expect("json")
    }

    fn built(question: &Question) -> Context {
        build(question, &[], &[], &Redactor::default(), &Fence::random())
    }

    /// R-CHAT-2
    #[test]
    fn the_last_turns_stand_as_they_were_said_and_older_ones_as_their_conclusion() {
        let context = built(&question(20));
        let text = text_of(&context);
        assert!(text.contains("창고 1번"), "the first turn is there in a line");
        let whole = text.matches("더 긴 설명이 이어집니다").count();
        assert_eq!(whole, 3, "three turns whole");
        assert_eq!(context.messages.len(), 2 + VERBATIM + 1);
    }

    #[test]
    fn a_conversation_without_its_history_does_not_know_it() {
        let question = Question { history: Vec::new(), ..question(20) };
        assert!(!text_of(&built(&question)).contains("1번"));
    }

    #[test]
    fn a_long_conversation_stays_within_bounds() {
        let mut question = question(2000);
        question.message = "가".repeat(100_000);
        let text = text_of(&built(&question));
        assert!(text.chars().count() < 40_000, "{}", text.chars().count());
    }
}
