//! The pages of the messages to staff, and of the gateways with their refused events.

use std::sync::Arc;

use axum::extract::{Extension, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::delivery::Notification;
use pdm_shared::id::BearingKey;

use super::{Reader, channels, show};
use crate::Shared;
use crate::access::{Viewer, encoded};
use crate::api::ListQuery;
use crate::plant::{Admission, RefusedRow};
use crate::problem::Problem;

pub(super) async fn notifications(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(asked): Query<ListQuery>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("notifications.html", &reader, told(&shared, &asked, &reader).await)
}

async fn told(shared: &Shared, asked: &ListQuery, reader: &Reader) -> Result<Value, Problem> {
    let limit = asked.limit()?;
    let list = shared.site.plant.notifications(None, asked.before()?, limit).await?;
    let is_full = list.len() as u64 >= u64::from(limit);
    let older = list.last().filter(|_| is_full).map(|last| encoded(&last.created_at.to_string()));
    let rows: Vec<Value> = list.iter().map(|told| shown(told, reader)).collect();
    let channels = shared.site.plant.channels().await?;
    let failing = channels.iter().filter(|channel| channel.is_failing).count();
    let shared_failing = channels::shared_failing(&channels);
    let channels: Vec<Value> = channels.iter().map(channels::row).collect();
    Ok(context! { rows, older, channels, failing, shared_failing })
}

fn shown(told: &Notification, reader: &Reader) -> Value {
    let key = BearingKey {
        site: told.site.clone(),
        equipment: told.equipment_id.clone(),
        bearing: told.bearing_id.clone(),
    };
    context! {
        at => show::value(told.created_at),
        risk_level => told.risk_level.as_str(),
        label => told.risk_level.label().in_language(reader.language),
        title => told.title.in_language(reader.language),
        body => told.body.in_language(reader.language),
        event_id => show::value(told.event_id),
        address => show::address(&key),
        name => key.to_string(),
    }
}

pub(super) async fn gateways(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("gateways.html", &reader, known(&shared).await)
}

/// The gateways, and the events that are refused with what admits them.
async fn known(shared: &Shared) -> Result<Value, Problem> {
    let rows = shared.site.plant.gateways().await?;
    let rows: Vec<Value> = rows.iter().map(show::value).collect();
    let refused: Vec<Value> =
        shared.site.plant.refused().await?.iter().map(refused_shown).collect();
    Ok(context! { rows, refused })
}

fn refused_shown(one: &RefusedRow) -> Value {
    let admit = match &one.admitted_by {
        Admission::ReleaseBearing(bearing) => Some(("part", bearing.to_string())),
        Admission::ReleaseGateway(gateway) => Some(("gateway", gateway.to_string())),
        Admission::Configuration => None,
    };
    let admit = admit.map(|(field, name)| format!("/removal?{field}={}", encoded(&name)));
    context! {
        gateway => one.gateway.to_string(),
        bearing => one.bearing.to_string(),
        cause => format!("refused_cause_{}", one.cause),
        reason => &one.reason,
        count => one.count,
        first_at => show::value(one.first_at),
        admit,
    }
}
