//! What staff was told and has not been cleared, and telling it.

use pdm_shared::clock::Timestamp;
use sqlx::Row as _;
use uuid::Uuid;

use crate::progress::BearingKey;
use crate::store::due::DueAlarm;
use crate::store::encoding::{json_of, time_of, to_json, word_of};
use crate::store::{Alarm, AlarmChange, Announcement, Outgoing, StoreError};

use super::super::{bulk, dialect};
use super::telling;
use dialect::{Connection, Pool, Row};

fn alarm_of(row: &Row) -> Result<Alarm, StoreError> {
    Ok(Alarm {
        risk: word_of("a risk", row.get("risk_level"))?,
        repeats: u32::try_from(row.get::<i64, _>("repeats")).unwrap_or(u32::MAX),
        repeat_at: row.get::<Option<i64>, _>("repeat_at_ms").map(time_of).transpose()?,
        acknowledged: row.get::<Option<i64>, _>("acknowledged_at_ms").is_some(),
        notification: json_of("a notification", row.get("notification"))?,
    })
}

pub(super) async fn read(
    connection: &mut Connection,
    key: &BearingKey,
) -> Result<Option<Alarm>, StoreError> {
    sqlx::query(
        "SELECT risk_level, repeats, repeat_at_ms, acknowledged_at_ms, notification FROM alarms
         WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3",
    )
    .bind(key.site.as_str())
    .bind(key.equipment.as_str())
    .bind(key.bearing.as_str())
    .fetch_optional(connection)
    .await?
    .as_ref()
    .map(alarm_of)
    .transpose()
}

pub(super) async fn to_repeat(
    pool: &Pool,
    due: DueAlarm,
    limit: u32,
) -> Result<Vec<(BearingKey, Alarm)>, StoreError> {
    let rows = sqlx::query(
        "SELECT site, equipment_id, bearing_id, risk_level, repeats, repeat_at_ms,
                acknowledged_at_ms, notification
         FROM alarms WHERE repeat_at_ms IS NOT NULL
           AND (repeat_at_ms <= $1 OR repeat_at_ms > $2)
         ORDER BY repeat_at_ms LIMIT $3",
    )
    .bind(due.now.unix_ms())
    .bind(due.latest.unix_ms())
    .bind(i64::from(limit))
    .fetch_all(pool)
    .await?;
    rows.iter()
        .map(|row| {
            let key = BearingKey {
                site: word_of("a site", row.get("site"))?,
                equipment: word_of("a machine", row.get("equipment_id"))?,
                bearing: word_of("a bearing", row.get("bearing_id"))?,
            };
            Ok((key, alarm_of(row)?))
        })
        .collect()
}

pub(super) async fn announce(
    pool: &Pool,
    key: &BearingKey,
    expected: Option<Uuid>,
    announcement: &Announcement,
) -> Result<bool, StoreError> {
    let mut transaction = dialect::begin(pool).await?;
    // two writers must not both find that nothing stands
    dialect::lock_alarm(&mut transaction, key).await?;
    let standing = read(&mut transaction, key).await?;
    let unchanged = match (&standing, expected) {
        (None, None) => true,
        (Some(alarm), Some(id)) => {
            let over = matches!(announcement.alarm, AlarmChange::Over);
            alarm.notification.notification_id == id && (over || !alarm.acknowledged)
        }
        (Some(_), None) | (None, Some(_)) => false,
    };
    if unchanged {
        write(&mut transaction, key, announcement).await?;
        let at = announcement.notification.created_at;
        let rows: Vec<(&Outgoing, Timestamp)> =
            announcement.outgoing.iter().map(|row| (row, at)).collect();
        bulk::insert_outbox(&mut transaction, &rows).await?;
    }
    transaction.commit().await?;
    Ok(unchanged)
}

/// Writes a notification and what stands afterwards; its ways out are the caller's.
pub(super) async fn write(
    connection: &mut Connection,
    key: &BearingKey,
    announcement: &Announcement,
) -> Result<(), StoreError> {
    let notification = &announcement.notification;
    telling::insert(connection, notification).await?;
    match &announcement.alarm {
        AlarmChange::Stands(alarm) => stand(connection, key, alarm).await,
        AlarmChange::Kept => Ok(()),
        AlarmChange::Over => {
            sqlx::query(
                "DELETE FROM alarms WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3",
            )
            .bind(key.site.as_str())
            .bind(key.equipment.as_str())
            .bind(key.bearing.as_str())
            .execute(connection)
            .await?;
            Ok(())
        }
    }
}

async fn stand(
    connection: &mut Connection,
    key: &BearingKey,
    alarm: &Alarm,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO alarms (site, equipment_id, bearing_id, notification_id, risk_level, repeats,
                             repeat_at_ms, notification)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (site, equipment_id, bearing_id) DO UPDATE
         SET notification_id = excluded.notification_id, risk_level = excluded.risk_level,
             repeats = excluded.repeats, repeat_at_ms = excluded.repeat_at_ms,
             notification = excluded.notification, acknowledged_at_ms = NULL,
             acknowledged_by = NULL",
    )
    .bind(key.site.as_str())
    .bind(key.equipment.as_str())
    .bind(key.bearing.as_str())
    .bind(alarm.notification.notification_id)
    .bind(alarm.risk.as_str())
    .bind(i64::from(alarm.repeats))
    .bind(alarm.repeat_at.map(Timestamp::unix_ms))
    .bind(to_json("a notification", &alarm.notification)?)
    .execute(connection)
    .await?;
    Ok(())
}
