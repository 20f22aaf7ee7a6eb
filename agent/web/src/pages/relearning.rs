//! The bearings that were reported repaired or replaced and are still judged as the bearing of
//! before, and the request to their gateways to learn them anew: the button, and where the newest
//! request stands.
//!
//! A bearing leaves the list by itself: a repair that was reported and a baseline that is learnt
//! anew end its episode.

use std::sync::Arc;

use axum::extract::{Extension, Form, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::id::BearingKey;
use serde::Deserialize;

use super::places::Places;
use super::{Reader, fleet, refusal, show};
use crate::access::{Technician, Viewer, inner};
use crate::api::{Names, key_of};
use crate::asking::Path;
use crate::plant::{RelearnRow, RelearnState};
use crate::problem::Problem;
use crate::{Shared, acts};

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
            relearning => request_shown(shared, &repair.key, "/relearning").await?,
            ..fleet::bearing_shown(&bearing, now, reader)
        });
    }
    Ok(context! { rows })
}

/// What the person at the gateway runs for a bearing.
fn command(key: &BearingKey) -> String {
    format!("pdm-edge relearn --config edge.toml {}/{}", key.equipment, key.bearing)
}

/// Returns the newest request for a bearing, and where a form for another one leads back to.
pub(super) async fn request_shown(
    shared: &Shared,
    key: &BearingKey,
    back: &str,
) -> Result<Value, Problem> {
    let plant = &shared.site.plant;
    let row = plant.relearning(key).await?;
    let waits = row.as_ref().is_some_and(RelearnRow::holds_off);
    let measured =
        if waits { plant.bearing(key).await?.and_then(|row| row.measured_at) } else { None };
    let newest = row.map(|row| {
        context! {
            state => word(row.state),
            waits,
            is_bad => matches!(row.state, RelearnState::Refused | RelearnState::Lapsed),
            by => &row.by,
            asked_at => show::value(row.asked_at),
            answered_at => show::value(row.answered_at),
            cause => row.refusal.as_ref().map(|refusal| refusal.cause.clone()),
            told => row.refusal.as_ref().map(|refusal| refusal.told.clone()),
        }
    });
    Ok(context! {
        newest, back,
        measured_at => show::value(measured),
        command => command(key),
        address => show::address(key),
    })
}

const fn word(state: RelearnState) -> &'static str {
    match state {
        RelearnState::Waiting => "waiting",
        RelearnState::Taken => "taken",
        RelearnState::Done => "done",
        RelearnState::Refused => "refused",
        RelearnState::Lapsed => "lapsed",
    }
}

/// The form by which a person asks the gateway to learn a bearing anew.
#[derive(Debug, Deserialize)]
pub(super) struct RelearnForm {
    form_key: String,
    #[serde(default)]
    by: String,
    #[serde(default)]
    back: String,
}

/// Asks the gateway of a bearing to learn it anew.
pub(super) async fn ask(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(names): Path<Names>,
    headers: HeaderMap,
    Form(form): Form<RelearnForm>,
) -> Response {
    let done = async {
        viewer.check_form(&form.form_key)?;
        let key = key_of(&names)?;
        acts::request_relearning(&shared, &viewer, "page", &key, (&form.by, None)).await?;
        Ok::<_, Problem>(key)
    };
    match done.await {
        Ok(key) => {
            let back = if form.back.is_empty() { show::address(&key) } else { form.back };
            Redirect::to(&format!("{}#relearn", inner(&back))).into_response()
        }
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}

/// Answers with the state of the newest request, for the script of the page that waits.
pub(super) async fn json(
    State(shared): State<Arc<Shared>>,
    Path(names): Path<Names>,
) -> Result<Response, Problem> {
    let row = shared.site.plant.relearning(&key_of(&names)?).await?;
    let state = row.as_ref().map(|row| word(row.state));
    Ok(axum::Json(serde_json::json!({ "state": state })).into_response())
}
