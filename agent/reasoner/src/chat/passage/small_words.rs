//! Words that say nothing of what is asked for, and ends of verbs (`config/words/grammar.toml`,
//! `house_rules.toml`).

use std::collections::HashSet;
use std::path::Path;
use std::sync::LazyLock;

use pdm_service::config;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Grammar {
    stop_ko: Vec<String>,
    stop_en: Vec<String>,
    fillers: Vec<String>,
    common_en: Vec<String>,
    common_ko: Vec<String>,
}

/// The words of questions beside them.
#[derive(Debug, Deserialize)]
struct Questions {
    small: Vec<String>,
    verb_ends: Vec<String>,
    strokes: Vec<String>,
    quantities: Vec<String>,
}

static QUESTIONS: LazyLock<Questions> = LazyLock::new(|| {
    let text = include_str!("../../../../../config/words/house_rules.toml");
    config::parse(Path::new("house_rules.toml"), text).expect("a test reads the shipped file")
});

/// Words by which a question asks for a figure.
pub(super) static QUANTITY_WORDS: LazyLock<Vec<String>> =
    LazyLock::new(|| QUESTIONS.quantities.clone());

static SMALL: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let text = include_str!("../../../../../config/words/grammar.toml");
    let file: Grammar =
        config::parse(Path::new("grammar.toml"), text).expect("a test reads the shipped file");
    [
        QUESTIONS.small.clone(),
        file.stop_ko,
        file.stop_en,
        file.fillers,
        file.common_en,
        file.common_ko,
    ]
    .concat()
    .into_iter()
    .collect()
});

/// Whether a word in lower case carries no information of what a question is about.
pub(super) fn is_small(word: &str) -> bool {
    SMALL.contains(word)
}

/// Whether a Korean word ends as a form of a verb or of "is" does.
pub(super) fn ends_as_verb(word: &str) -> bool {
    QUESTIONS.verb_ends.iter().any(|end| word.ends_with(end.as_str()))
}

/// Whether a text in lower case counts the strokes of a grease gun: its "pumps" are no machines.
pub(super) fn counts_strokes(text: &str) -> bool {
    QUESTIONS.strokes.iter().any(|word| text.contains(word.as_str()))
}
