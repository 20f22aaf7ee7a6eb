//! Alarms that stand, and the notifications that raise, repeat and clear them.

use async_trait::async_trait;
use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use super::{SqlStore, bulk, messages};
use crate::store::database::{Connection, Lock, Row};
use crate::store::due::DueAlarm;
use crate::store::encoding::{count_of, json_of, time_of, to_json, word_of};
use crate::store::{Alarm, AlarmChange, AlarmStore, Announcement, Outgoing, StoreError, log};

#[async_trait]
impl AlarmStore for SqlStore {
    async fn alarms_to_repeat(
        &self,
        now: Timestamp,
        every_s: f64,
        limit: u32,
    ) -> Result<Vec<(BearingKey, Alarm)>, StoreError> {
        let due = DueAlarm::at(now, every_s);
        let mut reader = self.read().await?;
        let rows = reader
            .query(
                "SELECT site, equipment_id, bearing_id, risk_level, repeats, repeat_at_ms,
                        acknowledged_at_ms, notification
                 FROM alarms WHERE repeat_at_ms IS NOT NULL
                   AND (repeat_at_ms <= $1 OR repeat_at_ms > $2)
                 ORDER BY repeat_at_ms LIMIT $3",
            )
            .bind(due.now.unix_ms())
            .bind(due.latest.unix_ms())
            .bind(i64::from(limit))
            .fetch_all()
            .await?;
        drop(reader);
        let mut alarms = Vec::with_capacity(rows.len());
        for row in &rows {
            match row.key().and_then(|key| Ok((key, alarm_of(row)?))) {
                Ok(alarm) => alarms.push(alarm),
                Err(error) => {
                    log::alarm_not_repeated(&error);
                    self.repeat_no_more(row).await?;
                }
            }
        }
        Ok(alarms)
    }

    async fn alarm(&self, key: &BearingKey) -> Result<Option<Alarm>, StoreError> {
        read(&mut self.read().await?.connection(), key).await
    }

    async fn announce(
        &self,
        key: &BearingKey,
        expected: Option<Uuid>,
        announcement: &Announcement,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.write().await?;
        let mut connection = transaction.connection();
        // without the lock two replicas could both find no alarm and both raise one
        connection.lock(Lock::Alarm, &key.to_string()).await?;
        let standing = read(&mut connection, key).await?;
        let unchanged = is_unchanged(standing.as_ref(), expected, &announcement.alarm);
        if unchanged {
            write(&mut connection, key, announcement).await?;
            let at = announcement.notification.created_at;
            let rows: Vec<(&Outgoing, Timestamp)> =
                announcement.outgoing.iter().map(|row| (row, at)).collect();
            bulk::insert_outbox(&mut connection, &rows).await?;
        }
        transaction.commit().await?;
        Ok(unchanged)
    }
}

impl SqlStore {
    /// Ends the repetitions of an alarm that cannot be read, because it would be due for ever and keep
    /// its place before the others.
    async fn repeat_no_more(&self, row: &Row) -> Result<(), StoreError> {
        let names: [String; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
        let mut transaction = self.write().await?;
        let mut connection = transaction.connection();
        let mut query = connection.query(
            "UPDATE alarms SET repeat_at_ms = NULL
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3",
        );
        for name in names {
            query = query.bind(name);
        }
        query.execute().await?;
        transaction.commit().await
    }
}

/// Whether the alarm is still the one that a change was decided on. An acknowledgement that came
/// meanwhile stops a repetition, and does not stop the end of the alarm.
fn is_unchanged(standing: Option<&Alarm>, expected: Option<Uuid>, change: &AlarmChange) -> bool {
    match (standing, expected) {
        (None, None) => true,
        (Some(alarm), Some(id)) => {
            let over = matches!(change, AlarmChange::Over);
            alarm.notification.notification_id == id && (over || !alarm.acknowledged)
        }
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn alarm_of(row: &Row) -> Result<Alarm, StoreError> {
    Ok(Alarm {
        risk: word_of("a risk", row.get("risk_level")?)?,
        repeats: count_of(row.get("repeats")?),
        repeat_at: row.get::<Option<i64>>("repeat_at_ms")?.map(time_of).transpose()?,
        acknowledged: row.get::<Option<i64>>("acknowledged_at_ms")?.is_some(),
        notification: json_of("a notification", row.get("notification")?)?,
    })
}

pub(super) async fn read(
    connection: &mut Connection<'_>,
    key: &BearingKey,
) -> Result<Option<Alarm>, StoreError> {
    let row = connection
        .query(
            "SELECT risk_level, repeats, repeat_at_ms, acknowledged_at_ms, notification FROM alarms
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3",
        )
        .bind_key(key)
        .fetch_optional()
        .await?;
    row.as_ref().map(alarm_of).transpose()
}

/// Writes a notification and the alarm after it. The caller writes the rows of the outbox.
pub(super) async fn write(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    announcement: &Announcement,
) -> Result<(), StoreError> {
    messages::insert(connection, &announcement.notification).await?;
    match &announcement.alarm {
        AlarmChange::Stands(alarm) => upsert(connection, key, alarm).await,
        AlarmChange::Kept => Ok(()),
        AlarmChange::Over => {
            connection
                .query(
                    "DELETE FROM alarms
                     WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3",
                )
                .bind_key(key)
                .execute()
                .await?;
            Ok(())
        }
    }
}

async fn upsert(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    alarm: &Alarm,
) -> Result<(), StoreError> {
    connection
        .query(
            "INSERT INTO alarms (site, equipment_id, bearing_id, notification_id, risk_level,
                                 repeats, repeat_at_ms, notification, since_ms)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
             ON CONFLICT (site, equipment_id, bearing_id) DO UPDATE
             SET notification_id = excluded.notification_id, risk_level = excluded.risk_level,
                 repeats = excluded.repeats, repeat_at_ms = excluded.repeat_at_ms,
                 notification = excluded.notification,
                 since_ms = CASE WHEN excluded.repeats = 0 THEN excluded.since_ms
                                 ELSE alarms.since_ms END,
                 acknowledged_at_ms = NULL,
                 acknowledged_by = NULL",
        )
        .bind_key(key)
        .bind(alarm.notification.notification_id)
        .bind(alarm.risk.as_str())
        .bind(i64::from(alarm.repeats))
        .bind(alarm.repeat_at.map(Timestamp::unix_ms))
        .bind(to_json("a notification", &alarm.notification)?)
        .bind(alarm.notification.created_at.unix_ms())
        .execute()
        .await?;
    Ok(())
}
