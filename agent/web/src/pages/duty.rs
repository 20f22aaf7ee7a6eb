//! Who is on duty now and next, and when nobody is.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;

use super::{Reader, show};
use crate::Shared;
use crate::access::Viewer;
use crate::problem::Problem;

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("duty.html", &reader, gather(&shared).await)
}

async fn gather(shared: &Shared) -> Result<Value, Problem> {
    let rows = shared.site.plant.duty().await?;
    let rows: Vec<Value> = rows.iter().map(show::value).collect();
    Ok(context! { rows })
}
