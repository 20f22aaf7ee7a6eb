//! Endings, stop words and common words of Korean and English, from `config/words/grammar.toml`.

use std::collections::HashSet;
use std::path::Path;
use std::sync::LazyLock;

use pdm_service::config;
use serde::Deserialize;

/// Whether the text is a Korean particle or ending.
pub(super) fn is_ending(run: &str) -> bool {
    GRAMMAR.endings.iter().any(|ending| ending == run)
}

/// Whether a word carries no information about the question.
pub(super) fn is_stop(word: &str) -> bool {
    GRAMMAR.stops.contains(word)
}

/// Whether a word only carries the question: it does not tell what is asked for, and stays in the
/// keywords for the sake of stored passages.
pub(super) fn is_filler(word: &str) -> bool {
    GRAMMAR.fillers.contains(word)
}

/// Whether `word` (in lower case, without its ending) is one that any talk is full of: it stays a
/// keyword of the search, and the relevance gives it less weight.
pub(crate) fn is_common(word: &str) -> bool {
    GRAMMAR.common.contains(word)
}

/// An English word without plural and tense endings; words with digits stay.
pub(super) fn stem(word: &str) -> &str {
    if !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return word;
    }
    let kept = |ending: &str| word.strip_suffix(ending).filter(|rest| rest.len() >= 4);
    kept("ing")
        .or_else(|| kept("ed"))
        .or_else(|| kept("es"))
        .or_else(|| {
            let plural = word.len() > 3 && !word.ends_with("ss") && !word.ends_with("is");
            word.strip_suffix('s').filter(|_| plural)
        })
        .or_else(|| kept("e"))
        .unwrap_or(word)
}

/// Removes one particle or ending if at least two syllables are left.
pub(super) fn without_particle(run: &str) -> &str {
    if run.chars().next_back().is_none_or(|last| !GRAMMAR.last_of_endings.contains(&last)) {
        return run;
    }
    let endings = GRAMMAR.endings.iter();
    endings
        .filter_map(|ending| run.strip_suffix(ending.as_str()))
        .find(|stem| stem.chars().count() >= 2)
        .unwrap_or(run)
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GrammarFile {
    endings: Vec<String>,
    stop_ko: Vec<String>,
    stop_en: Vec<String>,
    fillers: Vec<String>,
    common_en: Vec<String>,
    common_ko: Vec<String>,
}

/// The lists as they are asked.
struct Grammar {
    /// Particles and endings, longest first.
    endings: Vec<String>,
    /// Last syllables of the endings: most words end in none of them, and need no comparison with
    /// all endings.
    last_of_endings: HashSet<char>,
    stops: HashSet<String>,
    fillers: HashSet<String>,
    common: HashSet<String>,
}

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let text = include_str!("../../../../config/words/grammar.toml");
    let file: GrammarFile =
        config::parse(Path::new("grammar.toml"), text).expect("a test reads the shipped file");
    Grammar {
        last_of_endings: file.endings.iter().filter_map(|e| e.chars().next_back()).collect(),
        endings: file.endings,
        stops: file.stop_ko.into_iter().chain(file.stop_en).collect(),
        fillers: file.fillers.into_iter().collect(),
        common: file
            .common_en
            .iter()
            .map(|word| stem(word).to_owned())
            .chain(file.common_ko)
            .collect(),
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_are_known_by_their_stem_and_things_are_not_among_them() {
        assert!(["use", "happen", "usually", "그때", "처음"].into_iter().map(stem).all(is_common));
        assert!(!["gasket", "hardness", "씰", "베어링"].into_iter().map(stem).any(is_common));
    }
}
