//! The documents of a judgement, served to whoever may see the pages: report and work order as they
//! were written, and links to them.
//!
//! A request names a file. It is served only if it is one of those that belong to a stored event,
//! and its place is made from that event, never from the request.

use std::sync::Arc;

use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::id::EventId;

use super::{Reader, refusal};
use crate::Shared;
use crate::access::{Viewer, encoded};
use crate::language;
use crate::plant::{DocumentKind, DocumentRow};
use crate::problem::Problem;

/// A document may show itself and load nothing; as a page it has no rights of this server's pages.
const POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) async fn serve(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    let found = shared.site.plant.document(&name).await.map_err(Problem::from);
    let found = found.and_then(|file| file.ok_or_else(|| Problem::unknown("document")));
    match found {
        Ok(file) => {
            let kind = match file.row.format.as_str() {
                "pdf" => "application/pdf",
                "json" => "application/json",
                _ => "text/html; charset=utf-8",
            };
            // the name is the store's own, of letters, digits, dots and hyphens
            let shown = format!("inline; filename=\"{}\"", file.row.name);
            let shown = HeaderValue::try_from(shown);
            let mut answer = ([(header::CONTENT_TYPE, kind)], file.bytes).into_response();
            let headers = answer.headers_mut();
            headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
            headers.extend(shown.ok().map(|shown| (header::CONTENT_DISPOSITION, shown)));
            answer
        }
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}

/// Links to the documents of a judgement, in the reader's language where there are both: one of
/// each kind, for printing where that was written.
pub(super) async fn links(
    shared: &Shared,
    event_id: Option<EventId>,
    reader: &Reader,
) -> Result<Vec<Value>, Problem> {
    let Some(event_id) = event_id else { return Ok(Vec::new()) };
    let all = shared.site.plant.documents(event_id).await?;
    let code = language::code(reader.language);
    let links = [DocumentKind::WorkOrder, DocumentKind::Report].into_iter().filter_map(|kind| {
        let best = all.iter().filter(|row| row.kind == kind).min_by_key(|row| rank(row, code))?;
        Some(context! {
            text => kind.word(),
            address => format!("/documents/{}", encoded(&best.name)),
            format => best.format.to_uppercase(),
        })
    });
    Ok(links.collect())
}

/// The reader's language before another, for printing before the screen, data last.
fn rank(row: &DocumentRow, code: &str) -> (bool, bool, bool) {
    let is_other = row.language.as_deref().is_some_and(|language| language != code);
    (row.format == "json", is_other, row.format != "pdf")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readers_language_comes_first_and_data_last() {
        let row = |language: Option<&str>, format: &str| DocumentRow {
            name: String::new(),
            kind: DocumentKind::Report,
            language: language.map(str::to_owned),
            format: format.to_owned(),
        };
        let mut all = [
            row(None, "json"),
            row(Some("en"), "pdf"),
            row(Some("ko"), "html"),
            row(Some("ko"), "pdf"),
        ];
        all.sort_by_key(|one| rank(one, "ko"));
        let order = all.map(|one| format!("{:?} {}", one.language, one.format));
        assert_eq!(order[0], "Some(\"ko\") pdf");
        assert_eq!(order[3], "None json");
    }
}
