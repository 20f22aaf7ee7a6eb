//! The knowledge base as the tools see it: the executor `search` asks it, and indexes the documents
//! of packs with its embedding.

use std::sync::Arc;

use async_trait::async_trait;

use pdm_knowledge::embed::{self, EmbedError, Embedder};
use pdm_knowledge::lookup::FoundTitle;
use pdm_knowledge::passages::Passages;
use pdm_knowledge::store::StoreError;
use pdm_knowledge::{
    Chunk, Collection, DocType, Filter, Findings, Hit, Knowledge, KnowledgeError, Mode, Section,
};
use pdm_tools::exec::Failure;
use pdm_tools::exec::articles::{Passage, PassageIndex, PassageIndexer};
use pdm_tools::exec::search::{FoundPart, KnowledgeSearch, Question, SearchAnswer};

/// The knowledge base behind the executor `search`.
#[derive(Debug, Clone)]
pub struct SearchedKnowledge(pub Knowledge);

#[async_trait]
impl KnowledgeSearch for SearchedKnowledge {
    async fn search(&self, question: Question) -> Result<SearchAnswer, Failure> {
        let collection: Collection = question.collection.parse().map_err(Failure::Permanent)?;
        let filter = filter(&question)?;
        let (query, top_k) = (&question.query, question.top_k);
        let findings = self.0.find(Mode::Fused, collection, query, &filter, top_k);
        let Findings { hits, by_words_alone, answered } = findings.await.map_err(failure)?;
        let note = by_words_alone.map(|reason| format!("searched by words alone: {reason}"));
        if question.filters.contains_key(WHOSE) {
            return self.of_plant(collection, &question, &filter, hits).await;
        }
        if hits.is_empty()
            && let Some(only) = self.only_ones(collection, &question, &filter, answered).await?
        {
            return Ok(only);
        }
        let nothing_found = hits.is_empty().then(|| nothing_found(answered));
        Ok(SearchAnswer { documents: hits.into_iter().map(found).collect(), note, nothing_found })
    }

    async fn section(&self, document: &str, number: &str) -> Result<SearchAnswer, Failure> {
        let sections = self.0.section(document, number).await.map_err(failure)?;
        if sections.is_empty() {
            return self.no_section(document).await;
        }
        Ok(looked_up(sections.iter().map(|one| part(&one.chunk, &one.section, 1.0)).collect()))
    }

    async fn title(&self, title: &str, top_k: usize) -> Result<SearchAnswer, Failure> {
        let titles = self.0.title(title, top_k).await.map_err(failure)?;
        let one = |hit: FoundTitle| match &hit.section {
            Some(section) => part(&hit.chunk, section, hit.score),
            None => found(Hit { chunk: hit.chunk, score: hit.score }),
        };
        Ok(looked_up(titles.into_iter().map(one).collect()))
    }
}

impl SearchedKnowledge {
    /// The documents that the filters leave, where they name a machine or a bearing and leave few:
    /// a filter that says which machine is not followed by a refusal of its only case. None of them
    /// answers, and the note says so.
    async fn only_ones(
        &self,
        collection: Collection,
        question: &Question,
        filter: &Filter,
        answered: Option<f32>,
    ) -> Result<Option<SearchAnswer>, Failure> {
        let named = [&filter.equipment, &filter.bearing];
        if named.iter().all(|name| name.is_none()) {
            return Ok(None);
        }
        let whose: Vec<&str> = named.into_iter().flatten().map(String::as_str).collect();
        let whose = whose.join(" ");
        let nearest =
            self.0.find(Mode::Nearest, collection, &question.query, filter, FEW + 1).await;
        let hits = nearest.map_err(failure)?.hits;
        let (count, shown) = (hits.len(), question.top_k.clamp(1, FEW));
        if count == 0 {
            let nothing = format!("nothing found: there is no document of {whose}");
            return Ok(Some(SearchAnswer {
                nothing_found: Some(nothing),
                ..SearchAnswer::default()
            }));
        }
        if count > FEW {
            return Ok(None);
        }
        let probability = answered.unwrap_or(0.0);
        let note = format!(
            "the only documents of {whose} ({count}); none is close to the question (probability \
             {probability:.2}, needed {:.2})",
            pdm_knowledge::relevance::CUT_OFF
        );
        let documents = hits.into_iter().take(shown);
        let documents =
            documents.map(|hit| FoundPart { close: Some(false), ..found(hit) }).collect();
        Ok(Some(SearchAnswer { documents, note: Some(note), nothing_found: None }))
    }

    /// The plant's own documents: those that answer, then the nearest of the others, which are
    /// marked.
    async fn of_plant(
        &self,
        collection: Collection,
        question: &Question,
        filter: &Filter,
        hits: Vec<Hit>,
    ) -> Result<SearchAnswer, Failure> {
        let (query, top_k) = (&question.query, question.top_k);
        let nearest = self.0.find(Mode::Nearest, collection, query, filter, top_k);
        let nearest = nearest.await.map_err(failure)?.hits;
        let mut documents: Vec<FoundPart> = hits.into_iter().map(found).collect();
        for hit in nearest {
            if documents.len() < top_k && documents.iter().all(|one| one.id != hit.chunk.id) {
                documents.push(FoundPart { close: Some(false), ..found(hit) });
            }
        }
        let nothing_found = documents.is_empty().then(|| NO_DOCUMENT_OF_PLANT.to_owned());
        Ok(SearchAnswer { documents, note: None, nothing_found })
    }

    /// What a look-up says where a document has no such section, or where there is no such
    /// document.
    async fn no_section(&self, document: &str) -> Result<SearchAnswer, Failure> {
        let all = self.0.section(document, "").await.map_err(failure)?;
        let numbers: Vec<&str> = all.iter().map(|one| one.section.number.as_str()).collect();
        let nothing = if numbers.is_empty() {
            NO_SUCH_TEXT.to_owned()
        } else {
            format!("nothing found: {document} has the sections {}", numbers.join(", "))
        };
        Ok(SearchAnswer { nothing_found: Some(nothing), ..SearchAnswer::default() })
    }
}

/// The number of documents up to which they are few: a bearing has at most this many cases before a
/// search is of use. Chosen with the shipped history, in which a bearing has one case and a machine
/// three.
const FEW: usize = 5;

/// The filter that leaves the plant's own documents, and its only value.
const WHOSE: &str = "whose";
const PLANT: &str = "plant";

/// What a search of the plant's own documents says where there is none.
const NO_DOCUMENT_OF_PLANT: &str = "nothing found: the plant has no document of its own here";

/// What a look-up by number or title says where there is no such text.
const NO_SUCH_TEXT: &str = "nothing found: no document or section of that name";

fn looked_up(documents: Vec<FoundPart>) -> SearchAnswer {
    let nothing_found = documents.is_empty().then(|| NO_SUCH_TEXT.to_owned());
    SearchAnswer { documents, note: None, nothing_found }
}

/// A section as a document of its own: `EM-06 §4.2`.
fn part(chunk: &Chunk, section: &Section, score: f32) -> FoundPart {
    FoundPart {
        id: chunk.id.clone(),
        title: format!("{} §{} {}", chunk.about.title.ko, section.number, section.title),
        text: section.whole(),
        source: chunk.citation(),
        score: f64::from(score),
        close: None,
        own: own(chunk),
        title_en: told(&format!("{} §{} {}", chunk.about.title.en, section.number, section.title)),
        english: told(&section.whole_in_english()),
    }
}

fn filter(question: &Question) -> Result<Filter, Failure> {
    let mut filter = Filter::default();
    for (field, value) in &question.filters {
        match field.as_str() {
            "equipment" | "equipment_id" => filter.equipment = Some(value.clone()),
            "bearing" | "bearing_id" => filter.bearing = Some(value.clone()),
            "document" => filter.document = Some(value.clone()),
            "doc_type" => {
                let kind: DocType = value.parse().map_err(Failure::Permanent)?;
                filter.doc_type = Some(kind);
            }
            WHOSE if value == PLANT => {
                // chunks carry the document's id as it is written
                let ids = pdm_knowledge::shipped::ids();
                filter.without.extend(ids.flat_map(|id| [id.to_owned(), id.to_uppercase()]));
            }
            other => {
                let allowed = "equipment_id, bearing_id, document, doc_type, whose (plant)";
                let told = format!("no filter {other:?}; there are {allowed}");
                return Err(Failure::Permanent(told));
            }
        }
    }
    Ok(filter)
}

/// Returns why a search has no documents, for whoever asked.
pub(crate) fn nothing_found(answered: Option<f32>) -> String {
    match answered {
        Some(answered) if answered > 0.0 => format!(
            "nothing found: no stored document answers this question (probability {answered:.2}, \
             needed {:.2})",
            pdm_knowledge::relevance::CUT_OFF
        ),
        Some(_) | None => "nothing found: there is no document to look in".to_owned(),
    }
}

/// Indexes the documents of packs.
#[derive(Debug, Clone)]
pub struct DocumentIndexer(pub Arc<dyn Embedder>);

#[async_trait]
impl PassageIndexer for DocumentIndexer {
    async fn index(&self, passages: Vec<Passage>) -> Result<Arc<dyn PassageIndex>, Failure> {
        let passage = |one: Passage| embed::Passage { head: one.head, body: one.body };
        let passages: Vec<embed::Passage> = passages.into_iter().map(passage).collect();
        let index = Passages::new(Arc::clone(&self.0), &passages).await;
        Ok(Arc::new(IndexedDocument(index.map_err(|error| embedding(&error))?)))
    }
}

struct IndexedDocument(Passages);

#[async_trait]
impl PassageIndex for IndexedDocument {
    async fn search(&self, query: &str, top_k: usize) -> Result<Vec<usize>, Failure> {
        self.0.search(query, top_k).await.map_err(|error| embedding(&error))
    }
}

fn embedding(error: &EmbedError) -> Failure {
    let text = error.to_string();
    match error {
        EmbedError::Unavailable { .. } => Failure::Transient(text),
        EmbedError::Answer { .. } => Failure::Malformed(text),
        EmbedError::Refused { .. } => Failure::Permanent(text),
    }
}

fn failure(error: KnowledgeError) -> Failure {
    let text = error.to_string();
    match error {
        KnowledgeError::Embed(error) => embedding(&error),
        KnowledgeError::Store(StoreError::Unavailable { .. }) => Failure::Transient(text),
        KnowledgeError::Store(StoreError::Dimensions { .. } | StoreError::Damaged { .. })
        | KnowledgeError::Document(_)
        | KnowledgeError::Secret { .. }
        | KnowledgeError::Words(_)
        | KnowledgeError::WordsSettled
        | KnowledgeError::EmptyQuery { .. } => Failure::Permanent(text),
    }
}

fn found(hit: Hit) -> FoundPart {
    FoundPart {
        id: hit.chunk.id.clone(),
        title: hit.chunk.about.title.ko.clone(),
        text: hit.chunk.body(),
        source: hit.chunk.citation(),
        score: f64::from(hit.score),
        close: None,
        own: own(&hit.chunk),
        title_en: told(&hit.chunk.about.title.en),
        english: told(&hit.chunk.body_in_english()),
    }
}

/// Whether a chunk is of a document that the plant brought.
fn own(chunk: &Chunk) -> Option<bool> {
    (!pdm_knowledge::shipped::is_shipped(&chunk.document)).then_some(true)
}

fn told(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(field: &str, value: &str) -> Question {
        Question {
            collection: "equipment_manual".to_owned(),
            query: "외륜".to_owned(),
            filters: [(field.to_owned(), value.to_owned())].into(),
            top_k: 3,
        }
    }

    #[test]
    fn every_filter_of_the_search_tools_is_known() {
        let read = filter(&question("equipment_id", "P-101")).expect("known");
        assert_eq!(read.equipment.as_deref(), Some("P-101"));
        let read = filter(&question("doc_type", "fmea")).expect("known");
        assert_eq!(read.doc_type, Some(DocType::Fmea));
    }

    async fn shipped(folder: &std::path::Path) -> SearchedKnowledge {
        let settings = pdm_knowledge::KnowledgeSettings::embedded_in(folder);
        let knowledge = Knowledge::open(&settings).await.expect("opens");
        let keeper = pdm_knowledge::keeper::Keeper::new(knowledge.clone(), None);
        keeper.fill().await.expect("filled");
        SearchedKnowledge(knowledge)
    }

    /// R-KB-4: the filter says which bearing, and its only case was refused.
    #[tokio::test]
    async fn the_only_case_of_a_bearing_is_shown_as_what_it_is() {
        let folder = tempfile::tempdir().expect("folder");
        let knowledge = shipped(folder.path()).await;
        let question = |equipment: &str| Question {
            collection: "maintenance_history".to_owned(),
            query: "외륜 결함 급속 열화".to_owned(),
            filters: [("equipment_id", equipment), ("bearing_id", "DE")]
                .map(|(field, value)| (field.to_owned(), value.to_owned()))
                .into(),
            top_k: 3,
        };
        let answer = knowledge.search(question("P-101")).await.expect("searched");
        assert_eq!(answer.documents.first().map(|one| one.id.as_str()), Some("MH-05"));
        assert!(answer.nothing_found.is_none(), "{answer:?}");
        let note = answer.note.unwrap_or_default();
        let is_close = answer.documents.iter().all(|one| one.close.is_none());
        assert!(is_close || note.contains("the only documents of P-101 DE"), "{note}");
        let answer = knowledge.search(question("P-999")).await.expect("searched");
        assert!(answer.documents.is_empty());
        let told = answer.nothing_found.unwrap_or_default();
        assert!(told.contains("no document of P-999"), "{told}");
    }

    /// R-KB-5: a document is read by its number without a search before, whole or by section.
    #[tokio::test]
    async fn a_document_is_read_by_its_number() {
        let folder = tempfile::tempdir().expect("folder");
        let knowledge = shipped(folder.path()).await;
        let section = knowledge.section("em-06", "6").await.expect("read");
        assert!(section.documents[0].text.contains("85 N·m"), "{section:?}");
        let english = section.documents[0].english.clone().unwrap_or_default();
        assert!(english.contains("Tighten crosswise"), "{english}");
        let whole = knowledge.section("EM-06", "").await.expect("read");
        assert!(whole.documents.len() >= 10, "{}", whole.documents.len());
        let none = knowledge.section("EM-06", "77").await.expect("read");
        assert!(none.nothing_found.unwrap_or_default().contains("has the sections 1, 2"));
    }

    #[test]
    fn an_unknown_kind_is_told_with_those_that_are() {
        let Err(Failure::Permanent(told)) = filter(&question("doc_type", "novel")) else {
            panic!("refused")
        };
        assert!(told.contains("\"novel\"") && told.contains("fault_guide"), "{told}");
    }
}
