//! Looks up what the documents quote: the replacement procedure, the fault's guide, its failure mode.

use pdm_expert::wording::{element, frequency};
use pdm_shared::fault::Fault;

use pdm_knowledge::{Chunk, Collection, DocType, Filter, Knowledge, KnowledgeError};

/// What the knowledge base has for a fault; without one the procedure alone.
///
/// # Errors
/// [`KnowledgeError`] if it cannot be asked; a document that is not there is no error.
pub async fn look_up(
    knowledge: &Knowledge,
    fault: Option<Fault>,
) -> Result<Vec<Chunk>, KnowledgeError> {
    let mut found = Vec::new();
    let procedure = Filter { doc_type: Some(DocType::Procedure), ..Filter::default() };
    found.extend(
        best(knowledge, "베어링 교체 정비 절차 bearing replacement procedure", procedure).await?,
    );
    let Some(fault) = fault else { return Ok(found) };
    let name = element(fault);
    let query = format!("{} 결함 {} fault {}", name.ko, name.en, frequency(fault));
    for doc_type in [DocType::FaultGuide, DocType::Fmea] {
        let filter =
            Filter { doc_type: Some(doc_type), fault_type: Some(fault), ..Filter::default() };
        found.extend(best(knowledge, &query, filter).await?);
    }
    Ok(found)
}

async fn best(
    knowledge: &Knowledge,
    query: &str,
    filter: Filter,
) -> Result<Option<Chunk>, KnowledgeError> {
    let hits = knowledge.search(Collection::EquipmentManual, query, &filter, 1).await?;
    Ok(hits.into_iter().next().map(|hit| hit.chunk))
}
