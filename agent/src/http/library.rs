//! The documents of the knowledge base for the page that changes them, under the limits of the
//! route for programs.

use std::collections::BTreeMap;

use async_trait::async_trait;
use pdm_knowledge::ingest;
use pdm_knowledge::shipped::is_shipped;
use pdm_knowledge::{Added, Collection, KnowledgeError};
use pdm_web::library::{
    Brought, DocumentRefusal, DocumentRemoved, HeldDocument, Library, NewDocument, ReadDocument,
    UploadPlace,
};
use pdm_web::plant::PlantError;

use super::knowledge::{NoPlace, Uploads};

/// The collections of documents; the agent's own judgements are none.
const OF_DOCUMENTS: [Collection; 2] = [Collection::EquipmentManual, Collection::MaintenanceHistory];

/// The library of the knowledge base.
#[derive(Debug)]
pub(super) struct Shelf(pub(super) Uploads);

fn away(error: &KnowledgeError) -> PlantError {
    PlantError::Unavailable(error.to_string())
}

#[async_trait]
impl Library for Shelf {
    async fn documents(&self) -> Result<Vec<HeldDocument>, PlantError> {
        let mut held: BTreeMap<String, HeldDocument> = BTreeMap::new();
        for collection in OF_DOCUMENTS {
            let chunks = self.0.knowledge().documents(collection).await;
            for chunk in chunks.map_err(|error| away(&error))? {
                let one = held.entry(chunk.document.clone()).or_insert_with(|| HeldDocument {
                    is_shipped: is_shipped(&chunk.document),
                    title: chunk.about.title.clone(),
                    kind: chunk.about.doc_type.as_str().to_owned(),
                    passages: 0,
                    added: chunk.about.added.map(|Added { by, via, at }| Brought { by, via, at }),
                    id: chunk.document,
                });
                one.passages += 1;
            }
        }
        Ok(held.into_values().collect())
    }

    fn most_bytes(&self) -> usize {
        let kinds = ["x.pdf", "x.md"].map(|name| ingest::max_bytes(name.as_ref()).unwrap_or(0));
        usize::try_from(kinds.into_iter().max().unwrap_or(0)).unwrap_or(usize::MAX)
    }

    async fn place(&self, asker: &str, bytes: usize) -> Result<UploadPlace, DocumentRefusal> {
        match self.0.place(asker.to_owned(), bytes as u64).await {
            Ok(place) => Ok(UploadPlace::new(place)),
            Err(NoPlace::Share) => Err(DocumentRefusal::Busy),
            Err(NoPlace::Stops) => Err(DocumentRefusal::Away),
        }
    }

    async fn keep(&self, document: NewDocument<'_>) -> Result<ReadDocument, DocumentRefusal> {
        let NewDocument { name, content, is_history, by } = document;
        let collection =
            if is_history { Collection::MaintenanceHistory } else { Collection::EquipmentManual };
        let done = self.0.ingest((by, "page", "page"), name, content, collection).await;
        match done.ok_or(DocumentRefusal::Away)? {
            Ok(done) => Ok(ReadDocument { id: done.document, is_changed: done.is_changed }),
            Err(KnowledgeError::Document(error)) => Err(DocumentRefusal::Unfit(error.to_string())),
            Err(_logged) => Err(DocumentRefusal::Away),
        }
    }

    async fn remove(&self, id: &str) -> Result<DocumentRemoved, PlantError> {
        if is_shipped(id) {
            return Ok(DocumentRemoved::Shipped);
        }
        let mut is_removed = false;
        for collection in OF_DOCUMENTS {
            let removed = self.0.knowledge().remove(collection, id).await;
            is_removed |= removed.map_err(|error| away(&error))?;
        }
        Ok(if is_removed { DocumentRemoved::Yes } else { DocumentRemoved::Unknown })
    }
}
