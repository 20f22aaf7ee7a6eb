//! Words that say nothing of what is asked for (`config/words/grammar.toml`).

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

/// The words of questions beside them (`config/words/house_rules.toml`).
#[derive(Debug, Deserialize)]
struct Questions {
    small: Vec<String>,
}

static SMALL: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let text = include_str!("../../../../../config/words/grammar.toml");
    let file: Grammar =
        config::parse(Path::new("grammar.toml"), text).expect("a test reads the shipped file");
    let text = include_str!("../../../../../config/words/house_rules.toml");
    let questions: Questions =
        config::parse(Path::new("house_rules.toml"), text).expect("a test reads the shipped file");
    [questions.small, file.stop_ko, file.stop_en, file.fillers, file.common_en, file.common_ko]
        .concat()
        .into_iter()
        .collect()
});

/// Whether a word in lower case carries no information of what a question is about.
pub(super) fn is_small(word: &str) -> bool {
    SMALL.contains(word)
}
