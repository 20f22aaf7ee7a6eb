//! Notifications that belong to no alarm, and the machines that they may be about.

use dialect::{Connection, Pool};
use pdm_shared::delivery::Notification;
use pdm_shared::id::{BearingKey, EquipmentId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use sqlx::Row as _;

use super::super::{bulk, dialect};
use crate::store::encoding::{to_json, to_word, word_of};
use crate::store::{Outgoing, StoreError};

pub(super) async fn bearings_of(
    pool: &Pool,
    equipment: &EquipmentId,
) -> Result<Vec<(BearingKey, RiskLevel)>, StoreError> {
    let rows = sqlx::query(dialect::BEARINGS_OF).bind(equipment.as_str()).fetch_all(pool).await?;
    rows.iter()
        .map(|row| {
            let key = BearingKey {
                site: word_of("a site", row.get(0))?,
                equipment: word_of("a machine", row.get(1))?,
                bearing: word_of("a bearing", row.get(2))?,
            };
            Ok((key, word_of("a risk", row.get(3))?))
        })
        .collect()
}

pub(super) async fn tell(
    pool: &Pool,
    notification: &Notification,
    outgoing: &[Outgoing],
) -> Result<bool, StoreError> {
    let mut transaction = dialect::begin(pool).await?;
    let is_new = insert(&mut transaction, notification).await?;
    if is_new {
        let at = notification.created_at;
        let rows: Vec<(&Outgoing, Timestamp)> = outgoing.iter().map(|row| (row, at)).collect();
        bulk::insert_outbox(&mut transaction, &rows).await?;
    }
    transaction.commit().await?;
    Ok(is_new)
}

/// Writes a notification; false if it stood there already.
pub(super) async fn insert(
    connection: &mut Connection,
    notification: &Notification,
) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "INSERT INTO notifications VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (notification_id) DO NOTHING",
    )
    .bind(notification.notification_id)
    .bind(notification.site.as_str())
    .bind(notification.equipment_id.as_str())
    .bind(notification.bearing_id.as_str())
    .bind(notification.risk_level.as_str())
    .bind(to_word("a reason", &notification.reason)?)
    .bind(notification.created_at.unix_ms())
    .bind(to_json("a notification", notification)?)
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}
