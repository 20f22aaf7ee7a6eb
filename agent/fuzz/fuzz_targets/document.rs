//! Any text as a document: chunks with their words, vectors and lessons, or an error, never a
//! panic. The same text as a question.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pdm_expert::research;
use pdm_knowledge::Collection;
use pdm_knowledge::chunk::cut;
use pdm_knowledge::document::Document;
use pdm_knowledge::embed::local::LocalEmbedder;
use pdm_knowledge::section::items::items;
use pdm_knowledge::words::{passage_vector, query_vector};

fuzz_target!(|text: &str| {
    let _ = query_vector(text);
    let Ok(read) = Document::parse(Path::new("a.md"), text, Collection::EquipmentManual) else {
        return;
    };
    for chunk in cut(&read) {
        let (head, body) = (chunk.head(), chunk.body());
        let _ = passage_vector(&head, &body);
        let vector = LocalEmbedder::vector(&head, &body);
        assert!(vector.iter().all(|x| x.is_finite()));
        for section in &chunk.sections {
            let _ = items(section);
        }
        let document = research::Document {
            id: read.id.clone(),
            title: head,
            text: body,
            source: chunk.citation(),
        };
        for learnt in research::facts_of(&document) {
            assert!(document.text.contains(&learnt.quote), "a quote stands in its document");
        }
    }
});
