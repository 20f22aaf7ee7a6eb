//! A question as it is read: in its own language, ids as they are spoken as the ids, and slips of
//! typing in English words, where a word that nobody knows and that is one letter off a known one
//! is read as that one. The answer says so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use pdm_shared::text::Language;

use super::desk::CoreFields;
use super::entities::{nicknames, spelled};
use super::intent::{QUESTION_WORDS, asked_words, listed_words};
use super::{Question, language, meanings};

/// Shortest word in which a slip is looked for, letters. Chosen: of shorter ones too many are one
/// letter apart.
const SHORTEST: usize = 5;
/// Words of this length and above may have two slips, where begin and end are right.
const LONG: usize = 9;
/// Letters at the begin and at the end of a long word with two slips that are right.
const ENDS: usize = 3;
/// A word that authors of questions wrote so often is no slip. Chosen: one who slips does not
/// repeat the slip.
const OFTEN: usize = 2;
/// Endings of a known word.
const ENDINGS: [&str; 9] = ["s", "es", "ed", "d", "ing", "er", "ers", "ly", "y"];

/// Words that questions are understood by.
static TARGETS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let listed = listed_words().chain(meanings::words());
    listed.flat_map(words).filter(|word| word.len() >= SHORTEST).collect()
});

/// Files of words, and words that are nearer to a word of questions than to what they mean.
const OTHER_WORDS: [&str; 6] = [
    include_str!("../../../../config/words/grammar.toml"),
    include_str!("../../../../config/words/everyday.toml"),
    include_str!("../../../../config/words/concepts.toml"),
    include_str!("../../../../config/words/jargon.toml"),
    include_str!("../../../../config/words/topics.toml"),
    "valve valves space spaces plane planes president witch beating beaten mixed charge charges \
     qualify stack stacks price prize party grass shirt bleed brine crane drain frame flare panel \
     pipe plate probe purge scale shaft shelf sleeve slurry smell smoke spray steel strap strip \
     tower truck track trailer water wheel winch louder counting weather leather feather lather \
     rather father whether either neither bolt bolts belt belts melt",
];

/// Words that are no slips.
static KNOWN: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for word in asked_words().filter(|word| word.is_ascii() && word.len() >= SHORTEST - 1) {
        *counts.entry(word.to_lowercase()).or_default() += 1;
    }
    let often = counts.into_iter().filter(|(_, count)| *count >= OFTEN).map(|(word, _)| word);
    let listed = listed_words().chain(meanings::words()).chain(OTHER_WORDS).flat_map(words);
    let qualifiers = QUESTION_WORDS.qualifiers.iter().flat_map(|word| words(word));
    let listed = listed.chain(qualifiers).map(str::to_lowercase);
    often.chain(listed).collect()
});

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty())
}

/// A word as it was written and as it is read.
pub(super) type Slip = (String, String);

/// A question in its own language; where no model reads it, with spoken ids and slips of typing as
/// they are read.
pub(super) fn read_question(
    question: &Question,
    fleet: &[CoreFields],
    has_model: bool,
) -> (Question, Vec<Slip>) {
    let mut question = language::in_own_language(question, fleet);
    let mut read = Vec::new();
    if has_model {
        return (question, read);
    }
    for reading in [nicknames::respelled, nicknames::with_kinds, spelled::with_ids, read_slips] {
        if let Some((message, slips)) = reading(&question.message, fleet) {
            question.message = message;
            read.extend(slips);
        }
    }
    (question, read)
}

/// Mends the slips of a message. Returns the message, and the slips; `None` where it has none.
fn read_slips(message: &str, fleet: &[CoreFields]) -> Option<(String, Vec<Slip>)> {
    let names: BTreeSet<String> = fleet
        .iter()
        .flat_map(|core| {
            let called =
                core.machine_name.iter().flat_map(|name| [name.ko.clone(), name.en.clone()]);
            let key = &core.key;
            called.chain([key.equipment.to_string(), key.site.to_string()])
        })
        .flat_map(|name| words(&name.to_lowercase()).map(str::to_owned).collect::<Vec<String>>())
        .collect();
    let mut mended = String::with_capacity(message.len());
    let mut slips: Vec<Slip> = Vec::new();
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '.' | '\'');
    let mut rest = message;
    while let Some(begin) = rest.find(is_part) {
        let end = rest[begin..].find(|c| !is_part(c)).map_or(rest.len(), |length| begin + length);
        mended.push_str(&rest[..begin]);
        let word = &rest[begin..end];
        match meant(word, &names) {
            Some(known) => {
                mended.push_str(&known);
                slips.push((word.to_owned(), known));
            }
            None => mended.push_str(word),
        }
        rest = &rest[end..];
    }
    mended.push_str(rest);
    (!slips.is_empty()).then_some((mended, slips))
}

/// Returns the known word that a word is one slip away from; `None` where it is known, is no plain
/// word, or is as near to several.
fn meant(word: &str, names: &BTreeSet<String>) -> Option<String> {
    let is_plain = word.len() >= SHORTEST
        && word.chars().all(|c| c.is_ascii_alphabetic())
        && word.chars().skip(1).all(|c| c.is_ascii_lowercase());
    if !is_plain {
        return None;
    }
    let lower = word.to_lowercase();
    let is_known = |word: &str| KNOWN.contains(word) || names.contains(word);
    let stems = ENDINGS.iter().filter_map(|ending| lower.strip_suffix(ending));
    let mut forms = stems.flat_map(|stem| [stem.to_owned(), format!("{stem}e")]);
    // the lists have begins of words (`snooz`), and words whose begin a word may be (`covers`)
    let is_begin = |target: &&str| lower.starts_with(*target) || target.starts_with(lower.as_str());
    let is_form = forms.any(|form| is_known(&form)) || TARGETS.iter().any(is_begin);
    if is_known(&lower) || is_form {
        return None;
    }
    let of_names = names.iter().map(String::as_str).filter(|name| name.len() >= SHORTEST);
    let near: BTreeSet<&str> =
        TARGETS.iter().copied().chain(of_names).filter(|target| is_slip(&lower, target)).collect();
    // forms of one word are one: `vibration` and `vibrations`
    let first = near.iter().min_by_key(|target| target.len())?;
    near.iter().all(|target| target.starts_with(first)).then(|| (*first).to_owned())
}

/// Whether a word is a target with one slip, or a long one with two between its right begin and
/// end.
fn is_slip(word: &str, target: &str) -> bool {
    if word.as_bytes()[0] != target.as_bytes()[0] {
        return false;
    }
    let far = strsim::damerau_levenshtein(word, target);
    let is_long = word.len() >= LONG && target.len() >= LONG;
    far == 1
        || far == 2
            && is_long
            && word[..ENDS] == target[..ENDS]
            && word[word.len() - ENDS..] == target[target.len() - ENDS..]
}

/// Says how slips were read.
pub(super) fn in_words(slips: &[Slip], language: Language) -> Option<String> {
    let told: Vec<String> = slips.iter().map(|(word, known)| format!("{word} → {known}")).collect();
    let told = told.join(", ");
    (!slips.is_empty()).then(|| match language {
        Language::Ko => format!("(이렇게 읽은 말: {told})"),
        Language::En => format!("(Read as: {told})"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(message: &str) -> Option<String> {
        read_slips(message, &[]).map(|(message, _)| message)
    }

    #[test]
    fn a_word_that_is_one_letter_off_a_known_one_is_read_as_that() {
        for (message, read) in [
            ("the temprature of K-7", "the temperature of K-7"),
            ("any alamr on the compresor?", "any alarm on the compressor?"),
            ("kurtsis of it", "kurtosis of it"),
            ("Whats the vibraiton", "Whats the vibration"),
        ] {
            assert_eq!(told(message).as_deref(), Some(read), "{message}");
        }
    }

    #[test]
    fn words_names_and_codes_stay_as_they_are() {
        for message in [
            "which bearings are worst",
            "is the bolier-3 ok",
            "compressed air leaks",
            "what happened at Gwangju",
            "greased yesterday by Weber",
            "진동 vibration 상태",
        ] {
            assert_eq!(told(message), None, "{message}");
        }
    }

    /// The authors of these questions knew nothing of this reading.
    #[test]
    fn few_words_of_questions_are_taken_for_slips() {
        let mut found: BTreeSet<Slip> = BTreeSet::new();
        let mut count = 0;
        for word in asked_words().filter(|word| word.is_ascii() && word.len() >= SHORTEST) {
            count += 1;
            found.extend(meant(word, &BTreeSet::new()).map(|known| (word.to_owned(), known)));
        }
        println!("{} of {count}: {found:?}", found.len());
        assert!(found.len() * 50 < count, "{found:?}");
    }
}
