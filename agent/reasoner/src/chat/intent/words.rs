//! The words of questions, as `config/words/questions.toml` has them.

use std::path::Path;
use std::sync::LazyLock;

use pdm_service::config;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::chat) struct QuestionWords {
    pub(in crate::chat) lead_time: Vec<String>,
    pub(in crate::chat) why: Vec<String>,
    pub(in crate::chat) life: Vec<String>,
    pub(in crate::chat) work: Vec<String>,
    pub(in crate::chat) todo: Vec<String>,
    pub(in crate::chat) told: Vec<String>,
    pub(in crate::chat) past: Vec<String>,
    pub(in crate::chat) manual: Vec<String>,
    pub(in crate::chat) cases: Vec<String>,
    pub(in crate::chat) fleet: Vec<String>,
    pub(in crate::chat) state: Vec<String>,
    pub(in crate::chat) onset: Vec<String>,
    pub(in crate::chat) compare: Vec<String>,
    pub(in crate::chat) changes: Vec<String>,
    pub(in crate::chat) stop: Vec<String>,
    pub(in crate::chat) doubts: Vec<String>,
    pub(in crate::chat) duty: Vec<String>,
    pub(in crate::chat) gateways: Vec<String>,
    pub(in crate::chat) count: Vec<String>,
    pub(in crate::chat) meaning: Vec<String>,
    pub(in crate::chat) help: Vec<String>,
    pub(in crate::chat) act: Vec<String>,
    pub(in crate::chat) alarms: Vec<String>,
    pub(in crate::chat) sound: Vec<String>,
    pub(in crate::chat) heard: Vec<String>,
    pub(in crate::chat) identity: Vec<String>,
    pub(in crate::chat) gateway_names: Vec<String>,
    pub(in crate::chat) all: Vec<String>,
    pub(in crate::chat) overdue: Vec<String>,
    pub(in crate::chat) news: Vec<String>,
    pub(in crate::chat) shelf: Vec<String>,
    pub(in crate::chat) sensors: Vec<String>,
    pub(in crate::chat) notes: Vec<String>,
    pub(in crate::chat) told_cases: Vec<String>,
    pub(in crate::chat) order: Vec<String>,
    pub(in crate::chat) machine_kinds: Vec<String>,
    pub(in crate::chat) qualifiers: Vec<String>,
    pub(in crate::chat) no_qualifiers: Vec<String>,
    pub(in crate::chat) general_names: Vec<String>,
    pub(in crate::chat) same_kinds: Vec<Vec<String>>,
    pub(in crate::chat) towns: Vec<String>,
    pub(in crate::chat) site_words: Vec<String>,
    pub(in crate::chat) neighbour: Vec<String>,
    pub(in crate::chat) heals: Vec<String>,
    pub(in crate::chat) any_of_all: Vec<String>,
    pub(in crate::chat) dropped: Vec<String>,
    pub(in crate::chat) not_bolts: Vec<Vec<String>>,
    pub(in crate::chat) standing: Vec<String>,
    pub(in crate::chat) temperature: Vec<String>,
    pub(in crate::chat) past_of_one: Vec<String>,
    pub(in crate::chat) damage: Vec<String>,
    pub(in crate::chat) ordered: Vec<String>,
    pub(in crate::chat) in_alarm: Vec<String>,
    pub(in crate::chat) plural: Vec<String>,
    pub(in crate::chat) request: Vec<String>,
    pub(in crate::chat) procedure: Vec<String>,
    pub(in crate::chat) figures: FigureWords,
    pub(in crate::chat) values: ValueWords,
    pub(in crate::chat) passages: PassageWords,
}

/// Words of measured figures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::chat) struct FigureWords {
    pub(in crate::chat) any: Vec<String>,
    pub(in crate::chat) speed: Vec<String>,
    pub(in crate::chat) zone: Vec<String>,
    pub(in crate::chat) level: Vec<String>,
    pub(in crate::chat) lines: Vec<String>,
    pub(in crate::chat) unmeasured: Vec<String>,
}

/// Words of the topics of values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::chat) struct ValueWords {
    pub(in crate::chat) torque: Vec<String>,
    pub(in crate::chat) grease: Vec<String>,
    pub(in crate::chat) heating: Vec<String>,
    pub(in crate::chat) clearance: Vec<String>,
}

/// Words that count as one where a passage is chosen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::chat) struct PassageWords {
    pub(in crate::chat) case: Vec<String>,
    pub(in crate::chat) same: Vec<Vec<String>>,
    /// Words that the heading of a passage has to have where a question has them.
    pub(in crate::chat) decisive: Vec<Vec<String>>,
}

/// The shipped file of words.
pub(super) const SHIPPED: &str = include_str!("../../../../../config/words/questions.toml");

/// The words of questions.
pub(in crate::chat) static QUESTION_WORDS: LazyLock<QuestionWords> = LazyLock::new(|| {
    config::parse(Path::new("questions.toml"), SHIPPED).expect("tests read the shipped file")
});

/// Whether a text holds one of the words: a Korean one anywhere, an English one from the begin of a
/// word on.
pub(in crate::chat) fn has(text: &str, words: &[String]) -> bool {
    words.iter().any(|word| {
        text.match_indices(word.as_str()).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            // `the wo` is a work order, `the worst` is none
            let is_whole = !word.ends_with("wo")
                || !text[at + word.len()..].starts_with(|c: char| c.is_ascii_alphabetic());
            !word.is_ascii() || is_whole && !before.is_some_and(|c| c.is_ascii_alphanumeric())
        })
    })
}
