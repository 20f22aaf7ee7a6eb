//! The files of words (`config/words/`): concepts, further words of concepts, topics.
//!
//! The shipped files come with the program. A plant adds words and topics of its own by
//! `[knowledge] words`: a file of the same form, or a folder of them. Invariants: every list of
//! words belongs to a concept that exists; names are unique; the order of the shipped concepts
//! never changes, as it is the order of the embedding's coordinates.

use std::path::{Path, PathBuf};

use pdm_service::config::{self, ConfigError};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{Concept, Glossary, Topic};

/// Path below `config/words/` and text of each shipped file.
const CONCEPTS: (&str, &str) =
    ("concepts.toml", include_str!("../../../../config/words/concepts.toml"));
const SHIPPED: [(&str, &str); 3] = [
    ("everyday.toml", include_str!("../../../../config/words/everyday.toml")),
    ("jargon.toml", include_str!("../../../../config/words/jargon.toml")),
    ("topics.toml", include_str!("../../../../config/words/topics.toml")),
];

/// Largest file of words. The shipped ones have 31 kB at most.
const MAX_BYTES: u64 = 1 << 20;
/// Longest word, characters. The longest shipped one has 23.
const MAX_WORD: usize = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConceptsFile {
    concept: Vec<ConceptEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConceptEntry {
    name: String,
    weight: f32,
    #[serde(default)]
    ko: Vec<String>,
    #[serde(default)]
    en: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WordsFile {
    #[serde(default)]
    words: Vec<WordsEntry>,
    #[serde(default)]
    topic: Vec<TopicEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WordsEntry {
    concept: String,
    #[serde(default)]
    ko: Vec<String>,
    #[serde(default)]
    en: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicEntry {
    name: String,
    #[serde(default)]
    ko: Vec<String>,
    #[serde(default)]
    en: Vec<String>,
}

/// The files of words of a plant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlantFiles(Vec<(PathBuf, String)>);

impl PlantFiles {
    /// Reads the file, or the `.toml` files of the folder in the order of their names, and checks
    /// them against the shipped concepts.
    pub(crate) fn read_from(place: &Path) -> Result<Self, ConfigError> {
        let mut paths = if place.is_dir() { toml_files(place)? } else { vec![place.to_owned()] };
        paths.sort();
        let texts = paths.into_iter().map(|path| text_of(&path).map(|text| (path, text)));
        let files = Self(texts.collect::<Result<_, _>>()?);
        glossary_with(Some(&files))?;
        Ok(files)
    }

    /// Identity of the content: vectors that were made with other words are made anew.
    pub(crate) fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        for (_, text) in &self.0 {
            hasher.update(text);
        }
        let digest = hasher.finalize();
        format!("{:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3])
    }
}

fn toml_files(folder: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(ConfigError::value(
            folder,
            "knowledge.words",
            "no .toml file",
            "a folder of them",
        ));
    }
    Ok(paths)
}

fn text_of(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > MAX_BYTES {
        let allowed = format!("at most {MAX_BYTES} bytes");
        return Err(ConfigError::value(path, "size", format!("{size} bytes"), allowed));
    }
    std::fs::read_to_string(path).map_err(unreadable)
}

/// The glossary of the shipped files and those of the plant.
pub(super) fn glossary_with(plant: Option<&PlantFiles>) -> Result<Glossary, ConfigError> {
    let path = Path::new(CONCEPTS.0);
    let file: ConceptsFile = config::parse(path, CONCEPTS.1)?;
    let mut glossary = Glossary::default();
    for entry in file.concept {
        check_name(path, "concept.name", &entry.name, |name| glossary.concept(name).is_some())?;
        if !(entry.weight > 0.0 && entry.weight <= 1.0) {
            let key = format!("weight of concept {:?}", entry.name);
            return Err(ConfigError::value(path, key, entry.weight, "above 0, at most 1"));
        }
        let ko = checked_words(path, &entry.name, entry.ko)?;
        let en = checked_words(path, &entry.name, entry.en)?;
        glossary.concepts.push(Concept { name: entry.name, weight: entry.weight, ko, en });
    }
    for (name, text) in SHIPPED {
        extend(&mut glossary, Path::new(name), text)?;
    }
    for (path, text) in plant.iter().flat_map(|files| &files.0) {
        extend(&mut glossary, path, text)?;
    }
    Ok(glossary)
}

/// Adds the words and topics of a file.
fn extend(glossary: &mut Glossary, path: &Path, text: &str) -> Result<(), ConfigError> {
    let file: WordsFile = config::parse(path, text)?;
    for entry in file.words {
        let Some(at) = glossary.concept(&entry.concept) else {
            let allowed = "the name of a concept of concepts.toml";
            return Err(ConfigError::value(path, "words.concept", entry.concept, allowed));
        };
        let ko = checked_words(path, &entry.concept, entry.ko)?;
        let en = checked_words(path, &entry.concept, entry.en)?;
        glossary.concepts[at].ko.extend(ko);
        glossary.concepts[at].en.extend(en);
    }
    for entry in file.topic {
        let is_taken = |name: &str| glossary.topics.iter().any(|topic| topic.name == name);
        check_name(path, "topic.name", &entry.name, is_taken)?;
        let ko = checked_words(path, &entry.name, entry.ko)?;
        let en = checked_words(path, &entry.name, entry.en)?;
        glossary.topics.push(Topic { name: entry.name, ko, en });
    }
    Ok(())
}

fn check_name(
    path: &Path,
    key: &str,
    name: &str,
    is_taken: impl Fn(&str) -> bool,
) -> Result<(), ConfigError> {
    if name.trim().is_empty() || is_taken(name) {
        return Err(ConfigError::value(path, key, name, "a name that no other entry has"));
    }
    Ok(())
}

/// The words as they are compared; a word that could never be found is refused.
fn checked_words(path: &Path, owner: &str, words: Vec<String>) -> Result<Vec<String>, ConfigError> {
    for word in &words {
        let is_plain = !word.trim().is_empty()
            && word.trim() == word
            && word.chars().count() <= MAX_WORD
            && *word == word.to_lowercase();
        if !is_plain {
            let key = format!("words of {owner:?}");
            let allowed = format!(
                "words in lower case without spaces around them, at most {MAX_WORD} characters"
            );
            return Err(ConfigError::value(path, key, format!("{word:?}"), allowed));
        }
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plant(text: &str) -> Result<PlantFiles, ConfigError> {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("plant.toml");
        std::fs::write(&path, text).expect("file");
        PlantFiles::read_from(folder.path())
    }

    #[test]
    fn the_shipped_files_are_right() {
        let glossary = glossary_with(None).expect("right");
        assert!(glossary.concepts.len() > 100 && glossary.topics.len() > 100);
    }

    #[test]
    fn a_plant_adds_words_of_its_own_to_a_concept_and_a_topic() {
        let files = plant(
            "[[words]]\nconcept = \"cage\"\nko = [\"알집게\"]\nen = [\"ball basket\"]\n\
             [[topic]]\nname = \"kiln\"\nko = [\"소성로\"]\nen = [\"kiln\"]\n",
        )
        .expect("right");
        let glossary = glossary_with(Some(&files)).expect("right");
        let cage = glossary.concept("cage").expect("shipped");
        assert_eq!(glossary.concepts[cage].en.last().map(String::as_str), Some("ball basket"));
        assert_eq!(glossary.topics.last().map(|topic| topic.name.as_str()), Some("kiln"));
        assert_eq!(files.digest().len(), 8);
    }

    #[test]
    fn a_wrong_file_is_refused_with_its_place() {
        for (text, told) in [
            ("[[words]]\nconcept = \"cagee\"\nko = []\n", "cagee"),
            ("[[words]]\nconcept = \"cage\"\nen = [\"Ball Basket\"]\n", "Ball Basket"),
            ("[[words]]\nconcept = \"cage\"\n\nenglish = [\"x\"]\n", "plant.toml:4:"),
            ("[[topic]]\nname = \"crane\"\nen = [\"crane\"]\n", "crane"),
            ("[[topic]]\nname = 3\n", "plant.toml:2:"),
        ] {
            let error = plant(text).expect_err(text).to_string();
            assert!(error.contains(told) && error.contains("plant.toml"), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "\\PC{0,200}") {
            let _ = plant(&text);
        }
    }
}
