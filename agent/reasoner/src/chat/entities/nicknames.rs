//! Kinds of machines by what the shop floor calls them (`콤프`, `뽐뿌`, `comp`): read as the word of
//! the kind that a machine of the plant has in its name.

use crate::chat::desk::CoreFields;
use crate::chat::intent::{PLAIN_WORDS, QUESTION_WORDS};

/// Replaces short words for machines in a message by the words of the plant's names. Returns the
/// message, and each word as it was written and read; `None` where it has no such word.
pub(in crate::chat) fn with_kinds(
    message: &str,
    fleet: &[CoreFields],
) -> Option<(String, Vec<(String, String)>)> {
    let names: Vec<String> = fleet
        .iter()
        .flat_map(|core| {
            let called = core.machine_name.iter();
            let called = called.flat_map(|name| [name.ko.to_lowercase(), name.en.to_lowercase()]);
            called.chain([core.key.equipment.as_str().to_lowercase()])
        })
        .collect();
    let is_in_plant = |word: &str| names.iter().any(|name| name.contains(word));
    let (mut text, mut read) = (message.to_owned(), Vec::new());
    for group in &PLAIN_WORDS.kind_nicknames {
        // a machine may have its kind in the other language alone
        let has_kind = |word: &&String| {
            let kinds = QUESTION_WORDS.same_kinds.iter().filter(|kinds| kinds.contains(word));
            kinds.flatten().any(|kind| is_in_plant(kind))
        };
        let known = group.iter().find(|word| is_in_plant(word));
        let Some(known) = known.or_else(|| group.iter().find(has_kind)) else { continue };
        let mut others: Vec<&String> =
            group.iter().filter(|word| *word != known && !is_in_plant(word)).collect();
        others.sort_by_key(|word| std::cmp::Reverse(word.len()));
        for word in others {
            let Some(at) = place_of(&text, word) else { continue };
            let place = at..at + word.len();
            read.push((text[place.clone()].to_owned(), known.clone()));
            text.replace_range(place, known);
            break;
        }
    }
    (!read.is_empty()).then_some((text, read))
}

/// Replaces words of the shop floor in a message by the words of usual questions. Returns the
/// message, and each word as it was written and read; `None` where it has no such word.
pub(in crate::chat) fn respelled(
    message: &str,
    _fleet: &[CoreFields],
) -> Option<(String, Vec<(String, String)>)> {
    let (mut text, mut read) = (message.to_owned(), Vec::new());
    for group in &PLAIN_WORDS.respelled {
        let Some((known, others)) = group.split_first() else { continue };
        for word in others {
            let is_begin = |at: &usize| !text[..*at].ends_with(char::is_alphanumeric);
            let at = text.match_indices(word.as_str()).map(|(at, _)| at).find(is_begin);
            let Some(at) = at else { continue };
            text.replace_range(at..at + word.len(), known);
            read.push((word.clone(), known.clone()));
        }
    }
    (!read.is_empty()).then_some((text, read))
}

/// Returns where a word stands by itself: behind no letter, and before none but a Korean particle.
fn place_of(text: &str, word: &str) -> Option<usize> {
    const PARTICLES: [&str; 17] = [
        "은", "는", "이", "가", "을", "를", "의", "도", "만", "에", "과", "와", "랑", "로", "한",
        "요", "들",
    ];
    let lower = text.to_lowercase();
    if lower.len() != text.len() {
        return None;
    }
    lower.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = lower[..*at].chars().next_back();
        let after = &lower[at + word.len()..];
        let next = after.chars().next();
        let is_number = |c: char| c.is_ascii_digit() || ['호', '번'].contains(&c);
        let is_begin =
            before.is_none_or(|c| !c.is_alphanumeric() || !word.is_ascii() && is_number(c));
        let is_particle = PARTICLES.iter().any(|one| after.starts_with(one));
        let is_end = next.is_none_or(|c| !c.is_alphanumeric() || !word.is_ascii() && is_number(c));
        is_begin && (is_end || !word.is_ascii() && is_particle)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nickname_is_a_word_by_itself() {
        assert_eq!(place_of("여수 콤프 하우징", "콤프"), Some(7));
        assert_eq!(place_of("2호콤프는?", "콤프"), Some(4));
        assert_eq!(place_of("콤프레서 상태", "콤프"), None);
        assert_eq!(place_of("is the comp ok", "comp"), Some(7));
        assert_eq!(place_of("compare both", "comp"), None);
        assert_eq!(place_of("밀려서", "밀"), None);
    }
}
