//! Executor `search`: one question to a collection of the knowledge base.
//!
//! A search by meaning may end with the model's judgement of what was found (R-KB-4). A model that
//! is away filters nothing, and the answer says so.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Value, json};

use super::prompt::{self, FoundItems, LanguageModel};
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
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FoundPart {
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
    /// False where the document does not answer the question: it is told because the filters leave
    /// no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close: Option<bool>,
    /// True where the document is the plant's own, and does not come with the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<bool>,
    /// The title in English, where the document has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_en: Option<String>,
    /// The text in English, where the document has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub english: Option<String>,
}

/// The answer to a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchAnswer {
    /// The documents, best first.
    pub documents: Vec<FoundPart>,
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
    async fn search(&self, question: Question) -> Result<SearchAnswer, Failure>;

    /// The sections of a document with this number, and those below it; all of them for an empty
    /// number.
    ///
    /// # Errors
    /// [`Failure`] as of [`KnowledgeSearch::search`].
    async fn section(&self, document: &str, number: &str) -> Result<SearchAnswer, Failure>;

    /// Documents and sections by their title, best first.
    ///
    /// # Errors
    /// [`Failure`] as of [`KnowledgeSearch::search`].
    async fn title(&self, title: &str, top_k: usize) -> Result<SearchAnswer, Failure>;
}

pub(crate) async fn run(
    config: &SearchConfig,
    knowledge: Option<&dyn KnowledgeSearch>,
    filter: Option<&dyn LanguageModel>,
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
            let query = question.query.clone();
            let found = knowledge.search(question).await?;
            match filter {
                Some(model) if found.documents.iter().any(|one| one.close.is_none()) => {
                    filtered(model, &query, found).await
                }
                _ => found,
            }
        }
        SearchBy::Section => {
            let number = invocation.text("number").unwrap_or_default().trim();
            knowledge.section(asked(&invocation, "document")?, number).await?
        }
        SearchBy::Title => knowledge.title(asked(&invocation, "title")?, top_k).await?,
    };
    let SearchAnswer { documents, note, nothing_found } = found;
    let mut answer = json!({ "documents": documents, "count": documents.len() });
    if let Some(note) = note {
        answer["note"] = note.into();
    }
    if let Some(reason) = nothing_found {
        answer["nothing_found"] = reason.into();
    }
    Ok(answer)
}

/// Returns the found passages that the model holds relevant; all of them if it fails.
async fn filtered(model: &dyn LanguageModel, query: &str, mut found: SearchAnswer) -> SearchAnswer {
    let numbered = found.documents.iter().zip(1_i64..);
    let passages =
        numbered.map(|(one, no)| json!({ "no": no, "title": one.title, "text": one.text }));
    let passages: Vec<Value> = passages.collect();
    let items = FoundItems {
        tool: "passage_filter",
        instructions: "Name the no of each passage that helps to answer the question. A passage \
                       that only shares words with it does not help; name none if none helps.",
        data: json!({ "question": query, "passages": passages }),
        numbers: (1..).take(found.documents.len()).collect(),
    };
    let relevant = match prompt::relevant(model, items).await {
        Ok(relevant) => relevant,
        Err(failure) => {
            tracing::debug!(%failure, "The model filters no passage, all are kept.");
            add_note(&mut found, &format!("not filtered by the model: {failure}"));
            return found;
        }
    };
    let before = found.documents.len();
    let numbered = found.documents.into_iter().zip(1_i64..);
    let kept = numbered.filter(|(_, no)| relevant.contains(no)).map(|(one, _)| one);
    found.documents = kept.collect();
    let after = found.documents.len();
    if after == 0 {
        let none = format!("nothing found: the model holds none of {before} passages relevant");
        found.nothing_found = Some(none);
    } else if after < before {
        add_note(
            &mut found,
            &format!("the model left out {} of {before} passages", before - after),
        );
    }
    found
}

fn add_note(answer: &mut SearchAnswer, note: &str) {
    let before = answer.note.take().map(|before| format!("{before}; ")).unwrap_or_default();
    answer.note = Some(before + note);
}

/// A text argument that is not empty.
fn asked<'i>(invocation: &'i Invocation<'_>, name: &str) -> Result<&'i str, Failure> {
    let text = invocation.text(name).map(str::trim).unwrap_or_default();
    if text.is_empty() {
        return Err(Failure::Permanent(format!("{name}: is empty, expected a text")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::prompt::Prompt;

    /// A model that always gives the same answer; a stand-in.
    struct Says(Result<&'static str, &'static str>);

    #[async_trait]
    impl LanguageModel for Says {
        async fn answer(&self, prompt: &Prompt) -> Result<String, Failure> {
            assert_eq!(prompt.data["passages"].as_array().map(Vec::len), Some(3));
            self.0.map(str::to_owned).map_err(|told| Failure::Transient(told.to_owned()))
        }
    }

    fn found() -> SearchAnswer {
        let one = |id: &str| FoundPart {
            id: id.to_owned(),
            title: String::new(),
            text: String::new(),
            source: String::new(),
            score: 1.0,
            close: None,
            own: None,
            title_en: None,
            english: None,
        };
        SearchAnswer {
            documents: ["EM-01", "EM-02", "EM-03"].map(one).into(),
            ..SearchAnswer::default()
        }
    }

    async fn after(answer: Result<&'static str, &'static str>) -> (Vec<String>, SearchAnswer) {
        let answer = filtered(&Says(answer), "how warm for mounting", found()).await;
        (answer.documents.iter().map(|one| one.id.clone()).collect(), answer)
    }

    #[tokio::test]
    async fn the_model_leaves_out_what_does_not_help_and_says_so() {
        let (kept, answer) = after(Ok(r#"{"relevant": [2, 9]}"#)).await;
        assert_eq!(kept, ["EM-02"]);
        assert_eq!(answer.note.as_deref(), Some("the model left out 2 of 3 passages"));
        let (kept, answer) = after(Ok(r#"{"relevant": []}"#)).await;
        assert!(kept.is_empty() && answer.nothing_found.is_some(), "{answer:?}");
    }

    #[tokio::test]
    async fn a_model_that_is_away_or_talks_of_something_else_filters_nothing() {
        for answer in [Err("connection refused"), Ok("I think that"), Ok(r#"{"relevant": "all"}"#)]
        {
            let (kept, answer) = after(answer).await;
            assert_eq!(kept.len(), 3);
            assert!(answer.note.is_some_and(|note| note.starts_with("not filtered")));
        }
    }
}
