//! A word of the question that is spelt wrong still names its concept: the glossary's word at one
//! slip of the finger (a letter too many, too few, wrong, or two of them changed over).
//!
//! Only long words are taken for misspelt, only with the right first letter, and none that is a
//! word of its own: belts are no bolts.

use std::sync::LazyLock;

use super::likeness::jamo;
use crate::glossary::{self, concept_list};
use crate::words::is_common;
use crate::words::{is_hangul, stemmed};

/// Fewest letters of a Latin word that is taken for misspelt.
const MIN_LATIN: usize = 5;
/// Fewest jamo of a stem that a Hangul word is taken for: with six, 결합 (a joint) would be 결함 (a
/// defect).
const MIN_JAMO: usize = 7;

/// The glossary's words that are long enough, as letters, with their concept.
struct Known {
    latin: Vec<(Vec<char>, usize)>,
    hangul: Vec<(Vec<char>, usize)>,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let mut known = Known { latin: Vec::new(), hangul: Vec::new() };
    for (at, concept) in concept_list().iter().enumerate() {
        let is_single = |word: &&String| word.bytes().all(|b| b.is_ascii_lowercase());
        let single = concept.en.iter().filter(is_single);
        // a wrong ending is not cut off
        let latin = single
            .flat_map(|word| [word.as_str(), stemmed(word)])
            .map(|word| word.chars().collect());
        let long = latin.filter(|word: &Vec<char>| word.len() >= MIN_LATIN);
        known.latin.extend(long.map(|word| (word, at)));
        let hangul =
            concept.ko.iter().filter(|stem| stem.chars().all(is_hangul)).map(|stem| jamo(stem));
        known.hangul.extend(hangul.filter(|stem| stem.len() >= MIN_JAMO).map(|stem| (stem, at)));
    }
    known
});

/// The concept that a misspelt word means, if any. `word` names none as it is spelt.
pub(super) fn meant(word: &str) -> Option<usize> {
    if is_common(word) || !glossary::topics(word).is_empty() {
        return None;
    }
    if word.starts_with(is_hangul) {
        let letters = jamo(word);
        return KNOWN
            .hangul
            .iter()
            .find(|(stem, _)| begins_like(&letters, stem))
            .map(|(_, at)| *at);
    }
    let letters: Vec<char> = word.chars().collect();
    if letters.len() < MIN_LATIN || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    KNOWN.latin.iter().find(|(known, _)| is_one_slip(&letters, known)).map(|(_, at)| *at)
}

/// Whether the word begins with the stem but for one slip: particles and endings follow it.
fn begins_like(letters: &[char], stem: &[char]) -> bool {
    let lengths = [stem.len(), stem.len() - 1, stem.len() + 1];
    lengths
        .into_iter()
        .any(|length| letters.get(..length).is_some_and(|start| is_one_slip(start, stem)))
}

/// Whether two words with the same first letter differ by one letter, or by two neighbours changed
/// over.
pub(super) fn is_one_slip(a: &[char], b: &[char]) -> bool {
    if a.first() != b.first() || a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let end =
        a[start..].iter().rev().zip(b[start..].iter().rev()).take_while(|(x, y)| x == y).count();
    match (&a[start..a.len() - end], &b[start..b.len() - end]) {
        ([x1, x2], [y1, y2]) => x1 == y2 && x2 == y1,
        (rest_a, rest_b) => rest_a.len().max(rest_b.len()) == 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(word: &str) -> Option<&'static str> {
        meant(stemmed(word)).map(|at| concept_list()[at].name.as_str())
    }

    #[test]
    fn a_slip_of_the_finger_keeps_the_concept() {
        for (word, concept) in [
            ("bearign", "bearing"),
            ("lubricaton", "lubrication"),
            ("retianer", "cage"),
            ("컴프래서가", "compressor"),
            ("하우장을", "housing"),
        ] {
            assert_eq!(meaning(word), Some(concept), "{word}");
        }
    }

    #[test]
    fn another_word_is_not_taken_for_a_slip() {
        for word in ["belts", "thing", "결합", "umbrella", "heavy", "paper"] {
            assert_eq!(meaning(word), None, "{word}");
        }
    }
}
