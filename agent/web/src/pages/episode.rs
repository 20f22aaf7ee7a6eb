//! One episode: its three axes, and the acts of a person on it: remark, and look at what a shelf
//! would hide. `forms` acknowledges and shelves, `reports` records findings.

use std::sync::Arc;

use axum::extract::{Extension, Form, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::episode::AcknowledgementState;
use pdm_shared::follow_up::FollowUpState;
use pdm_shared::time::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::forms::{self, ShelfUntil};
use super::reports::{self, RecordedAsked};
use super::{Reader, documents, episodes, refusal, show};
use crate::access::{Technician, Viewer};
use crate::plant::UNDO_S;
use crate::problem::Problem;
use crate::{Shared, acts, language};

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    Query(asked): Query<RecordedAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("episode.html", &reader, gather(&shared, &id, &asked, &reader).await)
}

async fn gather(
    shared: &Shared,
    id: &str,
    asked: &RecordedAsked,
    reader: &Reader,
) -> Result<Value, Problem> {
    let (one, plant) = (shared.episode(id).await?, &shared.site.plant);
    let (document, key) = (&one.document, one.key());
    let remarks = plant.remarks(&key, document.opened_at).await?;
    // what waits now, whichever judgement asks for it, then what the alarm asked for
    let mut work = plant.open_work_of(&key).await?;
    if let Some(event_id) = one.alarm.as_ref().and_then(|alarm| alarm.event_id) {
        let of_alarm = plant.work_of(event_id).await?;
        work.extend(of_alarm.into_iter().filter(|row| row.state != FollowUpState::Open));
    }
    let of_alarm = one.alarm.as_ref().and_then(|alarm| alarm.event_id);
    let of_work = work.first().map(|row| row.event_id).or(of_alarm);
    let files = documents::links(shared, of_work, reader).await?;
    let page = format!("/episodes/{}", document.episode_id);
    let work: Vec<Value> = work
        .iter()
        .map(|row| {
            let action = row.action.in_language(reader.language);
            context! { text => action, ..show::value(row) }
        })
        .collect();
    Ok(context! {
        episode => episodes::episode_card(&one, reader),
        shelf_ends => forms::shelf_ends(shared),
        ack_undo_until => undo_until(acknowledged_at(&document.acknowledgement), shared.site.clock.now()),
        remarks => remarks.iter().map(show::value).collect::<Vec<_>>(),
        files,
        recorded => asked.shown(shared, &page).await?,
        reports => reports::rows(shared, &key).await?,
        report => reports::form(shared, &key, Some(format!("{page}/found")), &page, None),
        work,
    })
}

const fn acknowledged_at(state: &AcknowledgementState) -> Option<Timestamp> {
    match state {
        AcknowledgementState::Acknowledged { at, .. } => Some(*at),
        AcknowledgementState::Unacknowledged => None,
    }
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

/// The fields of the form that takes an acknowledgement back.
#[derive(Debug, Deserialize)]
pub(super) struct UnacknowledgeForm {
    form_key: String,
    #[serde(default)]
    by: String,
}

pub(super) async fn unacknowledge(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(form): Form<UnacknowledgeForm>,
) -> Response {
    let done = async {
        viewer.check_form(&form.form_key)?;
        let one = shared.episode(&id).await?;
        let words = language::words(language::language_of(&headers));
        let remark = words.get("acknowledgement_undone").copied().unwrap_or_default();
        let of = (&one.key(), one.document.episode_id);
        acts::unacknowledge(&shared, &viewer, of, &form.by, remark).await
    };
    let done = done.await;
    back(&viewer, &headers, &id, done)
}

/// Returns the time until which a page can take back an acknowledgement made at `at`; empty where
/// it is too late.
pub(super) fn undo_until(at: Option<Timestamp>, now: Timestamp) -> Value {
    let until = at.map(|at| at.plus_seconds(UNDO_S));
    show::value(until.filter(|until| now < *until))
}

/// The query before a shelf: for how long, and why.
#[derive(Debug, Deserialize)]
pub(super) struct ShelfAsked {
    #[serde(flatten)]
    until: ShelfUntil,
    #[serde(default)]
    reason: String,
}

/// Shows the messages that a shelf would hide, before it is put up.
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
    let one = shared.episode(id).await?;
    let usual = || acts::shelf_end_of_hours(shared, 8.0);
    let until = asked.until.instant(shared)?.map_or_else(usual, Ok)?;
    let hours = until.seconds_since(shared.site.clock.now()) / 3600.0;
    let repeat_at = one.alarm.as_ref().and_then(|alarm| alarm.repeat_at);
    let told = shared.site.plant.told_within(&one.key(), hours).await?;
    let reason: String = asked.reason.chars().take(pdm_shared::bounds::MAX_LINE).collect();
    Ok(context! {
        episode => episodes::episode_card(&one, reader),
        repeat_at => show::value(repeat_at.filter(|at| *at < until)),
        until => show::value(until),
        span => show::hours(hours, reader.language),
        told, reason,
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
