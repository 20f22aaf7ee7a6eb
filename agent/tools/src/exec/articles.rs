//! Executor `search` over a document of a pack: its articles by what a question means, by number or
//! by title. An answer holds whole articles.
//!
//! The index of a document is made once and kept until the document changes. A question's queries
//! are searched one by one and fused by reciprocal rank; the best `top_k` articles go to the
//! model's filter where the program has a model, and to the caller where it has none.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use pdm_shared::rank::rank_weight;
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use super::prompt::{self, FoundItems, LanguageModel};
use super::{Failure, Invocation};
use crate::pack::{Article, Articles, PackData};
use crate::spec::articles::{ArticleConfig, ArticlesBy};

/// Clauses that one query may bring before they are gathered by article.
const CLAUSES: usize = 30;
/// Least share of pairs of characters that a title and a question have in common (Dice
/// coefficient). Chosen: 이용의 범위 finds 이용 범위와 제한 (0.57); 데이터 보안 does not find 손해배상 (0).
const ALIKE: f64 = 0.5;

/// A clause to be indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The article's title.
    pub head: String,
    /// The clause.
    pub body: String,
}

/// Makes indexes of passages.
#[async_trait]
pub trait PassageIndexer: Send + Sync {
    /// The index of these passages.
    ///
    /// # Errors
    /// [`Failure`]: an embedding endpoint that is away is transient.
    async fn index(&self, passages: Vec<Passage>) -> Result<Arc<dyn PassageIndex>, Failure>;
}

/// An index of passages, searched by words and by meaning at once.
#[async_trait]
pub trait PassageIndex: Send + Sync {
    /// The passages that have to do with the question, best first, as their numbers from 0.
    ///
    /// # Errors
    /// [`Failure`] as of [`PassageIndexer::index`].
    async fn search(&self, query: &str, top_k: usize) -> Result<Vec<usize>, Failure>;
}

/// The indexes of documents.
#[derive(Default)]
pub struct ArticleSearch {
    indexer: Option<Arc<dyn PassageIndexer>>,
    kept: Mutex<BTreeMap<(String, String), Arc<Indexed>>>,
}

struct Indexed {
    articles: Articles,
    /// The article of each passage, as its place.
    owners: Vec<usize>,
    index: Arc<dyn PassageIndex>,
}

impl std::fmt::Debug for ArticleSearch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArticleSearch")
            .field("indexer", &self.indexer.is_some())
            .finish_non_exhaustive()
    }
}

impl ArticleSearch {
    /// Searches with the indexes of `indexer`.
    pub fn new(indexer: Arc<dyn PassageIndexer>) -> Self {
        Self { indexer: Some(indexer), kept: Mutex::default() }
    }

    async fn indexed(
        &self,
        pack: &str,
        name: &str,
        of: &Articles,
    ) -> Result<Arc<Indexed>, Failure> {
        let Some(indexer) = &self.indexer else {
            let reason = "this program was started without an index of documents";
            return Err(Failure::Permanent(reason.to_owned()));
        };
        let key = (pack.to_owned(), name.to_owned());
        // held while the index is made, so that it is made once
        let mut kept = self.kept.lock().await;
        if let Some(indexed) = kept.get(&key).filter(|indexed| indexed.articles == *of) {
            return Ok(Arc::clone(indexed));
        }
        let mut owners = Vec::new();
        let mut passages = Vec::new();
        for (place, article) in of.articles.iter().enumerate() {
            for clause in &article.content {
                owners.push(place);
                passages.push(Passage { head: article.title.clone(), body: clause.clone() });
            }
        }
        let index = indexer.index(passages).await?;
        let indexed = Arc::new(Indexed { articles: of.clone(), owners, index });
        kept.insert(key, Arc::clone(&indexed));
        Ok(indexed)
    }

    pub(crate) async fn run(
        &self,
        config: &ArticleConfig,
        data: Option<&Arc<PackData>>,
        model: Option<&dyn LanguageModel>,
        invocation: Invocation<'_>,
    ) -> Result<Value, Failure> {
        let arguments = invocation.arguments;
        let name = config.document.filled(arguments);
        let data = data.ok_or_else(|| Failure::Permanent("the pack is not turned on".into()))?;
        let Some(document) = data.documents.get(&name) else {
            let known: Vec<&str> = data.documents.keys().map(String::as_str).collect();
            let known = known.join(", ");
            return Err(Failure::Permanent(format!("no document {name}; there are: {known}")));
        };
        match config.by {
            ArticlesBy::Number => Ok(by_number(document, arguments)),
            ArticlesBy::Title => Ok(by_title(document, &texts(arguments.get("title_queries")))),
            ArticlesBy::Queries => {
                let indexed = self.indexed(&data.pack, &name, document).await?;
                let queries = texts(arguments.get("queries"));
                let found = indexed.asked("", &queries, config.top_k, model).await?;
                Ok(json!({ "matched_articles": found, "document": document.title }))
            }
            ArticlesBy::Topics => {
                let indexed = self.indexed(&data.pack, &name, document).await?;
                let mut results = Map::new();
                for topic in arguments.get("topics").and_then(Value::as_array).into_iter().flatten()
                {
                    let named = topic.get("topic_name").and_then(Value::as_str).unwrap_or_default();
                    let queries = texts(topic.get("queries"));
                    let found = indexed.asked(named, &queries, config.top_k, model).await?;
                    results.insert(named.to_owned(), json!(found));
                }
                Ok(json!({ "results": results }))
            }
        }
    }
}

impl Indexed {
    /// The best articles for the queries of one question.
    async fn asked(
        &self,
        topic: &str,
        queries: &[String],
        top_k: usize,
        model: Option<&dyn LanguageModel>,
    ) -> Result<Vec<Article>, Failure> {
        let mut scores = vec![0.0_f64; self.articles.articles.len()];
        for query in queries {
            let mut seen = vec![false; scores.len()];
            for passage in self.index.search(query, CLAUSES).await? {
                let Some(&owner) = self.owners.get(passage) else { continue };
                // an article counts once a query, with its best clause
                if !std::mem::replace(&mut seen[owner], true) {
                    let rank = seen.iter().filter(|seen| **seen).count() - 1;
                    scores[owner] += rank_weight(rank);
                }
            }
        }
        let mut order: Vec<usize> = (0..scores.len()).filter(|at| scores[*at] > 0.0).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        order.truncate(top_k);
        let best: Vec<Article> =
            order.into_iter().map(|at| self.articles.articles[at].clone()).collect();
        match model {
            Some(model) if !best.is_empty() => Ok(filtered(model, topic, queries, best).await),
            _ => Ok(best),
        }
    }
}

/// The articles that the model holds relevant. A model that is away or talks of something else
/// filters nothing.
async fn filtered(
    model: &dyn LanguageModel,
    topic: &str,
    queries: &[String],
    best: Vec<Article>,
) -> Vec<Article> {
    let items = FoundItems {
        tool: "article_filter",
        instructions: "Name the article_no of each article that helps to answer the topic and its \
                       queries. An article that only shares words with them does not help.",
        data: json!({ "topic": topic, "queries": queries, "articles": best }),
        numbers: best.iter().map(|article| article.article_no).collect(),
    };
    let relevant = match prompt::relevant(model, items).await {
        Ok(relevant) => relevant,
        Err(failure) => {
            tracing::debug!(%failure, "The model filters no article, all are kept.");
            return best;
        }
    };
    best.into_iter().filter(|article| relevant.contains(&article.article_no)).collect()
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn by_number(document: &Articles, arguments: &Map<String, Value>) -> Value {
    let numbers = |name: &str| -> Vec<i64> {
        let list = arguments.get(name).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_i64).collect()
    };
    let exhibits = numbers("exhibit_numbers").into_iter().map(|number| -number.abs());
    let asked: Vec<i64> = numbers("article_numbers").into_iter().chain(exhibits).collect();
    let found: Vec<&Article> =
        asked.iter().filter_map(|number| document.numbered(*number)).collect();
    let missing: Vec<String> = asked
        .iter()
        .filter(|number| document.numbered(**number).is_none())
        .map(|number| place(*number))
        .collect();
    let mut answer = json!({ "matched_articles": found });
    if !missing.is_empty() {
        let there: Vec<String> =
            document.articles.iter().map(|article| place(article.article_no)).collect();
        let (missing, there) = (missing.join(", "), there.join(", "));
        answer["note"] = format!("not in the document: {missing}; there are: {there}").into();
    }
    answer
}

fn place(number: i64) -> String {
    if number < 0 { format!("별지{}", -number) } else { format!("제{number}조") }
}

fn by_title(document: &Articles, queries: &[String]) -> Value {
    let mut found: Vec<&Article> = Vec::new();
    for query in queries {
        let asked = bare(query);
        let likeness = |article: &Article| -> f64 {
            let title = bare(&article.title);
            let is_part = title.contains(&asked) || asked.contains(&title);
            if !asked.is_empty() && is_part { 1.0 } else { dice(&title, &asked) }
        };
        let mut alike: Vec<(f64, &Article)> =
            document.articles.iter().map(|article| (likeness(article), article)).collect();
        // titles that only look alike count where none holds the words
        let best = alike.iter().map(|(likeness, _)| *likeness).fold(0.0, f64::max);
        let least = if best >= 1.0 { 1.0 } else { ALIKE };
        alike.retain(|(likeness, _)| *likeness >= least);
        // a stable sort: equal titles stay in the order of the document
        alike.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, article) in alike {
            if !found.iter().any(|known| known.article_no == article.article_no) {
                found.push(article);
            }
        }
    }
    let mut answer = json!({ "matched_articles": found });
    if found.is_empty() {
        let titles: Vec<&str> = document.articles.iter().map(|one| one.title.as_str()).collect();
        answer["note"] = format!("no such title; there are: {}", titles.join(", ")).into();
    }
    answer
}

/// A title without spaces and without the word for "article" at its end.
fn bare(title: &str) -> String {
    let mut text: String = title.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
    for ending in ["조항", "조문", "article", "clause"] {
        if let Some(rest) = text.strip_suffix(ending).filter(|rest| !rest.is_empty()) {
            text = rest.to_owned();
        }
    }
    text
}

/// The Dice coefficient of the pairs of neighbouring characters.
fn dice(a: &str, b: &str) -> f64 {
    let pairs =
        |text: &str| -> Vec<(char, char)> { text.chars().zip(text.chars().skip(1)).collect() };
    let (a, mut b) = (pairs(a), pairs(b));
    let total = a.len() + b.len();
    if total == 0 {
        return 0.0;
    }
    let mut common = 0;
    for pair in &a {
        if let Some(at) = b.iter().position(|other| other == pair) {
            b.swap_remove(at);
            common += 1;
        }
    }
    2.0 * f64::from(common) / total as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_alike_by_their_pairs_of_characters() {
        assert!(dice("손해배상책임", "손해배상") >= ALIKE);
        assert!(dice("이용의범위", "이용범위와제한") < 1.0 && dice("데이터보안", "손해배상") < 0.1);
        assert!(dice("", "").abs() < f64::EPSILON);
        assert_eq!(bare("손해배상 조항"), "손해배상");
        assert_eq!(bare("조항"), "조항");
    }
}
