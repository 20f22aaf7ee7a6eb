//! Notifications that belong to no alarm, and the machines that they may be about.

use std::sync::LazyLock;

use pdm_shared::delivery::Notification;
use pdm_shared::id::{BearingKey, EquipmentId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;

use super::{Database, bulk};
use crate::database::{Connection, Row, Spelt};
use crate::encoding::{readable, to_json, to_word, word_of};
use crate::{Outgoing, StoreError};

/// Parameter: machine. A bearing whose first event waits for its judgement stands in `events` only.
static BEARINGS_OF: LazyLock<Spelt> = LazyLock::new(|| {
    let normal = RiskLevel::Normal.as_str();
    Spelt::each(|dialect| {
        let unjudged = dialect.unjudged_events();
        format!(
            "SELECT site, equipment_id, bearing_id, risk_level FROM bearings
             WHERE equipment_id = $1
             UNION
             SELECT e.site, e.equipment_id, e.bearing_id, '{normal}'
             FROM events e JOIN {unjudged} AS waiting ON waiting.event_id = e.event_id
             WHERE e.equipment_id = $1 AND NOT EXISTS (
                 SELECT 1 FROM bearings b WHERE b.site = e.site
                     AND b.equipment_id = e.equipment_id AND b.bearing_id = e.bearing_id)
             ORDER BY 1, 3"
        )
    })
});

/// Messages to staff that belong to no alarm; used by the tool `notify_maintenance_staff`.
#[derive(Debug, Clone)]
pub struct MessageStore {
    pub(crate) database: Database,
}

impl MessageStore {
    /// The bearings of a machine on every site, with their risk; a bearing that waits for its first
    /// judgement is Normal.
    pub async fn bearings_of(
        &self,
        equipment: &EquipmentId,
    ) -> Result<Vec<(BearingKey, RiskLevel)>, StoreError> {
        let mut reader = self.database.read().await?;
        let rows = reader.query(&BEARINGS_OF).bind(equipment.as_str()).fetch_all().await?;
        let of = |row: &Row| Ok((row.key()?, word_of("a risk", row.get(3)?)?));
        Ok(rows.iter().map(of).filter_map(readable).collect())
    }

    /// Writes a notification that belongs to no alarm. The same `notification_id` again changes
    /// nothing. True if the notification was written.
    pub async fn tell(
        &self,
        notification: &Notification,
        outgoing: &[Outgoing],
    ) -> Result<bool, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let is_new = insert(&mut connection, notification).await?;
        if is_new {
            let at = notification.created_at;
            let rows: Vec<(&Outgoing, Timestamp)> = outgoing.iter().map(|row| (row, at)).collect();
            bulk::insert_outbox(&mut connection, &rows).await?;
        }
        transaction.commit().await?;
        Ok(is_new)
    }
}

/// Inserts a notification; false if it is stored already.
pub(super) async fn insert(
    connection: &mut Connection<'_>,
    notification: &Notification,
) -> Result<bool, StoreError> {
    let inserted = connection
        .query(
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
        .execute()
        .await?;
    Ok(inserted == 1)
}
