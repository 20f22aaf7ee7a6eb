//! Taking a report back soon after it was made. The report stays, marked; its actions stand as
//! before it.

use pdm_shared::follow_up::FollowUpState;
use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;
use pdm_web::plant::{ReportRow, UNDO_S, Withdrawn};
use uuid::Uuid;

use super::inspected::Action;
use super::{by_id, found_of, note_in_memory};
use crate::database::{Connection, Lock};
use crate::encoding::json_of;
use crate::{FollowUp, StoreError};

/// Takes a report back.
pub(in crate::sql) async fn withdraw(
    connection: &mut Connection<'_>,
    id: Uuid,
    by: &str,
    now: Timestamp,
) -> Result<Withdrawn, StoreError> {
    let Some(report) = by_id(connection, id).await? else { return Ok(Withdrawn::Unknown) };
    connection.lock(Lock::Work, &report.key.to_string()).await?;
    // read again under the lock: somebody else may have taken it back
    let Some(report) = by_id(connection, id).await? else { return Ok(Withdrawn::Unknown) };
    if report.withdrawn_at.is_some() {
        return Ok(Withdrawn::Yes(report.key));
    }
    if now.seconds_since(report.received_at) > UNDO_S {
        return Ok(Withdrawn::Late(report.key));
    }
    let query = connection.query("SELECT before FROM work_reports WHERE report_id = $1");
    let row = query.bind(id).fetch_one().await?;
    let actions: Vec<Action> = json_of("actions", row.get(0)?)?;
    for action in &actions {
        let is_replaced = is_replaced(connection, &report.key, action).await?;
        restore(connection, &report, action, is_replaced).await?;
    }
    let dialect = connection.dialect();
    connection
        .query(
            "UPDATE work_reports SET withdrawn_at_ms = $1, withdrawn_by = $2 WHERE report_id = $3",
        )
        .bind(now.unix_ms())
        .bind(dialect.text(by).into_owned())
        .bind(id)
        .execute()
        .await?;
    if let (Some(event_id), Some(_)) = (report.event_id, &report.found) {
        let query = connection.query(
            "SELECT verdict, element, cause FROM work_reports
             WHERE event_id = $1 AND verdict IS NOT NULL AND withdrawn_at_ms IS NULL
             ORDER BY received_at_ms DESC, report_id DESC LIMIT 1",
        );
        let row = query.bind(event_id.0).fetch_optional().await?;
        let found = row.map(|row| found_of(&row)).transpose()?.flatten();
        note_in_memory(connection, event_id, found.as_ref(), now).await?;
    }
    Ok(Withdrawn::Yes(report.key))
}

/// Whether a later judgement asks for work in place of the action, which was not open at that time.
async fn is_replaced(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    action: &Action,
) -> Result<bool, StoreError> {
    let query = connection.query(
        "SELECT 1 FROM follow_ups
         WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
           AND asked_at_ms > (SELECT MIN(asked_at_ms) FROM follow_ups WHERE event_id = $4)
           AND state = 'open' LIMIT 1",
    );
    let row = query.bind_key(key).bind(action.event_id.0).fetch_optional().await?;
    Ok(row.is_some())
}

/// Sets an action as it stood before the report, unless a later report has set it since.
async fn restore(
    connection: &mut Connection<'_>,
    report: &ReportRow,
    action: &Action,
    is_replaced: bool,
) -> Result<(), StoreError> {
    let FollowUp { state, by, at, note, repaired, found, .. } = &action.before;
    let state = match state {
        FollowUpState::Open if is_replaced => FollowUpState::Superseded,
        FollowUpState::Open
        | FollowUpState::Done
        | FollowUpState::Dropped
        | FollowUpState::Superseded => *state,
    };
    let found = found.as_ref();
    connection
        .query(
            "UPDATE follow_ups SET state = $1, by_whom = $2, at_ms = $3, note = $4, repaired = $5,
                                   verdict = $6, element = $7, cause = $8
             WHERE event_id = $9 AND number = $10 AND by_whom = $11 AND at_ms = $12",
        )
        .bind(state.as_str())
        .bind(by.as_deref())
        .bind(at.map(Timestamp::unix_ms))
        .bind(note.as_deref())
        .bind(i64::from(*repaired))
        .bind(found.map(|found| found.verdict.as_str()))
        .bind(found.and_then(|found| found.element).map(pdm_shared::fault::Fault::as_str))
        .bind(found.and_then(|found| found.cause.as_deref()))
        .bind(action.event_id.0)
        .bind(action.number)
        .bind(report.by.as_str())
        .bind(report.at.unix_ms())
        .execute()
        .await?;
    Ok(())
}
