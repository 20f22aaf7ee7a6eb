//! The rows of one notification on its lanes: how far each has come, further lanes that it leaves
//! by, and the trace of a recipient who refuses what the lane's others have.

use std::sync::LazyLock;

use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use super::bulk;
use crate::database::{Connection, Lock, Row, Session, Spelt, Transaction};
use crate::outbox::OutboxState;
use crate::{MQTT_LANE, Outgoing, StoreError, WayState};

/// Parameters: notification, the lane that leads to no person.
static WAYS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|_| {
        "SELECT lane, state, attempts, due_at_ms FROM outbox WHERE notification_id = $1 AND lane \
         <> $2
         ORDER BY id"
            .to_owned()
    })
});

/// Returns the SQL expression that orders the rows of a lane that tell staff something: the worst
/// risk first.
pub(super) fn by_risk() -> String {
    let rank = [RiskLevel::Critical, RiskLevel::Warning, RiskLevel::Watch];
    let ranks: Vec<String> = rank
        .iter()
        .enumerate()
        .map(|(place, risk)| format!("WHEN '{}' THEN {place}", risk.as_str()))
        .collect();
    format!(
        "COALESCE((SELECT CASE told.risk_level {} ELSE 3 END FROM notifications AS told
                   WHERE told.notification_id = free.notification_id), 3)",
        ranks.join(" ")
    )
}

/// Returns how far a notification has come on each lane of people; a row that was due before `late`
/// and is not tried yet counts as failing.
pub(super) async fn of_notification(
    mut reader: Session,
    notification_id: Uuid,
    late: Timestamp,
) -> Result<Vec<(String, WayState)>, StoreError> {
    let query = reader.query(&WAYS).bind(notification_id).bind(MQTT_LANE);
    let rows = query.fetch_all().await?;
    let of = |row: &Row| Ok((row.get("lane")?, way_of(&row.get::<String>("state")?, row, late)?));
    rows.iter().map(of).collect()
}

/// Writes rows of a notification for lanes that it has no row on.
pub(super) async fn spread(
    mut transaction: Transaction<'_>,
    notification_id: Uuid,
    rows: &[Outgoing],
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut connection = transaction.connection();
    connection.lock(Lock::Lane, &notification_id.to_string()).await?;
    let query = connection.query(&WAYS).bind(notification_id).bind(MQTT_LANE);
    let taken: Vec<String> =
        query.fetch_all().await?.iter().map(|row| row.get("lane")).collect::<Result<_, _>>()?;
    let new: Vec<(&Outgoing, Timestamp)> =
        rows.iter().filter(|row| !taken.contains(&row.lane)).map(|row| (row, now)).collect();
    if !new.is_empty() {
        bulk::insert_outbox(&mut connection, &new).await?;
    }
    transaction.commit().await?;
    Ok(new.len() as u64)
}

/// A copy of a row that says who refuses it for good; the row itself is delivered to the others.
pub(super) async fn copy_given_up(
    connection: &mut Connection<'_>,
    id: i64,
    error: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let error = connection.dialect().text(error);
    connection
        .query(
            "INSERT INTO outbox (idempotency_key, lane, state, retain, notification_id, group_key,
                                 payload, created_at_ms, due_at_ms, attempts, settled_at_ms,
                                 last_error)
             SELECT $1, lane, $2, retain, notification_id, group_key, payload, created_at_ms,
                    due_at_ms, attempts, $3, $4
             FROM outbox WHERE id = $5",
        )
        .bind(EventId::at(now.unix_ms()).0)
        .bind(OutboxState::GivenUp.as_str())
        .bind(now.unix_ms())
        .bind(error)
        .bind(id)
        .execute()
        .await?;
    Ok(())
}

fn way_of(state: &str, row: &Row, late: Timestamp) -> Result<WayState, StoreError> {
    let is_tried = row.get::<i64>("attempts")? > 0;
    let (is_waiting, is_held) =
        (state == OutboxState::Waiting.as_str(), state == OutboxState::Held.as_str());
    let is_late = is_waiting && row.get::<i64>("due_at_ms")? <= late.unix_ms();
    Ok(if state == OutboxState::Delivered.as_str() {
        WayState::Delivered
    } else if state == OutboxState::GivenUp.as_str() {
        WayState::GivenUp
    } else if ((is_waiting || is_held) && is_tried) || is_late {
        WayState::Failing
    } else {
        WayState::Ahead
    })
}
