//! Executor `search`: one question to a collection of the knowledge base.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Failure, Invocation};
use crate::spec::executor::SearchConfig;

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The collection.
    pub collection: String,
    /// What is asked, in Korean or English.
    pub query: String,
    /// Field → value that a hit must have.
    pub filters: BTreeMap<String, String>,
    /// Most hits.
    pub top_k: usize,
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The chunk's name, for citing it.
    pub id: String,
    /// The document's title.
    pub title: String,
    /// The text.
    pub text: String,
    /// Where it comes from.
    pub source: String,
    /// Nearness, greater is nearer; its scale is the search's own.
    pub score: f64,
}

/// What came of a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The nearest documents, nearest first.
    pub documents: Vec<Found>,
    /// What whoever asked should know of how they were found.
    pub note: Option<String>,
}

/// Who searches.
#[async_trait]
pub trait KnowledgeSearch: Send + Sync {
    /// The nearest documents, nearest first.
    ///
    /// # Errors
    /// [`Failure`]: an unknown collection is permanent, a store that is away is transient.
    async fn search(&self, question: Question) -> Result<Answer, Failure>;
}

pub(crate) async fn run(
    config: &SearchConfig,
    knowledge: Option<&dyn KnowledgeSearch>,
    invocation: Invocation<'_>,
) -> Result<Value, Failure> {
    let Some(knowledge) = knowledge else {
        return Err(Failure::Permanent("this program was started without a knowledge base".into()));
    };
    let query = invocation.text("query").map(str::trim).unwrap_or_default();
    if query.is_empty() {
        return Err(Failure::Permanent("query: is empty, expected a question".into()));
    }
    let filters = config.filters.iter().filter_map(|(field, property)| {
        let value = invocation.text(property)?.trim();
        (!value.is_empty()).then(|| (field.clone(), value.to_owned()))
    });
    let top_k = invocation.arguments.get("top_k").and_then(Value::as_u64);
    let top_k = top_k.and_then(|k| usize::try_from(k).ok()).unwrap_or(config.top_k);
    let question = Question {
        collection: config.collection.clone(),
        query: query.to_owned(),
        filters: filters.collect(),
        top_k: top_k.clamp(1, config.max_top_k),
    };
    let Answer { documents, note } = knowledge.search(question).await?;
    let mut answer = json!({ "documents": documents, "count": documents.len() });
    if let Some(note) = note {
        answer["note"] = note.into();
    }
    Ok(answer)
}
