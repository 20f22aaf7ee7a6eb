//! Shows who is on duty now and next, and when nobody is.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_service::http::callers::Role;

use super::{Reader, settings, show};
use crate::Shared;
use crate::access::Viewer;
use crate::problem::Problem;

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("duty.html", &reader, gather(&shared, &viewer).await)
}

async fn gather(shared: &Shared, viewer: &Viewer) -> Result<Value, Problem> {
    let rows = shared.site.plant.duty().await?;
    // an administrator enters who stands in; rotas stand in the file in their order
    let file = shared.site.configuration.as_ref().filter(|_| viewer.role() == Role::Admin);
    let read = match file {
        Some(file) => file.read().await.ok(),
        None => None,
    };
    let known: Vec<String> =
        read.as_ref().map(settings::known_names).unwrap_or_default().into_iter().collect();
    let rows = rows.iter().enumerate().map(|(number, row)| {
        let entry = read.as_ref().map(|_| format!("notify.rota.{number}.override"));
        context! { entry, ..show::value(row) }
    });
    Ok(context! { rows => rows.collect::<Vec<_>>(), known })
}
