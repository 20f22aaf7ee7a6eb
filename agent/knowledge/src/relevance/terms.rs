//! Cuts a question into its terms, word by word, with the weight of each word.

use std::collections::BTreeMap;

use super::likeness::Spelt;
use super::spelling;
use crate::glossary::{concept_list, concepts};
use crate::words::is_common;
use crate::words::{fold, is_hangul, marked_words};

/// Weight of a word that is no concept.
const PLAIN: f32 = 0.9;
/// Weight of a word that any talk is full of. Data: by models of the other sets the mean nDCG@3 of
/// four sets is 0.871 at 0.9, 0.875 at 0.45 and 0.873 at 0.27.
const COMMON: f32 = 0.45;
/// Weight of a verb or adjective by its ending: Korean questions end in one, and a document that
/// answers seldom uses the same.
const VERB: f32 = 0.35;
/// Weight of a single syllable, which stands in many words.
const SYLLABLE: f32 = 0.4;
/// Weight of a concept: a share that all have, and one by how well it tells documents apart.
const CONCEPT: (f32, f32) = (0.6, 0.6);

/// Endings of Korean verbs and adjectives as questions have them. General grammar.
const VERB_ENDINGS: &[&str] = &[
    "던", "지", "야", "면", "데", "요", "네", "까", "죠", "니", "대", "냐", "래", "고", "서", "게",
    "자", "렸", "린", "진", "운", "워", "해", "돼", "됨", "림", "는지", "하는", "되는", "나는",
    "가는", "오는", "았", "었", "났", "나", "어", "아", "려", "여", "써",
];

/// One thing that a question asks for.
#[derive(Debug, Clone)]
pub(super) struct Term {
    /// The word; `None` for a concept that several words name together.
    pub(super) word: Option<Spelt>,
    /// The concepts that the word names.
    pub(super) concepts: Vec<usize>,
    /// A verb or adjective by its ending.
    pub(super) is_verb: bool,
    /// How much it matters, before its rarity.
    pub(super) weight: f32,
}

/// The terms of a question: its words, and concepts that no single word names.
pub(super) fn terms(query: &str) -> Vec<Term> {
    let folded = fold(query);
    let mut words: BTreeMap<String, bool> = BTreeMap::new();
    let mut order = Vec::new();
    for (word, whole) in marked_words(&folded) {
        let is_verb = is_verb(&whole);
        if let Some(known) = words.get_mut(&word) {
            *known &= is_verb;
        } else {
            words.insert(word.clone(), is_verb);
            order.push(word);
        }
    }
    let mut named = Vec::new();
    let mut terms: Vec<Term> = order
        .into_iter()
        .map(|word| {
            let mut own: Vec<usize> = concepts(&word).into_iter().map(|(at, _)| at).collect();
            if own.is_empty() {
                own.extend(spelling::meant(&word));
            }
            named.extend(own.iter().copied());
            let is_verb = words.get(&word).copied().unwrap_or_default();
            let weight = weight(&word, &own, is_verb);
            Term { word: Some(Spelt::of(&word)), concepts: own, is_verb, weight }
        })
        .collect();
    let rest = concepts(&folded).into_iter().map(|(at, _)| at).filter(|at| !named.contains(at));
    terms.extend(rest.map(|at| {
        let weight = of_concepts(&[at]);
        Term { word: None, concepts: vec![at], is_verb: false, weight }
    }));
    terms
}

fn weight(word: &str, own: &[usize], is_verb: bool) -> f32 {
    if !own.is_empty() {
        of_concepts(own)
    } else if is_verb {
        VERB
    } else if word.starts_with(is_hangul) && word.chars().nth(1).is_none() {
        SYLLABLE
    } else if is_common(word) {
        COMMON
    } else {
        PLAIN
    }
}

fn of_concepts(own: &[usize]) -> f32 {
    let weights = own.iter().filter_map(|at| concept_list().get(*at)).map(|concept| concept.weight);
    CONCEPT.0 + CONCEPT.1 * weights.fold(0.0, f32::max)
}

fn is_verb(whole: &str) -> bool {
    whole.starts_with(is_hangul)
        && whole.chars().nth(2).is_some()
        && VERB_ENDINGS.iter().any(|ending| whole.ends_with(ending))
}
