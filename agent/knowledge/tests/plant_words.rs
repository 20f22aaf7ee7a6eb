//! Words of a plant (`[knowledge] words`), in a process of their own: the glossary of a process has
//! one set of words.

use pdm_knowledge::{Knowledge, KnowledgeError, KnowledgeSettings};

fn settings(folder: &std::path::Path) -> KnowledgeSettings {
    KnowledgeSettings {
        words: Some(folder.join("words.toml")),
        ..KnowledgeSettings::embedded_in(folder)
    }
}

/// R-KB-4. A plant's own name for a cage finds the documents on cages.
#[tokio::test]
async fn a_word_of_the_plant_means_its_concept_and_other_words_are_refused_later() {
    let folder = tempfile::tempdir().expect("folder");
    let words = "[[words]]\nconcept = \"cage\"\nko = [\"알집게\"]\n";
    std::fs::write(folder.path().join("words.toml"), words).expect("file");
    Knowledge::open(&settings(folder.path())).await.expect("opens");
    let vector = pdm_knowledge::embed::local::LocalEmbedder::vector;
    assert_eq!(vector("알집게", "")[..128], vector("케이지", "")[..128]);

    let other = tempfile::tempdir().expect("folder");
    std::fs::write(other.path().join("words.toml"), "[[topic]]\nname = \"kiln\"\n").expect("file");
    let error = Knowledge::open(&settings(other.path())).await.err();
    assert!(matches!(error, Some(KnowledgeError::WordsSettled)), "{error:?}");
}
