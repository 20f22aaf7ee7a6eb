//! One episode: its three axes, and what a person does about it: remark, look at what a shelf would hide,
//! and say what was found. `forms` acknowledges and shelves.

use std::sync::Arc;

use axum::extract::{Extension, Form, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::episode::Suppression;
use pdm_shared::fault::Fault;
use pdm_shared::follow_up::{FOLLOW_UP_SCHEMA, FollowUpReport, FollowUpState, Found, Verdict};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::forms::hours_of;
use super::{Reader, episodes, refusal, show};
use crate::access::{Technician, Viewer};
use crate::plant::EpisodeDetail;
use crate::problem::Problem;
use crate::{Shared, acts};

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("episode.html", &reader, gather(&shared, &id, &reader).await)
}

async fn gather(shared: &Shared, id: &str, reader: &Reader) -> Result<Value, Problem> {
    let (one, plant) = (shared.episode(id).await?, &shared.site.plant);
    let document = &one.document;
    let remarks = plant.remarks(&one.key(), document.opened_at).await?;
    let work = match one.alarm.as_ref().and_then(|alarm| alarm.event_id) {
        Some(event_id) => plant.work_of(event_id).await?,
        None => Vec::new(),
    };
    let work: Vec<Value> = work
        .iter()
        .map(|row| {
            let action = row.action.in_language(reader.language);
            context! { text => action, ..show::value(row) }
        })
        .collect();
    let suppression = match &document.suppression {
        Suppression::None => None,
        Suppression::ByDesign { reason }
        | Suppression::Shelved { reason, .. }
        | Suppression::OutOfService { reason, .. } => Some(reason),
    };
    Ok(context! {
        episode => episodes::shown(&one, reader),
        remarks => remarks.iter().map(show::value).collect::<Vec<_>>(),
        suppression, work,
    })
}

/// A remark.
#[derive(Debug, Deserialize)]
pub(super) struct NoteForm {
    form_key: String,
    #[serde(default)]
    by: String,
    note: String,
}

pub(super) async fn remark(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(form): Form<NoteForm>,
) -> Response {
    let done = async {
        viewer.check_form(&form.form_key)?;
        let one = shared.episode(&id).await?;
        acts::remark(&shared, &viewer, &one.key(), &form.by, form.note).await
    };
    let done = done.await;
    back(&viewer, &headers, &id, done)
}

/// What is asked before a shelf: for how long, and why.
#[derive(Debug, Deserialize)]
pub(super) struct ShelfAsked {
    #[serde(default)]
    hours: Option<String>,
    #[serde(default)]
    reason: String,
}

/// What a shelf would hide, before it is put up.
pub(super) async fn preview(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(id): Path<String>,
    Query(asked): Query<ShelfAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("shelf.html", &reader, previewed(&shared, &id, &asked, &reader).await)
}

async fn previewed(
    shared: &Shared,
    id: &str,
    asked: &ShelfAsked,
    reader: &Reader,
) -> Result<Value, Problem> {
    let hours = hours_of(asked.hours.as_deref().unwrap_or("8"))?;
    let one = shared.episode(id).await?;
    let until = shared.site.clock.now().plus_seconds(hours * 3600.0);
    let repeat_at = one.alarm.as_ref().and_then(|alarm| alarm.repeat_at);
    let told = shared.site.plant.told_within(&one.key(), hours).await?;
    let reason: String = asked.reason.chars().take(pdm_shared::bounds::MAX_LINE).collect();
    Ok(context! {
        episode => episodes::shown(&one, reader),
        repeat_at => show::value(repeat_at.filter(|at| *at < until)),
        until => show::value(until),
        hours, told, reason,
    })
}

/// What was found on the machine.
#[derive(Debug, Deserialize)]
pub(super) struct FoundForm {
    form_key: String,
    #[serde(default)]
    by: String,
    verdict: String,
    #[serde(default)]
    element: String,
    #[serde(default)]
    cause: String,
    #[serde(default)]
    note: String,
    #[serde(default)]
    repaired: Option<String>,
}

pub(super) async fn found(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(form): Form<FoundForm>,
) -> Response {
    let done = async {
        viewer.check_form(&form.form_key)?;
        let one = shared.episode(&id).await?;
        let report = report_of(&shared, &one, form)?;
        acts::report(&shared, &viewer, "page", &one.key(), report).await
    };
    let done = done.await;
    back(&viewer, &headers, &id, done)
}

fn report_of(
    shared: &Shared,
    one: &EpisodeDetail,
    form: FoundForm,
) -> Result<FollowUpReport, Problem> {
    let verdict: Verdict = word("verdict", &form.verdict, "right, wrong, other_cause")?;
    let element: Option<Fault> = match form.element.as_str() {
        "" => None,
        text => Some(word("element", text, "outer_race, inner_race, ball, cage")?),
    };
    let text = |text: String| Some(text).filter(|text| !text.trim().is_empty());
    Ok(FollowUpReport {
        schema: FOLLOW_UP_SCHEMA.to_owned(),
        event_id: one.alarm.as_ref().and_then(|alarm| alarm.event_id),
        number: None,
        state: FollowUpState::Done,
        by: form.by,
        at: shared.site.clock.now(),
        note: text(form.note),
        repaired: form.repaired.is_some(),
        found: Some(Found { verdict, element, cause: text(form.cause) }),
    })
}

/// One of the words of a contract.
pub(super) fn word<T: DeserializeOwned>(
    field: &str,
    text: &str,
    allowed: &str,
) -> Result<T, Problem> {
    serde_json::from_value(text.into()).map_err(|_other| Problem::parameter(field, text, allowed))
}

/// Back to the episode, or the refusal.
pub(super) fn back(
    viewer: &Viewer,
    headers: &HeaderMap,
    id: &str,
    done: Result<(), Problem>,
) -> Response {
    match (done, Uuid::parse_str(id)) {
        (Ok(()), Ok(id)) => Redirect::to(&format!("/episodes/{id}")).into_response(),
        (Ok(()), Err(_)) => Redirect::to("/episodes").into_response(),
        (Err(problem), _) => refusal(&Reader::of(viewer, headers), &problem),
    }
}
