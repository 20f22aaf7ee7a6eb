//! The plant's documents in the knowledge base: which there are, a file that is brought with what
//! was read of it, and one that is taken out. Whoever may bring a document may take one out: a file
//! of the same identity replaces it anyway. Both stand in the record of acts.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, Form, Query, State};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use minijinja::value::Value;
use serde::Deserialize;

use super::{Reader, knowledge, refusal, show};
use crate::Shared;
use crate::access::{Technician, Viewer, encoded};
use crate::library::{DocumentRefusal, DocumentRemoved, Library, NewDocument};
use crate::problem::Problem;
use crate::upload::{self, UploadError};

/// Bytes of a form beside its file.
const BESIDE: usize = 16 * 1024;

/// The query of the page.
#[derive(Debug, Default, Deserialize)]
pub(super) struct LibraryAsked {
    /// The document that was read just now.
    #[serde(default)]
    read: String,
    /// Whether it was there already, word for word.
    #[serde(default)]
    same: String,
    /// The document that was taken out just now.
    #[serde(default)]
    removed: String,
}

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(asked): Query<LibraryAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("library.html", &reader, gather(&shared, &asked, &reader).await)
}

/// The library of this program.
fn library_of(shared: &Shared) -> Result<&Arc<dyn Library>, Problem> {
    shared.site.library.as_ref().ok_or_else(|| Problem::unknown("knowledge base"))
}

async fn gather(shared: &Shared, asked: &LibraryAsked, reader: &Reader) -> Result<Value, Problem> {
    let library = library_of(shared)?;
    let held = library.documents().await?;
    let rows = held.iter().map(|one| {
        context! {
            id => &one.id,
            address => knowledge::address(&one.id),
            title => one.title.in_language(reader.language),
            kind => format!("article_{}", one.kind),
            passages => one.passages,
            is_shipped => one.is_shipped,
            by => one.added.as_ref().map(|added| added.by.as_str()),
            via => one.added.as_ref().map(|added| added.via.as_str()),
            added_at => one.added.as_ref().map(|added| added.at.to_string()),
        }
    });
    let rows: Vec<Value> = rows.collect();
    let (own, shipped): (Vec<Value>, Vec<Value>) = rows
        .into_iter()
        .partition(|row| row.get_attr("is_shipped").is_ok_and(|shipped| !shipped.is_true()));
    let read = held.iter().find(|one| one.id == asked.read);
    let read = match read {
        Some(one) => Some(what_was_read(shared, (&one.id, one.passages), reader).await?),
        None => None,
    };
    Ok(context! {
        own,
        shipped,
        read,
        is_same => asked.same == "yes",
        removed => &asked.removed,
        most_mb => library.most_bytes() / (1024 * 1024),
    })
}

/// The headings of a document and the number of its passages.
async fn what_was_read(
    shared: &Shared,
    (id, passages): (&str, usize),
    reader: &Reader,
) -> Result<Value, Problem> {
    let found = shared.site.plant.article(id).await?;
    let found = found.ok_or_else(|| Problem::unknown("document"))?;
    let letters = found.sections.iter().map(|one| one.body.chars().count()).sum::<usize>();
    let heads = found.sections.iter().filter(|one| !one.title.is_empty());
    Ok(context! {
        id,
        passages,
        letters,
        title => found.row.title.in_language(reader.language),
        address => knowledge::address(id),
        heads => heads.map(show::value).collect::<Vec<_>>(),
    })
}

pub(super) async fn bring(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    headers: HeaderMap,
    body: Body,
) -> Response {
    match brought(&shared, &viewer, &headers, body).await {
        Ok(to) => Redirect::to(&to).into_response(),
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}

/// Takes the file of a form; returns the page that tells what was read.
async fn brought(
    shared: &Shared,
    viewer: &Viewer,
    headers: &HeaderMap,
    body: Body,
) -> Result<String, Problem> {
    let library = library_of(shared)?;
    let most = library.most_bytes();
    // a user has one share, by pages and by programs
    let by = viewer.named().map_or_else(|| viewer.asker(), str::to_owned);
    let told = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let place = library.place(&by, told.unwrap_or(most).min(most)).await?;
    let bytes =
        upload::body(body, most + BESIDE).await.map_err(|error| form_refusal(error, most))?;
    let broken = |error| form_refusal(error, most);
    let boundary = upload::boundary(headers).ok_or_else(|| broken(UploadError::Broken))?;
    let parts = upload::parts(&bytes, &boundary).map_err(broken)?;
    let field = |name: &str| {
        let part = parts.iter().find(|part| part.name == name && !part.is_file);
        part.map(|part| String::from_utf8_lossy(part.content).into_owned()).unwrap_or_default()
    };
    viewer.check_form(&field("form_key"))?;
    let file = parts.iter().find(|part| part.is_file && !part.content.is_empty());
    let none = || Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "no document was chosen");
    let file = file.ok_or_else(none)?;
    let name = file.file_name.as_str();
    let is_history = field("collection") == "maintenance_history";
    let document = NewDocument { name, content: file.content, is_history, by: &by };
    let done = library.keep(document).await?;
    drop(place);
    viewer.did(shared, "page", "upload", format!("{name:?} {:?}", done.id)).await;
    let same = if done.is_changed { "" } else { "&same=yes" };
    Ok(format!("/library?read={}{same}#read", encoded(&done.id)))
}

/// Why a form cannot be read, in words of documents.
fn form_refusal(error: UploadError, most: usize) -> Problem {
    match error {
        UploadError::TooLarge => {
            let told = format!("a document has at most {} MB", most / (1024 * 1024));
            Problem::new(StatusCode::PAYLOAD_TOO_LARGE, told)
        }
        UploadError::Another | UploadError::Broken => error.into(),
    }
}

/// The fields of the form that takes a document out.
#[derive(Debug, Deserialize)]
pub(super) struct RemoveForm {
    form_key: String,
    id: String,
    #[serde(default)]
    sure: String,
}

pub(super) async fn remove(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    headers: HeaderMap,
    Form(form): Form<RemoveForm>,
) -> Response {
    let done = async {
        viewer.check_form(&form.form_key)?;
        if form.sure != "yes" {
            return Err(Problem::new(StatusCode::BAD_REQUEST, "the check mark is missing"));
        }
        match library_of(&shared)?.remove(&form.id).await? {
            DocumentRemoved::Yes => {}
            DocumentRemoved::Unknown => return Err(Problem::unknown("document")),
            DocumentRemoved::Shipped => {
                let told = "the document comes with the program and stays";
                return Err(Problem::new(StatusCode::CONFLICT, told));
            }
        }
        viewer.did(&shared, "page", "remove document", format!("{:?}", form.id)).await;
        Ok(format!("/library?removed={}", encoded(&form.id)))
    };
    match done.await {
        Ok(to) => Redirect::to(&to).into_response(),
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}

impl From<DocumentRefusal> for Problem {
    fn from(refusal: DocumentRefusal) -> Self {
        let status = match refusal {
            DocumentRefusal::Busy => StatusCode::TOO_MANY_REQUESTS,
            DocumentRefusal::Unfit(_) => StatusCode::UNPROCESSABLE_ENTITY,
            DocumentRefusal::Away => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, refusal.to_string())
    }
}
