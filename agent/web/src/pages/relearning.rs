//! The bearings that were reported repaired or replaced and are still judged as the bearing of
//! before: what the gateway has to learn anew, with the one command for each.
//!
//! A bearing leaves the list by itself: a repair that was reported and a baseline that is learnt
//! anew end its episode.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::id::BearingKey;

use super::places::Places;
use super::{Reader, fleet, show};
use crate::Shared;
use crate::access::Viewer;
use crate::problem::Problem;

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("relearning.html", &reader, gather(&shared, &reader).await)
}

async fn gather(shared: &Shared, reader: &Reader) -> Result<Value, Problem> {
    let (plant, places) = (&shared.site.plant, Places::of_plant(shared, reader.language).await?);
    let now = shared.site.clock.now();
    let mut rows = Vec::new();
    for repair in plant.repairs_to_learn().await? {
        let Some(bearing) = plant.bearing(&repair.key).await? else { continue };
        rows.push(context! {
            by => &repair.by,
            repaired_at => show::value(repair.at),
            machine_name => places.name(&repair.key),
            command => command(&repair.key),
            ..fleet::bearing_shown(&bearing, now, reader)
        });
    }
    Ok(context! { rows })
}

/// What the person at the gateway runs for a bearing.
pub(super) fn command(key: &BearingKey) -> String {
    format!("pdm-edge relearn --config edge.toml {}/{}", key.equipment, key.bearing)
}
