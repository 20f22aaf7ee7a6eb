//! The files of a capture as answers, the same for pages and API: the WAV file as the gateway has
//! sent it, the same samples as a NumPy file, and a document for each.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

use crate::Shared;
use crate::access::encoded;
use crate::plant::CaptureNpy;
use crate::problem::Problem;

/// The WAV file.
pub(crate) async fn wav(shared: &Shared, id: Uuid) -> Result<Response, Problem> {
    let plant = &shared.site.plant;
    let found = plant.capture(id).await?.ok_or_else(no_capture)?;
    let content = plant.capture_wav(id).await?.ok_or_else(no_capture)?;
    Ok(named_file(content.into_response(), "audio/wav", Some(&found.document.file.name)))
}

/// The document as the gateway has sent it.
pub(crate) async fn document(shared: &Shared, id: Uuid) -> Result<Response, Problem> {
    let found = shared.site.plant.capture(id).await?.ok_or_else(no_capture)?;
    let name = format!("{}.json", found.document.file.name.trim_end_matches(".wav"));
    Ok(named_file(found.text.into_response(), "application/json", Some(&name)))
}

/// The NumPy file.
pub(crate) async fn npy(shared: &Shared, id: Uuid) -> Result<Response, Problem> {
    let CaptureNpy { content, name, .. } = npy_of(shared, id).await?;
    Ok(named_file(content.into_response(), "application/octet-stream", Some(&name)))
}

/// The document of the NumPy file: its own name, length and hash.
pub(crate) async fn npy_document(shared: &Shared, id: Uuid) -> Result<Response, Problem> {
    let CaptureNpy { name, text, .. } = npy_of(shared, id).await?;
    let name = format!("{}.json", name.trim_end_matches(".npy"));
    Ok(named_file(text.into_response(), "application/json", Some(&name)))
}

async fn npy_of(shared: &Shared, id: Uuid) -> Result<CaptureNpy, Problem> {
    shared.site.plant.capture_npy(id).await?.ok_or_else(no_capture)
}

fn no_capture() -> Problem {
    Problem::unknown("capture")
}

/// An answer as a file of a kind, to be kept under a name where there is one.
pub(crate) fn named_file(mut answer: Response, kind: &'static str, name: Option<&str>) -> Response {
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Some(name) = name {
        // a gateway's name may hold characters that a header does not take
        let shown = format!("attachment; filename*=UTF-8''{}", encoded(name).replace('/', "%2F"));
        let shown = HeaderValue::try_from(shown).ok();
        headers.extend(shown.map(|shown| (header::CONTENT_DISPOSITION, shown)));
    }
    answer
}
