//! One box that finds machines, documents and work, and the documents of the knowledge base as
//! pages.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Extension, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::id::BearingKey;
use pdm_shared::text::Language;
use serde::Deserialize;

use super::places::Places;
use super::{Reader, fleet, matching, show};
use crate::Shared;
use crate::access::{Viewer, encoded};
use crate::plant::{Article, ArticleRow, ArticleSection, BearingRow, WorkRow};
use crate::problem::Problem;

/// Bearings and actions that a search lists.
const LISTED: usize = 20;
/// Actions that are looked through.
const MOST_WORK: u32 = 5000;
/// Longest text that is searched for, characters.
const LONGEST: usize = 200;

/// The query of the search.
#[derive(Debug, Default, Deserialize)]
pub(super) struct SearchAsked {
    #[serde(default)]
    q: String,
}

pub(super) async fn search(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(asked): Query<SearchAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("search.html", &reader, found(&shared, &asked, &reader).await)
}

async fn found(shared: &Shared, asked: &SearchAsked, reader: &Reader) -> Result<Value, Problem> {
    let asked: String = asked.q.trim().chars().take(LONGEST).collect();
    if asked.is_empty() {
        let none = Vec::<Value>::new();
        return Ok(context! {
            q => "", is_asked => false, bearings => &none, work => &none, articles => &none,
            sections => &none, bearings_found => 0, work_found => 0,
        });
    }
    let plant = &shared.site.plant;
    let (fleet, places) = (plant.fleet().await?, Places::of_plant(shared, reader.language).await?);
    let now = shared.site.clock.now();
    let bearings: Vec<&BearingRow> =
        fleet.iter().filter(|row| matching::fits(&fleet::words(row, &places), &asked)).collect();
    let work = plant.work(true, None, MOST_WORK).await?;
    // work is found by everything of its bearing: element, risk, designation
    let of_key: HashMap<&BearingKey, &BearingRow> =
        fleet.iter().map(|row| (&row.key, row)).collect();
    let fits = |row: &&WorkRow| {
        let order = row.work_order.as_deref().unwrap_or_default();
        let of_bearing = of_key.get(&row.key).map(|bearing| fleet::words(bearing, &places));
        let name = of_bearing.unwrap_or_else(|| places.words(&row.key));
        let text = format!("{} {name} {} {} {order}", row.key, row.action.ko, row.action.en);
        matching::fits(&text, &asked)
    };
    let work: Vec<&WorkRow> = work.iter().filter(fits).collect();
    let (codes, words) = codes_and_words(&asked);
    let mut sections = Vec::new();
    for code in &codes {
        let Some(found) = plant.article(code.document()).await? else { continue };
        sections.extend(code.hits(&found, &words, reader.language));
    }
    // the code itself is no word of the documents
    let asked_words = if sections.is_empty() { &asked } else { &words };
    let articles = match asked_words.as_str() {
        "" => Vec::new(),
        words => plant.articles(words).await?,
    };
    Ok(context! {
        q => &asked,
        is_asked => true,
        bearings_found => bearings.len(),
        work_found => work.len(),
        bearings => bearings.iter().take(LISTED).map(|row| {
            let machine_name = places.name(&row.key);
            context! { machine_name, ..fleet::bearing_shown(row, now, reader) }
        }).collect::<Vec<_>>(),
        work => work.iter().take(LISTED).map(|row| {
            context! { text => row.action.in_language(reader.language), ..show::value(row) }
        }).collect::<Vec<_>>(),
        sections,
        articles => articles.iter().map(|row| article_row(row, reader.language)).collect::<Vec<_>>(),
    })
}

/// A document that a search names by its code, and the section if it names one: `EM-06`, `EM-06§6`,
/// `EM-06#6`.
struct DocumentCode {
    document: String,
    section: Option<String>,
}

impl DocumentCode {
    /// Reads a word; `None` for one that is no code: letters, a hyphen and digits.
    fn of(word: &str) -> Option<Self> {
        let (document, section) = match word.split_once(['§', '#']) {
            Some((document, section)) => (document, Some(section.to_owned())),
            None => (word, None),
        };
        let (letters, digits) = document.split_once('-')?;
        let is_code = (1..=4).contains(&letters.len())
            && letters.bytes().all(|one| one.is_ascii_alphabetic())
            && !digits.is_empty()
            && digits.bytes().all(|one| one.is_ascii_digit());
        let section = section.filter(|section| !section.is_empty());
        is_code.then(|| Self { document: document.to_ascii_uppercase(), section })
    }

    fn document(&self) -> &str {
        &self.document
    }

    /// The sections of the document that are asked for: that of the code, else those that hold all
    /// the words; the document itself where there are none.
    fn hits(&self, found: &Article, words: &str, language: Language) -> Vec<Value> {
        let is_asked = |one: &&ArticleSection| {
            if let Some(section) = &self.section {
                return one.number == *section;
            }
            let text = format!("{} {} {}", one.title, one.body, one.english);
            !words.is_empty() && !one.number.is_empty() && matching::fits(&text, words)
        };
        let of_document = article_row(&found.row, language);
        let hits = found.sections.iter().filter(is_asked).take(LISTED).map(|one| {
            context! {
                section => &one.number,
                heading => heading(&one.title, language),
                address => format!("{}#s{}", address(&self.document), encoded(&one.number)),
                ..of_document.clone()
            }
        });
        let hits: Vec<Value> = hits.collect();
        if !hits.is_empty() {
            return hits;
        }
        vec![context! { section => "", heading => "", ..of_document }]
    }
}

/// The codes of documents in a search, and its other words. A section may stand apart from its
/// document: `EM-06 §6`.
fn codes_and_words(asked: &str) -> (Vec<DocumentCode>, String) {
    let (mut codes, mut words) = (Vec::<DocumentCode>::new(), Vec::new());
    for word in asked.split_whitespace() {
        if let Some(code) = DocumentCode::of(word) {
            codes.push(code);
        } else if let Some((section, code)) = word.strip_prefix(['§', '#']).zip(codes.last_mut()) {
            code.section = Some(section.to_owned());
        } else {
            words.push(word);
        }
    }
    (codes, words.join(" "))
}

fn article_row(row: &ArticleRow, language: Language) -> Value {
    context! {
        id => &row.id,
        address => address(&row.id),
        title => row.title.in_language(language),
        kind => format!("article_{}", row.kind),
        synthetic => row.synthetic,
    }
}

/// The address of a document's page.
pub(super) fn address(id: &str) -> String {
    format!("/knowledge/{}", encoded(id).replace('/', "%2F"))
}

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("article.html", &reader, gather(&shared, &id, &reader).await)
}

async fn gather(shared: &Shared, id: &str, reader: &Reader) -> Result<Value, Problem> {
    let found = shared.site.plant.article(id).await?;
    let found = found.ok_or_else(|| Problem::unknown("document"))?;
    // the document's own title stands above
    let is_title = |one: &&ArticleSection| {
        let body = one.body.trim();
        one.number.is_empty()
            && body.lines().count() <= 1
            && (body.is_empty() || body.starts_with("# "))
    };
    let sections = found.sections.iter().filter(|one| !is_title(one));
    let sections = sections.map(|section| shown(section, reader.language));
    Ok(context! {
        sections => sections.collect::<Vec<_>>(),
        ..article_row(&found.row, reader.language)
    })
}

/// A section in the reader's language where it is written in both; else as it is, with its language
/// named.
fn shown(section: &ArticleSection, language: Language) -> Value {
    let is_english = language == Language::En && !section.english.is_empty();
    let body = if is_english { &section.english } else { &section.body };
    let title = heading(&section.title, language);
    let hangul = body.chars().any(|one| ('\u{ac00}'..='\u{d7a3}').contains(&one));
    context! {
        number => &section.number,
        title,
        body,
        code => if hangul || body.is_empty() { "ko" } else { "en" },
    }
}

/// A heading in the reader's language where it is written in both: `체결 토크 (Torque)`.
fn heading(title: &str, language: Language) -> &str {
    let pair = title.strip_suffix(')').and_then(|title| title.rsplit_once(" ("));
    match (pair, language) {
        (Some((ko, en)), Language::Ko) if en.is_ascii() => ko,
        (Some((_, en)), Language::En) if en.is_ascii() => en,
        _ => title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A code with a word found nothing: the code is no word of its document.
    #[test]
    fn a_code_is_a_document_and_what_stands_beside_it_are_words() {
        for (asked, documents, section, rest) in [
            ("em-06 torque", "EM-06", None, "torque"),
            ("EM-06§6", "EM-06", Some("6"), ""),
            ("EM-06 §6 locknut", "EM-06", Some("6"), "locknut"),
            ("EM-07#2", "EM-07", Some("2"), ""),
        ] {
            let (codes, words) = codes_and_words(asked);
            let code = codes.first().expect("a code");
            assert_eq!((code.document(), code.section.as_deref()), (documents, section), "{asked}");
            assert_eq!((codes.len(), words.as_str()), (1, rest), "{asked}");
        }
        for asked in ["6205-2RS", "grease", "P-", "-6"] {
            assert!(codes_and_words(asked).0.is_empty(), "{asked}");
        }
    }
}
