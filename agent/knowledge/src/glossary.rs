//! The terms of the field in Korean and English, one concept for each line: "외륜", "outer race" and
//! "BPFO" find each other.
//!
//! A concept that is recognised in a text ([`concepts`]) becomes one keyword and one coordinate of
//! the local embedding. The words stand in `config/words/` ([`files`]), where a plant adds its own.
//! The order of the concepts is part of the embedding's identity ([`crate::embed::local`] has the
//! version).

use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;

mod files;

pub(crate) use files::PlantFiles;

/// One concept and its words.
#[derive(Debug, Clone, PartialEq)]
pub struct Concept {
    /// Name of the concept, itself a keyword.
    pub name: String,
    /// Weight of the concept in telling documents apart, 0…1.
    pub weight: f32,
    /// Korean stems, without spaces: those of the field, then those of everyday and the shop floor.
    pub ko: Vec<String>,
    /// English words, in the same order.
    pub en: Vec<String>,
}

/// A topic that documents on bearings seldom treat: where a question names one and no candidate
/// does, that speaks against an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Topic {
    pub(crate) name: String,
    pub(crate) ko: Vec<String>,
    pub(crate) en: Vec<String>,
}

/// The words of the files.
#[derive(Debug, Default)]
struct Glossary {
    concepts: Vec<Concept>,
    topics: Vec<Topic>,
}

impl Glossary {
    /// Place of the concept of this name.
    fn concept(&self, name: &str) -> Option<usize> {
        self.concepts.iter().position(|concept| concept.name == name)
    }
}

/// The files of the plant, if it has any: settled by the first use of a word at the latest.
static PLANT: OnceLock<Option<PlantFiles>> = OnceLock::new();

static GLOSSARY: LazyLock<Glossary> = LazyLock::new(|| {
    let plant = PLANT.get_or_init(|| None).as_ref();
    files::glossary_with(plant).expect("the plant's files were checked, a test checks the rest")
});

/// Makes the words of the plant part of the glossary of this process. Returns false, and changes
/// nothing, if other words have been settled on before.
pub(crate) fn install(plant: PlantFiles) -> bool {
    PLANT.get_or_init(|| Some(plant.clone())).as_ref() == Some(&plant)
}

/// Identity of the plant's words, such as `+1a2b3c4d`; empty without them.
pub(crate) fn plant_digest() -> String {
    let plant = PLANT.get().and_then(Option::as_ref);
    plant.map(|plant| format!("+{}", plant.digest())).unwrap_or_default()
}

/// The concepts, in the order of the embedding's coordinates.
pub fn concept_list() -> &'static [Concept] {
    &GLOSSARY.concepts
}

/// The concepts in `folded`, by their index, with their numbers of occurrences. `folded` is text in
/// lower case ([`super::words::fold`]).
pub fn concepts(folded: &str) -> Vec<(usize, u32)> {
    CONCEPT_FINDERS.counts(folded)
}

/// The topics that `folded` names, by their index.
pub(crate) fn topics(folded: &str) -> Vec<usize> {
    TOPIC_FINDERS.counts(folded).into_iter().map(|(at, _)| at).collect()
}

/// Searchers for the words of a list; each group is searched in one pass over a text.
struct Finders {
    /// Length of the list.
    size: usize,
    english: Finder,
    /// Two-syllable stems, found inside a word only: across two words a match is chance.
    short: Finder,
    /// Longer stems, found across spaces too.
    long: Finder,
}

static CONCEPT_FINDERS: LazyLock<Finders> =
    LazyLock::new(|| Finders::new(GLOSSARY.concepts.iter().map(|one| (&*one.ko, &*one.en))));

static TOPIC_FINDERS: LazyLock<Finders> =
    LazyLock::new(|| Finders::new(GLOSSARY.topics.iter().map(|one| (&*one.ko, &*one.en))));

impl Finders {
    /// Searchers for lists of Korean stems and English words.
    fn new(entries: impl Iterator<Item = (&'static [String], &'static [String])>) -> Self {
        let (mut short, mut long, mut english) = (Vec::new(), Vec::new(), Vec::new());
        let mut size = 0;
        for (at, (ko, en)) in entries.enumerate() {
            for stem in ko {
                let list = if stem.chars().count() <= 2 { &mut short } else { &mut long };
                list.push((at, stem.as_str()));
            }
            english.extend(en.iter().map(|word| (at, word.as_str())));
            size = at + 1;
        }
        Self {
            size,
            english: Finder::new(english),
            short: Finder::new(short),
            long: Finder::new(long),
        }
    }

    /// Returns the concepts that `folded` names, by their index in the list, with the number of
    /// occurrences.
    fn counts(&self, folded: &str) -> Vec<(usize, u32)> {
        let joined: String = folded.chars().filter(|c| !c.is_whitespace()).collect();
        let mut counts = vec![0; self.size];
        self.english.count(&spaced(folded), true, &mut counts);
        self.short.count(folded, false, &mut counts);
        self.long.count(&joined, false, &mut counts);
        counts.into_iter().enumerate().filter(|(_, count)| *count > 0).collect()
    }
}

/// A searcher with the concept or topic of each of its words.
struct Finder {
    automaton: AhoCorasick,
    concepts: Vec<usize>,
}

impl Finder {
    fn new(words: Vec<(usize, &str)>) -> Self {
        let (concepts, words): (Vec<usize>, Vec<&str>) = words.into_iter().unzip();
        let automaton = AhoCorasick::new(words).expect("words of at most a few megabytes fit");
        Self { automaton, concepts }
    }

    /// Adds the occurrences of each concept's words in `text`, if `between_spaces` only those of
    /// whole words. A word does not overlap itself.
    fn count(&self, text: &str, between_spaces: bool, counts: &mut [u32]) {
        let bytes = text.as_bytes();
        let is_space = |at: Option<usize>| at.and_then(|at| bytes.get(at)) == Some(&b' ');
        let mut ends = vec![0; self.concepts.len()];
        for found in self.automaton.find_overlapping_iter(text) {
            let word = found.pattern().as_usize();
            if found.start() < ends[word] {
                continue;
            }
            ends[word] = found.end();
            let stands = is_space(found.start().checked_sub(1)) && is_space(Some(found.end()));
            if stands || !between_spaces {
                counts[self.concepts[word]] += 1;
            }
        }
    }
}

/// Words between single spaces, with one at either end. Hyphens and `_` inside words stay; Hangul
/// ends a Latin word.
fn spaced(folded: &str) -> String {
    let mut out = String::with_capacity(folded.len() + 2);
    out.push(' ');
    for c in folded.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') {
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    if !out.ends_with(' ') {
        out.push(' ');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&'static str> {
        let counted = concepts(&crate::words::fold(text));
        counted.into_iter().map(|(at, _)| concept_list()[at].name.as_str()).collect()
    }

    #[test]
    fn korean_english_and_frequency_name_one_concept() {
        for text in ["외륜이 깨졌다", "the Outer Race", "BPFO가 보인다"] {
            assert!(names(text).contains(&"outer_race"), "{text}: {:?}", names(text));
        }
    }

    /// The definition of the count, word by word, as the test's reference.
    fn defined(folded: &str) -> Vec<(usize, u32)> {
        let words = spaced(folded);
        let joined: String = folded.chars().filter(|c| !c.is_whitespace()).collect();
        let count = |concept: &Concept| -> usize {
            let english: usize = concept.en.iter().map(|word| occurrences(&words, word)).sum();
            let korean = |stem: &str| {
                let short = stem.chars().count() <= 2;
                if short { folded } else { &joined }.matches(stem).count()
            };
            english + concept.ko.iter().map(|stem| korean(stem)).sum::<usize>()
        };
        let all = concept_list().iter().map(|concept| count(concept) as u32).enumerate();
        all.filter(|(_, count)| *count > 0).collect()
    }

    fn occurrences(spaced: &str, word: &str) -> usize {
        spaced
            .match_indices(word)
            .filter(|(at, _)| {
                let bytes = spaced.as_bytes();
                bytes[at - 1] == b' ' && matches!(bytes[at + word.len()], b' ')
            })
            .count()
    }

    proptest::proptest! {
        #[test]
        fn one_pass_finds_what_the_definition_finds(
            parts in proptest::collection::vec((0usize..1000, 0usize..4), 0..30),
        ) {
            let words: Vec<&String> =
                concept_list().iter().flat_map(
                    |concept| concept.en.iter().chain(&concept.ko)).collect();
            let between = [" ", "", "이 ", "x"];
            let text: String = parts
                .iter()
                .flat_map(|(word, gap)| [words[word % words.len()].as_str(), between[*gap]])
                .collect();
            let folded = crate::words::fold(&text);
            proptest::prop_assert_eq!(concepts(&folded), defined(&folded), "{}", folded);
        }
    }

    #[test]
    fn the_shipped_documents_speak_of_what_the_definition_finds() {
        for document in crate::shipped::documents().expect("documents") {
            for chunk in crate::chunk::cut(&document) {
                let folded = crate::words::fold(&chunk.body());
                assert_eq!(concepts(&folded), defined(&folded), "{}", chunk.id);
            }
        }
    }

    #[test]
    fn a_part_of_an_english_word_is_no_concept() {
        assert_eq!(names("football package"), Vec::<&str>::new());
    }

    fn named_topics(text: &str) -> Vec<&'static str> {
        let found = topics(&crate::words::fold(text));
        found.into_iter().map(|at| GLOSSARY.topics[at].name.as_str()).collect()
    }

    #[test]
    fn a_topic_is_found_in_both_languages_and_not_inside_another_word() {
        assert_eq!(named_topics("크레인 와이어로프 교체"), ["crane"]);
        assert_eq!(named_topics("the crane rope"), ["crane"]);
        assert!(named_topics("the outer race of a careful catalogue").is_empty());
    }

    #[test]
    fn few_shipped_chunks_name_a_topic() {
        let documents = crate::shipped::documents().expect("documents");
        let chunks: Vec<_> = documents.iter().flat_map(crate::chunk::cut).collect();
        let naming = chunks.iter().filter(|chunk| !named_topics(&chunk.body()).is_empty()).count();
        assert!(naming * 3 <= chunks.len(), "{naming} of {}", chunks.len());
    }
}
