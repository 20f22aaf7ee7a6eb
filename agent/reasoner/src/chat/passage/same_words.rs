//! Words of one meaning in both languages: the concepts of the field with how people say them, and
//! the words of house rules and of everyday speech (`config/words/`). A manual in one language
//! answers a question in the other by them.
//!
//! Lists, and no vectors of words: those of multilingual-e5-small, one a word, with soft alignment,
//! put the right piece first for 11 to 13 of 20 questions in other words than the documents, the
//! same word alone for 13, the whole model (72 MB, four bits) for 8 to 11.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use pdm_service::config;
use serde::Deserialize;

use crate::chat::intent::QUESTION_WORDS;

/// The words of one meaning as the files have them.
#[derive(Debug, Deserialize)]
struct Named {
    /// The concept.
    #[serde(alias = "concept")]
    name: String,
    #[serde(default)]
    ko: Vec<String>,
    #[serde(default)]
    en: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct WordsFile {
    #[serde(alias = "concept", alias = "words", alias = "group")]
    words: Vec<Named>,
}

const FILES: [(&str, &str); 5] = [
    ("concepts.toml", include_str!("../../../../../config/words/concepts.toml")),
    ("everyday.toml", include_str!("../../../../../config/words/everyday.toml")),
    ("jargon.toml", include_str!("../../../../../config/words/jargon.toml")),
    ("house_rules.toml", include_str!("../../../../../config/words/house_rules.toml")),
    ("spoken.toml", include_str!("../../../../../config/words/spoken.toml")),
];

/// Groups of words of one meaning, in lower case.
static GROUPS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, text) in FILES {
        let file: WordsFile =
            config::parse(Path::new(name), text).expect("a test reads the shipped files");
        for named in file.words {
            let words = named.ko.into_iter().chain(named.en);
            all.entry(named.name).or_default().extend(words.map(|word| word.to_lowercase()));
        }
    }
    all.into_values().chain(QUESTION_WORDS.passages.same.iter().cloned()).collect()
});

/// The groups that have a word: a Korean one that begins as one of the group does, a Latin one that
/// is one of it.
pub(super) fn groups_of(word: &str) -> impl Iterator<Item = &'static Vec<String>> {
    let is_it = move |one: &&String| {
        if one.is_ascii() { is_form_of(word, one) } else { word.starts_with(one.as_str()) }
    };
    GROUPS.iter().filter(move |group| group.iter().any(|one| is_it(&one)))
}

/// The entries of the groups that are of several words (`lead time`, `떼어 내`), the longest first.
pub(super) fn phrases() -> impl Iterator<Item = &'static str> {
    PHRASES.iter().copied()
}

static PHRASES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let words = GROUPS.iter().flatten().map(String::as_str);
    let mut all: Vec<&str> = words.filter(|one| one.contains(' ')).collect();
    all.sort_unstable_by_key(|phrase| (std::cmp::Reverse(phrase.len()), *phrase));
    all.dedup();
    all
});

/// Whether a Latin word is a form of another: its plural, or a form of a verb.
fn is_form_of(word: &str, one: &str) -> bool {
    let rest = word.strip_prefix(one).or_else(|| word.strip_prefix(one.trim_end_matches('e')));
    one.len() > 2 && rest.is_some_and(|rest| ["", "s", "es", "d", "ed", "ing"].contains(&rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_both_languages_stand_in_one_group() {
        let same = |a: &str, b: &str| groups_of(a).any(|group| group.iter().any(|one| one == b));
        assert!(same("외륜이", "outer race"));
        assert!(same("greases", "그리스") || same("grease", "그리스"));
        assert!(same("lids", "덮개"));
        assert!(!same("pump", "그리스"));
    }
}
