//! The form beside a bearing by which a person shelves it, or ends its shelf.

use std::sync::Arc;

use axum::extract::{Form, Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use pdm_shared::id::BearingKey;

use super::forms::ShelfForm;
use super::{Reader, refusal, show};
use crate::Shared;
use crate::access::{Technician, Viewer};
use crate::api::{Names, key_of};
use crate::problem::Problem;

pub(super) async fn shelve(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(names): Path<Names>,
    headers: HeaderMap,
    Form(form): Form<ShelfForm>,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    match shelved(&shared, &viewer, &names, form).await {
        Ok(key) => Redirect::to(&show::address(&key)).into_response(),
        Err(problem) => refusal(&reader, &problem),
    }
}

async fn shelved(
    shared: &Shared,
    viewer: &Viewer,
    names: &Names,
    form: ShelfForm,
) -> Result<BearingKey, Problem> {
    let key = key_of(names)?;
    form.act(shared, viewer, &key).await?;
    Ok(key)
}
