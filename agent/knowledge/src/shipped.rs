//! The documents that come with the program (those of `config/knowledge/`), so that an agent needs
//! no other file for its look-ups. `[knowledge] documents` replaces them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::about::Collection;
use super::document::{Document, DocumentError};

/// Path below `config/knowledge/` and text of each document.
const DOCUMENTS: &[(&str, &str)] = &[
    (
        "equipment_manual/em-01.md",
        include_str!("../../../config/knowledge/equipment_manual/em-01.md"),
    ),
    (
        "equipment_manual/em-02.md",
        include_str!("../../../config/knowledge/equipment_manual/em-02.md"),
    ),
    (
        "equipment_manual/em-03.md",
        include_str!("../../../config/knowledge/equipment_manual/em-03.md"),
    ),
    (
        "equipment_manual/em-04.md",
        include_str!("../../../config/knowledge/equipment_manual/em-04.md"),
    ),
    (
        "equipment_manual/em-05.md",
        include_str!("../../../config/knowledge/equipment_manual/em-05.md"),
    ),
    (
        "equipment_manual/em-06.md",
        include_str!("../../../config/knowledge/equipment_manual/em-06.md"),
    ),
    (
        "equipment_manual/em-07.md",
        include_str!("../../../config/knowledge/equipment_manual/em-07.md"),
    ),
    (
        "maintenance_history/mh-01.md",
        include_str!("../../../config/knowledge/maintenance_history/mh-01.md"),
    ),
    (
        "maintenance_history/mh-02.md",
        include_str!("../../../config/knowledge/maintenance_history/mh-02.md"),
    ),
    (
        "maintenance_history/mh-03.md",
        include_str!("../../../config/knowledge/maintenance_history/mh-03.md"),
    ),
    (
        "maintenance_history/mh-04.md",
        include_str!("../../../config/knowledge/maintenance_history/mh-04.md"),
    ),
    (
        "maintenance_history/mh-05.md",
        include_str!("../../../config/knowledge/maintenance_history/mh-05.md"),
    ),
    (
        "maintenance_history/mh-06.md",
        include_str!("../../../config/knowledge/maintenance_history/mh-06.md"),
    ),
    (
        "maintenance_history/mh-07.md",
        include_str!("../../../config/knowledge/maintenance_history/mh-07.md"),
    ),
    (
        "maintenance_history/mh-08.md",
        include_str!("../../../config/knowledge/maintenance_history/mh-08.md"),
    ),
    (
        "maintenance_history/mh-09.md",
        include_str!("../../../config/knowledge/maintenance_history/mh-09.md"),
    ),
    (
        "maintenance_history/mh-10.md",
        include_str!("../../../config/knowledge/maintenance_history/mh-10.md"),
    ),
    (
        "maintenance_history/mh-11.md",
        include_str!("../../../config/knowledge/maintenance_history/mh-11.md"),
    ),
    (
        "maintenance_history/mh-12.md",
        include_str!("../../../config/knowledge/maintenance_history/mh-12.md"),
    ),
];

/// The documents, ordered by path.
///
/// # Errors
/// [`DocumentError`]; a test reads all documents.
pub fn documents() -> Result<Vec<Document>, DocumentError> {
    let read = |(path, text): &(&str, &str)| {
        Document::parse(path.as_ref(), text, Collection::EquipmentManual)
    };
    DOCUMENTS.iter().map(read).collect()
}

/// Content hash of each document, by its id in small letters.
static HASHES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    // a document that cannot be read is an error of the start and of a test
    let documents = documents().unwrap_or_default();
    documents.into_iter().map(|one| (one.id.to_lowercase(), one.about.hash)).collect()
});

/// Whether a document of this id comes with the program.
pub fn is_shipped(id: &str) -> bool {
    HASHES.contains_key(&id.trim().to_lowercase())
}

/// Whether `document` has the id of a shipped document and another content.
pub(super) fn is_claimed_by(document: &Document) -> bool {
    let id = document.id.trim().to_lowercase();
    HASHES.get(&id).is_some_and(|hash| *hash != document.about.hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_of_the_folder_comes_with_the_program() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../config/knowledge");
        let mut there: Vec<String> = Vec::new();
        for collection in std::fs::read_dir(folder).expect("folder") {
            let collection = collection.expect("entry");
            for file in std::fs::read_dir(collection.path()).expect("folder") {
                let (folder, file) = (collection.file_name(), file.expect("entry").file_name());
                there.push(format!("{}/{}", folder.to_string_lossy(), file.to_string_lossy()));
            }
        }
        there.sort();
        let shipped: Vec<&str> = DOCUMENTS.iter().map(|(path, _)| *path).collect();
        assert_eq!(shipped, there);
        assert_eq!(documents().expect("right").len(), there.len());
    }

    #[test]
    fn every_shipped_chunk_names_questions_that_it_answers_and_no_two_name_the_same() {
        let mut asked = std::collections::HashSet::new();
        for chunk in documents().expect("right").iter().flat_map(crate::chunk::cut) {
            assert!(chunk.about.asked.len() >= 20, "{}", chunk.id);
            for question in chunk.about.asked {
                assert!(asked.insert(question.clone()), "{}: {question}", chunk.id);
            }
        }
    }

    #[test]
    fn a_shipped_id_belongs_to_its_text_alone() {
        let read = |text: &str| {
            Document::parse("x.md".as_ref(), text, Collection::EquipmentManual).expect("a document")
        };
        let (_, text) = DOCUMENTS[5];
        assert!(text.contains("id = \"EM-06\""), "the procedure");
        assert!(!is_claimed_by(&read(text)));
        assert!(is_claimed_by(&read(&text.replace("## ", "## No lockout needed "))));
        let small = text.replace("id = \"EM-06\"", "id = \"em-06\"");
        assert!(is_claimed_by(&read(&small)));
        assert!(!is_claimed_by(&read(&text.replace("id = \"EM-06\"", "id = \"EM-60\""))));
    }
}
