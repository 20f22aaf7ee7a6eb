//! Resolves the short references of a conversation: the other end of the machine, its number alone,
//! the other one of a kind.

use pdm_shared::id::BearingKey;

use super::naming::{is_located, is_named, words};
use super::{asks_for_neighbour, of_history, spoken_of};
use crate::chat::Question;
use crate::chat::desk::CoreFields;

/// Words and units that follow a number which is not a machine's.
const UNITS: [&str; 15] = [
    "시", "일", "분", "주", "개", "년", "월", "%", "rpm", "mm", "h", "day", "week", "month", "min",
];

/// The other bearing of the machine that is spoken of: `그 옆에 건?`, `반대쪽은?`, `and the other side?`
fn neighbour(question: &Question, fleet: &[CoreFields]) -> Option<BearingKey> {
    if !asks_for_neighbour(&question.message) {
        return None;
    }
    let before = spoken_of(question, fleet);
    let first = before.first()?;
    let is_beside = |core: &&CoreFields| {
        let key = &core.key;
        key.site == first.site && key.equipment == first.equipment && !before.contains(key)
    };
    fleet.iter().find(is_beside).map(|core| core.key.clone())
}

/// Returns the bearing that a question in a conversation names in short: by the number of one
/// machine alone (`그럼 102는?`), or as the other one of a kind (`and the other pump?`).
pub(super) fn named_in_short(question: &Question, fleet: &[CoreFields]) -> Option<BearingKey> {
    let lower = question.message.to_lowercase();
    let only = |found: Vec<&CoreFields>| {
        let first = found.first()?.key.clone();
        found.iter().all(|core| core.key.equipment == first.equipment).then_some(first)
    };
    let digits_of = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    if let Some(key) = other_end(question, fleet).or_else(|| neighbour(question, fleet)) {
        return Some(key);
    }
    if question.history.is_empty() {
        return None;
    }
    for (at, number) in numbers_of(&lower) {
        let after = lower[at + number.len()..].trim_start();
        if number.len() < 2 || UNITS.iter().any(|unit| after.starts_with(unit)) {
            continue;
        }
        let is_it = |core: &&CoreFields| digits_of(core.key.equipment.as_str()) == number;
        if let Some(key) = only(fleet.iter().filter(is_it).collect()) {
            return Some(key);
        }
    }
    if !["other", "다른", "나머지", "딴"].iter().any(|word| lower.contains(word)) {
        return None;
    }
    let before = of_history(&question.history, fleet);
    let is_other = |core: &&CoreFields| {
        let kind = |name: &String| name.rsplit(' ').next().unwrap_or_default().to_lowercase();
        let names = core.machine_name.as_ref();
        before.iter().all(|key| key.equipment != core.key.equipment)
            && names.is_some_and(|name| {
                [&name.ko, &name.en].iter().any(|name| lower.contains(&kind(name)))
            })
    };
    only(fleet.iter().filter(is_other).collect())
}

/// The bearing of the machine that the conversation spoke of last, where a question names its end or place alone:
/// `비부하측은?`, `and the NDE?`
fn other_end(question: &Question, fleet: &[CoreFields]) -> Option<BearingKey> {
    let before = spoken_of(question, fleet);
    let first = before.first()?;
    let is_of_machine =
        |core: &&CoreFields| core.key.site == first.site && core.key.equipment == first.equipment;
    let of_machine: Vec<&CoreFields> = fleet.iter().filter(is_of_machine).collect();
    let (text, words) = (&question.message, words(&question.message));
    let is_it = |core: &&&CoreFields| {
        is_named(text, &words, core.key.bearing.as_str()) || is_located(text, core, &of_machine)
    };
    of_machine.iter().find(is_it).map(|core| core.key.clone())
}

/// Runs of digits of a text, with their places.
fn numbers_of(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    for run in text.split(|c: char| !c.is_ascii_digit()) {
        let at = from + text[from..].find(run).unwrap_or_default();
        if !run.is_empty() {
            found.push((at, run));
        }
        from = at + run.len();
    }
    found
}
