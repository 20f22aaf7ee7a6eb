//! Sites by what people call them (`brewery`, `맥주공장`), where the configuration names them so.

use pdm_shared::text::Text;

use super::{is_behind_town, named_in};
use crate::chat::desk::CoreFields;
use crate::chat::intent::QUESTION_WORDS;

/// Words of sites' names that say which one it is nowhere.
const GENERAL: [&str; 13] = [
    "plant",
    "site",
    "factory",
    "works",
    "the",
    "of",
    "and",
    "co",
    "line",
    "공장",
    "사업장",
    "현장",
    "제1공장",
];

/// A message with the ids of sites in the place of words of their names, and each as it was written
/// and read; nothing where it has none, or names its sites by their ids. A word that two sites
/// have, or a machine, says nothing.
pub(in crate::chat) fn with_ids(
    message: &str,
    names: &[(&str, Text)],
    fleet: &[CoreFields],
) -> Option<(String, Vec<(String, String)>)> {
    let (mut text, mut read) = (message.to_owned(), Vec::new());
    for (site, name) in names {
        if named_in(&text, fleet).known.iter().any(|known| known == site) {
            continue;
        }
        let words = words_of(name).into_iter().filter(|word| {
            let others = names.iter().filter(|(other, _)| other != site);
            others.into_iter().all(|(_, other)| !words_of(other).contains(word))
                && !is_of_machine(word, fleet)
        });
        let mut words: Vec<String> = words.collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let found = words.iter().find_map(|word| Some((place_of(&text, word)?, word.len())));
        if let Some((at, length)) = found {
            read.push((text[at..at + length].to_owned(), (*site).to_owned()));
            text.replace_range(at..at + length, site);
        }
    }
    (!read.is_empty()).then_some((text, read))
}

fn words_of(name: &Text) -> Vec<String> {
    let all = [&name.ko, &name.en].into_iter().flat_map(|name| name.split_whitespace());
    let words = all.map(str::to_lowercase);
    // people call `한빛병원` the 병원
    let words = words.flat_map(|word| {
        let is_compound = word.chars().count() > 3 && word.chars().all(|c| !c.is_ascii());
        let kind = is_compound
            .then(|| word.char_indices().rev().nth(1).map(|(at, _)| word[at..].to_owned()))
            .flatten();
        std::iter::once(word).chain(kind)
    });
    let is_long = |word: &String| word.chars().count() > if word.is_ascii() { 3 } else { 1 };
    words.filter(|word| is_long(word) && !GENERAL.contains(&word.as_str())).collect()
}

fn is_of_machine(word: &str, fleet: &[CoreFields]) -> bool {
    let is_kind = QUESTION_WORDS.machine_kinds.iter().any(|kind| kind == word);
    is_kind
        || fleet.iter().any(|core| {
            let called = core.machine_name.iter().flat_map(|name| [&name.ko, &name.en]);
            let mut names = called.map(|name| name.to_lowercase());
            names.any(|name| name.split_whitespace().any(|one| one == word))
        })
}

/// Where a word stands by itself: a Korean one with its particle.
fn place_of(text: &str, word: &str) -> Option<usize> {
    let lower = text.to_lowercase();
    if lower.len() != text.len() {
        return None;
    }
    lower.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = lower[..*at].chars().next_back();
        let rest = &lower[at + word.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let is_end = if word.is_ascii() {
            // the paper machine is one of the paper mill's machines
            !rest.starts_with(|c: char| c.is_ascii_alphanumeric()) && !rest.starts_with(" machine")
        } else {
            is_behind_town(&rest[..end])
        };
        !before.is_some_and(char::is_alphanumeric) && is_end
    })
}
