//! Machines whose id is written as it is spoken (`케이110`, `케이백십` for `K-110`), or without its
//! letters (`340A` for `P-340A`): read as the id, where one id of the plant alone fits.

use std::collections::BTreeSet;

use crate::chat::desk::CoreFields;

/// The Korean names of the letters A to Z, with other spellings.
const LETTERS: [(&str, &[&str]); 26] = [
    ("a", &["에이"]),
    ("b", &["비"]),
    ("c", &["씨", "시"]),
    ("d", &["디"]),
    ("e", &["이"]),
    ("f", &["에프"]),
    ("g", &["지"]),
    ("h", &["에이치", "에이취"]),
    ("i", &["아이"]),
    ("j", &["제이"]),
    ("k", &["케이"]),
    ("l", &["엘"]),
    ("m", &["엠"]),
    ("n", &["엔"]),
    ("o", &["오"]),
    ("p", &["피"]),
    ("q", &["큐"]),
    ("r", &["알"]),
    ("s", &["에스"]),
    ("t", &["티"]),
    ("u", &["유"]),
    ("v", &["브이"]),
    ("w", &["더블유"]),
    ("x", &["엑스"]),
    ("y", &["와이"]),
    ("z", &["제트", "지트"]),
];
const DIGITS: [&str; 10] = ["공", "일", "이", "삼", "사", "오", "육", "칠", "팔", "구"];

/// Replaces spelled names in a message by the machines' ids. Returns the message, and each name as
/// it was written and read; `None` where it has no such name.
pub(in crate::chat) fn with_ids(
    message: &str,
    fleet: &[CoreFields],
) -> Option<(String, Vec<(String, String)>)> {
    let ids: BTreeSet<&str> = fleet.iter().map(|core| core.key.equipment.as_str()).collect();
    let (mut text, mut read) = (message.to_owned(), Vec::new());
    for id in &ids {
        let alone = |form: &str| {
            let others = ids.iter().filter(|other| *other != id);
            others.into_iter().all(|other| !forms(other).iter().any(|one| one == form))
        };
        for form in forms(id).into_iter().filter(|form| alone(form)) {
            let Some(at) = place_of(&text, &form) else { continue };
            let place = at..at + form.len();
            read.push((text[place.clone()].to_owned(), (*id).to_owned()));
            text.replace_range(place, id);
            break;
        }
    }
    (!read.is_empty()).then_some((text, read))
}

/// Returns how an id of letters, digits and a letter may be written: the longest forms first.
fn forms(id: &str) -> Vec<String> {
    let lower = id.to_lowercase();
    let letters: String = lower.chars().take_while(char::is_ascii_lowercase).collect();
    let rest = lower[letters.len()..].trim_start_matches(['-', '_']);
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let tail = &rest[digits.len()..];
    let is_code = !letters.is_empty()
        && letters.len() <= 3
        && digits.len() >= 2
        && tail.chars().all(|c| c.is_ascii_lowercase())
        && tail.len() <= 1;
    if !is_code {
        return Vec::new();
    }
    let tails: Vec<String> = std::iter::once(tail.to_owned())
        .chain(spoken_letters(tail).into_iter().filter(|one| one != tail))
        .collect();
    let numbers = [digits.clone(), counted(&digits), digit_by_digit(&digits)];
    let mut forms = Vec::new();
    for head in spoken_letters(&letters) {
        for number in &numbers {
            for tail in &tails {
                forms
                    .extend(["", " ", "-"].map(|between| format!("{head}{between}{number}{tail}")));
            }
        }
    }
    if !tail.is_empty() {
        forms.push(format!("{digits}{tail}"));
    }
    forms.sort_by_key(|form| std::cmp::Reverse(form.chars().count()));
    forms
}

/// Returns how letters are spoken, in all spellings.
fn spoken_letters(letters: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for letter in letters.chars() {
        let index = u32::from(letter).saturating_sub(u32::from('a')) as usize;
        let names = LETTERS.get(index).map_or(&[][..], |(_, names)| *names);
        all = all
            .iter()
            .flat_map(|begun| names.iter().map(move |name| format!("{begun}{name}")))
            .collect();
    }
    all
}

/// A number of up to four digits as it is counted: `백십` of 110.
fn counted(digits: &str) -> String {
    const PLACES: [&str; 4] = ["", "십", "백", "천"];
    let mut told = String::new();
    for (at, digit) in digits.bytes().enumerate() {
        let (place, value) = (digits.len() - 1 - at, usize::from(digit - b'0'));
        let (Some(unit), Some(name)) = (PLACES.get(place), DIGITS.get(value)) else {
            return digits.to_owned();
        };
        match value {
            0 => {}
            1 if place > 0 => told.push_str(unit),
            _ => told.extend([*name, *unit]),
        }
    }
    told
}

fn digit_by_digit(digits: &str) -> String {
    digits.bytes().filter_map(|digit| DIGITS.get(usize::from(digit - b'0'))).copied().collect()
}

/// Returns where a form stands as a word, whatever particle is behind it.
fn place_of(text: &str, form: &str) -> Option<usize> {
    let lower = text.to_lowercase();
    if lower.len() != text.len() {
        return None;
    }
    let is_hangul = |c: char| ('가'..='힣').contains(&c);
    lower.match_indices(form).map(|(at, _)| at).find(|at| {
        let before = lower[..*at].chars().next_back();
        let after = lower[at + form.len()..].chars().next();
        let is_begin = before.is_none_or(|c| !c.is_alphanumeric() && c != '-' && c != '/');
        let is_end = after.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '-' && c != '.');
        // a number is none that goes on: "이백" of "이백만"
        let goes_on = after.is_some_and(|c| {
            is_hangul(c)
                && DIGITS.iter().chain(&["십", "백", "천", "만"]).any(|one| one.starts_with(c))
                && !"이".contains(c)
        });
        is_begin && is_end && !goes_on
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_spoken() {
        for (id, spoken) in [
            ("K-110", "케이백십"),
            ("K-110", "케이110"),
            ("K-110", "케이 일일공"),
            ("AG-85", "에이지팔십오"),
            ("P-340A", "피삼백사십에이"),
            ("P-340A", "340a"),
        ] {
            assert!(forms(id).iter().any(|form| form == spoken), "{id} {spoken}: {:?}", forms(id));
        }
        assert_eq!(forms("B-9"), Vec::<String>::new(), "too short to be told apart");
        assert_eq!(counted("2016"), "이천십육");
        assert_eq!(place_of("여수 케이110 왜 그래", "케이110"), Some(7));
        assert_eq!(place_of("340a 상태", "340a"), Some(0));
        assert_eq!(place_of("p-340a 상태", "340a"), None, "a part of the id");
        assert_eq!(place_of("케이백십만", "케이백십"), None);
    }
}
