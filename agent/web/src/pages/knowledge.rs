//! One box that finds machines, documents and work, and the documents of the knowledge base as
//! pages.

use std::sync::Arc;

use axum::extract::{Extension, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::text::Language;
use serde::Deserialize;

use super::places::Places;
use super::{Reader, fleet, matching, show};
use crate::Shared;
use crate::access::{Viewer, encoded};
use crate::plant::{ArticleRow, ArticleSection, BearingRow, WorkRow};
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
            bearings_found => 0, work_found => 0,
        });
    }
    let plant = &shared.site.plant;
    let (fleet, places) = (plant.fleet().await?, Places::of(shared).await?);
    let now = shared.site.clock.now();
    let bearings: Vec<&BearingRow> =
        fleet.iter().filter(|row| matching::fits(&fleet::words(row, &places), &asked)).collect();
    let work = plant.work(true, None, MOST_WORK).await?;
    let fits = |row: &&WorkRow| {
        let order = row.work_order.as_deref().unwrap_or_default();
        let name = places.words(&row.key);
        let text = format!("{} {name} {} {} {order}", row.key, row.action.ko, row.action.en);
        matching::fits(&text, &asked)
    };
    let work: Vec<&WorkRow> = work.iter().filter(fits).collect();
    let articles = plant.articles(&asked).await?;
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
        articles => articles.iter().map(|row| article_row(row, reader.language)).collect::<Vec<_>>(),
    })
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
    let pair = section.title.strip_suffix(')').and_then(|title| title.rsplit_once(" ("));
    let title = match (pair, language) {
        (Some((ko, en)), Language::Ko) if en.is_ascii() => ko,
        (Some((_, en)), Language::En) if en.is_ascii() => en,
        _ => &section.title,
    };
    let hangul = body.chars().any(|one| ('\u{ac00}'..='\u{d7a3}').contains(&one));
    context! {
        number => &section.number,
        title,
        body,
        code => if hangul || body.is_empty() { "ko" } else { "en" },
    }
}
