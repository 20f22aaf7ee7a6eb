//! Questions about one machine whose words are those of a commoner kind: how it runs now (`잘 돌고 있나`
//! is no stock), why nobody was told, when it comes back, what was found, when it is swapped, and
//! what the night did to it.

use super::super::words::{QUESTION_WORDS, has};
use super::PLAIN_WORDS;
use crate::chat::bare;
use crate::chat::intent::Lookup;

/// What a clause about one machine asks for.
pub(super) fn asked_of_one(
    clause: &str,
    text: &str,
    (names_bearing, is_about_one): (bool, bool),
) -> Option<Vec<Lookup>> {
    let words = &*PLAIN_WORDS;
    if asks_why_untold(text) {
        return Some(if is_about_one {
            vec![Lookup::Told, Lookup::Route, Lookup::Duty]
        } else {
            vec![Lookup::ToldOfAll, Lookup::Route, Lookup::Duty]
        });
    }
    if !is_about_one {
        return None;
    }
    let has_parts = has(text, &words.parts) || has(text, &words.stock_words);
    let is_past = has(text, &words.was);
    Some(match () {
        () if asks_back(text) => vec![Lookup::Shelf, Lookup::Work],
        () if has(text, &words.vanished) => vec![Lookup::Shelf, Lookup::State],
        () if has(text, &words.was_wrong) => vec![Lookup::Notes, Lookup::Past],
        () if has(text, &words.on_top) && !has_parts => vec![Lookup::State, Lookup::Work],
        () if !is_past && asks_swap(clause, text) => vec![Lookup::Work, Lookup::Life],
        () if names_bearing && has(text, &words.nights) && has(text, &words.worsened) => {
            vec![Lookup::Changes]
        }
        () if names_bearing
            && has(text, &words.nights)
            && has(text, &QUESTION_WORDS.news)
            && !has(text, &QUESTION_WORDS.why)
            && !has(text, &QUESTION_WORDS.told) =>
        {
            vec![Lookup::Past, Lookup::Told]
        }
        () => return doing(text, has_parts),
    })
}

/// What a clause about one machine asks for where its verb is of the present: who does something,
/// or how it runs.
fn doing(text: &str, has_parts: bool) -> Option<Vec<Lookup>> {
    let words = &*PLAIN_WORDS;
    let is_doing = has(text, &words.doing);
    let asks_who = ["누가", "누구", "who "].iter().any(|word| text.contains(word));
    let may = has(text, &words.permission);
    match () {
        () if has_parts || may || bare::asks_quantity(text) => None,
        () if is_doing && asks_who && has(text, &words.knowing) => Some(vec![Lookup::Told]),
        () if is_doing && asks_who => Some(vec![Lookup::Assigned]),
        () if has(text, &words.running_well) => Some(vec![Lookup::State]),
        () => None,
    }
}

/// Whether a clause in lower case asks why somebody was not told.
pub(in crate::chat) fn asks_why_untold(text: &str) -> bool {
    let words = &*PLAIN_WORDS;
    has(text, &words.untold)
        && (has(text, &QUESTION_WORDS.why) || has(text, &words.how_come))
        && !has(text, &QUESTION_WORDS.gateways)
}

/// Whether a clause asks when a machine is back from its overhaul.
fn asks_back(text: &str) -> bool {
    let words = &*PLAIN_WORDS;
    let is_at_end = text.trim_end_matches(['?', '!', '.', ' ']).ends_with(" back");
    has(text, &words.back_when)
        && (is_at_end || has(text, &words.back))
        && !has(text, &words.no_back)
}

/// Whether a clause asks when a bearing is swapped: the day that people have set, and no life.
fn asks_swap(clause: &str, text: &str) -> bool {
    let words = &*PLAIN_WORDS;
    let is_when = ["when ", "when's", "언제", "며칠에", "무슨 요일", "what day", "which day"]
        .iter()
        .any(|word| text.contains(word));
    is_when
        && has(text, &words.swapped)
        && !has(text, &words.when)
        && !has(text, &words.no_swap)
        && !bare::asks_quantity(clause)
}
