//! The work that judgements ask for: what waits, what was done, and what was found.

use std::sync::Arc;

use axum::extract::{Extension, Form, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::follow_up::{FOLLOW_UP_SCHEMA, FollowUpReport, FollowUpState};
use pdm_shared::id::EventId;
use serde::Deserialize;

use super::episode::word;
use super::{Reader, refusal, show};
use crate::access::{Technician, Viewer};
use crate::api::{WorkAsked, event_id_of, place_of_work};
use crate::problem::Problem;
use crate::{Shared, acts, cursor};

/// Actions of a page.
const ROWS: u32 = 100;

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(asked): Query<WorkAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("work.html", &reader, gather(&shared, &asked, &reader).await)
}

async fn gather(shared: &Shared, asked: &WorkAsked, reader: &Reader) -> Result<Value, Problem> {
    let (is_open, before) = (asked.is_open()?, asked.before()?);
    let list = shared.site.plant.work(is_open, before, ROWS).await?;
    let is_full = list.len() >= ROWS as usize;
    let older = list.last().filter(|_| is_full).map(|last| cursor::write(place_of_work(last)));
    let now = shared.site.clock.now();
    let rows: Vec<Value> = list
        .iter()
        .map(|row| {
            let is_open = row.state == FollowUpState::Open;
            context! {
                text => row.action.in_language(reader.language),
                name => row.key.to_string(),
                address => show::address(&row.key),
                is_late => is_open && row.due_at.is_some_and(|due| due < now),
                is_open,
                ..show::value(row)
            }
        })
        .collect();
    Ok(context! { rows, older, is_all => !is_open })
}

/// What became of an action.
#[derive(Debug, Deserialize)]
pub(super) struct WorkForm {
    form_key: String,
    number: u32,
    state: String,
    #[serde(default)]
    by: String,
    #[serde(default)]
    note: String,
}

pub(super) async fn report(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(form): Form<WorkForm>,
) -> Response {
    match reported(&shared, &viewer, &id, form).await {
        Ok(()) => Redirect::to("/work").into_response(),
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}

async fn reported(
    shared: &Shared,
    viewer: &Viewer,
    id: &str,
    form: WorkForm,
) -> Result<(), Problem> {
    viewer.check_form(&form.form_key)?;
    let event_id: EventId = event_id_of(id)?;
    let allowed = "open, done, dropped";
    let state: FollowUpState = word("state", &form.state, allowed)?;
    if state == FollowUpState::Superseded {
        return Err(Problem::parameter("state", &form.state, allowed));
    }
    let rows = shared.site.plant.work_of(event_id).await?;
    let row = rows.iter().find(|row| row.number == form.number);
    let row = row.ok_or_else(|| Problem::unknown("action"))?;
    let report = FollowUpReport {
        schema: FOLLOW_UP_SCHEMA.to_owned(),
        event_id: Some(event_id),
        number: Some(form.number),
        state,
        by: form.by,
        at: shared.site.clock.now(),
        note: Some(form.note).filter(|note| !note.trim().is_empty()),
        repaired: false,
        found: None,
    };
    acts::report(shared, viewer, "page", &row.key, report).await
}
