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
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::follow_up::FollowUpState;
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;

use super::places::Places;
use super::reports::{self, RecordedAsked};
use super::{Reader, captures, documents, equipment, fleet, labels, photos, show};
use crate::access::Viewer;
use crate::api::event_id_of;
use crate::plant::{BearingRow, SheetPassage};
use crate::problem::Problem;
use crate::{Shared, language};

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
    let places = Places::of_plant(shared, reader.language).await?;
    let is_open = rows.iter().any(|row| row.state == FollowUpState::Open);
    // an old link or a printed sheet leads to the order that holds
    let is_superseded = rows.iter().all(|row| row.state == FollowUpState::Superseded);
    let now_holds = plant.open_work_of(&first.key).await?;
    let now_holds = now_holds.first().filter(|_| is_superseded).map(|row| {
        let number = row.work_order.clone().unwrap_or_else(|| first.key.to_string());
        context! { number, address => format!("/work/{}", row.event_id) }
    });
    let label = found.as_ref().map(|found| found.risk_level.label());
    let due_at = rows.iter().filter_map(|row| row.due_at).min();
    let now_told = match &standing {
        Some(row) if is_open => told_now(shared, row, found.as_ref(), due_at, reader).await?,
        Some(_) | None => None,
    };
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
        code => code(shared, &format!("/work/{event_id}")),
        safety => sheet.iter().flat_map(|sheet| &sheet.safety).map(safety).collect::<Vec<_>>(),
        sheet => show::value(&sheet),
        captures => captures::rows_for_work(shared, &first.key, event_id, reader).await?,
        photos => photos::rows(shared, event_id).await?,
        is_open, is_superseded, now_holds,
        due_at => show::value(due_at),
        now_told,
        advice => found.as_ref().map(|found| found.recommendation.in_language(reader.language)),
        found => show::value(&found),
        files => documents::links(shared, Some(event_id), reader).await?,
        recorded => asked.shown(shared, &page).await?,
        report => reports::form(shared, &first.key, None, &page, Some(event_id)),
        parts => of_kind("Part"),
        documents => of_kind("Document"),
    })
}

/// The code of the order's page for its printed sheet, where the pages have an address.
fn code(shared: &Shared, page: &str) -> Option<Value> {
    let base = shared.site.public_url.as_deref()?.trim_end_matches('/');
    let (width, path) = labels::path_of(&format!("{base}{page}")).ok()?;
    Some(context! { width, path })
}

/// A passage of safety as it is ticked: the steps before work, which end with the proof that no
/// energy is left, have boxes; what comes after the work and what is only told have none.
fn safety(passage: &SheetPassage) -> Value {
    let last = passage.items.iter().rposition(is_proof);
    let split = last.map_or(passage.items.len(), |last| last + 1);
    let (before, after) = passage.items.split_at(split);
    context! {
        title => show::value(&passage.title),
        source => &passage.source,
        before => before.iter().map(show::value).collect::<Vec<_>>(),
        after => after.iter().map(show::value).collect::<Vec<_>>(),
    }
}

/// Whether a step is the proof that no energy is left.
fn is_proof(step: &Text) -> bool {
    let words = language::words(Language::Ko);
    let proofs = words.get("loto_proof").copied().unwrap_or_default();
    let text = format!("{} {}", step.ko, step.en.to_lowercase());
    proofs.split(" | ").any(|proof| text.contains(proof))
}

/// What the bearing's judgement of now says beside an open order: other advice, and the least
/// remaining life where it ends before the order's date. `None` where they agree. Whoever works
/// from the order works from what is known now.
async fn told_now(
    shared: &Shared,
    row: &BearingRow,
    order: Option<&Diagnosis>,
    due_at: Option<Timestamp>,
    reader: &Reader,
) -> Result<Option<Value>, Problem> {
    let newest = match row.event_id {
        Some(event_id) => shared.site.plant.diagnosis(event_id).await?,
        None => None,
    };
    let advice = newest.as_ref().map(|newest| &newest.recommendation);
    let advice = advice.filter(|advice| order.is_none_or(|order| order.recommendation != **advice));
    let act_by = row.act_by().filter(|by| due_at.is_some_and(|due| due > *by));
    if advice.is_none() && act_by.is_none() {
        return Ok(None);
    }
    Ok(Some(context! {
        advice => advice.map(|advice| advice.in_language(reader.language).to_owned()),
        event_id => show::value(row.event_id),
        life => row.rul_low_hours.map(|hours| show::life(hours, reader.language)),
        act_by => show::value(act_by),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list before the work had boxes for the work itself, for taking the locks off and for a
    /// remark on the law.
    #[test]
    fn what_comes_after_the_proof_of_no_energy_has_no_box() {
        let step = |ko: &str, en: &str| Text::new(ko, en);
        let passage = SheetPassage {
            title: step("안전", "Safety"),
            source: "X".to_owned(),
            items: vec![
                step("전원 차단", "Isolate"),
                step("무전압 검전", "Check that it is dead"),
                step("작업", "Do the work"),
                step("잠금 해제", "Take the locks off"),
            ],
        };
        let of = |passage: &SheetPassage, key: &str| {
            safety(passage).get_attr(key).expect("there").len().expect("a list")
        };
        assert_eq!((of(&passage, "before"), of(&passage, "after")), (2, 2));
        let plain =
            SheetPassage { items: vec![step("보호구 착용", "Wear gloves")], ..passage };
        assert_eq!((of(&plain, "before"), of(&plain, "after")), (1, 0), "all of it, where none is");
    }
}
