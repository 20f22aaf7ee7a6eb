//! Looks up the passages that the documents quote: the replacement procedure, the guide of the
//! fault, its failure mode.

use pdm_expert::wording::{element, frequency};
use pdm_shared::fault::Fault;

use pdm_knowledge::{Chunk, Collection, DocType, Filter, Knowledge, KnowledgeError};

/// The chunks for a fault; without a fault the procedure alone.
///
/// # Errors
/// [`KnowledgeError`] if the knowledge base cannot be asked. A missing document is not an error.
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
