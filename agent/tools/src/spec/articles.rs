//! `config` of a `search` tool over a document of its pack.
//!
//! ```yaml
//! executor: search
//! config:
//!   document: contract          # data/contract.md; {contract_type} stands for an argument
//!   by: topics                  # topics | queries | number | title
//!   top_k: 5                    # articles of a topic, before the model's filter
//! ```

use serde_json::{Map, Value};

use super::executor::{About, must_be_input};
use crate::fields::FieldReading;

/// The keys beside the limits.
pub(super) const KEYS: [&str; 3] = ["document", "by", "top_k"];

/// `config` of a `search` tool over a document.
#[derive(Debug, Clone, PartialEq)]
pub struct ArticleConfig {
    /// The document's name, before and after the place of the argument.
    pub document: DocumentName,
    /// How articles are found.
    pub by: ArticlesBy,
    /// Most articles of one question.
    pub top_k: usize,
}

/// The name of a document: `contract`, or `standard_{contract_type}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentName {
    before: String,
    /// The argument, and the text after it.
    argument: Option<(String, String)>,
}

/// How articles are found (`config.by`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArticlesBy {
    /// `topics`: by meaning and words, `topics[{topic_name, queries[]}]`, told by topic.
    Topics,
    /// `queries`: by meaning and words, `queries[]`.
    Queries,
    /// `number`: `article_numbers[]` and `exhibit_numbers[]`.
    Number,
    /// `title`: `title_queries[]`.
    Title,
}

impl DocumentName {
    fn read(text: &str) -> Self {
        let open = text.split_once('{');
        match open.and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
            Some((before, (argument, after))) => Self {
                before: before.to_owned(),
                argument: Some((argument.to_owned(), after.to_owned())),
            },
            None => Self { before: text.to_owned(), argument: None },
        }
    }

    /// The name with the argument in its place.
    pub fn filled(&self, arguments: &Map<String, Value>) -> String {
        match &self.argument {
            None => self.before.clone(),
            Some((argument, after)) => {
                let given = arguments.get(argument).and_then(Value::as_str).unwrap_or_default();
                format!("{}{given}{after}", self.before)
            }
        }
    }

    /// Whether a document of this name may be meant.
    fn fits(&self, name: &str) -> bool {
        match &self.argument {
            None => name == self.before,
            Some((_, after)) => {
                name.strip_prefix(&self.before).is_some_and(|rest| rest.ends_with(after.as_str()))
            }
        }
    }
}

pub(super) fn read_article_config(
    reading: &mut FieldReading<'_>,
    config: &Map<String, Value>,
    about: About<'_>,
) -> Option<ArticleConfig> {
    let document = DocumentName::read(&reading.text("/config", config, "document")?);
    if let Some((argument, _)) = &document.argument {
        must_be_input(reading, "/config/document", argument, about.input);
    }
    let Some(pack) = about.pack else {
        let message = "is for the tools of a pack, whose data holds the document";
        reading.problem("/config/document", message);
        return None;
    };
    if !pack.data.documents.keys().any(|name| document.fits(name)) {
        let names: Vec<&str> = pack.data.documents.keys().map(String::as_str).collect();
        let message = format!("no such document in data/; there are: {}", names.join(", "));
        reading.problem("/config/document", message);
    }
    let (by, needed) = match reading.text("/config", config, "by")?.as_str() {
        "topics" => (ArticlesBy::Topics, &["topics"][..]),
        "queries" => (ArticlesBy::Queries, &["queries"][..]),
        "number" => (ArticlesBy::Number, &["article_numbers", "exhibit_numbers"][..]),
        "title" => (ArticlesBy::Title, &["title_queries"][..]),
        other => {
            let message = format!("is {other:?}, allowed are topics, queries, number, title");
            reading.problem("/config/by", message);
            return None;
        }
    };
    for property in needed {
        must_be_input(reading, "/config/by", property, about.input);
    }
    let top_k = reading.whole("/config", config, "top_k", 5, 1..=50);
    Some(ArticleConfig { document, by, top_k: usize::try_from(top_k).ok()? })
}
