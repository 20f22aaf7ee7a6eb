//! Report and work order of a judgement, read for the pages.
//!
//! Invariant: the place of a file is made from a stored event. The text of a request only chooses
//! among the names of that event, so no request reaches another file.

use std::path::Path;

use pdm_report::files::{self, Format};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::text::Language;
use pdm_store::{Store, StoreError};
use pdm_web::plant::{DocumentFile, DocumentKind, DocumentRow, WorkSheet};
use uuid::Uuid;

/// Most bytes of a document that is served. Chosen: twenty times the largest report of the
/// examples.
const MOST_BYTES: u64 = 20_000_000;

/// The time of a name with its hyphen: `20261121T051021Z-`.
const TIME: usize = 17;
/// An identity as text.
const IDENTITY: usize = 36;

/// The documents of a judgement that stand in the folder.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(super) async fn documents_of_event(
    store: &Store,
    folder: &Path,
    event_id: EventId,
) -> Result<Vec<DocumentRow>, StoreError> {
    let Some(event) = store.history().event(event_id).await? else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    for row in named(&event) {
        if is_file(&folder.join(&row.name)).await {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// A document by the name of its file.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(super) async fn document_by_name(
    store: &Store,
    folder: &Path,
    name: &str,
) -> Result<Option<DocumentFile>, StoreError> {
    let id = name.get(TIME..TIME + IDENTITY).and_then(|text| Uuid::parse_str(text).ok());
    let Some(event_id) = id.map(EventId) else { return Ok(None) };
    let Some(event) = store.history().event(event_id).await? else { return Ok(None) };
    let Some(row) = named(&event).into_iter().find(|row| row.name == name) else { return Ok(None) };
    let path = folder.join(&row.name);
    if !is_file(&path).await {
        return Ok(None);
    }
    match tokio::fs::read(&path).await {
        Ok(bytes) => Ok(Some(DocumentFile { row, bytes })),
        Err(error) => {
            tracing::warn!(%error, name, "a document cannot be read");
            Ok(None)
        }
    }
}

/// The work order of a judgement as it was written; `None` where it was not, or cannot be read.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(super) async fn order_of_event(
    store: &Store,
    folder: &Path,
    event_id: EventId,
) -> Result<Option<WorkSheet>, StoreError> {
    let Some(event) = store.history().event(event_id).await? else { return Ok(None) };
    let is_order = |row: &DocumentRow| row.kind == DocumentKind::WorkOrder && row.format == "json";
    let Some(row) = named(&event).into_iter().find(is_order) else { return Ok(None) };
    let path = folder.join(&row.name);
    if !is_file(&path).await {
        return Ok(None);
    }
    let read = tokio::fs::read(&path).await.map_err(|error| error.to_string());
    let order =
        read.and_then(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string()));
    Ok(order
        .inspect_err(|error| {
            tracing::warn!(error, name = row.name, "a written work order cannot be read");
        })
        .ok())
}

/// A regular file of a size that is served; no link leads out of the folder.
async fn is_file(path: &Path) -> bool {
    let found = tokio::fs::symlink_metadata(path).await;
    found.is_ok_and(|found| found.is_file() && found.len() <= MOST_BYTES)
}

/// Every name that a document of an event may have.
fn named(event: &Event) -> Vec<DocumentRow> {
    let kinds = [
        (files::DocumentKind::Report, DocumentKind::Report),
        (files::DocumentKind::WorkOrder, DocumentKind::WorkOrder),
    ];
    let languages = [Language::Ko, Language::En];
    let rows = kinds.into_iter().flat_map(|(written, kind)| {
        let names = files::names(event, written, &languages, &Format::ALL);
        names.into_iter().map(move |name| {
            let mut endings = name.rsplit('.');
            let format = endings.next().unwrap_or_default().to_owned();
            let language = endings.next().filter(|word| ["ko", "en"].contains(word));
            let language = language.map(str::to_owned);
            DocumentRow { name, kind, language, format }
        })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_an_event_tell_language_and_format() {
        let event: Event =
            serde_json::from_str(include_str!("../../../config/examples/event.json"))
                .expect("event");
        let rows = named(&event);
        assert_eq!(rows.len(), 10);
        assert!(rows.iter().all(|row| {
            row.name.get(TIME..TIME + IDENTITY) == Some(event.event_id.to_string().as_str())
        }));
        let pdf = rows.iter().find(|row| row.name.ends_with("work-order.ko.pdf")).expect("one");
        assert_eq!((pdf.language.as_deref(), pdf.format.as_str()), (Some("ko"), "pdf"));
        let data = rows.iter().find(|row| row.name.ends_with("report.json")).expect("one");
        assert_eq!((data.language.as_deref(), data.kind), (None, DocumentKind::Report));
    }
}
