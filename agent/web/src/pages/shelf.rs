//! The form beside a bearing by which a person shelves it, or ends its shelf.

use std::sync::Arc;

use axum::extract::{Extension, Form, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use pdm_shared::id::BearingKey;
use serde::Deserialize;

use super::{Reader, refusal, show};
use crate::Shared;
use crate::access::Viewer;
use crate::api::{Names, key_of};
use crate::plant::{ShelfRequest, Shelved};
use crate::problem::Problem;

/// The form; without `hours` the shelf ends.
#[derive(Debug, Deserialize)]
pub(super) struct ShelfForm {
    form_key: String,
    #[serde(default)]
    hours: Option<f64>,
    by: String,
    #[serde(default)]
    reason: String,
}

pub(super) async fn shelve(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
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
    let ShelfForm { form_key, hours, by, reason } = form;
    if !viewer.may_send(&form_key) {
        let told = "the form is of an earlier login: open the page again";
        return Err(Problem::new(StatusCode::FORBIDDEN, told));
    }
    let key = key_of(names)?;
    let request = ShelfRequest { key: key.clone(), hours, by, reason };
    match shared.site.plant.shelve(request).await? {
        Shelved::Yes => Ok(key),
        Shelved::Refused(told) => Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, told)),
    }
}
