//! The meanings of the words of the field (`config/words/meanings.toml`).

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

/// Most meanings of one answer.
const MOST: usize = 3;

/// The words whose meanings are known.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    MEANINGS.meaning.iter().flat_map(|one| &one.words).map(String::as_str)
}

/// The meanings of the known words of a text in lower case, the longest word first; words within
/// one that is told are left out.
pub(super) fn named_in(text: &str) -> Option<Text> {
    let place = |word: &str| {
        text.match_indices(word).map(|(at, _)| at).find(|at| {
            let before = text[..*at].chars().next_back();
            let after = text[at + word.len()..].chars().next();
            let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
            !word.is_ascii() || (!is_part(before) && (!is_part(after) || after == Some('s')))
        })
    };
    let all = MEANINGS.meaning.iter().flat_map(|one| one.words.iter().map(move |word| (word, one)));
    let mut found: Vec<(usize, usize, &Meaning)> =
        all.filter_map(|(word, one)| Some((place(word)?, word.len(), one))).collect();
    found.sort_by_key(|(_, length, _)| std::cmp::Reverse(*length));
    let mut told: Vec<(usize, usize, &Meaning)> = Vec::new();
    for (at, length, one) in found {
        let is_new = told.iter().all(|(from, long, known)| {
            !std::ptr::eq(*known, one) && (at + length <= *from || *from + *long <= at)
        });
        if is_new && told.len() < MOST {
            told.push((at, length, one));
        }
    }
    let joined = |of: fn(&Meaning) -> &String| {
        told.iter().map(|(_, _, one)| of(one).as_str()).collect::<Vec<_>>().join("\n")
    };
    (!told.is_empty()).then(|| Text::new(joined(|one| &one.ko), joined(|one| &one.en)))
}
