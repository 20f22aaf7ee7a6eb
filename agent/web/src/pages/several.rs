//! One act on several episodes: what a bad night leaves is acknowledged or put off together.
//!
//! Each is acted on at the alarm that the person saw; one that has changed since is left as it is
//! and counted.

use std::sync::Arc;

use axum::extract::{Form, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use uuid::Uuid;

use super::forms::ShelfUntil;
use super::{Reader, fleet, refusal};
use crate::access::{Technician, Viewer, inner};
use crate::plant::EpisodeDetail;
use crate::problem::Problem;
use crate::{Shared, acts};

/// Episodes of one act: as many as a page of the list has.
const MOST: usize = 100;

pub(super) async fn act(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    headers: HeaderMap,
    Form(fields): Form<Vec<(String, String)>>,
) -> Response {
    match acted(&shared, &viewer, &fields).await {
        Ok(back) => Redirect::to(&back).into_response(),
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}

/// Acts on the episodes of a form; where the browser goes then.
async fn acted(
    shared: &Shared,
    viewer: &Viewer,
    fields: &[(String, String)],
) -> Result<String, Problem> {
    let text = |name: &str| {
        let field = fields.iter().find(|(key, _)| key == name);
        field.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    viewer.check_form(&text("form_key"))?;
    let chosen: Vec<&str> =
        fields.iter().filter(|(key, _)| key == "chosen").map(|(_, value)| value.as_str()).collect();
    if chosen.is_empty() {
        return Err(Problem::unfit("nothing was chosen"));
    }
    if chosen.len() > MOST {
        return Err(Problem::unfit("at most 100 alarms can be chosen at once"));
    }
    let until = match text("act").as_str() {
        "acknowledge" => None,
        "shelve" => {
            let until = ShelfUntil::of(text("until"), text("hours"), text("date"));
            let nothing = || Problem::unfit("the end of the shelf is missing");
            Some(until.instant(shared)?.ok_or_else(nothing)?)
        }
        other => return Err(Problem::parameter("act", other, "acknowledge, shelve")),
    };
    if until.is_some() && text("reason").trim().is_empty() {
        return Err(Problem::unfit("reason is empty, allowed is why staff is told nothing"));
    }
    let (by, words) = (text("by"), text("reason"));
    let (mut done, mut left) = (0_u32, 0_u32);
    for one in chosen {
        let Some((episode, told)) = standing(shared, one).await? else {
            left += 1;
            continue;
        };
        let key = episode.key();
        let outcome = match until {
            None => acts::acknowledge(shared, viewer, "page", &key, told, &by, words.clone()).await,
            Some(at) => {
                acts::shelve(shared, viewer, "page", &key, Some(at), &by, words.clone()).await
            }
        };
        match outcome {
            Ok(()) => done += 1,
            Err(problem) if problem.status() == axum::http::StatusCode::CONFLICT => left += 1,
            Err(problem) => return Err(problem),
        }
    }
    let back = text("back");
    let back = if back.starts_with("/episodes") { inner(&back) } else { "/episodes" };
    Ok(fleet::with(&fleet::with(back, &format!("done={done}")), &format!("left={left}")))
}

/// The episode of a choice while its alarm is the one that was seen.
async fn standing(shared: &Shared, chosen: &str) -> Result<Option<(EpisodeDetail, Uuid)>, Problem> {
    let wrong = || Problem::parameter("chosen", chosen, "an episode and its notification");
    let (episode, told) = chosen.split_once(':').ok_or_else(wrong)?;
    let told = Uuid::parse_str(told).map_err(|_other| wrong())?;
    let episode = Uuid::parse_str(episode).map_err(|_other| wrong())?;
    let found = shared.site.plant.episode(episode).await?;
    let stands = |one: &EpisodeDetail| {
        let is_same = one.alarm.as_ref().is_some_and(|alarm| alarm.notification_id == told);
        is_same && one.document.closed_at.is_none()
    };
    Ok(found.filter(stands).map(|one| (one, told)))
}
