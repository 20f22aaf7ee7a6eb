//! What people do, from a page, the API or a link: one way each, with its bounds, its signature and its
//! record.

use axum::http::StatusCode;
use pdm_shared::bounds::{self, BoundError};
use pdm_shared::follow_up::FollowUpReport;
use pdm_shared::id::{BearingKey, EventId};
use uuid::Uuid;

use crate::Shared;
use crate::access::Viewer;
use crate::plant::{Acknowledged, Acknowledgement, ShelfRequest, Shelved, Withdrawn, WorkRow};
use crate::problem::Problem;

/// The name of whoever acts: a user's own, else what was typed.
fn signature(viewer: &Viewer, typed: &str) -> Result<String, Problem> {
    let by = viewer.signed(typed);
    name(&by)?;
    Ok(by)
}

/// Refuses a name that is none.
fn name(by: &str) -> Result<(), Problem> {
    if by.trim().is_empty() {
        return Err(Problem::unfit("by is empty, allowed is the name of a person"));
    }
    bounds::line(by, bounds::MAX_LINE).map_err(|error| Problem::unfit(format!("by {error}")))
}

/// A note within its bounds; none if it is blank.
fn note_of(note: String) -> Result<Option<String>, Problem> {
    let wrong = |error: BoundError| Problem::unfit(format!("note {error}"));
    bounds::lines(&note, bounds::MAX_NOTE).map_err(wrong)?;
    Ok(Some(note).filter(|note| !note.trim().is_empty()))
}

/// Acknowledges the alarm that the viewer saw.
pub(crate) async fn acknowledge(
    shared: &Shared,
    viewer: &Viewer,
    via: &'static str,
    key: &BearingKey,
    notification_id: Uuid,
    typed: &str,
    note: String,
) -> Result<(), Problem> {
    let by = signature(viewer, typed)?;
    let what = format!("{key} by {by:?}");
    let ack = Acknowledgement { key: key.clone(), notification_id, by, note: note_of(note)?, via };
    take(shared, ack).await?;
    viewer.did(shared, via, "acknowledge", what).await;
    Ok(())
}

/// Acknowledges by a link; who has it signs as its recipient, or with a name beside it.
pub(crate) async fn acknowledge_by_link(
    shared: &Shared,
    key: &BearingKey,
    notification_id: Uuid,
    by: String,
    note: String,
) -> Result<(), Problem> {
    name(&by)?;
    let note = note_of(note)?;
    take(shared, Acknowledgement { key: key.clone(), notification_id, by, note, via: "link" }).await
}

async fn take(shared: &Shared, ack: Acknowledgement) -> Result<(), Problem> {
    match shared.site.plant.acknowledge(ack).await? {
        Acknowledged::Yes => Ok(()),
        Acknowledged::Stale => {
            Err(Problem::new(StatusCode::CONFLICT, "another alarm stands by now, or none"))
        }
    }
}

/// Writes a remark on a bearing down.
pub(crate) async fn remark(
    shared: &Shared,
    viewer: &Viewer,
    key: &BearingKey,
    typed: &str,
    note: String,
) -> Result<(), Problem> {
    let by = signature(viewer, typed)?;
    let note = note_of(note)?.ok_or_else(|| Problem::unfit("note is empty"))?;
    shared.site.plant.remark(key, &by, &note).await?;
    viewer.did(shared, "page", "note", format!("{key} by {by:?}")).await;
    Ok(())
}

/// Shelves a bearing for so many hours; without hours the shelf ends.
pub(crate) async fn shelve(
    shared: &Shared,
    viewer: &Viewer,
    via: &str,
    key: &BearingKey,
    hours: Option<f64>,
    typed: &str,
    reason: String,
) -> Result<(), Problem> {
    let by = signature(viewer, typed)?;
    if hours.is_some_and(|hours| !hours.is_finite()) {
        return Err(Problem::unfit("hours is no number, allowed is above 0 and up to 168"));
    }
    let (action, what) = match hours {
        Some(hours) => ("shelve", format!("{key} by {by:?} for {hours} h: {reason:?}")),
        None => ("end shelf", format!("{key} by {by:?}")),
    };
    let request = ShelfRequest { key: key.clone(), hours, by, reason };
    match shared.site.plant.shelve(request).await? {
        Shelved::Yes => {
            viewer.did(shared, via, action, what).await;
            Ok(())
        }
        Shelved::Refused(told) => Err(Problem::unfit(told)),
    }
}

/// Reports what became of work; `report.by` is what was typed. Returns the identity of the report.
pub(crate) async fn report(
    shared: &Shared,
    viewer: &Viewer,
    via: &str,
    key: &BearingKey,
    mut report: FollowUpReport,
) -> Result<Uuid, Problem> {
    let (id, what) = prepared(shared, viewer, key, &mut report)?;
    if !shared.site.plant.report(key, report).await? {
        return Err(no_such_work());
    }
    viewer.did(shared, via, "follow-up", what).await;
    Ok(id)
}

/// Reports on work for a program; the open actions where the report names none of several.
pub(crate) async fn report_one(
    shared: &Shared,
    viewer: &Viewer,
    via: &str,
    key: &BearingKey,
    mut report: FollowUpReport,
) -> Result<Vec<WorkRow>, Problem> {
    let (_id, what) = prepared(shared, viewer, key, &mut report)?;
    let open = shared.site.plant.report_one(key, report).await?.ok_or_else(no_such_work)?;
    let what = if open.is_empty() { what } else { format!("{what}, kept without an action") };
    viewer.did(shared, via, "follow-up", what).await;
    Ok(open)
}

fn no_such_work() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "no judgement of this bearing asks for such work")
}

/// Signs and checks a report; its identity, and what the audit says of it.
fn prepared(
    shared: &Shared,
    viewer: &Viewer,
    key: &BearingKey,
    report: &mut FollowUpReport,
) -> Result<(Uuid, String), Problem> {
    let made = EventId::at(shared.site.clock.now().unix_ms()).0;
    let id = *report.report_id.get_or_insert(made);
    report.by = signature(viewer, &report.by)?;
    report.check().map_err(Problem::unfit)?;
    let found = report.found.as_ref().map_or("-", |found| found.verdict.as_str());
    let what = format!(
        "{key} by {:?}: {} found {found} repaired {}",
        report.by,
        report.state.as_str(),
        report.repaired
    );
    Ok((id, what))
}

/// Takes a report back.
pub(crate) async fn withdraw(
    shared: &Shared,
    viewer: &Viewer,
    id: Uuid,
    typed: &str,
) -> Result<Withdrawn, Problem> {
    let by = signature(viewer, typed)?;
    let done = shared.site.plant.withdraw_report(id, &by).await?;
    if let Withdrawn::Yes(key) = &done {
        viewer.did(shared, "page", "undo follow-up", format!("{key} by {by:?}: {id}")).await;
    }
    Ok(done)
}
