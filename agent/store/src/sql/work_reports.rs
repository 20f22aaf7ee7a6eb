//! Stores the reports of people on the work on a bearing. Each report stands in a row of its own,
//! so a note stays whatever becomes of the work.
//!
//! A report goes to the open work of its bearing, whichever judgement it names: a judgement that a
//! later one has replaced has no open work any more. Where no work is open, the report is a finding
//! of the bearing. A finding belongs to one judgement, the inspected one, and the last report of it
//! counts. A person at a page sees the open work and reports on all of it; a program that names
//! none may mean the work of one of several judgements, so its report sets none of them ([`Sets`]).
//! `withdrawal` takes reports back, `inspected` finds the inspected judgement.
//!
//! Invariant: a report that is of a known bearing is stored, once by its identity.

use pdm_expert::case::Work;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::fault::Fault;
use pdm_shared::follow_up::{FollowUpReport, FollowUpState, Verdict, WorkFound};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_web::plant::ReportRow;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::follow_ups::{found_of, state_of};
use crate::database::{Connection, Lock, Row};
use crate::encoding::{count_of, json_of, readable, time_of, to_json};
use crate::{Outgoing, Payload, Reported, StoreError, VECTORS_LANE, log};

mod inspected;
mod withdrawal;

pub(super) use withdrawal::withdraw;

use super::bulk;
use inspected::{Action, Aim};

/// Open actions that an answer names.
const MOST_CANDIDATES: usize = 10;

/// Reports; the first three columns name the bearing.
macro_rules! reports {
    ($($condition:literal)+) => {
        concat!(
            "SELECT site, equipment_id, bearing_id, report_id, event_id, state, by_whom, at_ms,
                    received_at_ms, note, repaired, verdict, element, cause, actions,
                    withdrawn_at_ms, withdrawn_by
             FROM work_reports",
            $($condition),+
        )
    };
}

/// Which open work a report sets that names no action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sets {
    /// All of it.
    All,
    /// The work of the only judgement that has open work; nothing where several judgements have
    /// some.
    One,
}

/// Keeps a report of staff, sets the open work of the bearing by it, and sends the judgement to the
/// knowledge base again with what was found. The same report again changes nothing more.
pub(super) async fn take(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    report: &FollowUpReport,
    sets: Sets,
    now: Timestamp,
) -> Result<Reported, StoreError> {
    // two people on one bearing: the second one sees what the first one has set
    connection.lock(Lock::Work, &key.to_string()).await?;
    let id = identity(key, report)?;
    if let Some(before) = by_id(connection, id).await? {
        let same = before.event_id.map_or(Reported::Kept, Reported::Taken);
        return Ok(if before.key == *key { same } else { Reported::Unknown });
    }
    let Some(Aim { inspected, actions }) = inspected::aim(connection, key, report).await? else {
        return Ok(Reported::Unknown);
    };
    let (actions, is_undecided) = match sets {
        Sets::One if report.number.is_none() => of_one(actions, report.event_id),
        Sets::All | Sets::One => (actions, false),
    };
    // which of several judgements was inspected cannot be told
    let inspected = inspected.filter(|_| !is_undecided);
    let inspected = actions.first().map(|action| action.event_id).or(inspected);
    for (number, action) in actions.iter().enumerate() {
        set_action(connection, action, report, number == 0).await?;
    }
    insert(connection, key, (id, inspected), report, &actions, now).await?;
    if let (Some(event_id), Some(found)) = (inspected, &report.found) {
        note_in_memory(connection, event_id, Some(found), now).await?;
    }
    if is_undecided {
        log::report_undecided(key);
        return Ok(Reported::Undecided);
    }
    Ok(inspected.map_or(Reported::Kept, Reported::Taken))
}

/// The actions of one judgement's work, that of `named` where there is more than one; true if it
/// could be either.
fn of_one(actions: Vec<Action>, named: Option<EventId>) -> (Vec<Action>, bool) {
    let is_one = actions.windows(2).all(|pair| pair[0].event_id == pair[1].event_id);
    if is_one {
        return (actions, false);
    }
    let of_named: Vec<Action> =
        actions.into_iter().filter(|action| Some(action.event_id) == named).collect();
    let is_undecided = of_named.is_empty();
    (of_named, is_undecided)
}

/// The open actions of a bearing, in words, for the sender of a report that names none of them.
pub(super) async fn candidates(
    connection: &mut Connection<'_>,
    key: &BearingKey,
) -> Result<String, StoreError> {
    let open = inspected::open(connection, key).await?;
    let named = open.iter().take(MOST_CANDIDATES).map(|action| {
        let Action { event_id, number, before } = action;
        format!("event_id {event_id} number {number} ({})", before.action.en)
    });
    Ok(named.collect::<Vec<_>>().join("; "))
}

/// The identity that the report has, or one of its content.
fn identity(key: &BearingKey, report: &FollowUpReport) -> Result<Uuid, StoreError> {
    if let Some(id) = report.report_id {
        return Ok(id);
    }
    let text = to_json("a report", report)?;
    let digest = Sha256::digest(format!("{key}\n{text}"));
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(digest.iter()).for_each(|(to, from)| *to = *from);
    Ok(uuid::Builder::from_custom_bytes(bytes).into_uuid())
}

/// Sets an action as the report says; what was found stands with the first one. A note that stood
/// there stays where the report has none.
async fn set_action(
    connection: &mut Connection<'_>,
    action: &Action,
    report: &FollowUpReport,
    is_first: bool,
) -> Result<(), StoreError> {
    let dialect = connection.dialect();
    let text = |text: &str| dialect.text(text).into_owned();
    let found = report.found.as_ref().filter(|_| is_first);
    connection
        .query(
            "UPDATE follow_ups SET state = $1, by_whom = $2, at_ms = $3, note = COALESCE($4, note),
                                   repaired = CASE WHEN $5 = 1 THEN 1 ELSE repaired END,
                                   verdict = COALESCE($6, verdict),
                                   element = COALESCE($7, element), cause = COALESCE($8, cause)
             WHERE event_id = $9 AND number = $10",
        )
        .bind(report.state.as_str())
        .bind(text(&report.by))
        .bind(report.at.unix_ms())
        .bind(report.note.as_deref().map(text))
        .bind(i64::from(report.repaired && is_first))
        .bind(found.map(|found| found.verdict.as_str()))
        .bind(found.and_then(|found| found.element).map(Fault::as_str))
        .bind(found.and_then(|found| found.cause.as_deref()).map(text))
        .bind(action.event_id.0)
        .bind(action.number)
        .execute()
        .await?;
    Ok(())
}

async fn insert(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    (id, inspected): (Uuid, Option<EventId>),
    report: &FollowUpReport,
    actions: &[Action],
    now: Timestamp,
) -> Result<(), StoreError> {
    let dialect = connection.dialect();
    let text = |text: &str| dialect.text(text).into_owned();
    let found = report.found.as_ref();
    connection
        .query(
            "INSERT INTO work_reports (site, equipment_id, bearing_id, report_id, event_id, state,
                                       by_whom, at_ms, received_at_ms, note, repaired, verdict,
                                       element, cause, actions, before)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        )
        .bind_key(key)
        .bind(id)
        .bind(inspected.map(|event| event.0))
        .bind(report.state.as_str())
        .bind(text(&report.by))
        .bind(report.at.unix_ms())
        .bind(now.unix_ms())
        .bind(report.note.as_deref().map(text))
        .bind(i64::from(report.repaired))
        .bind(found.map(|found| found.verdict.as_str()))
        .bind(found.and_then(|found| found.element).map(Fault::as_str))
        .bind(found.and_then(|found| found.cause.as_deref()).map(text))
        .bind(i64::try_from(actions.len()).unwrap_or(i64::MAX))
        .bind(text(&to_json("actions", &actions)?))
        .execute()
        .await?;
    Ok(())
}

/// Puts what was found into the stored judgement, which goes to the knowledge base again. A
/// judgement that is no longer kept has nothing to add to.
async fn note_in_memory(
    connection: &mut Connection<'_>,
    event_id: EventId,
    found: Option<&WorkFound>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let query = connection.query("SELECT diagnosis FROM pdm_agent_memory WHERE event_id = $1");
    let Some(row) = query.bind(event_id.0).fetch_optional().await? else { return Ok(()) };
    let mut diagnosis: Diagnosis = json_of("a diagnosis", row.get(0)?)?;
    if diagnosis.found.as_ref() == found {
        return Ok(());
    }
    diagnosis.found = found.cloned();
    let query = connection.query("UPDATE pdm_agent_memory SET diagnosis = $1 WHERE event_id = $2");
    query.bind(to_json("a diagnosis", &diagnosis)?).bind(event_id.0).execute().await?;
    let row = Outgoing {
        key: EventId::at(now.unix_ms()).0,
        lane: VECTORS_LANE.to_owned(),
        topic: None,
        retain: false,
        notification_id: None,
        group: None,
        payload: Payload::Judgement(event_id),
        due_at: now,
    };
    bulk::insert_outbox(connection, &[(&row, now)]).await
}

/// A report by its identity.
pub(super) async fn by_id(
    connection: &mut Connection<'_>,
    id: Uuid,
) -> Result<Option<ReportRow>, StoreError> {
    let query = connection.query(reports!(" WHERE report_id = $1"));
    query.bind(id).fetch_optional().await?.map(|row| report_of(&row)).transpose()
}

/// The last reports on a bearing, newest first.
pub(super) async fn of_bearing(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    limit: u32,
) -> Result<Vec<ReportRow>, StoreError> {
    let query = connection.query(reports!(
        " WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
          ORDER BY received_at_ms DESC, report_id DESC LIMIT $4"
    ));
    let rows = query.bind_key(key).bind(i64::from(limit)).fetch_all().await?;
    Ok(rows.iter().map(report_of).filter_map(readable).collect())
}

/// Returns how many inspected judgements have each verdict. The last report on a judgement that was
/// not taken back counts.
pub(super) async fn verdicts(
    connection: &mut Connection<'_>,
) -> Result<Vec<(Verdict, u32)>, StoreError> {
    let rows = connection
        .query(
            "SELECT verdict, count(*) FROM work_reports AS one
             WHERE verdict IS NOT NULL AND event_id IS NOT NULL AND withdrawn_at_ms IS NULL
               AND NOT EXISTS (SELECT 1 FROM work_reports AS later
                               WHERE later.event_id = one.event_id AND later.verdict IS NOT NULL
                                 AND later.withdrawn_at_ms IS NULL
                                 AND (later.received_at_ms > one.received_at_ms
                                      OR (later.received_at_ms = one.received_at_ms
                                          AND later.report_id > one.report_id)))
             GROUP BY verdict",
        )
        .fetch_all()
        .await?;
    let of = |row: &Row| {
        let word: &str = row.get(0)?;
        Ok((json_of("a verdict", &format!("\"{word}\""))?, count_of(row.get(1)?)))
    };
    Ok(rows.iter().map(of).filter_map(readable).collect())
}

/// Reports that set no action and say what was found or repaired, as the expert remembers work.
pub(super) async fn beside_work(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    limit: i64,
) -> Result<Vec<Work>, StoreError> {
    let query = connection.query(reports!(
        " WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND actions = 0
            AND withdrawn_at_ms IS NULL AND (repaired = 1 OR verdict IS NOT NULL)
          ORDER BY received_at_ms DESC LIMIT $4"
    ));
    let rows = query.bind_key(key).bind(limit).fetch_all().await?;
    let work = rows.iter().map(|row| {
        let report = report_of(row)?;
        Ok(Work {
            event_id: report.event_id.unwrap_or(EventId(report.report_id)),
            asked_at: report.received_at,
            action: Text::new("현장 보고", "report from the machine"),
            due_at: None,
            work_order: None,
            state: FollowUpState::Done,
            at: Some(report.at),
            repaired: report.repaired,
            found: report.found,
        })
    });
    Ok(work.filter_map(readable).collect())
}

fn report_of(row: &Row) -> Result<ReportRow, StoreError> {
    Ok(ReportRow {
        report_id: row.get("report_id")?,
        key: row.key()?,
        event_id: row.get::<Option<Uuid>>("event_id")?.map(EventId),
        state: state_of(row)?,
        by: row.get("by_whom")?,
        at: time_of(row.get("at_ms")?)?,
        received_at: time_of(row.get("received_at_ms")?)?,
        note: row.get("note")?,
        repaired: row.get::<i64>("repaired")? != 0,
        found: found_of(row)?,
        actions: count_of(row.get("actions")?),
        withdrawn_at: row.get::<Option<i64>>("withdrawn_at_ms")?.map(time_of).transpose()?,
        withdrawn_by: row.get("withdrawn_by")?,
    })
}
