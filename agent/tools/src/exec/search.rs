//! Executor `search`: one question to a collection of the knowledge base.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Failure, Invocation};
use crate::spec::executor::{SearchBy, SearchConfig};

/// A question to the knowledge base.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The collection.
    pub collection: String,
    /// The text of the question, in Korean or English.
    pub query: String,
    /// Field → value that a hit must have.
    pub filters: BTreeMap<String, String>,
    /// Most hits.
    pub top_k: usize,
}

/// A chunk that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The chunk's name, for citing it.
    pub id: String,
    /// The document's title.
    pub title: String,
    /// The text.
    pub text: String,
    /// The source of the text.
    pub source: String,
    /// Score, greater is better; its scale depends on the search.
    pub score: f64,
}

/// The answer to a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The documents, best first.
    pub documents: Vec<Found>,
    /// A note on the way of the search, for the caller.
    pub note: Option<String>,
    /// Why there are no documents: nothing stored answers the question.
    pub nothing_found: Option<String>,
}

/// A knowledge base that can be searched.
#[async_trait]
pub trait KnowledgeSearch: Send + Sync {
    /// The nearest documents, best first.
    ///
    /// # Errors
    /// [`Failure`]: an unknown collection is permanent, a store that is away is transient.
    async fn search(&self, question: Question) -> Result<Answer, Failure>;

    /// The sections of a document with this number, and those below it.
    ///
    /// # Errors
    /// [`Failure`] as of [`KnowledgeSearch::search`].
    async fn section(&self, document: &str, number: &str) -> Result<Answer, Failure>;

    /// Documents and sections by their title, best first.
    ///
    /// # Errors
    /// [`Failure`] as of [`KnowledgeSearch::search`].
    async fn title(&self, title: &str, top_k: usize) -> Result<Answer, Failure>;
}

pub(crate) async fn run(
    config: &SearchConfig,
    knowledge: Option<&dyn KnowledgeSearch>,
    invocation: Invocation<'_>,
) -> Result<Value, Failure> {
    let Some(knowledge) = knowledge else {
        return Err(Failure::Permanent("this program was started without a knowledge base".into()));
    };
    let top_k = invocation.arguments.get("top_k").and_then(Value::as_u64);
    let top_k = top_k.and_then(|k| usize::try_from(k).ok()).unwrap_or(config.top_k);
    let top_k = top_k.clamp(1, config.max_top_k);
    let found = match config.by {
        SearchBy::Meaning => {
            let filters = config.filters.iter().filter_map(|(field, property)| {
                let value = invocation.text(property)?.trim();
                (!value.is_empty()).then(|| (field.clone(), value.to_owned()))
            });
            let question = Question {
                collection: config.collection.clone(),
                query: asked(&invocation, "query")?.to_owned(),
                filters: filters.collect(),
                top_k,
            };
            knowledge.search(question).await?
        }
        SearchBy::Section => {
            let (document, number) =
                (asked(&invocation, "document")?, asked(&invocation, "number")?);
            knowledge.section(document, number).await?
        }
        SearchBy::Title => knowledge.title(asked(&invocation, "title")?, top_k).await?,
    };
    let Answer { documents, note, nothing_found } = found;
    let mut answer = json!({ "documents": documents, "count": documents.len() });
    if let Some(note) = note {
        answer["note"] = note.into();
    }
    if let Some(reason) = nothing_found {
        answer["nothing_found"] = reason.into();
    }
    Ok(answer)
}

/// A text argument that is not empty.
fn asked<'i>(invocation: &'i Invocation<'_>, name: &str) -> Result<&'i str, Failure> {
    let text = invocation.text(name).map(str::trim).unwrap_or_default();
    if text.is_empty() {
        return Err(Failure::Permanent(format!("{name}: is empty, expected a text")));
    }
    Ok(text)
}
