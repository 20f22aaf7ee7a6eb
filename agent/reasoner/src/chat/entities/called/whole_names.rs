//! Which of several machines whole words mean: a name that is written in full wins over one that
//! contains it, letters of a code name no other code, and a number belongs to the word that it
//! stands at.

use super::tokens::Token;
use super::{Machine, Name, letters_in_common};
use crate::chat::desk::CoreFields;
use crate::chat::intent::{PLAIN_WORDS, QUESTION_WORDS};
use pdm_shared::id::BearingKey;

/// Particles that join a name to the next one: a number behind them is of the next.
const JOINING: [&str; 6] = ["이랑", "랑", "하고", "와", "과", "및"];

/// Leaves the machines alone whose whole name the words are, where one is: `골리앗` is no `꼬마 골리앗`.
pub(super) fn keep_exact(
    found: &mut Vec<Machine<'_>>,
    tokens: &[Token],
    (from, count): (usize, usize),
    named: &[(Machine<'_>, Vec<Name>)],
) {
    let said: String = tokens[from..from + count].iter().map(|token| token.text.as_str()).collect();
    let is_whole = |name: &Name| {
        let whole = name.words.concat();
        let rest = said.strip_prefix(whole.as_str()).map(|rest| rest.chars().count());
        // a name with a number is whole with its number alone
        let has_number = name.label.is_none()
            || name.label.is_some() && super::label_beside(tokens, from, count) == name.label;
        name.is_own
            && has_number
            && rest.is_some_and(|rest| rest == 0 || !whole.is_ascii() && rest <= super::PARTICLE)
    };
    let is_exact = |machine: &Machine<'_>| {
        let of = named.iter().find(|(known, _)| known == machine);
        of.is_some_and(|(_, names)| names.iter().any(is_whole))
    };
    if found.iter().any(is_exact) {
        found.retain(|machine| is_exact(machine));
    }
}

/// The number of a code whose letters end before a token: `7` of `MM-7`; nothing where a word
/// stands there, or a number apart.
pub(super) fn number_of_code(tokens: &[Token], at: usize) -> Option<&str> {
    let letters = at.checked_sub(1).and_then(|before| tokens.get(before))?;
    let number = tokens.get(at).filter(|token| token.is_number && token.is_of_code)?;
    let is_code = !letters.is_number
        && (1..4).contains(&letters.text.len())
        && letters.text.chars().all(|c| c.is_ascii_alphabetic())
        && letters.at + letters.text.len() + 1 >= number.at;
    is_code.then(|| number.text.trim_start_matches('0'))
}

/// Whether the last word of a run joins the next one, which is no part of a name itself: `하마랑 4호`.
pub(super) fn joins(last: Option<&&str>, name: &[String]) -> bool {
    let Some(last) = last else { return false };
    let is_name = name.last().is_some_and(|word| word == last);
    !is_name && !last.is_ascii() && JOINING.iter().any(|end| last.ends_with(end))
}

/// Whether a word is a kind of machine that the plant's names do not have (`crane`, `지브크레인`), or
/// the word before `9호기`: with a number it names a machine that is not there.
pub(super) fn is_other_kind(text: &str, tokens: &[Token], from: usize) -> bool {
    let token = &tokens[from];
    if token.is_number {
        return false;
    }
    let words = PLAIN_WORDS.other_kinds.iter();
    let is_kind = if token.text.is_ascii() {
        words.filter(|kind| kind.is_ascii()).any(|kind| *kind == token.text)
    } else {
        let mut kinds = words.chain(&QUESTION_WORDS.machine_kinds).filter(|kind| !kind.is_ascii());
        kinds.any(|kind| kind.chars().count() > 1 && token.text.ends_with(kind.as_str()))
    };
    is_kind || is_before_unit_number(text, tokens, from)
}

/// Whether `호기` stands behind the number behind a Korean word that can be a name.
fn is_before_unit_number(text: &str, tokens: &[Token], from: usize) -> bool {
    let (token, Some(number)) = (&tokens[from], tokens.get(from + 1)) else { return false };
    let end = number.at + number.text.len();
    let is_unit = number.is_number && text.get(end..).is_some_and(|rest| rest.starts_with("호기"));
    let is_general = QUESTION_WORDS.no_qualifiers.contains(&token.text)
        || QUESTION_WORDS.general_names.iter().any(|word| token.text.starts_with(word.as_str()))
        || [
            "그럼",
            "그러면",
            "그리고",
            "혹시",
            "아까",
            "근데",
            "그런데",
            "지금",
            "오늘",
            "어제",
            "저번",
        ]
        .contains(&token.text.as_str());
    // `부터 2호기`, `에서 2호기`: words with a particle are no names
    let is_bound =
        ["은", "는", "이", "가", "을", "를", "에", "서", "도", "의", "랑", "고", "와", "과"]
            .iter()
            .any(|end| token.text.ends_with(end));
    is_unit && !token.text.is_ascii() && token.text.chars().count() > 1 && !is_general && !is_bound
}

/// The only machine of these that is called by some words of its name, which are no kind of
/// machine: `도장` of `도장 배기팬`.
pub(in crate::chat::entities) fn called_by_part(
    said: &[&str],
    of: &[&CoreFields],
) -> Option<BearingKey> {
    let kinds = || PLAIN_WORDS.other_kinds.iter().chain(&QUESTION_WORDS.machine_kinds);
    let is_kind = |word: &&str| kinds().any(|kind| super::is_word(word, kind));
    if said.is_empty() || said.iter().any(|word| word.chars().count() < 2 || is_kind(word)) {
        return None;
    }
    let fits = of.iter().filter(|core| {
        let called = core.machine_name.iter().flat_map(|name| [&name.ko, &name.en]);
        called.map(|name| super::parsed(name)).any(|name| is_part(&name, said))
    });
    let fits: Vec<&&CoreFields> = fits.collect();
    let first = &fits.first()?.key;
    let is_one = fits
        .iter()
        .all(|core| core.key.equipment == first.equipment && core.key.site == first.site);
    is_one.then(|| first.clone())
}

/// Whether words name a machine by a part of its name alone: `pasteuriser` of `Pasteuriser belt`.
fn is_part(name: &Name, said: &[&str]) -> bool {
    let is_word = |one: &&&str| name.words.iter().any(|word| super::is_word(one, word));
    !said.is_empty()
        && name.words.len() > said.len()
        && said.iter().all(|one| is_word(&one))
        && letters_in_common(&name.words, said).is_none()
}
