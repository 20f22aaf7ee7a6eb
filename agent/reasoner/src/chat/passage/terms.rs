//! The words of a question, and how well a text holds them.

use std::collections::BTreeSet;

use super::super::intent::{PLAIN_WORDS, QUESTION_WORDS};
use super::same_words::{groups_of, phrases};
use super::section::Section;
use super::small_words::{ends_as_verb, is_small};

/// Shortest common begin of two Latin words that count as one (`lubricate`, `lubrication`).
const COMMON: usize = 5;
/// Words that do not tell what is looked for.
const EMPTY: [&str; 40] = [
    "the",
    "a",
    "an",
    "of",
    "for",
    "to",
    "in",
    "on",
    "is",
    "are",
    "do",
    "does",
    "how",
    "what",
    "which",
    "with",
    "and",
    "be",
    "should",
    "have",
    "need",
    "before",
    "after",
    "much",
    "many",
    "goes",
    "any",
    "past",
    "similar",
    "알려줘",
    "뭐가",
    "필요해",
    "있었어",
    "이런",
    "때",
    "얼마",
    "어떻게",
    "해야",
    "하지",
    "설명해줘",
];
/// Particles behind Korean words.
const PARTICLES: [&str; 22] = [
    "에서는",
    "으로는",
    "이랑",
    "에서",
    "으로",
    "에는",
    "까지",
    "부터",
    "하고",
    "이나",
    "랑",
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "에",
    "의",
    "로",
    "와",
    "과",
];

/// A word of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    own: String,
    /// A form of a Korean verb that no list of words knows: it says something where a text has it,
    /// and nothing where none has.
    is_predicate: bool,
    /// Words that count as it, a little less.
    same: BTreeSet<String>,
}

/// The weight of a word of the same meaning, where the word itself weighs 1. Chosen: "tools and
/// crew" is answered by the section that says crew, and not by the one that says people.
const SAME: f64 = 0.6;

impl Term {
    /// Whether it is a form of a verb that no list knows.
    pub(super) const fn is_predicate(&self) -> bool {
        self.is_predicate
    }

    /// The word as the question has it, without its particle.
    pub(super) fn word(&self) -> &str {
        &self.own
    }

    /// Counts other names of the thing as the word.
    pub(super) fn also_called(&mut self, names: impl IntoIterator<Item = String>) {
        self.same.extend(names.into_iter().filter(|name| !name.is_empty()));
    }

    /// How well a text in lower case holds the word: 1 for itself, less for one that counts as it.
    pub(super) fn share_held_by(&self, text: &str) -> f64 {
        match () {
            () if holds(text, &self.own) => 1.0,
            () if self.same.iter().any(|one| holds(text, one)) => SAME,
            () => 0.0,
        }
    }
}

/// The words of a question, each with those that count as it.
pub(super) fn terms(clause: &str) -> Vec<Term> {
    let lower = clause.to_lowercase();
    let words =
        lower.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty());
    let mut terms: Vec<Term> = Vec::new();
    for word in words.filter(|word| !EMPTY.contains(word)) {
        let stem = stem(word);
        if stem.chars().count() < 2 && !stem.chars().any(|c| c.is_ascii_digit()) {
            continue;
        }
        let same = &QUESTION_WORDS.passages.same;
        let group = same
            .iter()
            .find(|group| group.iter().any(|one| begins_alike(one, stem) || one == stem));
        let term = Term {
            is_predicate: false,
            own: stem.to_owned(),
            same: group.into_iter().flatten().filter(|one| *one != stem).cloned().collect(),
        };
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    terms
}

/// The telling words of a question for the plant's own documents, each with those of the same
/// meaning in both languages.
pub(super) fn telling(clause: &str) -> Vec<Term> {
    let (lower, mut terms) = without_phrases(&clause.to_lowercase());
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '-');
    for word in words.filter(|word| !word.is_empty()) {
        let stem = stem(word);
        let is_short = stem.chars().count() < if stem.is_ascii() { 3 } else { 2 };
        if is_short || [word, stem].into_iter().any(|one| is_small(one) || EMPTY.contains(&one)) {
            continue;
        }
        let mut same: BTreeSet<String> = groups_of(stem)
            .chain(groups_of(word))
            .flatten()
            .filter(|one| *one != stem)
            .cloned()
            .collect();
        let is_verb = ends_as_verb(word) || ends_as_verb(stem);
        let is_predicate = !stem.is_ascii() && same.is_empty() && is_verb;
        // `안 소장` for `안소장`
        let title = PLAIN_WORDS
            .titles
            .iter()
            .find_map(|title| Some((stem.strip_suffix(title.as_str())?, title)));
        same.extend(
            title
                .map(|(family, title)| format!("{family} {title}"))
                .filter(|one| !one.starts_with(' ')),
        );
        // the forms of a Korean verb have its first syllables in common
        let begin: String = stem.chars().take(2).collect();
        same.extend((!stem.is_ascii() && begin != stem).then_some(begin));
        let term = Term { own: stem.to_owned(), is_predicate, same };
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    terms
}

fn stem(word: &str) -> &str {
    if word.is_ascii() {
        return word;
    }
    let cut = PARTICLES.iter().find_map(|particle| word.strip_suffix(particle));
    cut.filter(|stem| stem.chars().count() >= 2).unwrap_or(word)
}

fn begins_alike(a: &str, b: &str) -> bool {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    a.is_ascii() && b.is_ascii() && common >= COMMON
}

/// Returns how rare each word of the question is among the sections.
pub(super) fn rarity<'s>(terms: &[Term], sections: impl Iterator<Item = &'s Section>) -> Vec<f64> {
    let texts: Vec<String> = sections.map(Section::whole).collect();
    let rare = |term: &Term| {
        let count = texts.iter().filter(|text| term.share_held_by(text) > 0.0).count();
        let (all, count) = (texts.len() as f64, count as f64);
        if count > 0.0 { (1.0 + all / count).ln() } else { 0.0 }
    };
    terms.iter().map(rare).collect()
}

/// Whether a text in lower case holds a word: a Korean one anywhere, a Latin one as a word or its
/// begin.
fn holds(text: &str, one: &str) -> bool {
    if !one.is_ascii() || one.contains('-') {
        return text.contains(one);
    }
    if one.contains(' ') {
        return place_of_phrase(text, one).is_some();
    }
    let mut words =
        text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.any(|word| {
        word == one || (one.len() > 3 && (word.starts_with(one) || begins_alike(word, one)))
    })
}

/// Longest ending that a phrase may have where it is found (`lead times`, `locked out`), letters.
const ENDING: usize = 2;

/// Where a text in lower case has a phrase of Latin words, each of them whole.
fn place_of_phrase(text: &str, phrase: &str) -> Option<std::ops::Range<usize>> {
    text.match_indices(phrase).find_map(|(at, _)| {
        let rest = &text[at + phrase.len()..];
        let ending = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let is_whole = !text[..at].ends_with(|c: char| c.is_alphanumeric()) && ending <= ENDING;
        is_whole.then_some(at..at + phrase.len() + ending)
    })
}

/// Where a text has a phrase that begins as Korean words do, to the end of the last one.
fn place_of_begin(text: &str, phrase: &str) -> Option<std::ops::Range<usize>> {
    let at = text.find(phrase)?;
    let behind = at + phrase.len();
    let rest = text.get(behind..)?;
    let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    Some(at..behind + end)
}

/// Takes the phrases of several words that a list knows (`lead time`, `떼어 내`) out of a question in
/// lower case: the longest first, each as one word of it.
fn without_phrases(lower: &str) -> (String, Vec<Term>) {
    let (mut rest, mut terms) = (lower.to_owned(), Vec::new());
    for phrase in phrases() {
        let place = if phrase.is_ascii() {
            place_of_phrase(&rest, phrase)
        } else {
            place_of_begin(&rest, phrase)
        };
        let Some(place) = place else { continue };
        rest.replace_range(place, " ");
        // what a phrase is of, its last word says: `head pulley`
        let last = phrase.rsplit(' ').next().filter(|word| word.is_ascii() && !is_small(word));
        let groups = groups_of(phrase).chain(last.into_iter().flat_map(groups_of));
        let same = groups.flatten().filter(|one| *one != phrase).cloned().collect();
        terms.push(Term { own: phrase.to_owned(), is_predicate: false, same });
    }
    (rest, terms)
}

pub(super) fn weight(text: &str, terms: &[Term], rarity: &[f64]) -> f64 {
    terms.iter().zip(rarity).map(|(term, rare)| term.share_held_by(text) * rare).sum()
}
