//! Resolves the short references of a conversation: the other end of the machine, its number alone,
//! the other one of a kind.

use pdm_shared::id::BearingKey;

use super::naming::{is_located, is_named, words};
use super::{
    asks_for_neighbour, called_by_part, named_in, of_history, spoken_of, without_proposals,
};
use crate::chat::Question;
use crate::chat::desk::CoreFields;
use crate::chat::intent::{PLAIN_WORDS, QUESTION_WORDS, has};
use crate::chat::stated;

/// Most words of a follow-up that calls a machine by a part of its name.
const MOST_SAID: usize = 2;
/// Messages before a follow-up whose machines it may mean.
const LAST: usize = 4;
/// What stands behind a number that is no machine's.
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
    if let Some(key) = of_conversation(question, fleet) {
        return Some(key);
    }
    for (at, number) in numbers_of(&lower) {
        let after = lower[at + number.len()..].trim_start();
        let is_reading = stated::is_reading_at(&lower, at, at + number.len());
        if number.len() < 2 || is_reading || UNITS.iter().any(|unit| after.starts_with(unit)) {
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

/// The two machines that the last questions and answers were about, where a question asks about
/// both.
pub(super) fn both_of_conversation(question: &Question, fleet: &[CoreFields]) -> Vec<BearingKey> {
    if !has(&question.message.to_lowercase(), &PLAIN_WORDS.both) {
        return Vec::new();
    }
    let mut both: Vec<BearingKey> = Vec::new();
    for at in (0..question.history.len()).rev() {
        for key in of_history(&question.history[..=at], fleet) {
            let is_known =
                both.iter().any(|one| one.site == key.site && one.equipment == key.equipment);
            if !is_known && both.len() < 2 {
                both.push(key);
            }
        }
    }
    both.reverse();
    if both.len() < 2 { Vec::new() } else { both }
}

/// The machine that a short follow-up calls by a word of its name, or by its size (`and the little
/// one?`, `꼬마는?`): one of those that the conversation named, one whose name has a word of theirs,
/// or the only one of the plant.
fn of_conversation(question: &Question, fleet: &[CoreFields]) -> Option<BearingKey> {
    let said = said_in_short(&question.message);
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    if said.is_empty() || said.len() > MOST_SAID {
        return None;
    }
    let spoken = spoken_of(question, fleet);
    let last = question.history.iter().rev().take(LAST);
    let told = last.flat_map(|said| named_in(&without_proposals(&said.content), fleet).keys);
    let named: Vec<BearingKey> = spoken.iter().cloned().chain(told).collect();
    let is_named = |core: &&CoreFields| named.iter().any(|key| is_of(core, key));
    let words: Vec<String> = fleet.iter().filter(is_named).flat_map(name_words).collect();
    let is_akin = |core: &&CoreFields| {
        is_named(core) || name_words(core).iter().any(|word| words.contains(word))
    };
    let akin: Vec<&CoreFields> = fleet.iter().filter(is_akin).collect();
    let by_part = |of: &[&CoreFields]| called_by_part(&said, of);
    by_part(&fleet.iter().filter(is_named).collect::<Vec<_>>())
        .or_else(|| by_part(&akin))
        .or_else(|| by_size(&said, &akin))
        .or_else(|| other_of_two(&said, &spoken, &akin))
        .or_else(|| by_part(&fleet.iter().collect::<Vec<_>>()))
}

fn is_of(core: &CoreFields, key: &BearingKey) -> bool {
    core.key.site == key.site && core.key.equipment == key.equipment
}

fn name_words(core: &CoreFields) -> Vec<String> {
    let names = core.machine_name.iter().flat_map(|name| [&name.ko, &name.en]);
    let words = names.flat_map(|name| name.split_whitespace().map(str::to_lowercase));
    let kinds = &QUESTION_WORDS.machine_kinds;
    words.filter(|word| word.chars().count() > 1 && !kinds.contains(word)).collect()
}

/// The words of a short follow-up that may name something.
fn said_in_short(message: &str) -> Vec<String> {
    const EMPTY: [&str; 27] = [
        "and",
        "the",
        "what",
        "about",
        "how",
        "is",
        "one",
        "ones",
        "then",
        "so",
        "ok",
        "that",
        "s",
        "it",
        "doing",
        "그럼",
        "그러면",
        "그리고",
        "혹시",
        "거",
        "것",
        "놈",
        "건",
        "어때",
        "상태",
        "쪽",
        "말고",
    ];
    let lower = message.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words = words.map(|word| {
        let ends = ["은", "는", "도", "은요", "는요"];
        let stem = ends.iter().find_map(|end| word.strip_suffix(end));
        stem.filter(|stem| stem.chars().count() > 1).unwrap_or(word).to_owned()
    });
    words.filter(|word| !EMPTY.contains(&word.as_str())).collect()
}

/// The only one of these machines whose name has a word of the size that is said; where one alone
/// has a size, the only other one is of the other size.
fn by_size(said: &[&str], of: &[&CoreFields]) -> Option<BearingKey> {
    let groups = &PLAIN_WORDS.sizes;
    let at = groups
        .iter()
        .position(|group| said.iter().all(|word| group.iter().any(|size| size == word)))?;
    let has = |core: &&&CoreFields, group: &[String]| {
        name_words(core).iter().any(|word| group.contains(word))
    };
    let sized = |at: usize| groups.get(at).map_or(&[][..], Vec::as_slice);
    let own: Vec<&&CoreFields> = of.iter().filter(|core| has(core, sized(at))).collect();
    if let Some(key) = only(&own) {
        return Some(key);
    }
    let others = (0..groups.len()).filter(|other| *other != at);
    let is_other = |core: &&&CoreFields| others.clone().any(|other| has(core, sized(other)));
    let has_other = of.iter().any(|core| is_other(&core));
    let rest: Vec<&&CoreFields> = of.iter().filter(|core| !is_other(core)).collect();
    only(&rest).filter(|_| has_other)
}

/// The other one of two machines: `and the other crane?`
fn other_of_two(said: &[&str], spoken: &[BearingKey], of: &[&CoreFields]) -> Option<BearingKey> {
    let first = spoken.first()?;
    let is_other = said.iter().any(|word| ["other", "다른", "나머지", "딴"].contains(word));
    let rest: Vec<&&CoreFields> = of.iter().filter(|core| !is_of(core, first)).collect();
    only(&rest).filter(|_| is_other)
}

/// The worst bearing of the machine, where all are of one.
fn only(cores: &[&&CoreFields]) -> Option<BearingKey> {
    let first = &cores.first()?.key;
    cores.iter().all(|core| is_of(core, first)).then(|| first.clone())
}

/// The bearing of the machine that the conversation spoke of last, where a question names its end
/// or place alone: `비부하측은?`, `and the NDE?`
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
