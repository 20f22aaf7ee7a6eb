//! A name that nobody here knows, in a follow-up (`and the boiler?`, `보일러는?`) or in a question
//! about its state (`status of the boiler`, `보일러 상태`). Without it the figures of the machine that
//! was spoken of before, or the list of the plant, would answer for another one.

use super::naming::PROPOSED;
use super::{UnknownName, named_in};
use crate::chat::desk::CoreFields;
use crate::chat::intent::PLAIN_WORDS;
use crate::chat::{dates, intent, meanings, sites};

/// Begins of a follow-up that names something else.
const BEGINS: [&str; 12] = [
    "and the ",
    "and our ",
    "what about the ",
    "what about ",
    "how about the ",
    "how about ",
    "and ",
    "then ",
    "그럼 ",
    "그러면 ",
    "그리고 ",
    "혹시 ",
];
/// Particles behind what a Korean follow-up names.
const PARTICLES: [&str; 6] = ["은요", "는요", "도요", "은", "는", "도"];
/// Words that name nothing by themselves.
const POINTING: [&str; 33] = [
    "나", "너", "저", "그", "이", "이건", "그건", "저건", "이거", "그거", "저거", "걔", "얘", "쟤",
    "이것", "그것", "저것", "여기", "거기", "저기", "지금", "우리", "this", "that", "it", "he",
    "she", "other", "one", "you", "me", "rest", "now",
];
/// Likeness of two names from which on one is proposed for the other. Chosen: with less, machines
/// are proposed that have nothing of the name.
const ALIKE: f64 = 0.6;
/// Most words of a name.
const MOST_WORDS: usize = 3;

/// Begins of a question about a state, the longest first; `is` needs an end of [`STATE_ENDS`].
const STATE_BEGINS: [&str; 10] = [
    "what is the status of ",
    "what's the status of ",
    "what is the state of ",
    "tell me the status of ",
    "status of ",
    "state of ",
    "condition of ",
    "how is ",
    "how's ",
    "is ",
];
const ARTICLES: [&str; 4] = ["the ", "our ", "my ", "that "];
/// Ends of a question about a state.
const STATE_ENDS: [&str; 14] = [
    " today",
    " now",
    " doing",
    " status",
    " state",
    " condition",
    " ok",
    " okay",
    " fine",
    " alright",
    " all right",
    " healthy",
    " normal",
    " in good shape",
];
/// Begins of Korean words that ask for a state.
const STATE_STEMS: [&str; 9] =
    ["상태", "어때", "어떤", "어떻", "괜찮", "멀쩡", "정상", "현황", "컨디션"];
/// Begins of Korean words behind these.
const STATE_TAILS: [&str; 12] =
    ["알려", "보여", "말해", "보고", "확인", "요약", "좀", "부탁", "해줘", "있", "없", "지금"];
/// The name, where a question asks for the state of something and nothing in it is known.
pub(super) fn strange_in_state(message: &str, fleet: &[CoreFields]) -> Option<UnknownName> {
    let lower = message.trim().trim_end_matches(['?', '!', '.', '~', ' ']).to_lowercase();
    let name = if lower.is_ascii() { english_subject(&lower)? } else { korean_subject(&lower)? };
    let is_of_all = name.split_whitespace().any(|word| is_general(without_particle(word)));
    if is_of_all || !is_name(&name) || names_known(&name, fleet) || !intent::asks_state(message) {
        return None;
    }
    Some(UnknownName { near: near_words(&name, fleet), name })
}

/// `boiler` of `how is the boiler doing`.
fn english_subject(lower: &str) -> Option<String> {
    let begin = STATE_BEGINS.iter().find(|begin| lower.starts_with(**begin)).copied();
    let mut rest = begin.map_or(lower, |begin| &lower[begin.len()..]);
    let mut ends = 0;
    while let Some(shorter) = STATE_ENDS.iter().find_map(|end| rest.strip_suffix(end)) {
        rest = shorter.trim_end();
        ends += 1;
    }
    let asks = begin.is_some_and(|begin| begin != "is ") || ends > 0;
    let rest = ARTICLES.iter().find_map(|article| rest.strip_prefix(article)).unwrap_or(rest);
    asks.then(|| rest.to_owned())
}

/// `보일러` of `보일러 상태 좀 알려줘`.
fn korean_subject(lower: &str) -> Option<String> {
    let words: Vec<&str> = lower.split_whitespace().collect();
    let begins = |word: &str, with: &[&str]| with.iter().any(|begin| word.starts_with(begin));
    let at = words.iter().position(|word| begins(word, &STATE_STEMS))?;
    let behind = &words[at + 1..];
    let is_end = behind.iter().all(|word| begins(word, &STATE_STEMS) || begins(word, &STATE_TAILS));
    let (last, before) = words[..at].split_last()?;
    let name: Vec<&str> = before.iter().copied().chain([without_particle(last)]).collect();
    is_end.then(|| name.join(" "))
}

/// A Korean word without the particle that stands behind a subject.
fn without_particle(word: &str) -> &str {
    let stem = ["은", "는", "이", "가", "도", "의"].iter().find_map(|end| word.strip_suffix(end));
    stem.filter(|stem| stem.chars().count() > 1).unwrap_or(word)
}

/// Whether a word is of what is said of the whole plant, of the programs, or of any machine.
fn is_general(word: &str) -> bool {
    intent::QUESTION_WORDS.general_names.iter().any(|general| general == word)
}

/// Whether a text can be the name of something: a few words of letters.
fn is_name(name: &str) -> bool {
    let words = name.split_whitespace().count();
    (1..=MOST_WORDS).contains(&words)
        && name.chars().count() > 1
        && name.chars().all(|c| c.is_alphabetic() || c == ' ' || c == '-')
        && !name.split_whitespace().all(|word| POINTING.contains(&word))
}

/// The name, where a short follow-up names something and nothing in it is known.
pub(super) fn strange_name(message: &str, fleet: &[CoreFields]) -> Option<UnknownName> {
    let lower = message.trim().trim_end_matches(['?', '!', '.', '~', ' ']).to_lowercase();
    let begin = BEGINS.iter().find(|begin| lower.starts_with(**begin));
    let rest = begin.map_or(lower.as_str(), |begin| &lower[begin.len()..]).trim();
    let particle = PARTICLES.iter().find_map(|particle| rest.strip_suffix(particle));
    // an English one is known by its begin, a Korean one by its particle
    let is_follow_up = particle.is_some() || begin.is_some() && rest.is_ascii();
    let name = particle.unwrap_or(rest).trim();
    if !is_follow_up
        || !is_name(name)
        || is_known(name, fleet)
        || is_machine_part(name)
        || is_end(name)
    {
        return None;
    }
    Some(UnknownName { name: name.to_owned(), near: near_words(name, fleet) })
}

/// Whether a name is that of an end which any machine has: `and the NDE?`
fn is_end(name: &str) -> bool {
    ["de", "nde"].contains(&name)
}

/// Whether a name is that of a part which any machine has: `the cams`, `씰`.
fn is_machine_part(name: &str) -> bool {
    let last = name.split_whitespace().next_back().unwrap_or_default();
    let singular = last.strip_suffix("es").into_iter().chain(last.strip_suffix('s')).chain([last]);
    let parts = &PLAIN_WORDS.machine_parts;
    singular.into_iter().any(|word| parts.iter().any(|part| part == word))
}

/// Whether a short message asks for a part in a follow-up and names nothing else: `and the seals?`,
/// `그럼 씰은?`
pub(in crate::chat) fn asks_machine_part(message: &str) -> bool {
    let lower = message.trim().trim_end_matches(['?', '!', '.', '~', ' ']).to_lowercase();
    let begin = BEGINS.iter().find(|begin| lower.starts_with(**begin));
    let rest = begin.map_or(lower.as_str(), |begin| &lower[begin.len()..]).trim();
    let particle = PARTICLES.iter().find_map(|particle| rest.strip_suffix(particle));
    let is_follow_up = particle.is_some() || begin.is_some() && rest.is_ascii();
    let name = particle.unwrap_or(rest).trim();
    let name = ARTICLES.iter().find_map(|article| name.strip_prefix(article)).unwrap_or(name);
    is_follow_up && is_name(name) && is_machine_part(name)
}

/// The machines that are proposed for words that nobody knows: those that have one of the words,
/// and those whose names are written nearly so. A machine that has neither is none that was meant.
fn near_words(name: &str, fleet: &[CoreFields]) -> Vec<String> {
    let mut found: Vec<(bool, &str)> = Vec::new();
    for core in fleet {
        let id = core.key.equipment.as_str();
        let called = core.machine_name.iter().flat_map(|name| [name.ko.as_str(), name.en.as_str()]);
        let names: Vec<String> = called.chain([id]).map(str::to_lowercase).collect();
        let has_word = name
            .split_whitespace()
            .any(|word| names.iter().any(|name| name.split_whitespace().any(|one| one == word)));
        let is_alike =
            names.iter().any(|one| strsim::normalized_damerau_levenshtein(one, name) >= ALIKE);
        if (has_word || is_alike) && found.iter().all(|(_, known)| *known != id) {
            found.push((!has_word, id));
        }
    }
    found.sort_by_key(|(is_other, _)| *is_other);
    found.into_iter().take(PROPOSED).map(|(_, id)| id.to_owned()).collect()
}

/// Whether a name is that of a machine or a site, a word of questions, a day, or a term of the
/// field.
fn is_known(name: &str, fleet: &[CoreFields]) -> bool {
    names_known(name, fleet) || intent::is_of_questions(name)
}

/// Whether a name is that of a machine, a site, a day, or a term of the field.
fn names_known(name: &str, fleet: &[CoreFields]) -> bool {
    let named = named_in(name, fleet);
    let of_sites = sites::named_in(name, fleet);
    !named.keys.is_empty()
        || !named.unknown.is_empty()
        || !of_sites.known.is_empty()
        || !of_sites.unknown.is_empty()
        || dates::names_day(name)
        || meanings::named_in(name).is_some()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pdm_service::config;
    use serde_json::Value;

    use super::*;

    fn name(message: &str) -> Option<String> {
        strange_in_state(message, &[]).map(|unknown| unknown.name)
    }

    #[test]
    fn what_a_question_asks_the_state_of_is_named() {
        for (message, told) in [
            ("보일러 상태", "보일러"),
            ("보일러는 어때?", "보일러"),
            ("보일러 상태 좀 알려줘", "보일러"),
            ("폐수 처리기 괜찮아?", "폐수 처리기"),
            ("status of the boiler", "boiler"),
            ("How is the condensate tank doing?", "condensate tank"),
            ("is our chiller ok?", "chiller"),
            ("boiler status", "boiler"),
        ] {
            assert_eq!(name(message).as_deref(), Some(told), "{message}");
        }
    }

    #[test]
    fn a_question_about_the_whole_plant_names_nothing_that_is_unknown() {
        for message in [
            "상태 어때?",
            "지금 상태",
            "공장 상태는?",
            "전체 현황 알려줘",
            "그거 괜찮아?",
            "how is the plant doing?",
            "is everything ok?",
            "is it normal",
            "status",
            "system status",
            "how is it today?",
        ] {
            assert_eq!(name(message), None, "{message}");
        }
    }

    /// The authors of these questions knew nothing of this rule.
    #[test]
    fn no_question_that_its_author_says_is_about_the_plant_names_something_unknown() {
        let mut named = Vec::new();
        for text in [
            include_str!("../../../../../config/words/asked/author_1.toml"),
            include_str!("../../../../../config/words/asked/author_2.toml"),
            include_str!("../../../../../config/words/asked/author_3.toml"),
        ] {
            let asked: Value = config::parse(Path::new("asked"), text).expect("shipped");
            let kinds = asked.as_object().expect("kinds").iter();
            // what is on no record may be named as unknown: "how's the weather doing"
            for (_, questions) in kinds.filter(|(kind, _)| *kind != "none") {
                let all = questions["all"].as_array().into_iter().flatten();
                let before = questions["before"].as_array().into_iter().flatten();
                let texts = all.chain(before).filter_map(Value::as_str);
                named.extend(texts.filter_map(|text| Some((text.to_owned(), name(text)?))));
            }
        }
        assert!(named.is_empty(), "{named:#?}");
    }
}
