//! A name in a follow-up that nobody here knows: `and the boiler?`, `보일러는?`. Without it the figures of the machine
//! that was spoken of before would answer for another one.

use super::naming::near;
use super::{UnknownName, named_in};
use crate::chat::desk::CoreFields;
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
/// Most words of a name.
const MOST_WORDS: usize = 3;

/// The name, where a short follow-up names something and nothing in it is known.
pub(super) fn strange_name(message: &str, fleet: &[CoreFields]) -> Option<UnknownName> {
    let lower = message.trim().trim_end_matches(['?', '!', '.', '~', ' ']).to_lowercase();
    let begin = BEGINS.iter().find(|begin| lower.starts_with(**begin));
    let rest = begin.map_or(lower.as_str(), |begin| &lower[begin.len()..]).trim();
    let particle = PARTICLES.iter().find_map(|particle| rest.strip_suffix(particle));
    // an English one is known by its begin, a Korean one by its particle
    let is_follow_up = particle.is_some() || begin.is_some() && rest.is_ascii();
    let name = particle.unwrap_or(rest).trim();
    let words = name.split_whitespace().count();
    let is_name = (1..=MOST_WORDS).contains(&words)
        && name.chars().count() > 1
        && name.chars().all(|c| c.is_alphabetic() || c == ' ' || c == '-')
        && !name.split_whitespace().all(|word| POINTING.contains(&word));
    if !is_follow_up || !is_name || is_known(name, fleet) {
        return None;
    }
    Some(UnknownName { name: name.to_owned(), near: near(name, fleet) })
}

/// Whether a name is that of a machine or a site, a word of questions, a day, or a term of the field.
fn is_known(name: &str, fleet: &[CoreFields]) -> bool {
    let named = named_in(name, fleet);
    let of_sites = sites::named_in(name, fleet);
    !named.keys.is_empty()
        || !named.unknown.is_empty()
        || !of_sites.known.is_empty()
        || !of_sites.unknown.is_empty()
        || dates::names_day(name)
        || meanings::named_in(name).is_some()
        || intent::is_of_questions(name)
}
