//! Questions that no level of vibration answers: whether a person may reach, enter, clean or
//! bypass, whether a machine may run faster or under more load, and what comes first in an act that
//! opens or enters a machine. The plant's documents answer these, and where none does, its safety
//! rules.

use super::super::words::{QUESTION_WORDS, has};
use super::{PLAIN_WORDS, is_replacement};
use crate::chat::intent::Lookup;

/// What such a clause asks for; the level is told beside it where a machine is meant, and permits
/// nothing.
pub(super) fn asked_of_safety(text: &str, is_about_one: bool) -> Option<Vec<Lookup>> {
    if asks_act_first(text) {
        return Some(vec![Lookup::Manual]);
    }
    let stop = is_about_one.then_some(Lookup::Stop);
    (asks_of_body(text) || asks_harder(text))
        .then(|| std::iter::once(Lookup::Manual).chain(stop).collect())
}

/// Whether a text in lower case asks whether a person may do something at a machine that may hurt.
pub(super) fn asks_of_body(text: &str) -> bool {
    let words = &*PLAIN_WORDS;
    (has(text, &words.permission) || has(text, &words.risky))
        && has(text, &words.body)
        && !has(text, &words.no_body)
}

/// Whether a text in lower case asks whether a machine may run faster or under more load, or how
/// fast it may.
pub(super) fn asks_harder(text: &str) -> bool {
    let words = &*PLAIN_WORDS;
    let may = has(text, &words.permission) || has(text, &words.risky);
    may && has(text, &words.harder) || has(text, &words.speed_limits)
}

/// Whether a text in lower case asks what comes first, or how, in an act that opens, enters or
/// takes apart.
pub(super) fn asks_act_first(text: &str) -> bool {
    let words = &*PLAIN_WORDS;
    has(text, &words.hand_acts)
        && has(text, &words.act_order)
        && !has(text, &words.no_hand_acts)
        && !is_replacement(text)
        && !has(text, &QUESTION_WORDS.act)
}
