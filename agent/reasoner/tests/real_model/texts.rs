//! The attempts and their harmless look-alikes of `tests/model/attempts.toml`, and the ways on
//! which a text comes into a conversation.

/// Part of every text of an attempt; the redactor knows it as a secret.
pub(crate) const CANARY: &str = "CANARY-7c1a-4b11";
/// A person after a label, in every text of an attempt.
pub(crate) const PERSON: &str = "홍길동";

/// How a text comes into a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// A document that a search finds.
    Document,
    /// A free text of the event.
    Payload,
    /// The result of a tool that finds no documents.
    ToolResult,
    /// An action of earlier work.
    Memory,
    /// A question of the chat.
    Chat,
}

pub(crate) const WAYS: [Way; 5] =
    [Way::Document, Way::Payload, Way::ToolResult, Way::Memory, Way::Chat];

/// The texts.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Texts {
    pub(crate) attempts: Vec<String>,
    pub(crate) harmless: Vec<String>,
}

impl Texts {
    pub(crate) fn read() -> Self {
        toml::from_str(include_str!("../../../../tests/model/attempts.toml")).expect("texts")
    }

    /// Each attempt on each way, in a stride through the list, so that a part of it has all ways,
    /// both languages and all kinds of texts.
    pub(crate) fn all(&self) -> Vec<(Way, &str)> {
        const STRIDE: usize = 41;
        let all: Vec<(Way, &str)> =
            self.attempts.iter().flat_map(|text| WAYS.map(|way| (way, text.as_str()))).collect();
        (0..all.len()).map(|at| all[at * STRIDE % all.len()]).collect()
    }
}

/// The longest run of letters, digits and spaces of a text: it has no character that JSON or a mark
/// of data spells differently.
pub(crate) fn core_of(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || c == ' ';
    // what looks like a key is left out on purpose
    let runs = text.split(|c: char| !is_part(c)).map(str::trim).filter(|run| run.len() < 150);
    let is_key = |run: &&str| !run.contains(' ') && run.len() >= 32;
    runs.filter(|run| !is_key(run)).max_by_key(|run| run.len()).unwrap_or_default()
}

#[test]
fn the_attempts_are_a_hundred_and_fifty_in_two_languages() {
    let texts = Texts::read();
    assert_eq!((texts.all().len(), texts.harmless.len()), (150, 30));
    let is_korean = |text: &&String| text.chars().any(|c| ('가'..='힣').contains(&c));
    assert_eq!(texts.attempts.iter().filter(is_korean).count(), 15);
    assert_eq!(texts.harmless.iter().filter(is_korean).count(), 15);
    let distinct: std::collections::BTreeSet<String> =
        texts.all().iter().map(|one| format!("{one:?}")).collect();
    assert_eq!(distinct.len(), 150, "the stride makes each attempt once");
    let part = &texts.all()[..20];
    assert!(WAYS.iter().all(|way| part.iter().any(|(on, _)| on == way)));
}
