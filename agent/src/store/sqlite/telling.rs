//! Notifications that belong to no alarm, and the machines that they may be about.

use pdm_shared::delivery::Notification;
use pdm_shared::id::EquipmentId;
use pdm_shared::risk::RiskLevel;
use sqlx::{Row, SqliteConnection, SqlitePool};

use super::{outbox, to_json, to_word, word_of};
use crate::progress::BearingKey;
use crate::store::{Outgoing, StoreError};

pub(super) async fn bearings_of(
    pool: &SqlitePool,
    equipment: &EquipmentId,
) -> Result<Vec<(BearingKey, RiskLevel)>, StoreError> {
    // a bearing whose first event is being judged stands in no other table yet
    let rows = sqlx::query(
        "SELECT site, equipment_id, bearing_id, risk_level FROM bearings WHERE equipment_id = ?1
         UNION
         SELECT e.site, e.equipment_id, e.bearing_id, 'Normal' FROM events e
         WHERE e.judged = 0 AND e.equipment_id = ?1 AND NOT EXISTS (
             SELECT 1 FROM bearings b WHERE b.site = e.site
                 AND b.equipment_id = e.equipment_id AND b.bearing_id = e.bearing_id)
         ORDER BY 1, 3",
    )
    .bind(equipment.as_str())
    .fetch_all(pool)
    .await?;
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
    pool: &SqlitePool,
    notification: &Notification,
    outgoing: &[Outgoing],
) -> Result<bool, StoreError> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let is_new = insert(&mut transaction, notification).await?;
    if is_new {
        for row in outgoing {
            outbox::insert(&mut transaction, row, notification.created_at).await?;
        }
    }
    transaction.commit().await?;
    Ok(is_new)
}

/// Writes a notification; false if it stood there already.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    notification: &Notification,
) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "INSERT INTO notifications VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (notification_id) DO NOTHING",
    )
    .bind(notification.notification_id.as_bytes().as_slice())
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
