//! The acts of programs over the API: acknowledging, shelving, reporting work.
//!
//! A browser's session acts by the forms of the pages, which carry its key; here it is refused.

use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use pdm_shared::follow_up::{FOLLOW_UP_SCHEMA, FollowUpReport, FollowUpState, WorkFound};
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Asking, Names, event_id_of, key_of};
use crate::access::{Technician, Viewer};
use crate::acts;
use crate::asking::{Json, Path};
use crate::plant::WorkRow;
use crate::problem::Problem;

/// A program that may act: a technician who is no browser's session.
pub(super) struct Program(Viewer);

impl<S: Send + Sync> FromRequestParts<S> for Program {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let Technician(viewer) = Technician::from_request_parts(parts, state).await?;
        without_session(viewer).map(Self).map_err(|refusal| *refusal)
    }
}

/// Refuses a browser's session, whose requests another page may have made.
pub(super) fn without_session(viewer: Viewer) -> Result<Viewer, Box<Response>> {
    if viewer.has_session() {
        let told = "a session acts by the forms of the pages";
        return Err(Box::new(Problem::new(StatusCode::FORBIDDEN, told).into_response()));
    }
    Ok(viewer)
}

/// What a program sends to acknowledge an alarm.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AckBody {
    /// The notification that the person saw.
    notification_id: Uuid,
    /// The person; a user's token signs as the user, whatever stands here.
    #[serde(default)]
    #[schemars(length(max = pdm_shared::bounds::MAX_LINE))]
    by: String,
    /// The person's note.
    #[serde(default)]
    #[schemars(length(max = pdm_shared::bounds::MAX_NOTE))]
    note: Option<String>,
}

pub(super) async fn acknowledge(
    State(shared): Asking,
    Program(viewer): Program,
    Path(names): Path<Names>,
    Json(body): Json<AckBody>,
) -> Result<Response, Problem> {
    let AckBody { notification_id, by, note } = body;
    let (key, note) = (key_of(&names)?, note.unwrap_or_default());
    acts::acknowledge(&shared, &viewer, "api", &key, notification_id, &by, note).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// What a program sends to ask a gateway for a waveform, or to learn a bearing anew.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DemandBody {
    /// The person; a user's token signs as the user, whatever stands here.
    #[serde(default)]
    #[schemars(length(max = pdm_shared::bounds::MAX_LINE))]
    by: String,
}

pub(super) async fn demand_capture(
    State(shared): Asking,
    Program(viewer): Program,
    Path(names): Path<Names>,
    Json(body): Json<DemandBody>,
) -> Result<Response, Problem> {
    let row = acts::demand_capture(&shared, &viewer, "api", &key_of(&names)?, &body.by).await?;
    Ok((StatusCode::ACCEPTED, axum::Json(row)).into_response())
}

pub(super) async fn request_relearning(
    State(shared): Asking,
    Program(viewer): Program,
    Path(names): Path<Names>,
    Json(body): Json<DemandBody>,
) -> Result<Response, Problem> {
    let (key, of) = (key_of(&names)?, (body.by.as_str(), None));
    let row = acts::request_relearning(&shared, &viewer, "api", &key, of).await?;
    Ok((StatusCode::ACCEPTED, axum::Json(row)).into_response())
}

/// What a program sends to shelve a bearing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShelfBody {
    /// Hours from now for which staff is told nothing, up to a week; or `until`.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 168))]
    hours: Option<f64>,
    /// Until when staff is told nothing, up to a week from now; or `hours`.
    #[serde(default)]
    until: Option<Timestamp>,
    /// The person; a user's token signs as the user, whatever stands here.
    #[serde(default)]
    #[schemars(length(max = pdm_shared::bounds::MAX_LINE))]
    by: String,
    /// Why.
    #[schemars(length(min = 1, max = pdm_shared::bounds::MAX_LINE))]
    reason: String,
}

pub(super) async fn shelve(
    State(shared): Asking,
    Program(viewer): Program,
    Path(names): Path<Names>,
    Json(body): Json<ShelfBody>,
) -> Result<Response, Problem> {
    let ShelfBody { hours, until, by, reason } = body;
    if reason.trim().is_empty() {
        let told = "reason is empty, allowed is why staff is told nothing";
        return Err(Problem::unfit(told));
    }
    let until = match (hours, until) {
        (Some(hours), None) => acts::shelf_end_of_hours(&shared, hours)?,
        (None, Some(until)) => until,
        (Some(_), Some(_)) | (None, None) => {
            return Err(Problem::unfit("one of hours and until is wanted"));
        }
    };
    acts::shelve(&shared, &viewer, "api", &key_of(&names)?, Some(until), &by, reason).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Ends a shelf. The configured token and programs of this machine sign as `api`.
pub(super) async fn unshelve(
    State(shared): Asking,
    Program(viewer): Program,
    Path(names): Path<Names>,
) -> Result<Response, Problem> {
    let key = key_of(&names)?;
    acts::shelve(&shared, &viewer, "api", &key, None, "api", String::new()).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// What a program sends of work that a judgement asked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FollowUpBody {
    /// The number of the action, from 1; if absent, the work of the bearing that is open. Where
    /// that of several judgements is, the report is kept, sets none, and is answered with 202 and
    /// what is open.
    #[serde(default)]
    number: Option<u32>,
    /// The new state: `open`, `done` or `dropped`.
    state: FollowUpState,
    /// The person; a user's token signs as the user, whatever stands here.
    #[serde(default)]
    #[schemars(length(max = pdm_shared::bounds::MAX_LINE))]
    by: String,
    /// The person's note.
    #[serde(default)]
    #[schemars(length(max = pdm_shared::bounds::MAX_NOTE))]
    note: Option<String>,
    /// The bearing was repaired or replaced.
    #[serde(default)]
    repaired: bool,
    /// What was found on the machine.
    #[serde(default)]
    found: Option<WorkFound>,
}

/// The answer where a report names no action and several are open.
const SEVERAL_OPEN: &str = "the report is kept and sets no action: number is absent and the work \
                            of several judgements is open; send it again with event_id and number \
                            of one of them";

/// The answer to a report that could mean several actions.
#[derive(Debug, Serialize)]
struct Undecided {
    detail: &'static str,
    candidates: Vec<WorkRow>,
}

pub(super) async fn follow_up(
    State(shared): Asking,
    Program(viewer): Program,
    Path(id): Path<String>,
    Json(body): Json<FollowUpBody>,
) -> Result<Response, Problem> {
    let event_id = event_id_of(&id)?;
    if body.state == FollowUpState::Superseded {
        let told = "state is superseded, allowed is open, done, dropped";
        return Err(Problem::unfit(told));
    }
    let rows = shared.site.plant.work_of(event_id).await?;
    let row = rows.first().ok_or_else(|| Problem::unknown("work of that event"))?;
    let report = FollowUpReport {
        schema: FOLLOW_UP_SCHEMA.to_owned(),
        report_id: None,
        event_id: Some(event_id),
        number: body.number,
        state: body.state,
        by: body.by,
        at: shared.site.clock.now(),
        note: body.note,
        repaired: body.repaired,
        found: body.found,
    };
    let open = acts::report_one(&shared, &viewer, "api", &row.key, report).await?;
    if open.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let answer = Undecided { detail: SEVERAL_OPEN, candidates: open };
    Ok((StatusCode::ACCEPTED, axum::Json(answer)).into_response())
}
