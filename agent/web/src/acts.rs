//! The acts of people, from a page, the API or a link: one function for each, with its bounds, its
//! signature and its record.

use axum::http::StatusCode;
use pdm_shared::bounds::{self, BoundError};
use pdm_shared::episode::LONGEST_SHELF_S;
use pdm_shared::follow_up::FollowUpReport;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use crate::Shared;
use crate::access::Viewer;
use crate::plant::{
    Acknowledged, Acknowledgement, CaptureDemandRow, CaptureDemanded, ChangeRequest, Changed,
    PhotoKind, PhotoRow, PlantChange, RelearnAsked, RelearnRow, ShelfRequest, Shelved, TakenOut,
    Withdrawn, WorkRow,
};
use crate::problem::Problem;

/// The name of whoever acts: a user's own, else what was typed.
fn signature(viewer: &Viewer, typed: &str) -> Result<String, Problem> {
    let by = viewer.signed(typed);
    name(&by)?;
    Ok(by)
}

/// Refuses a blank name.
fn name(by: &str) -> Result<(), Problem> {
    if by.trim().is_empty() {
        return Err(Problem::unfit("by is empty, allowed is the name of a person"));
    }
    bounds::line(by, bounds::MAX_LINE).map_err(|error| Problem::unfit(format!("by {error}")))
}

/// Returns a note within its bounds; `None` if it is blank.
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

/// Takes an acknowledgement back, with a remark on the episode that says so.
pub(crate) async fn unacknowledge(
    shared: &Shared,
    viewer: &Viewer,
    (key, episode): (&BearingKey, Uuid),
    typed: &str,
    remark: &str,
) -> Result<(), Problem> {
    let by = signature(viewer, typed)?;
    match shared.site.plant.unacknowledge(key, episode).await? {
        Withdrawn::Yes(_) => {}
        Withdrawn::Late(_) => {
            let told = "the acknowledgement is older than ten minutes and stands";
            return Err(Problem::new(StatusCode::CONFLICT, told));
        }
        Withdrawn::Unknown => {
            return Err(Problem::new(StatusCode::CONFLICT, "another alarm stands by now, or none"));
        }
    }
    shared.site.plant.remark(key, &by, remark).await?;
    viewer.did(shared, "page", "undo acknowledge", format!("{key} by {by:?}")).await;
    Ok(())
}

/// Writes a note on a bearing down, of something that was done at a time.
pub(crate) async fn note(
    shared: &Shared,
    viewer: &Viewer,
    key: &BearingKey,
    typed: &str,
    note: String,
    at: Timestamp,
) -> Result<(), Problem> {
    let by = signature(viewer, typed)?;
    let note = note_of(note)?.ok_or_else(|| Problem::unfit("note is empty"))?;
    shared.site.plant.note(key, &by, &note, at).await?;
    viewer.did(shared, "page", "note", format!("{key} by {by:?} of {at}")).await;
    Ok(())
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

/// Asks the gateway of a bearing for its waveform; the demand that stands now.
pub(crate) async fn demand_capture(
    shared: &Shared,
    viewer: &Viewer,
    via: &str,
    key: &BearingKey,
    typed: &str,
) -> Result<CaptureDemandRow, Problem> {
    let by = signature(viewer, typed)?;
    match shared.site.plant.demand_capture(key, &by).await? {
        CaptureDemanded::Asked(row) => {
            viewer.did(shared, via, "ask for waveform", format!("{key} by {by:?}")).await;
            Ok(row)
        }
        CaptureDemanded::Waits(row) => Ok(row),
        CaptureDemanded::NoPlace => {
            let told = "the agent takes no waveforms: its configuration has no [captures]";
            Err(Problem::new(StatusCode::CONFLICT, told))
        }
        CaptureDemanded::Unknown => Err(Problem::unknown("bearing")),
    }
}

/// Asks the gateway of a bearing to learn it anew; the request that stands now. `of`: who asks, and
/// the report that it is made with.
pub(crate) async fn request_relearning(
    shared: &Shared,
    viewer: &Viewer,
    via: &str,
    key: &BearingKey,
    (typed, report): (&str, Option<Uuid>),
) -> Result<RelearnRow, Problem> {
    let by = signature(viewer, typed)?;
    let id = report.unwrap_or_else(|| EventId::at(shared.site.clock.now().unix_ms()).0);
    match shared.site.plant.request_relearning(key, &by, id).await? {
        RelearnAsked::Sent(row) => {
            viewer.did(shared, via, "ask to relearn", format!("{key} by {by:?}")).await;
            Ok(row)
        }
        RelearnAsked::Waits(row) => Ok(row),
        RelearnAsked::Unknown => Err(Problem::unknown("bearing")),
    }
}

/// Returns the time until which a bearing may be shelved.
pub(crate) fn shelf_end_of_hours(shared: &Shared, hours: f64) -> Result<Timestamp, Problem> {
    if !hours.is_finite() {
        return Err(Problem::unfit("hours is no number, allowed is above 0 and up to 168"));
    }
    // a week and a day is refused as any later time is
    let hours = hours.clamp(-1.0, LONGEST_SHELF_S / 3600.0 + 24.0);
    Ok(shared.site.clock.now().plus_seconds(hours * 3600.0))
}

/// Refuses an end that is past or too far away.
pub(crate) fn check_shelf_end(shared: &Shared, until: Timestamp) -> Result<(), Problem> {
    let now = shared.site.clock.now();
    let left_s = until.seconds_since(now);
    if left_s <= 0.0 {
        return Err(Problem::unfit("the end of the shelf is past"));
    }
    if left_s > LONGEST_SHELF_S {
        return Err(Problem::unfit(format!(
            "a shelf lasts 7 days at most: until {}",
            now.plus_seconds(LONGEST_SHELF_S)
        )));
    }
    Ok(())
}

/// Shelves a bearing until a time; without one the shelf ends.
pub(crate) async fn shelve(
    shared: &Shared,
    viewer: &Viewer,
    via: &str,
    key: &BearingKey,
    until: Option<Timestamp>,
    typed: &str,
    reason: String,
) -> Result<(), Problem> {
    let by = signature(viewer, typed)?;
    let (action, what) = match until {
        Some(until) => ("shelve", format!("{key} by {by:?} until {until}: {reason:?}")),
        None => ("end shelf", format!("{key} by {by:?}")),
    };
    put_off(shared, key, until, by, reason).await?;
    viewer.did(shared, via, action, what).await;
    Ok(())
}

/// Shelves a bearing by a link; who has it signs as its recipient, or with a name beside it.
pub(crate) async fn shelve_by_link(
    shared: &Shared,
    key: &BearingKey,
    until: Timestamp,
    by: String,
    reason: String,
) -> Result<(), Problem> {
    name(&by)?;
    if reason.trim().is_empty() {
        return Err(Problem::unfit("reason is empty, allowed is why staff is told nothing"));
    }
    put_off(shared, key, Some(until), by, reason).await
}

async fn put_off(
    shared: &Shared,
    key: &BearingKey,
    until: Option<Timestamp>,
    by: String,
    reason: String,
) -> Result<(), Problem> {
    if let Some(until) = until {
        check_shelf_end(shared, until)?;
    }
    match shared.site.plant.shelve(ShelfRequest { key: key.clone(), until, by, reason }).await? {
        Shelved::Yes => Ok(()),
        Shelved::Refused(told) => Err(Problem::unfit(told)),
    }
}

/// Reports on work; `report.by` is the name that was typed. Returns the identity of the report.
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

/// Reports on work for a program; returns the open actions where the report names none of several.
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

/// Signs and checks a report; returns its identity, and its text for the audit.
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

/// Keeps a photo of the work of a judgement.
pub(crate) async fn add_photo(
    shared: &Shared,
    viewer: &Viewer,
    (key, event_id): (&BearingKey, EventId),
    typed: &str,
    kind: PhotoKind,
    content: &[u8],
) -> Result<(), Problem> {
    let by = signature(viewer, typed)?;
    let bytes = content.len();
    let kept = shared.site.plant.keep_photo(event_id, &by, kind, content.to_vec()).await?;
    if let Some(refusal) = kept.refusal() {
        return Err(refusal);
    }
    let what = format!("{key} by {by:?}: {} of {bytes} bytes for {event_id}", kind.as_str());
    viewer.did(shared, "page", "add photo", what).await;
    Ok(())
}

/// Takes a photo away; the row that it had.
pub(crate) async fn remove_photo(
    shared: &Shared,
    viewer: &Viewer,
    id: Uuid,
    typed: &str,
) -> Result<PhotoRow, Problem> {
    let by = signature(viewer, typed)?;
    let row = shared.site.plant.remove_photo(id).await?;
    let row = row.ok_or_else(|| Problem::unknown("photo"))?;
    let what = format!("{id} of {} by {by:?}, added by {:?}", row.event_id, row.by);
    viewer.did(shared, "page", "remove photo", what).await;
    Ok(row)
}

/// Makes a change of the plant, or says what it would be. The record of the act is written with it.
pub(crate) async fn change(
    shared: &Shared,
    viewer: &Viewer,
    via: &'static str,
    change: PlantChange,
    (typed, reason): (&str, String),
    is_dry: bool,
) -> Result<TakenOut, Problem> {
    let by = signature(viewer, typed)?;
    if reason.trim().is_empty() {
        return Err(Problem::unfit("reason is empty, allowed is why it is done"));
    }
    bounds::line(&reason, bounds::MAX_LINE)
        .map_err(|error| Problem::unfit(format!("reason {error}")))?;
    let (who, peer) = (viewer.name().to_owned(), viewer.peer());
    let request = ChangeRequest { change, who, by, via, peer, reason, is_dry };
    match shared.site.plant.change(request).await? {
        Changed::Done(out) => Ok(out),
        Changed::Unknown(name) => {
            Err(Problem::new(StatusCode::NOT_FOUND, format!("nothing is known of {name}")))
        }
        Changed::Unfit(told) => Err(Problem::unfit(told)),
        Changed::Joins(names) => {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            let told = format!(
                "{} is known already: the history of both stands under it only where that is asked \
                 for (join)",
                names.join(", ")
            );
            Err(Problem::new(StatusCode::CONFLICT, told))
        }
    }
}
