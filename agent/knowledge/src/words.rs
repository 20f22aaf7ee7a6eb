//! The words of a text as a sparse vector, for keyword search.
//!
//! A Korean word loses its particle and is cut into pairs of syllables (결함이 → 결함; 내륜결함 → 내륜, 륜결,
//! 결함), so that two-syllable words and compounds are found without a dictionary. English words lose
//! plural and tense endings; codes (`P-101`) are kept whole and also split. Each concept of the
//! [`super::glossary`] is a word too.
//!
//! A term's coordinate is a 32-bit hash of the term. Its value in a passage is BM25's saturated
//! term frequency (Robertson & Zaragoza 2009, eq. 3.15), in a query 1. The store multiplies by the
//! inverse document frequency; Qdrant's `Modifier::Idf` and the embedded store compute the same
//! sum.

use std::collections::BTreeMap;

use super::glossary::{concept_list, concepts};

mod grammar;
mod hangul;

pub(crate) use grammar::is_common;
use grammar::{is_ending, is_filler, is_stop, stem, without_particle};
pub use hangul::fold;
pub(crate) use hangul::is_hangul;

/// Version of how words are counted: passages that were counted by another version are counted anew
/// when their document is ingested. 2: everyday words of the glossary; 3: its jargon; 4: ten more
/// concepts.
pub(crate) const VERSION: u32 = 4;

/// Coordinates with their values, in rising order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sparse {
    /// Coordinates, rising, without repetition.
    pub indices: Vec<u32>,
    /// Values of the coordinates, above 0.
    pub values: Vec<f32>,
}

impl Sparse {
    /// Whether the vector has no term.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }
}

/// BM25's saturation and length normalisation. Source: the usual 1.2 and 0.75 (Robertson & Zaragoza
/// 2009), the latter lowered to 0.5 because passages are one to two pages each by design.
const K1: f32 = 1.2;
const B: f32 = 0.5;

/// Terms of an average passage: a page and a half of Korean. A constant, so that a stored passage
/// does not change when another is added.
const AVERAGE_TERMS: f32 = 900.0;

/// Returns the rarity of a term that `with` of `all` passages hold: BM25's inverse document
/// frequency (Robertson & Zaragoza 2009, eq. 3.3, with 1 added inside the logarithm as in Qdrant
/// and Lucene).
pub(crate) fn rarity(all: f32, with: f32) -> f32 {
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// Number of occurrences that one term of title and keywords counts as.
const HEAD_COUNT: u32 = 4;

/// Weight of a glossary concept against a plain word.
const CONCEPT_WEIGHT: f32 = 1.5;

/// The sparse vector of a passage.
pub fn passage_vector(head: &str, body: &str) -> Sparse {
    let mut counts: BTreeMap<u32, (u32, f32)> = BTreeMap::new();
    let mut length = 0;
    for (text, times) in [(head, HEAD_COUNT), (body, 1)] {
        for (term, weight, count) in terms(text) {
            let entry = counts.entry(coordinate(&term)).or_insert((0, weight));
            entry.0 += times * count;
            length += count;
        }
    }
    let norm = K1 * (1.0 - B + B * length as f32 / AVERAGE_TERMS);
    let (indices, values) = counts
        .into_iter()
        .map(|(at, (count, weight))| {
            let count = count as f32;
            (at, weight * count * (K1 + 1.0) / (count + norm))
        })
        .unzip();
    Sparse { indices, values }
}

/// The sparse vector of a query: each term once.
pub fn query_vector(query: &str) -> Sparse {
    let unique: BTreeMap<u32, f32> =
        terms(query).into_iter().map(|(term, _weight, _count)| (coordinate(&term), 1.0)).collect();
    let (indices, values) = unique.into_iter().unzip();
    Sparse { indices, values }
}

/// Terms of a text with their weight and count: concepts, then words.
fn terms(text: &str) -> Vec<(String, f32, u32)> {
    let folded = fold(text);
    let mut all: Vec<(String, f32, u32)> = concepts(&folded)
        .into_iter()
        .map(|(at, count)| {
            let concept = &concept_list()[at];
            (format!("§{}", concept.name), CONCEPT_WEIGHT * concept.weight, count)
        })
        .collect();
    all.extend(words(&folded).into_iter().map(|word| (word, 1.0, 1)));
    all
}

/// Words of folded text: English words and codes, numbers, pairs of Hangul syllables.
pub fn words(folded: &str) -> Vec<String> {
    let mut all = Vec::new();
    let is_word = |c: char| is_hangul(c) || c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    for run in folded.split(|c: char| !is_word(c)) {
        for (at, part) in by_script(run).enumerate() {
            if !part.starts_with(is_hangul) {
                code(part, &mut all);
            } else if at == 0 || !is_ending(part) {
                syllable_pairs(part, &mut all);
            }
        }
    }
    all
}

/// Words of folded text as a person would list them, without particles, endings and words that
/// carry no information, each with the run of letters that it stands in.
pub(crate) fn marked_words(folded: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let is_word = |c: char| is_hangul(c) || c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    for run in folded.split(|c: char| !is_word(c)) {
        for (at, part) in by_script(run).enumerate() {
            if !part.starts_with(is_hangul) {
                let mut codes = Vec::new();
                code(part, &mut codes);
                codes.retain(|code| !is_filler(code));
                all.extend(codes.into_iter().map(|code| (code, part.to_owned())));
            } else if at == 0 || !is_ending(part) {
                let word = without_particle(part);
                if ![part, word].into_iter().any(|word| is_stop(word) || is_filler(word)) {
                    all.push((word.to_owned(), part.to_owned()));
                }
            }
        }
    }
    all
}

/// A word without its ending, if it is English.
pub(crate) fn stemmed(word: &str) -> &str {
    stem(word)
}

/// A word or code without Hangul: the whole if it has several parts, and its parts.
fn code(run: &str, all: &mut Vec<String>) {
    let joints = ['-', '_', '.'];
    let run = run.trim_matches(joints);
    if run.contains(joints) {
        all.push(run.to_owned());
    }
    let parts = run.split(joints).filter(|part| !part.is_empty() && !is_stop(part));
    all.extend(parts.map(|part| stem(part).to_owned()));
}

/// Runs of Hangul and runs of other scripts.
fn by_script(run: &str) -> impl Iterator<Item = &str> {
    let mut rest = run;
    std::iter::from_fn(move || {
        let hangul = is_hangul(rest.chars().next()?);
        let end = rest.find(|c: char| is_hangul(c) != hangul).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part)
    })
}

fn syllable_pairs(run: &str, all: &mut Vec<String>) {
    if is_stop(run) {
        return;
    }
    let letters: Vec<char> = without_particle(run).chars().collect();
    if let [one] = letters.as_slice() {
        all.push(one.to_string());
    }
    all.extend(letters.windows(2).map(|pair| pair.iter().collect::<String>()));
}

/// FNV-1a, 32 bits. Source: draft-eastlake-fnv-17.
pub(super) fn coordinate(term: &str) -> u32 {
    term.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        words(&fold(text))
    }

    #[test]
    fn a_two_syllable_word_is_found_with_and_without_its_particle_and_in_a_compound() {
        for text in ["결함", "결함이", "결함에서", "내륜결함"] {
            assert!(of(text).contains(&"결함".to_owned()), "{text}: {:?}", of(text));
        }
    }

    #[test]
    fn english_is_found_in_any_case_number_and_tense() {
        for text in ["spalls", "Spalled", "SPALL", "spalling"] {
            assert_eq!(of(text), ["spall"], "{text}");
        }
    }

    #[test]
    fn a_code_is_found_whole_and_in_parts() {
        assert_eq!(of("P-101의"), ["p-101", "p", "101"]);
    }

    #[test]
    fn decomposed_hangul_is_the_same_as_composed() {
        assert_eq!(fold("\u{1100}\u{1167}\u{11af}\u{1112}\u{1161}\u{11b7}"), "결함");
    }

    #[test]
    fn a_title_counts_more_than_a_text() {
        let at = coordinate("spall");
        let value = |sparse: &Sparse| {
            sparse.values[sparse.indices.iter().position(|index| *index == at).expect("term")]
        };
        assert!(value(&passage_vector("spall", "")) > value(&passage_vector("", "spall")));
    }

    proptest::proptest! {
        #[test]
        fn coordinates_rise_and_values_are_finite(head in "\\PC{0,40}", body in "\\PC{0,80}") {
            let sparse = passage_vector(&head, &body);
            proptest::prop_assert!(sparse.indices.is_sorted_by(|a, b| a < b));
            proptest::prop_assert!(sparse.values.iter().all(|v| v.is_finite() && *v > 0.0));
        }
    }
}
