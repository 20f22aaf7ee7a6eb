//! A work order, made for the thumb: which machine where, what to bring, lockout to tick, the
//! procedure, photos, and what was found. Printed, it is a sheet without the frame of the page.
//!
//! The parts and tools, lockout and procedure are those of the order's document
//! ([`crate::plant::WorkSheet`]); the page adds nothing to them.

use std::sync::Arc;

use axum::extract::{Extension, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::follow_up::FollowUpState;

use super::places::Places;
use super::reports::{self, RecordedAsked};
use super::{Reader, captures, documents, equipment, fleet, photos, show};
use crate::Shared;
use crate::access::Viewer;
use crate::api::event_id_of;
use crate::problem::Problem;

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    Query(asked): Query<RecordedAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("work_order.html", &reader, gather(&shared, &id, &asked, &reader).await)
}

async fn gather(
    shared: &Shared,
    id: &str,
    asked: &RecordedAsked,
    reader: &Reader,
) -> Result<Value, Problem> {
    let (plant, event_id) = (&shared.site.plant, event_id_of(id)?);
    let rows = plant.work_of(event_id).await?;
    let first = rows.first().ok_or_else(|| Problem::unknown("work of this judgement"))?;
    let found = plant.diagnosis(event_id).await?;
    let around = plant.surroundings(first.key.site.as_str(), first.key.equipment.as_str()).await?;
    let of_kind = |kind: &str| equipment::of_kind(around.known(), kind);
    let actions: Vec<Value> = rows
        .iter()
        .map(|row| {
            context! { text => row.action.in_language(reader.language), ..show::value(row) }
        })
        .collect();
    let page = format!("/work/{event_id}");
    let sheet = plant.work_sheet(event_id).await?;
    let standing = plant.bearing(&first.key).await?;
    let places = Places::of(shared).await?;
    let is_open = rows.iter().any(|row| row.state == FollowUpState::Open);
    // an old link or a printed sheet leads to the order that holds
    let is_superseded = rows.iter().all(|row| row.state == FollowUpState::Superseded);
    let now_holds = plant.open_work_of(&first.key).await?;
    let now_holds = now_holds.first().filter(|_| is_superseded).map(|row| {
        let number = row.work_order.clone().unwrap_or_else(|| first.key.to_string());
        context! { number, address => format!("/work/{}", row.event_id) }
    });
    let label = found.as_ref().map(|found| found.risk_level.label());
    Ok(context! {
        actions,
        number => rows.iter().find_map(|row| row.work_order.clone()),
        name => first.key.to_string(),
        address => show::address(&first.key),
        asked_at => show::value(first.asked_at),
        event_id => show::value(event_id),
        label => label.map(|label| label.in_language(reader.language).to_owned()),
        key => show::value(&first.key),
        machine_name => places.name(&first.key),
        bearing => standing.map(|row| fleet::bearing_shown(&row, shared.site.clock.now(), reader)),
        sheet => show::value(&sheet),
        captures => captures::rows_for_work(shared, &first.key, event_id, reader).await?,
        photos => photos::rows(shared, event_id).await?,
        is_open, is_superseded, now_holds,
        due_at => show::value(rows.iter().filter_map(|row| row.due_at).min()),
        advice => found.as_ref().map(|found| found.recommendation.in_language(reader.language)),
        found => show::value(&found),
        files => documents::links(shared, Some(event_id), reader).await?,
        recorded => asked.shown(shared, &page).await?,
        report => reports::form(shared, &first.key, None, &page, Some(event_id)),
        parts => of_kind("Part"),
        documents => of_kind("Document"),
    })
}
