//! What words of the field mean (`config/words/meanings.toml`).

use std::path::Path;
use std::sync::LazyLock;

use pdm_service::config;
use pdm_shared::text::Text;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MeaningsFile {
    meaning: Vec<Meaning>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Meaning {
    words: Vec<String>,
    ko: String,
    en: String,
}

static MEANINGS: LazyLock<MeaningsFile> = LazyLock::new(|| {
    let text = include_str!("../../../../config/words/meanings.toml");
    config::parse(Path::new("meanings.toml"), text).expect("tests read the shipped file")
});

/// The meaning of the longest known word of a text in lower case.
pub(super) fn named_in(text: &str) -> Option<Text> {
    let is_there = |word: &str| {
        text.match_indices(word).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + word.len()..].chars().next();
            let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
            !word.is_ascii() || (!is_part(before) && (!is_part(after) || after == Some('s')))
        })
    };
    let all = MEANINGS.meaning.iter().flat_map(|one| one.words.iter().map(move |word| (word, one)));
    let found = all.filter(|(word, _)| is_there(word)).max_by_key(|(word, _)| word.len());
    found.map(|(_, one)| Text::new(one.ko.clone(), one.en.clone()))
}
