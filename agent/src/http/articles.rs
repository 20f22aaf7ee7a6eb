//! The documents of the knowledge base, for its pages. No path of a file leaves here.

use pdm_knowledge::{Chunk, Collection, Filter, Knowledge, KnowledgeError};
use pdm_web::plant::{Article, ArticleRow, ArticleSection, PlantError};

/// Documents that a search lists of each collection.
const FOUND: usize = 10;

/// A document by its identity.
pub(super) async fn article(
    knowledge: &Knowledge,
    id: &str,
) -> Result<Option<Article>, PlantError> {
    let found = knowledge.section(id, "").await.map_err(|error| away(&error))?;
    let Some(first) = found.first().map(|one| one.chunk.clone()) else { return Ok(None) };
    let sections = found.into_iter().map(|one| ArticleSection {
        number: one.section.number,
        title: one.section.title,
        body: one.section.body,
        english: one.section.english,
    });
    Ok(Some(Article { row: row(first), sections: sections.collect() }))
}

/// The documents that answer a question, the best first; the agent's own judgements are not among
/// them.
pub(super) async fn search(
    knowledge: &Knowledge,
    words: &str,
) -> Result<Vec<ArticleRow>, PlantError> {
    let mut hits = Vec::new();
    for collection in [Collection::EquipmentManual, Collection::MaintenanceHistory] {
        match knowledge.search(collection, words, &Filter::default(), FOUND).await {
            Ok(found) => hits.extend(found),
            Err(KnowledgeError::EmptyQuery { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(away(&error)),
        }
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut rows: Vec<ArticleRow> = Vec::new();
    for hit in hits {
        if !rows.iter().any(|row| row.id == hit.chunk.document) {
            rows.push(row(hit.chunk));
        }
    }
    Ok(rows)
}

fn row(chunk: Chunk) -> ArticleRow {
    let kind = chunk.about.doc_type.as_str().to_owned();
    let synthetic = chunk.about.synthetic;
    ArticleRow { id: chunk.document, title: chunk.about.title, kind, synthetic }
}

fn away(error: &KnowledgeError) -> PlantError {
    PlantError::Unavailable(error.to_string())
}
