//! What happened to a bearing besides its measurements, as marks of its trend and as a list:
//! alarms, acknowledgements, reports of staff and notes with a date of their own; and the form of
//! such a note.

use std::sync::Arc;

use axum::extract::{Form, Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use pdm_shared::delivery::Notification;
use pdm_shared::id::BearingKey;
use pdm_shared::text::Language;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Reader, refusal, show};
use crate::access::{Technician, Viewer};
use crate::api::{Names, key_of};
use crate::plant::{Remark, ReportRow, ShelfEnd};
use crate::problem::Problem;
use crate::{Shared, acts, language};

/// Marks of each kind that are read.
const MOST: u32 = 200;

/// Something that happened to a bearing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct BearingMark {
    pub(super) at: Timestamp,
    /// `alarm`, `acknowledged`, `report` or `note`; a key of the words of pages, `mark_` before it.
    pub(super) kind: &'static str,
    pub(super) text: String,
}

/// The marks of a bearing, newest first.
pub(super) async fn marks(
    shared: &Shared,
    key: &BearingKey,
    language: Language,
) -> Result<Vec<BearingMark>, Problem> {
    let plant = &shared.site.plant;
    let told = plant.notifications(Some(key), None, MOST).await?;
    let alarms = told.into_iter().filter(Notification::raises_alarm).map(|one| BearingMark {
        at: one.created_at,
        kind: "alarm",
        text: one.title.in_language(language).to_owned(),
    });
    let remarks = plant.remarks_of(key, MOST).await?.into_iter().map(remark);
    let reports = plant.reports(key, MOST).await?;
    let standing = reports.iter().filter(|report| report.withdrawn_at.is_none());
    let reports = standing.map(|one| report(one, language));
    let mut all: Vec<BearingMark> = alarms.chain(remarks).chain(reports).collect();
    all.sort_by_key(|mark| std::cmp::Reverse(mark.at.unix_ms()));
    Ok(all)
}

fn remark(one: Remark) -> BearingMark {
    let kind = if one.acknowledges { "acknowledged" } else { "note" };
    let text = one.note.map_or_else(|| one.by.clone(), |note| format!("{}: {note}", one.by));
    BearingMark { at: one.at, kind, text }
}

/// A report in words: who, the verdict, the element, whether the bearing was replaced, the note.
fn report(one: &ReportRow, language: Language) -> BearingMark {
    let words = language::words(language);
    let word = |key: &str| words.get(key).map(|word| (*word).to_owned());
    let found = one.found.as_ref();
    let parts = [
        found.and_then(|found| word(&format!("found_{}", found.verdict.as_str()))),
        found
            .and_then(|found| found.element)
            .map(|element| element.name().in_language(language).to_owned()),
        found.and_then(|found| found.cause.clone()),
        word("found_repaired").filter(|_| one.repaired),
        one.note.clone(),
    ];
    let mut parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        parts.extend(word(&format!("work_{}", one.state.as_str())));
    }
    BearingMark { at: one.at, kind: "report", text: format!("{}: {}", one.by, parts.join(" · ")) }
}

/// The fields of the form of a note.
#[derive(Debug, Deserialize)]
pub(super) struct DatedNoteForm {
    form_key: String,
    #[serde(default)]
    by: String,
    note: String,
    /// When it was done, on the plant's clock; empty for now.
    #[serde(default)]
    at: String,
}

pub(super) async fn note(
    State(shared): State<Arc<Shared>>,
    Technician(viewer): Technician,
    Path(names): Path<Names>,
    headers: HeaderMap,
    Form(form): Form<DatedNoteForm>,
) -> Response {
    match noted(&shared, &viewer, &names, form).await {
        Ok(key) => Redirect::to(&format!("{}#history", show::address(&key))).into_response(),
        Err(problem) => refusal(&Reader::of(&viewer, &headers), &problem),
    }
}

async fn noted(
    shared: &Shared,
    viewer: &Viewer,
    names: &Names,
    form: DatedNoteForm,
) -> Result<BearingKey, Problem> {
    viewer.check_form(&form.form_key)?;
    let (key, plant, now) = (key_of(names)?, &shared.site.plant, shared.site.clock.now());
    plant.bearing(&key).await?.ok_or_else(|| Problem::unknown("bearing"))?;
    let at = if form.at.is_empty() {
        now
    } else {
        let allowed = "a day and an hour that are past, such as 2026-11-24T10:00";
        let wrong = || Problem::parameter("at", &form.at, allowed);
        let at = plant.shelf_end(&ShelfEnd::Written(form.at.clone())).ok_or_else(wrong)?;
        // a minute of the clock that a browser shows may lie ahead by itself
        if at.seconds_since(now) > 60.0 {
            return Err(wrong());
        }
        at
    };
    acts::note(shared, viewer, &key, &form.by, form.note, at).await?;
    Ok(key)
}
